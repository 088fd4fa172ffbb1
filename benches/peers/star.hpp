// A star of hosts of 1 Gf with links of 125 MBps and 50 us: see ../src/star.rs.
#pragma once
#include <simgrid/s4u.hpp>
#include <string>

static std::vector<simgrid::s4u::Host*> star(unsigned count)
{
  namespace sg4 = simgrid::s4u;
  std::vector<sg4::Host*> hosts;
  auto* zone = sg4::create_star_zone("c");
  for (unsigned i = 0; i < count; i++) {
    hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9));
    auto* link = zone->create_link("l" + std::to_string(i), 125e6)->set_latency(50e-6)->seal();
    zone->add_route(hosts[i]->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::NONE}},
                    true);
  }
  zone->seal();
  return hosts;
}
