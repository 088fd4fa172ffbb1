/* Random numbers, seeded alike in every run; the sequences are libc's. */
#include "shim.h"
#include <sys/random.h>

static int32_t table[32];
static struct random_data state;
static struct drand48_data state48;
static int is_ready;

static void ready(void) {
  if (is_ready) return;
  is_ready = 1;
  initstate_r(1, (char *)table, sizeof table, &state);
}
void srandom(unsigned seed) { ready(), srandom_r(seed, &state); }
long random(void) {
  int32_t value;
  ready(), random_r(&state, &value);
  return value;
}
char *initstate(unsigned seed, char *bytes, size_t count) {
  char *before = (char *)table;
  ready(), before = (char *)(state.state - 1);
  return initstate_r(seed, bytes, count, &state) ? 0 : before;
}
char *setstate(char *bytes) {
  char *before;
  ready(), before = (char *)(state.state - 1);
  return setstate_r(bytes, &state) ? 0 : before;
}
void srand(unsigned seed) { srandom(seed); }
int rand(void) { return (int)random(); }

double drand48(void) { double value; drand48_r(&state48, &value); return value; }
double erand48(unsigned short words[3]) { double value; erand48_r(words, &state48, &value); return value; }
long lrand48(void) { long value; lrand48_r(&state48, &value); return value; }
long nrand48(unsigned short words[3]) { long value; nrand48_r(words, &state48, &value); return value; }
long mrand48(void) { long value; mrand48_r(&state48, &value); return value; }
long jrand48(unsigned short words[3]) { long value; jrand48_r(words, &state48, &value); return value; }
void srand48(long seed) { srand48_r(seed, &state48); }
unsigned short *seed48(unsigned short words[3]) {
  static unsigned short before[3];
  memcpy(before, state48.__x, sizeof before);
  seed48_r(words, &state48);
  return before;
}
void lcong48(unsigned short words[7]) { lcong48_r(words, &state48); }

/* What a system would gather from its surroundings: splitmix64, begun by the number of the process. */
static uint64_t entropy;
static uint64_t next(void) {
  uint64_t z;
  if (!entropy) entropy = 0x53494d55524748ULL + (uint64_t)simurgh_rank();
  z = (entropy += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  (void)flags;
  for (size_t i = 0; i < count; i++) ((unsigned char *)bytes)[i] = (unsigned char)next();
  return (ssize_t)count;
}
int getentropy(void *bytes, size_t count) { return getrandom(bytes, count, 0), 0; }
uint32_t arc4random(void) { return (uint32_t)next(); }
void arc4random_buf(void *bytes, size_t count) { getrandom(bytes, count, 0); }
uint32_t arc4random_uniform(uint32_t bound) { return bound ? (uint32_t)(next() % bound) : 0; }
unsigned random_device(void *self) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned random_device(void *self) { return (void)self, (unsigned)next(); }
