// One message from the first host to the last: see ../src/breadth/loading.rs.
#pragma once
#include <cstdio>
#include <simgrid/s4u.hpp>

static void message(simgrid::s4u::Host* first, simgrid::s4u::Host* last)
{
  namespace sg4 = simgrid::s4u;
  static int token;
  sg4::Actor::create("s", first, [] { sg4::Mailbox::by_name("m")->put(&token, 1000000); });
  sg4::Actor::create("r", last, [] { sg4::Mailbox::by_name("m")->get<int>(); });
  sg4::Engine::get_instance()->run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
