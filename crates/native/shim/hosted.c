/* Functions of libc that keep what they allocate for all: they run while the host's heap serves. */
#include "shim.h"
#include <grp.h>
#include <iconv.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <netdb.h>
#include <printf.h>
#include <pwd.h>
#include <time.h>
#include <wchar.h>

#undef gettext
#undef dgettext
#undef dcgettext
#define HOSTED(type, name, parameters, arguments) \
  LIBC(name);                                     \
  type name parameters {                          \
    int heap = simurgh_heap(0);                   \
    type answer = libc_##name arguments;          \
    simurgh_heap(heap);                           \
    return answer;                                \
  }

HOSTED(struct tm *, localtime_r, (const time_t *at, struct tm *parts), (at, parts))
HOSTED(time_t, mktime, (struct tm * parts), (parts))
HOSTED(time_t, timelocal, (struct tm * parts), (parts))
HOSTED(size_t, strftime, (char *text, size_t room, const char *format, const struct tm *parts), (text, room, format, parts))
HOSTED(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base))
HOSTED(locale_t, duplocale, (locale_t locale), (locale))
HOSTED(iconv_t, iconv_open, (const char *to, const char *from), (to, from))
HOSTED(int, iconv_close, (iconv_t converter), (converter))
HOSTED(char *, gettext, (const char *text), (text))
HOSTED(char *, dgettext, (const char *domain, const char *text), (domain, text))
HOSTED(char *, dcgettext, (const char *domain, const char *text, int category), (domain, text, category))
HOSTED(char *, textdomain, (const char *domain), (domain))
HOSTED(char *, bindtextdomain, (const char *domain, const char *folder), (domain, folder))
HOSTED(char *, strerror_r, (int error, char *text, size_t room), (error, text, room))
HOSTED(char *, strsignal, (int signal), (signal))
HOSTED(struct passwd *, getpwuid, (uid_t user), (user))
HOSTED(struct passwd *, getpwnam, (const char *name), (name))
HOSTED(struct group *, getgrgid, (gid_t group), (group))
HOSTED(struct hostent *, gethostbyname, (const char *name), (name))
HOSTED(int, getaddrinfo, (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found),
       (node, service, hints, found))
HOSTED(size_t, mbstowcs, (wchar_t * to, const char *from, size_t count), (to, from, count))
HOSTED(size_t, wcstombs, (char *to, const wchar_t *from, size_t count), (to, from, count))

LIBC(tzset);
void tzset(void) {
  int heap = simurgh_heap(0);
  libc_tzset();
  simurgh_heap(heap);
}
LIBC(uselocale);
locale_t uselocale(locale_t locale) {
  locale_t before = libc_uselocale(locale);
  if (locale) simurgh_locale(locale);
  return before;
}
LIBC(freelocale);
void freelocale(locale_t locale) {
  int heap = simurgh_heap(0);
  libc_freelocale(locale);
  simurgh_heap(heap);
}

/* Kinds of conversions would be those of all processes; libquadmath asks for its own, and does without. */
int register_printf_specifier(int letter, printf_function *print, printf_arginfo_size_function *info) {
  return (void)letter, (void)print, (void)info, -1;
}
int register_printf_modifier(const wchar_t *text) { return (void)text, -1; }
int register_printf_type(printf_va_arg_function *read) { return (void)read, -1; }
int register_printf_function(int letter, printf_function *print, printf_arginfo_function *info) {
  return (void)letter, (void)print, (void)info, -1;
}
