// Hosts of a torus tell others what they know: see ../src/breadth/gossip.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <string>
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

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  const unsigned long side = (unsigned long)atoi(argv[1]);
  std::vector<sg4::Host*> hosts;
  auto leaf = [&hosts](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    hosts.push_back(zone->create_host("c-" + std::to_string(id), 1e9)->seal());
    return std::make_pair(hosts.back()->get_netpoint(), (simgrid::kernel::routing::NetPoint*)nullptr);
  };
  sg4::create_torus_zone("c", nullptr, {side, side}, sg4::ClusterCallbacks(leaf), 125e6, 50e-6,
                         sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  for (unsigned i = 0; i < hosts.size(); i++)
    boxes.push_back(sg4::Mailbox::by_name(std::to_string(i)));
  for (unsigned i = 0; i < hosts.size(); i++) {
    sg4::Actor::create("t", hosts[i], teller, i, (unsigned)atoi(argv[2]));
    sg4::Actor::create("l", hosts[i], listener, i);
  }
  engine.run();
  printf("clock %.6f messages %lu\n", sg4::Engine::get_clock(), messages);
}
