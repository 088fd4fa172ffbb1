/* Clocks show simulated time. */
#include "shim.h"
#include <signal.h>
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
static void ring_if_due(double now);
int clock_gettime(clockid_t clock, struct timespec *at) {
  double now = simurgh_now();
  ring_if_due(now);
  split(now, at);
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

/* Alarms ring in simulated time, where their process sleeps, waits for them, or reads a clock: when, or -1; and how often. */
static double due = -1, period;
static void ring(void) {
  due = period > 0 ? due + period : -1;
  raise(SIGALRM);
}
static void ring_if_due(double now) {
  if (due >= 0 && now >= due && !simurgh_is_child) ring();
}
/* Sleeps; gives what is left when an alarm rings meanwhile, else -1. */
static double nap(double seconds) {
  double until = due < 0 || simurgh_is_child ? -1 : due - simurgh_now();
  if (due < 0 || simurgh_is_child || until > seconds) return simurgh_sleep(seconds), -1;
  if (until > 0) simurgh_sleep(until);
  ring();
  return seconds - (until > 0 ? until : 0);
}
static double left_until(double now) { return due < 0 ? 0 : due > now ? due - now : 1e-6; }
static void begin_alarm(double seconds, double every) {
  due = seconds > 0 ? simurgh_now() + seconds : -1;
  period = every;
}

LIBC(alarm); LIBC(pause); LIBC(setitimer); LIBC(getitimer); LIBC(sigsuspend);
unsigned alarm(unsigned seconds) {
  unsigned left;
  if (simurgh_is_child) return libc_alarm(seconds);
  left = due < 0 ? 0 : (unsigned)__builtin_ceil(left_until(simurgh_now()));
  begin_alarm(seconds, 0);
  return left;
}
static double seconds_of(const struct timeval *time) { return (double)time->tv_sec + 1e-6 * (double)time->tv_usec; }
static struct timeval time_of(double seconds) {
  return (struct timeval){.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)((seconds - __builtin_floor(seconds)) * 1e6)};
}
int getitimer(__itimer_which_t which, struct itimerval *now) {
  if (simurgh_is_child) return libc_getitimer(which, now);
  memset(now, 0, sizeof *now);
  /* Timers that count what is computed never end. */
  if (which == ITIMER_REAL && due >= 0) now->it_value = time_of(left_until(simurgh_now())), now->it_interval = time_of(period);
  return 0;
}
int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old) {
  if (simurgh_is_child) return libc_setitimer(which, new, old);
  if (old) getitimer(which, old);
  if (which == ITIMER_REAL && new) begin_alarm(seconds_of(&new->it_value), seconds_of(&new->it_interval));
  return 0;
}
useconds_t ualarm(useconds_t value, useconds_t interval) {
  struct itimerval old, new = {.it_value = time_of(1e-6 * value), .it_interval = time_of(1e-6 * interval)};
  setitimer(ITIMER_REAL, &new, &old);
  return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}
/* No other signal comes to who waits for one. */
static int wait_for_alarm(const char *name) {
  struct sigaction action;
  do {
    if (due < 0) {
      char text[256];
      snprintf(text, sizeof text,
               "%s: waits for a signal, and none comes: no alarm is set, and signals from outside are not simulated; "
               "wait for a message, or set an alarm (alarm, setitimer)",
               name);
      simurgh_die(SIGABRT, text);
    }
    sigaction(SIGALRM, 0, &action);
    nap(__builtin_inf());
  } while (action.sa_handler == SIG_IGN);
  return errno = EINTR, -1;
}
int pause(void) { return simurgh_is_child ? libc_pause() : wait_for_alarm("pause"); }
int sigsuspend(const sigset_t *mask) { return simurgh_is_child ? libc_sigsuspend(mask) : wait_for_alarm("sigsuspend"); }

/* Gives an error; how much is left, if an alarm rang. */
static int rest(const struct timespec *wanted, struct timespec *left) {
  double more;
  if (wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999 || wanted->tv_sec < 0) return EINVAL;
  more = nap((double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec);
  if (left) split(more > 0 ? more : 0, left);
  return more >= 0 ? EINTR : 0;
}
int nanosleep(const struct timespec *wanted, struct timespec *left) {
  int error = rest(wanted, left);
  return error ? (errno = error, -1) : 0;
}
int __nanosleep(const struct timespec *wanted, struct timespec *left) { return nanosleep(wanted, left); }
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
  if (flags & TIMER_ABSTIME) {
    double now = simurgh_now(), then = (double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec;
    if (clock == CLOCK_REALTIME) then -= (double)EPOCH;
    return then > now && nap(then - now) >= 0 ? EINTR : 0;
  }
  return rest(wanted, left);
}
int usleep(useconds_t microseconds) { return nap(1e-6 * microseconds) >= 0 ? (errno = EINTR, -1) : 0; }
unsigned sleep(unsigned seconds) {
  double left = nap(seconds);
  return left > 0 ? (unsigned)__builtin_ceil(left) : 0;
}
int sched_yield(void) { return simurgh_sleep(0), 0; }
int pthread_yield(void) { return sched_yield(); }

static struct tm parts;
static char text[64];
struct tm *localtime(const time_t *at) { return localtime_r(at, &parts); }
struct tm *gmtime(const time_t *at) { return gmtime_r(at, &parts); }
char *asctime(const struct tm *at) { return asctime_r(at, text); }
char *ctime(const time_t *at) { return ctime_r(at, text); }
