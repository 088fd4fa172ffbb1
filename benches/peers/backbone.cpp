// Pairs of hosts talk over one backbone that is full: see ../src/backbone.rs.
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
namespace sg4 = simgrid::s4u;

static unsigned flows;
static bool rates;

static void sender(unsigned flow)
{
  static int token;
  auto comm = sg4::Mailbox::by_name(std::to_string(flow))->put_init(&token, 1000000 + 1000 * (flow * 7919 % 9973));
  if (rates)
    comm->set_rate(1.25e9 / flows * (0.5 + (double)flow / flows));
  comm->wait();
}

static void receiver(unsigned flow)
{
  sg4::Mailbox::by_name(std::to_string(flow))->get<int>();
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  flows      = (unsigned)atoi(argv[1]);
  rates      = argc > 2;
  auto* zone = sg4::create_star_zone("c");
  auto* bone = zone->create_link("backbone", 1.25e9)->set_latency(100e-6)->seal();
  for (unsigned i = 0; i < 2 * flows; i++) {
    auto* host = zone->create_host("h" + std::to_string(i), 1e9);
    auto* link = zone->create_link("l" + std::to_string(i), 125e6)->set_latency(50e-6)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg4::LinkInRoute::Direction::NONE}, {bone, sg4::LinkInRoute::Direction::NONE}}, true);
  }
  zone->seal();
  for (unsigned i = 0; i < flows; i++) {
    sg4::Actor::create("s", engine.host_by_name("h" + std::to_string(i)), sender, i);
    sg4::Actor::create("r", engine.host_by_name("h" + std::to_string(flows + i)), receiver, i);
  }
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
