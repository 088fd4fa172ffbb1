// Actors of one host read from and write to its disk in turn: see ../src/disks.rs.
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
namespace sg4 = simgrid::s4u;

static void actor(unsigned me)
{
  auto* disk = sg4::this_actor::get_host()->get_disks().front();
  for (unsigned k = 0; k < 10; k++) {
    unsigned bytes = 10000 + (me * 7919 + k * 104729) % 99991;
    if ((me + k) % 3 == 0)
      disk->write(bytes);
    else
      disk->read(bytes);
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("c");
  auto* host = zone->create_host("h", 1e9);
  host->create_disk("disk", 1e8, 4e7)->seal();
  host->seal();
  zone->seal();
  for (int i = 0; i < atoi(argv[1]); i++)
    sg4::Actor::create("a", host, actor, (unsigned)i);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
