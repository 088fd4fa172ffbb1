/* What libc keeps once for all: environment, directories, locale, names, buffers of answers. */
#include "shim.h"
#include <locale.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* Environment. */
char **environ;
extern char **__environ __attribute__((alias("environ")));
extern char **_environ __attribute__((alias("environ")));
static size_t count, room;

void simurgh_environment_start(char **envp) {
  size_t n = 0;
  while (envp[n]) n++;
  room = n + 32;
  environ = malloc((room + 1) * sizeof *environ);
  memcpy(environ, envp, (n + 1) * sizeof *environ);
  count = n;
}
static char **find(const char *name, size_t length) {
  for (char **entry = environ; entry && *entry; entry++)
    if (!strncmp(*entry, name, length) && (*entry)[length] == '=') return entry;
  return 0;
}
char *getenv(const char *name) {
  size_t length = strlen(name);
  char **entry = find(name, length);
  return entry ? *entry + length + 1 : 0;
}
char *secure_getenv(const char *name) { return getenv(name); }
char *__secure_getenv(const char *name) { return getenv(name); }
static int place(char *text, size_t length, int replace) {
  char **entry = find(text, length), **more;
  size_t n = 0;
  if (entry) return replace ? (*entry = text, 0) : 0;
  while (environ && environ[n]) n++;
  more = malloc((n + 2) * sizeof *more);
  if (!more) return errno = ENOMEM, -1;
  memcpy(more, environ, n * sizeof *more);
  more[n] = text, more[n + 1] = 0;
  environ = more;
  return 0;
}
int putenv(char *text) {
  char *equal = strchr(text, '=');
  return equal ? place(text, (size_t)(equal - text), 1) : unsetenv(text);
}
int setenv(const char *name, const char *value, int replace) {
  size_t length, bytes;
  char *text;
  if (!*name || strchr(name, '=')) return errno = EINVAL, -1;
  length = strlen(name), bytes = strlen(value) + 1;
  if (!replace && find(name, length)) return 0;
  text = malloc(length + 1 + bytes);
  if (!text) return errno = ENOMEM, -1;
  memcpy(text, name, length), text[length] = '=', memcpy(text + length + 1, value, bytes);
  return place(text, length, 1);
}
int unsetenv(const char *name) {
  char **entry;
  if (!*name || strchr(name, '=')) return errno = EINVAL, -1;
  while ((entry = find(name, strlen(name))))
    do entry[0] = entry[1];
    while (*entry++);
  return 0;
}
int clearenv(void) { return environ = 0, 0; }
extern char **libc_environ;
char **simurgh_environment_lend(void) {
  char **before = libc_environ;
  libc_environ = environ;
  return before;
}
void simurgh_environment_back(char **before) { libc_environ = before; }
LIBC(system);
int system(const char *command) {
  char **before = simurgh_environment_lend();
  int heap = simurgh_heap(0), answer = libc_system(command);
  simurgh_heap(heap);
  simurgh_environment_back(before);
  return answer;
}

/* Directories. */
int chdir(const char *path) { return simurgh_chdir(path); }
int fchdir(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return simurgh_chdir(path);
}
mode_t umask(mode_t mask) { return (mode_t)simurgh_umask((int)mask); }

/* Locale: of the process alone. */
static locale_t locale;
static char names[LC_ALL + 1][64] = {"C", "C", "C", "C", "C", "C", "C"};
static const char *const variables[] = {"LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES"};
static const int masks[] = {LC_CTYPE_MASK, LC_NUMERIC_MASK, LC_TIME_MASK, LC_COLLATE_MASK, LC_MONETARY_MASK,
                            LC_MESSAGES_MASK};
/* What the environment says of a category. */
static const char *preferred(int category) {
  const char *of[] = {getenv("LC_ALL"), getenv(variables[category]), getenv("LANG")};
  for (int i = 0; i < 3; i++)
    if (of[i] && *of[i]) return of[i];
  return "C";
}
char *setlocale(int category, const char *name) {
  int first = category == LC_ALL ? 0 : category, last = category == LC_ALL ? LC_ALL - 1 : category, error = errno;
  locale_t made;
  if (category < 0 || category > LC_ALL) return 0;
  if (!name) return names[category];
  /* Those of other processes, and what was before if one of the categories is not there, stay as they are. */
  made = locale ? duplocale(locale) : (locale_t)0;
  for (int i = first; i <= last; i++) {
    locale_t next = newlocale(masks[i], *name ? name : preferred(i), made);
    if (!next) {
      if (made) freelocale(made);
      return 0;
    }
    made = next;
  }
  errno = error;
  simurgh_locale(made);
  /* The one before stays: who is put back to what it was needs it. */
  locale = made;
  for (int i = first; i <= last; i++) snprintf(names[i], sizeof names[i], "%s", *name ? name : preferred(i));
  snprintf(names[LC_ALL], sizeof names[LC_ALL], "%s", names[LC_CTYPE]);
  return names[category];
}

/* Limits: what a process sets is its own, and is remembered; the simulator, in which all of them live, keeps what it has. */
LIBC(getrlimit); LIBC(setrlimit); LIBC(prlimit);
static struct rlimit limits[RLIM_NLIMITS];
static char is_limited[RLIM_NLIMITS];
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
  if (simurgh_is_child || (unsigned)resource >= RLIM_NLIMITS || !is_limited[resource]) return libc_getrlimit(resource, limit);
  return *limit = limits[resource], 0;
}
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  struct rlimit before;
  if (simurgh_is_child) return libc_setrlimit(resource, limit);
  if (getrlimit(resource, &before)) return -1;
  if (limit->rlim_cur > limit->rlim_max) return errno = EINVAL, -1;
  if (limit->rlim_max > before.rlim_max && geteuid()) return errno = EPERM, -1;
  return limits[resource] = *limit, is_limited[resource] = 1, 0;
}
int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *new, struct rlimit *old) {
  struct rlimit before;
  if (simurgh_is_child || (pid && pid != getpid())) return libc_prlimit(pid, resource, new, old);
  if (getrlimit(resource, &before) || (new && setrlimit(resource, new))) return -1;
  if (old) *old = before;
  return 0;
}
int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit) { return getrlimit(resource, (struct rlimit *)limit); }
int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  return setrlimit(resource, (const struct rlimit *)limit);
}
int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *new, struct rlimit64 *old) {
  return prlimit(pid, resource, (const struct rlimit *)new, (struct rlimit *)old);
}

/* Names. */
int gethostname(char *name, size_t bytes) { return simurgh_hostname(name, bytes), 0; }
int __gethostname_chk(char *name, size_t bytes, size_t size) { return (void)size, gethostname(name, bytes); }
LIBC(uname);
int uname(struct utsname *about) {
  int answer = libc_uname(about);
  if (!answer) simurgh_hostname(about->nodename, sizeof about->nodename);
  return answer;
}
pid_t getppid(void) { return 999; }

/* Answers that lie in a buffer. */
static char message[256], *rest_of_tokens;
char *strerror(int error) { return strerror_r(error, message, sizeof message); }
char *strtok(char *text, const char *ends) { return strtok_r(text, ends, &rest_of_tokens); }

/* Keys: those of all processes together would soon be used up. */
#define KEYS 1024
static const void *values[KEYS];
static unsigned char is_used[KEYS];
int pthread_key_create(pthread_key_t *key, void (*end)(void *)) {
  (void)end;
  for (unsigned i = 0; i < KEYS; i++)
    if (!is_used[i]) return is_used[i] = 1, values[i] = 0, *key = i, 0;
  return EAGAIN;
}
int __pthread_key_create(pthread_key_t *key, void (*end)(void *)) { return pthread_key_create(key, end); }
int pthread_key_delete(pthread_key_t key) { return key < KEYS ? is_used[key] = 0 : EINVAL; }
void *pthread_getspecific(pthread_key_t key) { return key < KEYS ? (void *)values[key] : 0; }
int pthread_setspecific(pthread_key_t key, const void *value) { return key < KEYS ? values[key] = value, 0 : EINVAL; }
