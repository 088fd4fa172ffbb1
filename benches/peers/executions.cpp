// Actors compute on the shared cores of 16 hosts: see ../src/breadth/executions.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
namespace sg4 = simgrid::s4u;

static void actor(unsigned me)
{
  for (unsigned k = 0; k < 10; k++)
    sg4::this_actor::execute(1e7 + 100.0 * scatter(me, k));
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("c");
  std::vector<sg4::Host*> hosts;
  for (unsigned i = 0; i < 16; i++)
    hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9 * (1 + i % 3))->set_core_count(4)->seal());
  zone->seal();
  for (unsigned i = 0; i < (unsigned)atoi(argv[1]); i++)
    sg4::Actor::create("a", hosts[i % hosts.size()], actor, i);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
