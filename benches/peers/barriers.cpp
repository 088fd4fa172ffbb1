// Actors meet at one barrier: see ../src/breadth/barriers.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
namespace sg4 = simgrid::s4u;

static void actor(unsigned me, unsigned rounds, sg4::BarrierPtr barrier)
{
  for (unsigned k = 0; k < rounds; k++) {
    sg4::this_actor::sleep_for(1e-6 * scatter(me, k));
    barrier->wait();
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  const unsigned actors = (unsigned)atoi(argv[1]), rounds = (unsigned)atoi(argv[2]);
  auto* zone = sg4::create_full_zone("c");
  auto* host = zone->create_host("h", 1e9)->seal();
  zone->seal();
  auto barrier = sg4::Barrier::create(actors);
  for (unsigned i = 0; i < actors; i++)
    sg4::Actor::create("a", host, actor, i, rounds, barrier);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
