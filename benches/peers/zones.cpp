// Hosts of Dijkstra zones inside a Dijkstra zone send to hosts all over the place: see ../src/breadth/zones.rs.
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
namespace sg4 = simgrid::s4u;

static std::vector<sg4::Mailbox*> boxes;

static void actor(unsigned me)
{
  static int token;
  const unsigned count = boxes.size();
  for (unsigned k = 0; k < 20; k++) {
    auto comm = boxes[(me + 1 + k * 7919 % (count - 1)) % count]->put_async(&token, 1000);
    boxes[me]->get<int>();
    comm->wait();
  }
}

template <class Join> static void pairs(unsigned width, Join join)
{
  for (unsigned from = 0; from < width; from++)
    join(from, (from + 1) % width);
  for (unsigned from = 0; from < (width > 14 ? width : 0); from++)
    join(from, (from + 7) % width);
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  const unsigned width = (unsigned)atoi(argv[1]);
  auto* outer          = sg4::create_dijkstra_zone("world", false);
  std::vector<sg4::NetZone*> zones;
  std::vector<sg4::Host*> hosts;
  for (unsigned z = 0; z < width; z++) {
    const std::string name = "z" + std::to_string(z);
    auto* zone             = sg4::create_dijkstra_zone(name, false);
    zone->set_parent(outer);
    for (unsigned h = 0; h < width; h++)
      hosts.push_back(zone->create_host(name + "h" + std::to_string(h), 1e9)->seal());
    pairs(width, [&](unsigned from, unsigned to) {
      auto* link = zone->create_link(name + "l" + std::to_string(from) + "-" + std::to_string(to), 125e6);
      link->set_latency(20e-6)->seal();
      zone->add_route(hosts[z * width + from]->get_netpoint(), hosts[z * width + to]->get_netpoint(), nullptr, nullptr,
                      {{link, sg4::LinkInRoute::Direction::NONE}}, true);
    });
    zone->seal();
    zones.push_back(zone);
  }
  pairs(width, [&](unsigned from, unsigned to) {
    auto* link = outer->create_link("l" + std::to_string(from) + "-" + std::to_string(to), 1.25e9);
    link->set_latency(200e-6)->seal();
    outer->add_route(zones[from]->get_netpoint(), zones[to]->get_netpoint(), hosts[from * width]->get_netpoint(),
                     hosts[to * width]->get_netpoint(), {{link, sg4::LinkInRoute::Direction::NONE}}, true);
  });
  outer->seal();
  for (unsigned i = 0; i < hosts.size(); i++)
    boxes.push_back(sg4::Mailbox::by_name(std::to_string(i)));
  for (unsigned i = 0; i < hosts.size(); i++)
    sg4::Actor::create("a", hosts[i], actor, i);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
