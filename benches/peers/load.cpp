// A platform is read from a file, and one message sent: see ../src/breadth/loading.rs.
#include "message.hpp"

int main(int argc, char** argv)
{
  simgrid::s4u::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  message(engine.host_by_name("first"), engine.host_by_name("last"));
}
