// A number that looks like chance: see ../src/breadth.rs.
#pragma once

static unsigned long long scatter(unsigned long long a, unsigned long long b)
{
  return (a * 7919 + b * 104729) % 999983;
}
