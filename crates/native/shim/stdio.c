/* The three standard streams of a process. They lie in its own memory; what is written goes to the host. Other streams are
   libc's, made while the host's heap serves, since libc keeps them in a list of its own. */
#include "shim.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <wchar.h>

struct stream {
  struct _IO_FILE layout; /* zero: macros that look into it call __overflow or __uflow */
  int fd;
  FILE *instead; /* what it is redirected to; of the input, what it is read by */
  int error;
};
static struct stream input = {.fd = 0}, output = {.fd = 1}, errors = {.fd = 2};
FILE *stdin = (FILE *)&input, *stdout = (FILE *)&output, *stderr = (FILE *)&errors;

LIBC(fopencookie); LIBC(fclose); LIBC(fopen); LIBC(fopen64); LIBC(fdopen); LIBC(freopen); LIBC(popen); LIBC(pclose); LIBC(tmpfile);
LIBC(fmemopen); LIBC(open_memstream); LIBC(vfprintf); LIBC(vfwprintf); LIBC(fputs); LIBC(fputc); LIBC(fwrite); LIBC(fflush);
LIBC(setvbuf); LIBC(fileno); LIBC(ferror); LIBC(feof); LIBC(clearerr); LIBC(fgetc); LIBC(fgets); LIBC(fread); LIBC(ungetc);
LIBC(vfscanf); LIBC(getdelim); LIBC(fseek); LIBC(fseeko); LIBC(ftell); LIBC(ftello); LIBC(rewind); LIBC(fputwc); LIBC(fputws);
LIBC(fgetwc); LIBC(fgetws); LIBC(ungetwc); LIBC(flockfile); LIBC(funlockfile); LIBC(ftrylockfile); LIBC(fwide);
LIBC(vdprintf); LIBC(fgetpos); LIBC(fsetpos);
extern int libc___overflow(FILE *, int);
extern int libc___uflow(FILE *);
extern int libc___isoc99_vfscanf(FILE *, const char *, va_list);

static ssize_t read_input(void *cookie, char *bytes, size_t count) { return (void)cookie, read(0, bytes, count); }

static FILE *made(FILE *stream, int heap) {
  if (stream) simurgh_stream(stream, 1);
  simurgh_heap(heap);
  return stream;
}

static int is_ours(FILE *f) { return f == (FILE *)&output || f == (FILE *)&errors || f == (FILE *)&input; }

/* libc's stream that stands for one; null for output that goes to the host. */
static FILE *real(FILE *f) {
  struct stream *s = (struct stream *)f;
  if (!is_ours(f)) return f;
  if (s == &input && !s->instead) {
    int heap = simurgh_heap(0);
    s->instead = made(libc_fopencookie(0, "r", (cookie_io_functions_t){.read = read_input}), heap);
  }
  return s->instead;
}

static int put(FILE *f, const void *bytes, size_t count) {
  write(((struct stream *)f)->fd, bytes, count);
  return 0;
}
void simurgh_say(const char *text) { put((FILE *)&errors, text, strlen(text)), put((FILE *)&errors, "\n", 1); }

void simurgh_streams_start(void) {}
void simurgh_streams_end(void) {
  simurgh_stream(0, 0);
}

#undef fputs_unlocked
#undef fwrite_unlocked
#undef fread_unlocked
/* Writing. */
int vfprintf(FILE *f, const char *format, va_list list) {
  FILE *r = real(f);
  char text[1024], *more = 0;
  va_list again;
  int count;
  if (r) return libc_vfprintf(r, format, list);
  va_copy(again, list);
  count = vsnprintf(text, sizeof text, format, list);
  if (count >= (int)sizeof text && (more = malloc((size_t)count + 1))) vsnprintf(more, (size_t)count + 1, format, again);
  va_end(again);
  if (count > 0) put(f, more ? more : text, more || count < (int)sizeof text ? (size_t)count : sizeof text - 1);
  free(more);
  return count;
}
#define VARIADIC(call) \
  va_list list;        \
  va_start(list, format); \
  int count = call;    \
  va_end(list);        \
  return count
int printf(const char *format, ...) { VARIADIC(vfprintf(stdout, format, list)); }
int fprintf(FILE *f, const char *format, ...) { VARIADIC(vfprintf(f, format, list)); }
int vprintf(const char *format, va_list list) { return vfprintf(stdout, format, list); }
int __printf_chk(int flag, const char *format, ...) { (void)flag; VARIADIC(vfprintf(stdout, format, list)); }
int __fprintf_chk(FILE *f, int flag, const char *format, ...) { (void)flag; VARIADIC(vfprintf(f, format, list)); }
int __vprintf_chk(int flag, const char *format, va_list list) { return (void)flag, vfprintf(stdout, format, list); }
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list list) { return (void)flag, vfprintf(f, format, list); }
int vdprintf(int fd, const char *format, va_list list) {
  return fd == 1 || fd == 2 ? vfprintf(fd == 1 ? (FILE *)&output : (FILE *)&errors, format, list) : libc_vdprintf(fd, format, list);
}
int dprintf(int fd, const char *format, ...) { VARIADIC(vdprintf(fd, format, list)); }
int __dprintf_chk(int fd, int flag, const char *format, ...) { (void)flag; VARIADIC(vdprintf(fd, format, list)); }
int __vdprintf_chk(int fd, int flag, const char *format, va_list list) { return (void)flag, vdprintf(fd, format, list); }

int fputs(const char *text, FILE *f) { FILE *r = real(f); return r ? libc_fputs(text, r) : put(f, text, strlen(text)); }
int fputs_unlocked(const char *text, FILE *f) { return fputs(text, f); }
int fputc(int c, FILE *f) {
  FILE *r = real(f);
  char byte = (char)c;
  if (r) return libc_fputc(c, r);
  put(f, &byte, 1);
  return (unsigned char)c;
}
#undef putc
#undef putchar
#undef putc_unlocked
#undef putchar_unlocked
#undef fputc_unlocked
int putc(int c, FILE *f) { return fputc(c, f); }
int _IO_putc(int c, FILE *f) { return fputc(c, f); }
int putc_unlocked(int c, FILE *f) { return fputc(c, f); }
int fputc_unlocked(int c, FILE *f) { return fputc(c, f); }
int putchar(int c) { return fputc(c, stdout); }
int putchar_unlocked(int c) { return fputc(c, stdout); }
int putw(int word, FILE *f) { return fwrite(&word, sizeof word, 1, f) == 1 ? 0 : EOF; }
int __overflow(FILE *f, int c) { FILE *r = real(f); return r == f ? libc___overflow(f, c) : fputc(c, f); }
int puts(const char *text) { return fputs(text, stdout) == EOF || fputc('\n', stdout) == EOF ? EOF : 1; }
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *f) {
  FILE *r = real(f);
  if (r) return libc_fwrite(bytes, size, count, r);
  if (size && count) put(f, bytes, size * count);
  return size ? count : 0;
}
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *f) { return fwrite(bytes, size, count, f); }
void perror(const char *text) {
  int error = errno;
  if (text && *text) fprintf(stderr, "%s: %s\n", text, strerror(error));
  else fprintf(stderr, "%s\n", strerror(error));
}
wint_t fputwc(wchar_t c, FILE *f) {
  FILE *r = real(f);
  char bytes[16];
  mbstate_t state = {0};
  size_t count;
  if (r) return libc_fputwc(c, r);
  count = wcrtomb(bytes, c, &state);
  if (count == (size_t)-1) return WEOF;
  put(f, bytes, count);
  return (wint_t)c;
}
wint_t putwc(wchar_t c, FILE *f) { return fputwc(c, f); }
wint_t putwchar(wchar_t c) { return fputwc(c, stdout); }
int fputws(const wchar_t *text, FILE *f) {
  FILE *r = real(f);
  if (r) return libc_fputws(text, r);
  while (*text)
    if (fputwc(*text++, f) == WEOF) return -1;
  return 1;
}
int vfwprintf(FILE *f, const wchar_t *format, va_list list) {
  FILE *r = real(f);
  wchar_t text[2048];
  int count;
  if (r) return libc_vfwprintf(r, format, list);
  count = vswprintf(text, 2048, format, list);
  if (count >= 0) fputws(text, f);
  return count;
}
int fwprintf(FILE *f, const wchar_t *format, ...) { VARIADIC(vfwprintf(f, format, list)); }
int wprintf(const wchar_t *format, ...) { VARIADIC(vfwprintf(stdout, format, list)); }
int vwprintf(const wchar_t *format, va_list list) { return vfwprintf(stdout, format, list); }

/* Reading. */
#define IN(f) (real(f))
int fgetc(FILE *f) { FILE *r = IN(f); return r ? libc_fgetc(r) : EOF; }
#undef getc
#undef getchar
#undef getc_unlocked
#undef getchar_unlocked
#undef fgetc_unlocked
int getc(FILE *f) { return fgetc(f); }
int _IO_getc(FILE *f) { return fgetc(f); }
int getc_unlocked(FILE *f) { return fgetc(f); }
int fgetc_unlocked(FILE *f) { return fgetc(f); }
int getchar(void) { return fgetc(stdin); }
int getchar_unlocked(void) { return fgetc(stdin); }
int __uflow(FILE *f) { FILE *r = real(f); return r == f ? libc___uflow(f) : fgetc(f); }
int ungetc(int c, FILE *f) { FILE *r = IN(f); return r ? libc_ungetc(c, r) : EOF; }
char *fgets(char *text, int count, FILE *f) { FILE *r = IN(f); return r ? libc_fgets(text, count, r) : 0; }
char *fgets_unlocked(char *text, int count, FILE *f) { return fgets(text, count, f); }
char *__fgets_chk(char *text, size_t size, int count, FILE *f) { return (void)size, fgets(text, count, f); }
size_t fread(void *bytes, size_t size, size_t count, FILE *f) { FILE *r = IN(f); return r ? libc_fread(bytes, size, count, r) : 0; }
size_t fread_unlocked(void *bytes, size_t size, size_t count, FILE *f) { return fread(bytes, size, count, f); }
size_t __fread_chk(void *bytes, size_t room, size_t size, size_t count, FILE *f) { return (void)room, fread(bytes, size, count, f); }
ssize_t getdelim(char **line, size_t *room, int end, FILE *f) { FILE *r = IN(f); return r ? libc_getdelim(line, room, end, r) : -1; }
ssize_t __getdelim(char **line, size_t *room, int end, FILE *f) { return getdelim(line, room, end, f); }
ssize_t getline(char **line, size_t *room, FILE *f) { return getdelim(line, room, '\n', f); }
int simurgh_vfscanf(FILE *f, const char *format, va_list list) {
  FILE *r = IN(f);
  return r ? libc___isoc99_vfscanf(r, format, list) : EOF;
}
int isoc99_vfscanf(FILE *f, const char *format, va_list list) __asm__("__isoc99_vfscanf");
int isoc99_vfscanf(FILE *f, const char *format, va_list list) { return simurgh_vfscanf(f, format, list); }
int isoc99_vscanf(const char *format, va_list list) __asm__("__isoc99_vscanf");
int isoc99_vscanf(const char *format, va_list list) { return simurgh_vfscanf(stdin, format, list); }
int isoc99_scanf(const char *format, ...) __asm__("__isoc99_scanf");
int isoc99_scanf(const char *format, ...) { VARIADIC(simurgh_vfscanf(stdin, format, list)); }
int isoc99_fscanf(FILE *f, const char *format, ...) __asm__("__isoc99_fscanf");
int isoc99_fscanf(FILE *f, const char *format, ...) { VARIADIC(simurgh_vfscanf(f, format, list)); }
int isoc23_scanf(const char *format, ...) __asm__("__isoc23_scanf");
int isoc23_scanf(const char *format, ...) { VARIADIC(simurgh_vfscanf(stdin, format, list)); }
int isoc23_fscanf(FILE *f, const char *format, ...) __asm__("__isoc23_fscanf");
int isoc23_fscanf(FILE *f, const char *format, ...) { VARIADIC(simurgh_vfscanf(f, format, list)); }
int gnu_scanf(const char *format, ...) __asm__("scanf");
int gnu_scanf(const char *format, ...) { VARIADIC(simurgh_vfscanf(stdin, format, list)); }
int gnu_fscanf(FILE *f, const char *format, ...) __asm__("fscanf");
int gnu_fscanf(FILE *f, const char *format, ...) { VARIADIC(simurgh_vfscanf(f, format, list)); }
int gnu_vscanf(const char *format, va_list list) __asm__("vscanf");
int gnu_vscanf(const char *format, va_list list) { return simurgh_vfscanf(stdin, format, list); }
int gnu_vfscanf(FILE *f, const char *format, va_list list) __asm__("vfscanf");
int gnu_vfscanf(FILE *f, const char *format, va_list list) { return simurgh_vfscanf(f, format, list); }
wint_t fgetwc(FILE *f) { FILE *r = IN(f); return r ? libc_fgetwc(r) : WEOF; }
wint_t getwc(FILE *f) { return fgetwc(f); }
wint_t getwchar(void) { return fgetwc(stdin); }
wint_t ungetwc(wint_t c, FILE *f) { FILE *r = IN(f); return r ? libc_ungetwc(c, r) : WEOF; }
wchar_t *fgetws(wchar_t *text, int count, FILE *f) { FILE *r = IN(f); return r ? libc_fgetws(text, count, r) : 0; }

/* Streams as such. */
int fflush(FILE *f) { FILE *r = f ? real(f) : 0; return !f || r ? libc_fflush(r) : 0; }
int fflush_unlocked(FILE *f) { return fflush(f); }
int setvbuf(FILE *f, char *buffer, int mode, size_t size) { return is_ours(f) ? 0 : libc_setvbuf(f, buffer, mode, size); }
void setbuf(FILE *f, char *buffer) { setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, BUFSIZ); }
void setbuffer(FILE *f, char *buffer, size_t size) { setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, size); }
void setlinebuf(FILE *f) { setvbuf(f, 0, _IOLBF, 0); }
int fileno(FILE *f) { return is_ours(f) ? ((struct stream *)f)->fd : libc_fileno(f); }
int fileno_unlocked(FILE *f) { return fileno(f); }
int ferror(FILE *f) { FILE *r = real(f); return r ? libc_ferror(r) : 0; }
#undef ferror_unlocked
#undef feof_unlocked
int ferror_unlocked(FILE *f) { return ferror(f); }
int feof(FILE *f) { FILE *r = real(f); return r ? libc_feof(r) : 0; }
int feof_unlocked(FILE *f) { return feof(f); }
void clearerr(FILE *f) { FILE *r = real(f); if (r) libc_clearerr(r); }
void clearerr_unlocked(FILE *f) { clearerr(f); }
void flockfile(FILE *f) { if (!is_ours(f)) libc_flockfile(f); }
void funlockfile(FILE *f) { if (!is_ours(f)) libc_funlockfile(f); }
int ftrylockfile(FILE *f) { return is_ours(f) ? 0 : libc_ftrylockfile(f); }
int fwide(FILE *f, int mode) { return is_ours(f) ? 0 : libc_fwide(f, mode); }
#define SEEK(type, failed, call) FILE *r = real(f); if (r) return call; return errno = ESPIPE, failed
int fseek(FILE *f, long offset, int from) { SEEK(int, -1, libc_fseek(r, offset, from)); }
int fseeko(FILE *f, off_t offset, int from) { SEEK(int, -1, libc_fseeko(r, offset, from)); }
int fseeko64(FILE *f, off64_t offset, int from) { return fseeko(f, offset, from); }
long ftell(FILE *f) { SEEK(long, -1, libc_ftell(r)); }
off_t ftello(FILE *f) { SEEK(off_t, -1, libc_ftello(r)); }
off64_t ftello64(FILE *f) { return ftello(f); }
int fgetpos(FILE *f, fpos_t *at) { SEEK(int, -1, libc_fgetpos(r, at)); }
int fsetpos(FILE *f, const fpos_t *at) { SEEK(int, -1, libc_fsetpos(r, at)); }
void rewind(FILE *f) { FILE *r = real(f); if (r) libc_rewind(r); }

#define MADE(call) int heap = simurgh_heap(0); return made(call, heap)
FILE *fopen(const char *path, const char *mode) { simurgh_touch_for(path, mode); MADE(libc_fopen(path, mode)); }
FILE *fopen64(const char *path, const char *mode) { simurgh_touch_for(path, mode); MADE(libc_fopen64(path, mode)); }
FILE *fdopen(int fd, const char *mode) {
  if (fd == 0) return stdin;
  if (fd == 1) return stdout;
  if (fd == 2) return stderr;
  /* It is closed with the stream. */
  simurgh_descriptor(fd, 0);
  MADE(libc_fdopen(fd, mode));
}
FILE *popen(const char *command, const char *mode) {
  int heap = simurgh_heap(0);
  char **before = simurgh_environment_lend();
  FILE *stream = libc_popen(command, mode);
  simurgh_environment_back(before);
  return made(stream, heap);
}
FILE *tmpfile(void) { MADE(libc_tmpfile()); }
FILE *tmpfile64(void) { return tmpfile(); }
FILE *fmemopen(void *bytes, size_t size, const char *mode) { MADE(libc_fmemopen(bytes, size, mode)); }
FILE *open_memstream(char **text, size_t *size) { MADE(libc_open_memstream(text, size)); }
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions) { MADE(libc_fopencookie(cookie, mode, functions)); }
int fclose(FILE *f) {
  FILE *r = real(f);
  int heap, answer;
  if (!r) return 0;
  if (is_ours(f)) ((struct stream *)f)->instead = 0;
  simurgh_stream(r, 0);
  heap = simurgh_heap(0);
  answer = libc_fclose(r);
  simurgh_heap(heap);
  return answer;
}
int pclose(FILE *f) {
  int heap, answer;
  simurgh_stream(f, 0);
  heap = simurgh_heap(0);
  answer = libc_pclose(f);
  simurgh_heap(heap);
  return answer;
}
FILE *freopen(const char *path, const char *mode, FILE *f) {
  int heap;
  FILE *r;
  if (is_ours(f)) {
    struct stream *s = (struct stream *)f;
    if (s->instead) fclose(f);
    s->instead = fopen(path, mode);
    return s->instead ? f : 0;
  }
  simurgh_touch_for(path, mode);
  heap = simurgh_heap(0);
  r = libc_freopen(path, mode, f);
  if (!r) simurgh_stream(f, 0);
  simurgh_heap(heap);
  return r;
}
FILE *freopen64(const char *path, const char *mode, FILE *f) { return freopen(path, mode, f); }
