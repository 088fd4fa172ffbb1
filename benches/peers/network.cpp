// On the cluster in a file, whose hosts are c-0 and so on.
#include "gossip.hpp"

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  std::vector<sg4::Host*> hosts;
  for (unsigned long i = 0; i < engine.get_host_count(); i++)
    hosts.push_back(sg4::Host::by_name("c-" + std::to_string(i)));
  spread(engine, hosts, (unsigned)atoi(argv[2]));
}
