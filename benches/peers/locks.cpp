// Actors take locks in turn: see ../src/breadth/locks.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
namespace sg4 = simgrid::s4u;

static std::vector<sg4::MutexPtr> locks;

static void actor(unsigned me)
{
  for (unsigned k = 0; k < 20; k++) {
    sg4::this_actor::sleep_for(1e-6 * scatter(me, k));
    auto& mutex = locks[scatter(k, me) % locks.size()];
    mutex->lock();
    sg4::this_actor::sleep_for(1e-8 * scatter(me, 100 + k));
    mutex->unlock();
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  const unsigned actors = (unsigned)atoi(argv[1]);
  auto* zone            = sg4::create_full_zone("c");
  auto* host            = zone->create_host("h", 1e9)->seal();
  zone->seal();
  for (unsigned i = 0; i < (actors + 15) / 16; i++)
    locks.push_back(sg4::Mutex::create());
  for (unsigned i = 0; i < actors; i++)
    sg4::Actor::create("a", host, actor, i);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
