// Actors that only sleep: see ../src/breadth/sleepers.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
namespace sg4 = simgrid::s4u;

static void actor(unsigned me)
{
  for (unsigned k = 0; k < 10; k++)
    sg4::this_actor::sleep_for(1e-6 * scatter(me, k));
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("c");
  auto* host = zone->create_host("h", 1e9)->seal();
  zone->seal();
  for (unsigned i = 0; i < (unsigned)atoi(argv[1]); i++)
    sg4::Actor::create("a", host, actor, i);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
