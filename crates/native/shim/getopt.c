/* Options of a command line; as in glibc, arguments that are no options are moved behind them. */
#include "shim.h"
#include <getopt.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';
static char *rest; /* of a word of short options */
static int first, last; /* words that were skipped */

static void complain(char **argv, const char *text, const char *name, size_t length) {
  if (opterr) fprintf(stderr, "%s: %s '%.*s'\n", argv[0], text, (int)length, name);
}
/* Moves the words that were skipped behind those that were read since. */
static void exchange(char **argv) {
  int skipped = last - first, read = optind - last;
  for (int i = 0; i < read; i++) {
    char *word = argv[last + i];
    for (int j = last + i; j > first + i; j--) argv[j] = argv[j - 1];
    argv[first + i] = word;
  }
  first += read;
  last = first + skipped;
}
static int long_option(int argc, char **argv, const char *shorts, const struct option *longs, int *index, int dashes) {
  char *word = argv[optind] + dashes, *equal = strchr(word, '=');
  size_t length = equal ? (size_t)(equal - word) : strlen(word);
  int found = -1, candidates = 0;
  for (int i = 0; longs[i].name; i++)
    if (!strncmp(longs[i].name, word, length)) {
      if (strlen(longs[i].name) == length) {
        found = i, candidates = 1;
        break;
      }
      found = i, candidates++;
    }
  if (!candidates && dashes == 1 && strchr(shorts, word[0])) return -2;
  optind++;
  rest = 0;
  optopt = 0;
  if (candidates != 1) {
    complain(argv, candidates ? "option is ambiguous:" : "unrecognized option", word - dashes, length + (size_t)dashes);
    return '?';
  }
  if (equal && longs[found].has_arg == no_argument) {
    complain(argv, "option doesn't allow an argument:", word - dashes, length + (size_t)dashes);
    return optopt = longs[found].val, '?';
  }
  optarg = equal ? equal + 1 : 0;
  if (!equal && longs[found].has_arg == required_argument) {
    if (optind >= argc) {
      if (*shorts != ':') complain(argv, "option requires an argument:", word - dashes, length + (size_t)dashes);
      return optopt = longs[found].val, *shorts == ':' ? ':' : '?';
    }
    optarg = argv[optind++];
  }
  if (index) *index = found;
  if (longs[found].flag) return *longs[found].flag = longs[found].val, 0;
  return longs[found].val;
}
static int options(int argc, char **argv, const char *shorts, const struct option *longs, int *index, int only) {
  char *found, letter;
  int in_order = *shorts == '-', stops = *shorts == '+' || getenv("POSIXLY_CORRECT");
  if (*shorts == '-' || *shorts == '+') shorts++;
  optarg = 0;
  if (!optind || !first) {
    if (!optind) optind = 1;
    first = last = optind, rest = 0;
  }
  if (!rest || !*rest) {
    if (last > optind) last = optind;
    if (first > optind) first = optind;
    if (!in_order && !stops) {
      if (first != last && last != optind) exchange(argv);
      else if (last != optind) first = optind;
      while (optind < argc && (argv[optind][0] != '-' || !argv[optind][1])) optind++;
      last = optind;
    }
    if (optind < argc && !strcmp(argv[optind], "--")) {
      optind++;
      if (first != last && last != optind) exchange(argv);
      else if (first == last) first = optind;
      last = argc, optind = argc;
    }
    if (optind >= argc) {
      if (first != last) optind = first;
      return -1;
    }
    if (argv[optind][0] != '-' || !argv[optind][1]) {
      if (!in_order) return -1;
      return optarg = argv[optind++], 1;
    }
    if (longs) {
      int dashes = argv[optind][1] == '-' ? 2 : 1;
      if (dashes == 2 || (only && (argv[optind][2] || !strchr(shorts, argv[optind][1])))) {
        int answer = long_option(argc, argv, shorts, longs, index, dashes);
        if (answer != -2) return answer;
      }
    }
    rest = argv[optind] + 1;
  }
  letter = *rest++;
  found = strchr(shorts, letter);
  if (!*rest) optind++;
  if (!found || letter == ':' || letter == ';') {
    complain(argv, "invalid option --", &letter, 1);
    return optopt = (unsigned char)letter, '?';
  }
  if (found[1] == ':') {
    if (*rest) optarg = rest, optind++;
    else if (found[2] != ':') {
      if (optind >= argc) {
        if (*shorts != ':') complain(argv, "option requires an argument --", &letter, 1);
        rest = 0;
        return optopt = (unsigned char)letter, *shorts == ':' ? ':' : '?';
      }
      optarg = argv[optind++];
    }
    rest = 0;
  }
  return (unsigned char)letter;
}
int getopt(int argc, char *const *argv, const char *shorts) { return options(argc, (char **)argv, shorts, 0, 0, 0); }
int __posix_getopt(int argc, char *const *argv, const char *shorts) { return getopt(argc, argv, shorts); }
int getopt_long(int argc, char *const *argv, const char *shorts, const struct option *longs, int *index) {
  return options(argc, (char **)argv, shorts, longs, index, 0);
}
int getopt_long_only(int argc, char *const *argv, const char *shorts, const struct option *longs, int *index) {
  return options(argc, (char **)argv, shorts, longs, index, 1);
}
