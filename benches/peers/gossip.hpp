// Hosts tell others what they know: see ../src/breadth/gossip.rs.
#pragma once
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>
namespace sg4 = simgrid::s4u;

static std::vector<sg4::Mailbox*> boxes;
static unsigned long messages = 0;

static void teller(unsigned me, unsigned rounds)
{
  static int token;
  const unsigned others = boxes.size() - 1;
  for (unsigned k = 0; k < rounds; k++) {
    sg4::this_actor::sleep_for(1e-3 + 1e-8 * scatter(me, k));
    boxes[(me + 1 + scatter(k, me) % others) % boxes.size()]->put_init(&token, 1000 + scatter(me, k) / 100)->detach();
  }
}

static void listener(unsigned me)
{
  try {
    while (true) {
      boxes[me]->get<int>(1.0);
      messages++;
    }
  } catch (const simgrid::TimeoutException&) {
  }
}

static void spread(sg4::Engine& engine, const std::vector<sg4::Host*>& hosts, unsigned rounds)
{
  for (unsigned i = 0; i < hosts.size(); i++)
    boxes.push_back(sg4::Mailbox::by_name(std::to_string(i)));
  for (unsigned i = 0; i < hosts.size(); i++) {
    sg4::Actor::create("t", hosts[i], teller, i, rounds);
    sg4::Actor::create("l", hosts[i], listener, i);
  }
  engine.run();
  printf("clock %.6f messages %lu\n", sg4::Engine::get_clock(), messages);
}
