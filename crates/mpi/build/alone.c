/* What a program does that is started without `simurgh run`, when it first calls MPI: it is started again, as one process, or
   as `mpiexec` said of a script that starts it. Compiled as C or C++. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
#ifdef __cplusplus
extern "C"
#endif
void simurgh_alone(void) __attribute__((visibility("hidden"), noreturn));

static const char message[] = "this program calls MPI as Simurgh has it, and simurgh is not found: put it into PATH, or use "
                              "`simurgh run -n 4 PROGRAM`\n";
static char options[65536], own[4096];
static char *words[65536];

static void give_up(void) {
  if (write(2, message, sizeof message - 1) < 0) _exit(3);
  _exit(2);
}

/* All of a file, with a zero at its end. */
static char *contents(const char *path, size_t *length) {
  size_t room = 1 << 16, there = 0;
  char *text = (char *)malloc(room + 1);
  int fd = open(path, O_RDONLY);
  while (fd >= 0 && text) {
    ssize_t count = read(fd, text + there, room - there);
    if (count <= 0) break;
    there += (size_t)count;
    if (there == room) text = (char *)realloc(text, (room *= 2) + 1);
  }
  if (fd >= 0) close(fd);
  if (text) text[there] = 0;
  *length = there;
  return text;
}

void simurgh_alone(void) {
  const size_t most = sizeof words / sizeof *words - 1;
  const char *said = getenv("SIMURGH_MPIEXEC");
  size_t count = 0, length = 0, word = 0;
  ssize_t name = readlink("/proc/self/exe", own, sizeof own - 1);
  char *line = contents("/proc/self/cmdline", &length);
  if (name <= 0 || !line) give_up();
  /* A line a word: the command, and what it is called with. */
  strncpy(options, said && *said ? said : SIMURGH "\nrun\n-q\n-n\n1", sizeof options - 1);
  for (char *at = options; at && count < most;) {
    char *end = strchr(at, '\n');
    if (end) *end++ = 0;
    words[count++] = at;
    at = end;
  }
  words[count++] = own;
  words[count++] = (char *)"--";
  /* What the program itself is called comes first there. */
  for (char *at = line; at < line + length && count < most; at += strlen(at) + 1)
    if (word++) words[count++] = at;
  unsetenv("SIMURGH_MPIEXEC");
  execve(words[0], words, environ);
  words[0] = (char *)"simurgh";
  execvp(words[0], words);
  give_up();
  for (;;) _exit(2);
}
