// On a square torus.
#include "gossip.hpp"

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
  spread(engine, hosts, (unsigned)atoi(argv[2]));
}
