/* Beginning and end of a process. */
#include "shim.h"
#include <signal.h>
#include <sys/wait.h>

LIBC(_exit);
LIBC(fork);
LIBC(getpid);

int simurgh_is_child;
char *program_invocation_name, *program_invocation_short_name;
char *__progname, *__progname_full;

struct handler {
  void (*function)(void *, int);
  void *argument, *object;
  /* 0: run already; 1: of C++, with its argument; 2: of on_exit; 3: takes nothing; */
  int kind;
};
struct list {
  struct handler *items;
  size_t count, room;
};
static struct list at_exit, at_thread_exit, quickly;

static int add(struct list *list, void (*function)(void *, int), void *argument, void *object, int kind) {
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 32;
    struct handler *items = realloc(list->items, room * sizeof *items);
    if (!items) return -1;
    list->items = items, list->room = room;
  }
  list->items[list->count++] = (struct handler){function, argument, object, kind};
  return 0;
}

static void run(struct handler *handler, int code) {
  int kind = handler->kind;
  handler->kind = 0;
  if (kind == 1) ((void (*)(void *))handler->function)(handler->argument);
  if (kind == 2) ((void (*)(int, void *))handler->function)(code, handler->argument);
  if (kind == 3) ((void (*)(void))handler->function)();
}

/* The last first; a handler may add others. */
static void run_all(struct list *list, int code) {
  while (list->count) {
    struct handler handler = list->items[--list->count];
    run(&handler, code);
  }
}

int __cxa_atexit(void (*function)(void *), void *argument, void *object) {
  return add(&at_exit, (void (*)(void *, int))function, argument, object, 1);
}
int atexit(void (*function)(void)) { return add(&at_exit, (void (*)(void *, int))function, 0, 0, 3); }
int on_exit(void (*function)(int, void *), void *argument) {
  return add(&at_exit, (void (*)(void *, int))function, argument, 0, 2);
}

int at_quick_exit(void (*function)(void)) { return add(&quickly, (void (*)(void *, int))function, 0, 0, 3); }
int __cxa_at_quick_exit(void (*function)(void *), void *object) {
  return add(&quickly, (void (*)(void *, int))function, 0, object, 1);
}
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *object) {
  return add(&at_thread_exit, (void (*)(void *, int))function, argument, object, 1);
}
void __cxa_finalize(void *object) {
  for (size_t i = at_exit.count; i-- > 0;)
    if (at_exit.items[i].kind == 1 && (!object || at_exit.items[i].object == object)) run(&at_exit.items[i], 0);
}

void _exit(int code) {
  if (simurgh_is_child) libc__exit(code);
  simurgh_exit(code & 255);
}
void _Exit(int code) { _exit(code); }

void exit(int code) {
  run_all(&at_thread_exit, code);
  run_all(&at_exit, code);
  if (!simurgh_is_child) simurgh_destruct();
  simurgh_streams_end();
  _exit(code);
}
void quick_exit(int code) {
  run_all(&quickly, code);
  _exit(code);
}

void simurgh_start(int argc, char **argv, char **envp) {
  const char *slash;
  simurgh_environment_start(envp);
  program_invocation_name = __progname_full = argc ? argv[0] : (char *)"";
  slash = strrchr(program_invocation_name, '/');
  program_invocation_short_name = __progname = slash ? (char *)slash + 1 : program_invocation_name;
  simurgh_streams_start();
}

void simurgh_run_main(int (*main)(int, char **, char **), int argc, char **argv, char **envp) {
  exit(main(argc, argv, envp));
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(int, char **, char **), void (*fini)(void), void (*end)(void), void *stack) {
  char **envp = argv + argc + 1;
  (void)end, (void)stack;
  if (init) {
    /* Programs linked with an old libc run their constructors themselves. */
    if (fini) atexit(fini);
    init(argc, argv, envp);
  } else {
    simurgh_construct(argc, argv, envp);
  }
  exit(main(argc, argv, envp));
}

/* Signals: handlers are a process's own, and called for what it raises itself; the host calls them for faults. */
static struct sigaction actions[65];
LIBC(raise);

void abort(void) {
  struct sigaction *action = &actions[SIGABRT];
  if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    void (*handler)(int) = action->sa_handler;
    action->sa_handler = SIG_DFL;
    handler(SIGABRT);
  }
  simurgh_die(SIGABRT, 0);
}

void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
  char text[1024];
  snprintf(text, sizeof text, "%s:%u: %s: assertion `%s' failed", file, line, function ? function : "?", what);
  simurgh_say(text);
  simurgh_die(SIGABRT, text);
}
void __assert_perror_fail(int error, const char *file, unsigned line, const char *function) {
  __assert_fail(strerror(error), file, line, function);
}
void __assert(const char *what, const char *file, int line) { __assert_fail(what, file, line, 0); }
void __stack_chk_fail(void) { simurgh_die(SIGABRT, "stack smashing detected: an array on the stack was overrun"); }
void __chk_fail(void) { simurgh_die(SIGABRT, "buffer overflow detected"); }
void __fortify_fail(const char *text) { simurgh_die(SIGABRT, text); }

int sigaction(int signal, const struct sigaction *new, struct sigaction *old) {
  if (signal < 1 || signal > 64) return errno = EINVAL, -1;
  if (old) *old = actions[signal];
  if (new) {
    actions[signal] = *new;
    simurgh_handler(signal, new->sa_handler, new->sa_flags);
  }
  return 0;
}
static void (*set(int signal, void (*handler)(int)))(int) {
  struct sigaction new = {.sa_handler = handler}, old;
  return sigaction(signal, &new, &old) ? SIG_ERR : old.sa_handler;
}
void (*signal(int signal, void (*handler)(int)))(int) { return set(signal, handler); }
void (*bsd_signal(int signal, void (*handler)(int)))(int) { return set(signal, handler); }
void (*__sysv_signal(int signal, void (*handler)(int)))(int) { return set(signal, handler); }

int raise(int signal) {
  if (signal < 1 || signal > 64) return errno = EINVAL, -1;
  void (*handler)(int) = actions[signal].sa_handler;
  if (handler == SIG_IGN) return 0;
  if (handler != SIG_DFL) {
    if (actions[signal].sa_flags & SA_RESETHAND) actions[signal].sa_handler = SIG_DFL;
    if (actions[signal].sa_flags & SA_SIGINFO) {
      siginfo_t info = {.si_signo = signal};
      ((void (*)(int, siginfo_t *, void *))handler)(signal, &info, 0);
    } else {
      handler(signal);
    }
    return 0;
  }
  switch (signal) {
  case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
    return 0;
  default:
    simurgh_die(signal, 0);
  }
}
LIBC(kill);
int kill(pid_t pid, int signal) { return pid == getpid() && signal ? raise(signal) : libc_kill(pid, signal); }
int pthread_kill(unsigned long thread, int signal) { return (void)thread, signal ? raise(signal) : 0; }
/* Signals that come by themselves would come to all processes: there are none but alarms (time.c). */

pid_t getpid(void) { return simurgh_is_child ? libc_getpid() : 1000 + simurgh_rank(); }
pid_t fork(void) {
  pid_t child = libc_fork();
  if (child == 0) {
    simurgh_descriptors_of_child();
    simurgh_is_child = 1;
    simurgh_forked();
    simurgh_environment_lend();
  }
  return child;
}
pid_t vfork(void) { return fork(); }

/* All processes live in one, which nothing may take the place of. A child made by fork may become what it likes. */
LIBC(execve); LIBC(execvpe); LIBC(fexecve);
extern char **environ;
static void stays(const char *name) {
  if (simurgh_is_child) return;
  char text[128];
  snprintf(text, sizeof text, "%s: a process cannot become another program while it is simulated; start it by fork or popen", name);
  simurgh_die(SIGABRT, text);
}
int execve(const char *path, char *const arguments[], char *const environment[]) {
  stays("execve");
  return libc_execve(path, arguments, environment);
}
int execvpe(const char *file, char *const arguments[], char *const environment[]) {
  stays("execvpe");
  return libc_execvpe(file, arguments, environment);
}
int fexecve(int descriptor, char *const arguments[], char *const environment[]) {
  stays("fexecve");
  return libc_fexecve(descriptor, arguments, environment);
}
int execv(const char *path, char *const arguments[]) {
  stays("execv");
  return libc_execve(path, arguments, environ);
}
int execvp(const char *file, char *const arguments[]) {
  stays("execvp");
  return libc_execvpe(file, arguments, environ);
}
/* The arguments of a call of execl and the like, which end with a null. */
#define LISTED(last) \
  size_t count = 1; \
  va_list all; \
  va_start(all, first); \
  while (va_arg(all, char *)) count++; \
  va_end(all); \
  char *arguments[count + 1]; \
  arguments[0] = (char *)first; \
  va_start(all, first); \
  for (size_t i = 1; i <= count; i++) arguments[i] = va_arg(all, char *); \
  last; \
  va_end(all)
int execl(const char *path, const char *first, ...) {
  stays("execl");
  LISTED((void)0);
  return libc_execve(path, arguments, environ);
}
int execlp(const char *file, const char *first, ...) {
  stays("execlp");
  LISTED((void)0);
  return libc_execvpe(file, arguments, environ);
}
int execle(const char *path, const char *first, ...) {
  stays("execle");
  char *const *environment;
  LISTED(environment = va_arg(all, char *const *));
  return libc_execve(path, arguments, environment);
}

int pthread_create(void *thread, const void *attributes, void *(*function)(void *), void *argument) {
  (void)thread, (void)attributes, (void)function, (void)argument;
  simurgh_no_thread();
  if (simurgh_is_first()) {
    char text[256];
    snprintf(text, sizeof text,
             "simurgh: rank %d: pthread_create gives EAGAIN: threads that a program makes itself cannot be simulated "
             "(std::thread neither); OpenMP can, or run the program without threads",
             simurgh_rank());
    simurgh_say(text);
  }
  return EAGAIN;
}
