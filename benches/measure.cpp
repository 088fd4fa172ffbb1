// Runs a program and prints, on its own last line of standard error: wall seconds, processor seconds, largest memory in kB.
// A program of its own, since the kernel counts the memory of whoever starts a process as the process's: this one has little.
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; }

int main(int, char** argv)
{
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[1], argv + 1);
    perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    perror("measure");
    return 126;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double wall = (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) * 1e-9;
  fprintf(stderr, "\nmeasured %.6f %.6f %ld\n", wall, seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
