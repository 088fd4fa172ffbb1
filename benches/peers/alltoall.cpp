// Every host of a fat tree sends to every other, one soon after the other: see ../src/breadth/alltoall.rs.
#include "scatter.hpp"
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
namespace sg4 = simgrid::s4u;

static unsigned hosts;

static sg4::Mailbox* mailbox(unsigned from, unsigned to)
{
  return sg4::Mailbox::by_name(std::to_string(from) + "-" + std::to_string(to));
}

static void sender(unsigned me)
{
  static int token;
  std::vector<sg4::CommPtr> all;
  for (unsigned k = 1; k < hosts; k++) {
    sg4::this_actor::sleep_for(2e-5 + 1e-11 * scatter(k, me));
    all.push_back(mailbox(me, (me + k) % hosts)->put_async(&token, 100000 + scatter(me, k)));
  }
  for (auto& comm : all)
    comm->wait();
}

static void receiver(unsigned me)
{
  static int* slot;
  std::vector<sg4::CommPtr> all;
  for (unsigned k = 1; k < hosts; k++)
    all.push_back(mailbox((me + k) % hosts, me)->get_async<int>(&slot));
  for (auto& comm : all)
    comm->wait();
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  const unsigned switches = (unsigned)atoi(argv[1]);
  hosts                   = 16 * switches;
  auto leaf = [](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    auto* host = zone->create_host("c-" + std::to_string(id), 1e9)->seal();
    return std::make_pair(host->get_netpoint(), (simgrid::kernel::routing::NetPoint*)nullptr);
  };
  sg4::create_fatTree_zone("c", nullptr, {2, {16, switches}, {1, 4}, {1, 1}}, sg4::ClusterCallbacks(leaf), 125e6, 50e-6,
                           sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  for (unsigned i = 0; i < hosts; i++) {
    auto* host = engine.host_by_name("c-" + std::to_string(i));
    sg4::Actor::create("s", host, sender, i);
    sg4::Actor::create("r", host, receiver, i);
  }
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
