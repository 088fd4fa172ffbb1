/* Clocks show simulated time. */
#include "shim.h"
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

/* 2020-01-01 00:00:00 UTC. */
#define EPOCH 1577836800L

LIBC(clock_getres);

static void split(double seconds, struct timespec *at) {
  double whole = __builtin_floor(seconds);
  at->tv_sec = (time_t)whole;
  at->tv_nsec = (long)((seconds - whole) * 1e9);
  if (at->tv_nsec > 999999999) at->tv_nsec = 999999999;
}
int clock_gettime(clockid_t clock, struct timespec *at) {
  split(simurgh_now(), at);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) at->tv_sec += EPOCH;
  return 0;
}
int __clock_gettime(clockid_t clock, struct timespec *at) { return clock_gettime(clock, at); }
int timespec_get(struct timespec *at, int base) { return clock_gettime(CLOCK_REALTIME, at), base; }
int clock_getres(clockid_t clock, struct timespec *at) {
  (void)clock;
  if (at) at->tv_sec = 0, at->tv_nsec = 1;
  return 0;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return at ? *at = now.tv_sec : now.tv_sec;
}
clock_t clock(void) { return (clock_t)(simurgh_now() * CLOCKS_PER_SEC); }
clock_t times(struct tms *at) {
  clock_t ticks = (clock_t)(simurgh_now() * 100);
  if (at) at->tms_utime = ticks, at->tms_stime = at->tms_cutime = at->tms_cstime = 0;
  return ticks;
}
int getrusage(__rusage_who_t who, struct rusage *at) {
  struct timespec now;
  (void)who;
  split(simurgh_now(), &now);
  memset(at, 0, sizeof *at);
  at->ru_utime.tv_sec = now.tv_sec, at->ru_utime.tv_usec = now.tv_nsec / 1000;
  return 0;
}
static int rest(const struct timespec *wanted) {
  if (wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999 || wanted->tv_sec < 0) return EINVAL;
  simurgh_sleep((double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec);
  return 0;
}
int nanosleep(const struct timespec *wanted, struct timespec *left) {
  int error = rest(wanted);
  if (left) left->tv_sec = left->tv_nsec = 0;
  return error ? (errno = error, -1) : 0;
}
int __nanosleep(const struct timespec *wanted, struct timespec *left) { return nanosleep(wanted, left); }
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
  (void)left;
  if (flags & TIMER_ABSTIME) {
    double now = simurgh_now(), then = (double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec;
    if (clock == CLOCK_REALTIME) then -= (double)EPOCH;
    if (then > now) simurgh_sleep(then - now);
    return 0;
  }
  return rest(wanted);
}
int usleep(useconds_t microseconds) { return simurgh_sleep(1e-6 * microseconds), 0; }
unsigned sleep(unsigned seconds) { return simurgh_sleep(seconds), 0; }
int sched_yield(void) { return simurgh_sleep(0), 0; }
int pthread_yield(void) { return sched_yield(); }

static struct tm parts;
static char text[64];
struct tm *localtime(const time_t *at) { return localtime_r(at, &parts); }
struct tm *gmtime(const time_t *at) { return gmtime_r(at, &parts); }
char *asctime(const struct tm *at) { return asctime_r(at, text); }
char *ctime(const time_t *at) { return ctime_r(at, text); }
