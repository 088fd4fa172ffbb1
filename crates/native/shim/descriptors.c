/* The three standard descriptors. What is written to them goes to the host, unless the process has put others in their
   place: dup2 is about one process, and the descriptors of the host are those of all. */
#include "shim.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

LIBC(write); LIBC(writev); LIBC(read); LIBC(readv); LIBC(close); LIBC(isatty); LIBC(fstat); LIBC(dup2); LIBC(dup3);

/* What stands for each; none at first. */
static int instead[3] = {-1, -1, -1};

static int is_standard(int fd) { return fd >= 0 && fd <= 2 && !simurgh_is_child; }
/* What the kernel knows a descriptor by; -1 where the host is to be asked. */
static int real(int fd) { return is_standard(fd) ? instead[fd] : fd; }

/* In a child made by fork, what stands for the three takes their places. */
void simurgh_descriptors_of_child(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (instead[fd] >= 0) libc_dup2(instead[fd], fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  int to = real(fd);
  return to < 0 && is_standard(fd) ? simurgh_write(fd, bytes, count) : libc_write(to, bytes, count);
}
ssize_t __write(int fd, const void *bytes, size_t count) { return write(fd, bytes, count); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  ssize_t all = 0;
  int to = real(fd);
  if (to >= 0 || !is_standard(fd)) return libc_writev(to, parts, count);
  for (int i = 0; i < count; i++) all += simurgh_write(fd, parts[i].iov_base, parts[i].iov_len);
  return all;
}
ssize_t read(int fd, void *bytes, size_t count) {
  int from = real(fd);
  return from < 0 && is_standard(fd) ? simurgh_read(bytes, count) : libc_read(from, bytes, count);
}
ssize_t __read(int fd, void *bytes, size_t count) { return read(fd, bytes, count); }
ssize_t __read_chk(int fd, void *bytes, size_t count, size_t room) { return (void)room, read(fd, bytes, count); }
ssize_t readv(int fd, const struct iovec *parts, int count) {
  ssize_t all = 0;
  int from = real(fd);
  if (from >= 0 || !is_standard(fd)) return libc_readv(from, parts, count);
  for (int i = 0; i < count; i++) {
    ssize_t some = simurgh_read(parts[i].iov_base, parts[i].iov_len);
    all += some;
    if ((size_t)some < parts[i].iov_len) break;
  }
  return all;
}

int close(int fd) {
  if (is_standard(fd)) return 0;
  if (!simurgh_is_child) simurgh_descriptor(fd, 0);
  return libc_close(fd);
}
int dup3(int old, int new, int flags) {
  int copy, from = real(old);
  if (!is_standard(new)) return simurgh_made(libc_dup3(from < 0 ? old : from, new, flags));
  if (old == new) return flags ? (errno = EINVAL, -1) : new;
  copy = fcntl(from < 0 ? old : from, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return -1;
  if (instead[new] >= 0) close(instead[new]);
  instead[new] = simurgh_made(copy);
  return new;
}
int dup2(int old, int new) { return old == new ? (fcntl(old, F_GETFD) < 0 ? -1 : new) : dup3(old, new, 0); }
int dup(int fd) {
  int from = real(fd);
  return simurgh_made(fcntl(from < 0 ? fd : from, F_DUPFD, 3));
}

int isatty(int fd) { return is_standard(fd) ? (errno = ENOTTY, 0) : libc_isatty(fd); }
int fstat(int fd, struct stat *about) {
  int at = real(fd);
  if (at >= 0 || !is_standard(fd)) return libc_fstat(at, about);
  memset(about, 0, sizeof *about);
  about->st_mode = S_IFIFO | 0600, about->st_nlink = 1, about->st_blksize = 4096, about->st_ino = (ino_t)fd + 1;
  return 0;
}
int fstat64(int fd, struct stat64 *about) { return fstat(fd, (struct stat *)about); }
int __fxstat(int version, int fd, struct stat *about) { return (void)version, fstat(fd, about); }
int __fxstat64(int version, int fd, struct stat64 *about) { return (void)version, fstat(fd, (struct stat *)about); }
