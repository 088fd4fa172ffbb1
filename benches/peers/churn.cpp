// One actor makes others, joins some and kills some: see ../src/breadth/churn.rs.
#include "scatter.hpp"
#include "star.hpp"
#include <cstdio>
#include <cstdlib>
#include <deque>
namespace sg4 = simgrid::s4u;

static void child(unsigned me)
{
  sg4::this_actor::execute(1e6 + scatter(me, 1));
  sg4::this_actor::sleep_for(me % 5 == 0 ? 1000.0 : 0.01 + scatter(me, 2) * 1e-7);
}

static void parent(unsigned actors, std::vector<sg4::Host*> hosts)
{
  std::deque<std::pair<unsigned, sg4::ActorPtr>> alive;
  for (unsigned me = 0; me < actors; me++) {
    alive.emplace_back(me, sg4::Actor::create("child", hosts[me % hosts.size()], child, me));
    sg4::this_actor::sleep_for(0.001);
    if (alive.size() > 50) {
      auto [old, actor] = alive.front();
      alive.pop_front();
      if (old % 5 == 0)
        actor->kill();
      else if (old % 5 == 1)
        actor->join();
    }
  }
  for (auto& [old, actor] : alive)
    if (old % 5 == 0)
      actor->kill();
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  auto hosts = star(64);
  sg4::Actor::create("parent", hosts[0], parent, (unsigned)atoi(argv[1]), hosts);
  engine.run();
  printf("clock %.6f\n", sg4::Engine::get_clock());
}
