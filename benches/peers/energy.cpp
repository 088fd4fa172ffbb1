// Hosts compute in changing power states: see ../src/breadth/energy.rs.
#include "scatter.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>
#include <string>
namespace sg4 = simgrid::s4u;

static void changing(unsigned me)
{
  auto* host = sg4::this_actor::get_host();
  for (unsigned k = 0; k < 100; k++) {
    sg4::this_actor::execute(1e6 + 100.0 * scatter(me, k));
    host->set_pstate((me + k) % 3);
    if (sg_host_get_consumed_energy(host) < 0)
      abort();
  }
}

static void beside(unsigned me)
{
  for (unsigned k = 0; k < 50; k++) {
    sg4::this_actor::execute(1e6 + 200.0 * scatter(me, 100 + k));
    sg4::this_actor::sleep_for(1e-7 * scatter(me, 200 + k));
  }
}

int main(int argc, char** argv)
{
  sg_host_energy_plugin_init();
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("c");
  std::vector<sg4::Host*> hosts;
  for (unsigned i = 0; i < (unsigned)atoi(argv[1]); i++) {
    auto* host = zone->create_host("h" + std::to_string(i), std::vector<double>{1e9, 8e8, 5e8})->set_core_count(4);
    host->set_property("wattage_per_state", "95:120:200,93:115:170,90:110:150");
    host->set_property("wattage_off", "10");
    hosts.push_back(host->seal());
  }
  zone->seal();
  for (unsigned i = 0; i < hosts.size(); i++) {
    sg4::Actor::create("a", hosts[i], changing, i);
    sg4::Actor::create("b", hosts[i], beside, i);
  }
  engine.run();
  double joules = 0;
  for (auto* host : hosts)
    joules += sg_host_get_consumed_energy(host);
  printf("clock %.6f joules %.0f\n", sg4::Engine::get_clock(), std::round(joules));
}
