/* Descriptors, files and memory that a process asks the system for: the host is told, so that a process can be put back to what it
   was before. */
#include "shim.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

LIBC(open); LIBC(openat); LIBC(unlink); LIBC(unlinkat); LIBC(rename); LIBC(renameat); LIBC(remove); LIBC(mkdir); LIBC(rmdir);
LIBC(truncate); LIBC(link); LIBC(symlink); LIBC(mkstemp); LIBC(mkostemp); LIBC(mkdtemp); LIBC(pipe); LIBC(pipe2); LIBC(socket);
LIBC(socketpair); LIBC(accept); LIBC(accept4); LIBC(eventfd); LIBC(epoll_create1); LIBC(timerfd_create); LIBC(memfd_create);
LIBC(mmap); LIBC(munmap); LIBC(mremap); LIBC(opendir); LIBC(closedir);

/* A descriptor that was made, or the answer that it was not. */
int simurgh_made(int fd) {
  if (fd > 2 && !simurgh_is_child) simurgh_descriptor(fd, 1);
  return fd;
}

static int writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }
static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

#define OPENS(call) \
  va_list rest; \
  va_start(rest, flags); \
  mode_t mode = mode_of(flags, rest); \
  va_end(rest); \
  if (writes(flags) && !simurgh_is_child) simurgh_touch(at, path); \
  return simurgh_made(call)

int openat(int at, const char *path, int flags, ...) { OPENS(libc_openat(at, path, flags, mode)); }
int openat64(int at, const char *path, int flags, ...) { OPENS(libc_openat(at, path, flags | O_LARGEFILE, mode)); }
int __openat_2(int at, const char *path, int flags) { return openat(at, path, flags); }
int __openat64_2(int at, const char *path, int flags) { return openat64(at, path, flags); }
#define at AT_FDCWD
int open(const char *path, int flags, ...) { OPENS(libc_open(path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPENS(libc_open(path, flags | O_LARGEFILE, mode)); }
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open64(path, flags); }
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
#undef at

static void touch(int at, const char *path) {
  if (!simurgh_is_child) simurgh_touch(at, path);
}
/* What a stream opens. */
void simurgh_touch_for(const char *path, const char *mode) {
  if (path && (mode[0] != 'r' || strchr(mode, '+'))) touch(AT_FDCWD, path);
}
int unlink(const char *path) { return touch(AT_FDCWD, path), libc_unlink(path); }
int unlinkat(int at, const char *path, int flags) { return touch(at, path), libc_unlinkat(at, path, flags); }
int remove(const char *path) { return touch(AT_FDCWD, path), libc_remove(path); }
int rename(const char *from, const char *to) { return touch(AT_FDCWD, from), touch(AT_FDCWD, to), libc_rename(from, to); }
int renameat(int a, const char *from, int b, const char *to) { return touch(a, from), touch(b, to), libc_renameat(a, from, b, to); }
int mkdir(const char *path, mode_t mode) { return touch(AT_FDCWD, path), libc_mkdir(path, mode); }
int rmdir(const char *path) { return touch(AT_FDCWD, path), libc_rmdir(path); }
int truncate(const char *path, off_t length) { return touch(AT_FDCWD, path), libc_truncate(path, length); }
int truncate64(const char *path, off64_t length) { return truncate(path, length); }
int link(const char *from, const char *to) { return touch(AT_FDCWD, to), libc_link(from, to); }
int symlink(const char *from, const char *to) { return touch(AT_FDCWD, to), libc_symlink(from, to); }
/* Names that are not known before are of files that were not there. */
static int named(int fd, const char *path) {
  if (fd >= 0 && !simurgh_is_child) simurgh_new_file(path);
  return simurgh_made(fd);
}
int mkstemp(char *path) { return named(libc_mkstemp(path), path); }
int mkstemp64(char *path) { return mkstemp(path); }
int mkostemp(char *path, int flags) { return named(libc_mkostemp(path, flags), path); }
int mkostemp64(char *path, int flags) { return mkostemp(path, flags); }
char *mkdtemp(char *path) {
  char *made = libc_mkdtemp(path);
  if (made && !simurgh_is_child) simurgh_new_file(made);
  return made;
}

static int both(int answer, const int *two) {
  if (answer == 0) simurgh_made(two[0]), simurgh_made(two[1]);
  return answer;
}
int pipe(int two[2]) { return both(libc_pipe(two), two); }
int pipe2(int two[2], int flags) { return both(libc_pipe2(two, flags), two); }
int socket(int domain, int type, int protocol) { return simurgh_made(libc_socket(domain, type, protocol)); }
int socketpair(int domain, int type, int protocol, int two[2]) { return both(libc_socketpair(domain, type, protocol, two), two); }
int accept(int fd, struct sockaddr *address, socklen_t *length) { return simurgh_made(libc_accept(fd, address, length)); }
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) { return simurgh_made(libc_accept4(fd, address, length, flags)); }
int eventfd(unsigned count, int flags) { return simurgh_made(libc_eventfd(count, flags)); }
int epoll_create1(int flags) { return simurgh_made(libc_epoll_create1(flags)); }
int epoll_create(int size) { return size > 0 ? epoll_create1(0) : (errno = EINVAL, -1); }
int timerfd_create(int clock, int flags) { return simurgh_made(libc_timerfd_create(clock, flags)); }
int memfd_create(const char *name, unsigned flags) { return simurgh_made(libc_memfd_create(name, flags)); }

DIR *opendir(const char *path) {
  DIR *folder = libc_opendir(path);
  if (folder) simurgh_made(dirfd(folder));
  return folder;
}
int closedir(DIR *folder) {
  if (!simurgh_is_child) simurgh_descriptor(dirfd(folder), 0);
  return libc_closedir(folder);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  void *mapped = libc_mmap(address, length, protection, flags, fd, offset);
  if (mapped != MAP_FAILED && !simurgh_is_child) simurgh_map(mapped, length, 1);
  return mapped;
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}
int munmap(void *address, size_t length) {
  int answer = libc_munmap(address, length);
  if (answer == 0 && !simurgh_is_child) simurgh_map(address, length, 0);
  return answer;
}
void *mremap(void *address, size_t length, size_t wanted, int flags, ...) {
  void *place, *mapped;
  va_list rest;
  va_start(rest, flags);
  place = flags & MREMAP_FIXED ? va_arg(rest, void *) : 0;
  va_end(rest);
  mapped = libc_mremap(address, length, wanted, flags, place);
  if (mapped != MAP_FAILED && !simurgh_is_child) simurgh_map(address, length, 0), simurgh_map(mapped, wanted, 1);
  return mapped;
}
