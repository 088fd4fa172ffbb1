// A star is made, and one message sent: see ../src/breadth/loading.rs.
#include "star.hpp"
#include "message.hpp"
#include <cstdlib>

int main(int argc, char** argv)
{
  simgrid::s4u::Engine engine(&argc, argv);
  auto hosts = star((unsigned)atoi(argv[1]));
  message(hosts.front(), hosts.back());
}
