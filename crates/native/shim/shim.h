/* What the shim asks of the host, and what its files share. The host defines simurgh_*; the loader gives libc's own
   function under the name libc_*, since the shim defines the plain one. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBC(name) extern __typeof__(name) libc_##name

long simurgh_write(int fd, const void *bytes, size_t count);
long simurgh_read(void *bytes, size_t count);
void simurgh_exit(int code) __attribute__((noreturn));
/* Ends the process as a signal would; a message of null is the signal's own. */
void simurgh_die(int signal, const char *message) __attribute__((noreturn));
double simurgh_now(void);
void simurgh_sleep(double seconds);
/* 0: the host's, 1: the program's. Gives the one before. */
int simurgh_heap(int heap);
void simurgh_construct(int argc, char **argv, char **envp);
void simurgh_destruct(void);
int simurgh_rank(void);
int simurgh_is_first(void);
void simurgh_no_thread(void);
int simurgh_chdir(const char *path);
int simurgh_umask(int mask);
void simurgh_hostname(char *name, size_t bytes);
void simurgh_locale(void *locale);
void simurgh_stream(void *stream, int is_open);
/* A descriptor was made, or is about to be closed. */
void simurgh_descriptor(int fd, int is_open);
/* What is at a path, seen from a directory, may be written, removed or made. */
void simurgh_touch(int at, const char *path);
/* What is at a path was not there before. */
void simurgh_new_file(const char *path);
/* Memory was mapped, or is no more. */
void simurgh_map(void *address, size_t length, int is_mapped);
void simurgh_handler(int signal, void (*handler)(int), int flags);

/* Whether this is a child made by fork, which is alone in its process. */
extern int simurgh_is_child;
/* This is one from now on. */
void simurgh_forked(void);
void simurgh_streams_start(void);
void simurgh_streams_end(void);
void simurgh_environment_start(char **envp);
/* Lets libc start commands with the environment of this process; what was there before is to be given back. */
char **simurgh_environment_lend(void);
void simurgh_environment_back(char **before);
void simurgh_descriptors_of_child(void);
/* Tells the host of a descriptor, if there is one; gives it. */
int simurgh_made(int fd);
/* Tells the host of what a stream of this mode may write. */
void simurgh_touch_for(const char *path, const char *mode);
void simurgh_say(const char *text);
