//! What libc keeps once for all, and each process has for itself here.

use simurgh_native::{End, Options};

use crate::harness::{Host, c, run};

/// Runs a body of `main` in three processes; gives what they wrote.
fn outputs(body: &str) -> Vec<String> {
    let head = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include \
                <time.h>\n#include <sys/time.h>\n#include <errno.h>\n#include <math.h>\n#include <fenv.h>\n#include <locale.h>\n\
                #include <signal.h>\n#include <getopt.h>\n#include <malloc.h>\n#include <setjmp.h>\n#include <sys/stat.h>\n#include <dlfcn.h>\n\
                #include <sys/wait.h>\n#include <fcntl.h>\n#include <wchar.h>\n#include <sys/resource.h>\nint my_rank(void); void yield_now(void);\n";
    let program = c(&format!(
        "{head}int main(int argc, char **argv) {{ int r = my_rank(); (void)r; {body}\nreturn 0; }}"
    ))
    .with(&["-lm"]);
    let args = ["program", "-a", "word", "-b", "x", "--long=3", "rest"].map(str::to_owned).to_vec();
    let env = vec![("FIRST".to_owned(), "1".to_owned())];
    let hosts = ["alpha", "beta", "gamma"].map(str::to_owned).to_vec();
    let run = program.run_with(3, Options { args, env, hosts, ..Options::default() });
    for rank in 0..3 {
        assert_eq!(run.end(rank), End::Exited(0), "{}", run.err(rank));
    }
    (0..3).map(|rank| run.out(rank)).collect()
}

#[test]
fn random_numbers_are_those_of_libc() {
    let program = c(r#"#include <stdio.h>
        #include <stdlib.h>
        void yield_now(void);
        int main(void) { int a = rand(); yield_now(); srand(7); int b = rand(); yield_now(); srandom(5); yield_now(); long c = random();
        srand48(3); yield_now(); printf("%d %d %ld %.6f %ld\n", a, b, c, drand48(), lrand48()); return 0; }"#);
    let run = program.run(3);
    assert_eq!([0, 1, 2].map(|rank| run.out(rank)), [(); 3].map(|()| program.run_really()));
}

#[test]
fn strtok_and_buffers() {
    let out = outputs(
        r#"char text[32]; sprintf(text, "a%d b%d c%d", r, r, r); char *t = strtok(text, " "); yield_now();
        t = strtok(0, " "); yield_now(); t = strtok(0, " "); char *e = strerror(r + 1); yield_now();
        time_t at = 86400L * r; struct tm *parts = gmtime(&at); yield_now();
        printf("%s %s %d\n", t, e, parts->tm_mday);"#,
    );
    assert_eq!(
        out,
        ["c0 Operation not permitted 1\n", "c1 No such file or directory 2\n", "c2 No such process 3\n"]
    );
}

#[test]
fn options_of_command_lines() {
    let out = outputs(
        r#"static struct option longs[] = {{"long", required_argument, 0, 'l'}, {0}};
        for (int o; (o = getopt_long(argc, argv, "ab:", longs, 0)) != -1; yield_now()) printf("%c%s ", o, optarg ? optarg : "");
        printf("%d %s %s\n", optind, argv[optind], argv[optind + 1]);"#,
    );
    assert_eq!(out, ["a bx l3 5 word rest\n"; 3]);
}

#[test]
fn environment_and_names() {
    let out = outputs(
        r#"char v[9]; sprintf(v, "%d", r); setenv("MINE", v, 1); char host[99]; gethostname(host, 99); yield_now();
        char put[] = "PUT=x"; if (r == 1) putenv(put), unsetenv("FIRST"); yield_now();
        printf("%s %s %s %s %d\n", getenv("MINE"), getenv("FIRST") ? "first" : "-", getenv("PUT") ? "put" : "-", host, getpid());"#,
    );
    assert_eq!(out, ["0 first - alpha 1000\n", "1 - put beta 1001\n", "2 first - gamma 1002\n"]);
}

#[test]
fn clocks_follow_the_simulation() {
    let out = outputs(
        r#"struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a); usleep(250000 * (r + 1)); sleep(1);
        clock_gettime(CLOCK_MONOTONIC, &b); struct timeval v; gettimeofday(&v, 0);
        printf("%.3f %ld %ld\n", b.tv_sec - a.tv_sec + 1e-9 * (b.tv_nsec - a.tv_nsec), (long)v.tv_sec, (long)time(0));"#,
    );
    assert_eq!(
        out,
        ["1.250 1577836801 1577836801\n", "1.500 1577836801 1577836801\n", "1.750 1577836801 1577836801\n"]
    );
}

#[test]
fn errno_rounding_and_locale() {
    let out = outputs(
        r#"errno = 40 + r; volatile double third = 3.0; fesetround(r == 1 ? FE_UPWARD : FE_TONEAREST);
        char *l = setlocale(LC_ALL, r == 2 ? "C.UTF-8" : "C"); yield_now();
        double q = 1.0 / third; int e = errno; printf("%d %d %s %d\n", e, q > 0.33333333333333331, l, fegetround() == FE_UPWARD);"#,
    );
    assert_eq!(out, ["40 0 C 0\n", "41 1 C 1\n", "42 0 C.UTF-8 0\n"]);
}

#[test]
fn signals_that_a_process_handles() {
    let out = outputs(
        r#"static volatile int seen; void handler(int s) { seen = s; } signal(SIGUSR1, r ? handler : SIG_IGN); yield_now();
        raise(SIGUSR1); yield_now(); kill(getpid(), SIGUSR1); printf("%d\n", seen == (r ? SIGUSR1 : 0));"#,
    );
    assert_eq!(out, ["1\n"; 3]);
}

#[test]
fn directories_and_masks() {
    let out = outputs(
        r#"char d[64]; sprintf(d, "/tmp/simurgh-native-%d", r); mkdir(d, 0777); if (r) chdir(d); umask(r ? 077 : 022); yield_now();
        FILE *f = fopen("here.tmp", "w"); fprintf(f, "%d", r); fclose(f); yield_now(); struct stat s; stat("here.tmp", &s);
        char at[256]; getcwd(at, 256); printf("%s %o\n", r ? at : "-", s.st_mode & 0777); unlink("here.tmp"); rmdir(d);"#,
    );
    assert_eq!(out, ["- 644\n", "/tmp/simurgh-native-1 600\n", "/tmp/simurgh-native-2 600\n"]);
}

#[test]
fn heaps() {
    let out = outputs(
        r#"char *p[200]; for (int i = 0; i < 200; i++) { p[i] = malloc(i * 50); memset(p[i], r, i * 50); } yield_now();
        for (int i = 0; i < 200; i += 2) free(p[i]), p[i] = calloc(i, 50);
        int good = 1; for (int i = 0; i < 200; i++) for (int j = 0; j < i * 50; j++) good &= p[i][j] == (i % 2 ? r : 0);
        p[3] = realloc(p[3], 100000); good &= p[3][0] == r; void *a; good &= !posix_memalign(&a, 256, 10) && !((size_t)a % 256);
        good &= malloc_usable_size(a) >= 10; free(a); a = aligned_alloc(64, 640); free(a); a = reallocarray(0, 3, 4); free(a); a = valloc(1); free(a);
        char *text; asprintf(&text, "%d", r); text = realloc(text, 99); free(text); char *d = strdup("x"); free(d); d = getcwd(0, 0); free(d);
        for (int i = 0; i < 200; i++) free(p[i]); free(0); good &= malloc((size_t)-1 / 2) == 0;
        char *big = calloc(1, 100 << 20); good &= big[50 << 20] == 0; big[1 << 20] = 1; free(big);
        printf("%d\n", good);"#,
    );
    assert_eq!(out, ["1\n"; 3]);
}

#[test]
fn addresses_are_the_same_in_every_run() {
    if std::env::var_os("SIMURGH_TEST_ADDRESSES").is_some() {
        let body =
            r#"static int g; int l; printf("at %p %p %p %p\n", &g, (void *)&l, malloc(10), (void *)main);"#;
        println!("{}", outputs(body).concat());
        return;
    }
    // Alone in their processes: other tests may have the first place here.
    let addresses = || {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "libc::addresses_are_the_same_in_every_run"]);
        let output = command.env("SIMURGH_TEST_ADDRESSES", "1").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|line| line.contains("at 0x")).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = addresses();
    assert_eq!(first.len(), 3, "{first:?}");
    assert_eq!(first, addresses());
}

#[test]
fn streams() {
    let out = outputs(
        r#"printf("a%d", r); yield_now(); fputs(" b", stdout); putchar(' '); puts("c"); fwrite("d\n", 1, 2, stdout); putc_unlocked('e', stdout);
        fflush(0); write(1, "f\n", 2); dprintf(1, "%s", "g\n"); fprintf(stderr, "to errors\n"); perror("p"); wprintf(L"%ls\n", L"wide");
        char big[3000]; memset(big, 'x', 2999); big[2999] = 0; printf("%s\n", big); printf("%d", fileno(stdout)); setvbuf(stdout, 0, _IONBF, 0);
        char name[64]; sprintf(name, "/tmp/simurgh-native-s%d", r); FILE *f = fopen(name, "w+"); fprintf(f, "%d 2.5 word\n", r); rewind(f);
        int i; double d; char w[9]; fscanf(f, "%d %lf %8s", &i, &d, w); fclose(f); printf(" %d %.1f %s", i, d, w);
        freopen(name, "w", stdout); printf("into the file"); fclose(stdout); unlink(name);"#,
    );
    for (rank, out) in out.iter().enumerate() {
        assert_eq!(*out, format!("a{rank} b c\nd\nef\ng\nwide\n{}\n1 {rank} 2.5 word", "x".repeat(2999)));
    }
}

#[test]
fn input() {
    let program = c(r#"#include <stdio.h>
        int main(void) { int a, b; char line[64]; if (scanf("%d %d\n", &a, &b) == 2 && fgets(line, 64, stdin)) printf("%d %s", a + b, line);
        printf("%d\n", getchar()); return feof(stdin) ? 0 : 1; }"#)
    .compile();
    let host = Host::new();
    *host.input.lock().unwrap() = b"20 22\nthe rest\n".to_vec();
    let run = run(host, program, 1, Options::default()).unwrap();
    assert_eq!((run.out(0), run.end(0)), ("42 the rest\n-1\n".to_owned(), End::Exited(0)));
}

#[test]
fn exit_handlers_run_last_to_first() {
    let program = c(r#"#include <stdio.h>
        #include <stdlib.h>
        int my_rank(void); void yield_now(void);
        void one(void) { puts("one"); yield_now(); } void two(void) { puts("two"); atexit(one); }
        void with(int code, void *p) { printf("%d %s\n", code, (char *)p); }
        __attribute__((constructor)) void first(void) { puts("constructor"); }
        __attribute__((destructor)) void last(void) { puts("destructor"); }
        int main(void) { atexit(two); on_exit(with, "word"); puts("main"); yield_now(); if (my_rank() == 1) exit(3); if (my_rank() == 2) _Exit(4); return 5; }"#);
    let run = program.run(3);
    assert_eq!(run.out(0), "constructor\nmain\n5 word\ntwo\none\ndestructor\n");
    assert_eq!(run.out(1), "constructor\nmain\n3 word\ntwo\none\ndestructor\n");
    assert_eq!(run.out(2), "constructor\nmain\n");
    assert_eq!([0, 1, 2].map(|rank| run.end(rank)), [5, 3, 4].map(End::Exited));
}

#[test]
fn jumps_sorting_and_large_variables() {
    let out = outputs(
        r#"static char large[64 << 20]; large[r << 20] = 1; int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
        int v[100]; for (int i = 0; i < 100; i++) v[i] = (i * 37 + r) % 100; yield_now(); qsort(v, 100, 4, compare);
        jmp_buf back; volatile int n = 0; if (setjmp(back) < 3) { yield_now(); n++; longjmp(back, n); }
        printf("%d %d %d\n", v[0], v[99], n);"#,
    );
    assert_eq!(out, ["0 99 3\n"; 3]);
}

#[test]
fn other_programs_may_be_started() {
    let out = outputs(
        r#"char text[32] = ""; FILE *p = popen("echo popen", "r"); fgets(text, 32, p); pclose(p); int s = system("exit 3"); fflush(stdout);
        pid_t child = fork(); if (!child) { execl("/bin/sh", "sh", "-c", "exit 4", (char *)0); _exit(9); }
        int status; waitpid(child, &status, 0); printf("%d %d %s", WEXITSTATUS(s), WEXITSTATUS(status), text);"#,
    );
    assert_eq!(out, ["3 4 popen\n"; 3]);
}

#[test]
fn names_are_found_by_the_program() {
    let out = outputs(
        r#"int (*f)(void) = dlsym(RTLD_DEFAULT, "my_rank"); double (*c)(double) = dlsym(dlopen("libm.so.6", RTLD_NOW), "cos");
        void *none = dlopen("libnowhere.so", RTLD_NOW); printf("%d %.0f %d %d\n", f() == r, c(0), !none, dlerror() != 0);"#,
    );
    assert_eq!(out, ["1 1 1 1\n"; 3]);
}

#[test]
fn a_locale_that_the_environment_does_not_say_is_c() {
    let out = outputs(
        r#"printf("%s ", setlocale(LC_ALL, "")); setenv("LC_NUMERIC", "C.UTF-8", 1); yield_now();
        printf("%s ", setlocale(LC_NUMERIC, "")); printf("%s %d ", setlocale(LC_TIME, 0), setlocale(LC_ALL, "no such") != 0);
        setenv("LANG", "C.UTF-8", 1); unsetenv("LC_NUMERIC"); yield_now(); printf("%s\n", setlocale(LC_ALL, ""));"#,
    );
    assert_eq!(out, ["C C.UTF-8 C 0 C.UTF-8\n"; 3]);
}

#[test]
fn commands_see_the_environment_of_their_process() {
    let out = outputs(
        r#"char v[9], line[99] = "", p[64], command[128]; sprintf(v, "%d", r); setenv("MINE", v, 1); yield_now();
        FILE *f = popen("echo p$MINE", "r"); fgets(line, 99, f); pclose(f); printf("%s", line);
        sprintf(p, "/tmp/simurgh-native-environment-%d", r); sprintf(command, "echo s$MINE > %s", p); yield_now();
        printf("%d ", system(command)); f = fopen(p, "r"); fgets(line, 99, f); fclose(f); printf("%s", line);
        pid_t child = fork(); if (!child) execl("/bin/sh", "sh", "-c", "test \"$MINE\" = $0", v, (char *)0), _exit(9);
        int status; waitpid(child, &status, 0); printf("%d\n", status); unlink(p);"#,
    );
    assert_eq!(out, [0, 1, 2].map(|rank| format!("p{rank}\n0 s{rank}\n0\n")));
}

#[test]
fn descriptors_are_redirected_for_one_process() {
    let out = outputs(
        r#"char p[64], line[99] = "", all[299] = "", want[99] = ""; sprintf(p, "/tmp/simurgh-native-descriptor-%d", r); puts("before"); fflush(stdout);
        int saved = dup(1), fd = open(p, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (r) { dup2(fd, 1); close(fd); } yield_now();
        printf("kept %d\n", r); yield_now(); fflush(stdout); write(1, "too\n", 4); if (!fork()) { puts("child"); exit(0); } wait(0);
        if (r) { dup2(open("/dev/null", O_WRONLY), 1); puts("lost"); FILE *f = fopen(p, "r");
          while (fgets(line, 99, f)) strcat(all, line); sprintf(want, "kept %d\ntoo\nchild\n", r); if (strcmp(all, want)) return 9; }
        (void)saved; unlink(p);"#,
    );
    assert!(out[0].starts_with("before\nkept 0\ntoo\n"), "{}", out[0]);
    assert_eq!(out[1..], ["before\n", "before\n"]);
}

/// They went on as copies of the whole simulator.
#[test]
fn children_made_by_fork_end_as_children_do() {
    let out = outputs(
        r#"fflush(stdout);
        for (int way = 0; way < 6; way++) {
          struct rlimit none = {0, 0}; pid_t child = fork();
          if (!child) {
            close(2); setrlimit(RLIMIT_CORE, &none);
            if (way == 0) { usleep(1000); struct timespec at; clock_gettime(CLOCK_MONOTONIC, &at); exit(3); }
            if (way == 1) abort();
            if (way == 2) *(volatile int *)0 = 1;
            if (way == 3) raise(SIGTERM);
            if (way == 4) { char *volatile p = malloc(10); free(p); free(p); }
            if (way == 5) yield_now();
            _exit(9);
          }
          int status; waitpid(child, &status, 0);
          if (WIFSIGNALED(status)) printf("%d ", WTERMSIG(status)); else printf("code %d ", WEXITSTATUS(status));
        }
        yield_now(); printf("%d\n", r);"#,
    );
    assert_eq!(out, [0, 1, 2].map(|rank| format!("code 3 6 11 15 6 code 1 {rank}\n")));
}

/// They were those of the simulator, which they ended.
#[test]
fn limits_are_those_of_a_process() {
    let out = outputs(
        r#"struct rlimit before, mine = {r + 10, r + 20}, now, little = {1 << 20, 1 << 20}, wrong = {5, 4}, found;
        getrlimit(RLIMIT_NOFILE, &before); if (r) setrlimit(RLIMIT_NOFILE, &mine); yield_now(); getrlimit(RLIMIT_NOFILE, &now);
        int same = r ? now.rlim_cur == r + 10 && now.rlim_max == r + 20 : now.rlim_cur == before.rlim_cur;
        setrlimit(RLIMIT_AS, &little); prlimit(0, RLIMIT_CPU, &little, 0); prlimit(getpid(), RLIMIT_CPU, 0, &found);
        int refused = setrlimit(RLIMIT_DATA, &wrong), why = errno; char *p = malloc(100 << 20); FILE *f = fopen("/dev/null", "r");
        printf("%d %d %d %d %d %d\n", same, found.rlim_cur == 1 << 20, refused, why == EINVAL, p != 0, f != 0);"#,
    );
    assert_eq!(out, ["1 1 -1 1 1 1\n"; 3]);
}

/// They never came, and whoever waited for them did so in the simulator, for ever.
#[test]
fn alarms_ring_in_simulated_time() {
    let out = outputs(
        r#"static volatile int rung; void handler(int s) { rung += s == SIGALRM; } signal(SIGALRM, handler);
        alarm(2 + r); unsigned left = sleep(10); alarm(3); int paused = pause(), why = errno;
        struct itimerval every = {{0, 500000}, {1, 0}}, now; setitimer(ITIMER_REAL, &every, 0);
        for (int i = 0; i < 3; i++) pause();
        getitimer(ITIMER_REAL, &now); unsigned rest = alarm(0); struct timespec span = {1, 500000000}, more; alarm(1);
        int slept = nanosleep(&span, &more), again = nanosleep(&more, 0); alarm(1); sleep(0); alarm(0); sleep(5);
        struct timespec at; clock_gettime(CLOCK_MONOTONIC, &at);
        printf("%u %d %d %d %u %d %d %.1f %.3f %.3f\n", left, paused, why == EINTR, rung, rest, slept, again, 1e-9 * more.tv_nsec,
          now.it_value.tv_sec + 1e-6 * now.it_value.tv_usec, at.tv_sec + 1e-9 * at.tv_nsec);"#,
    );
    assert_eq!(out, [0, 1, 2].map(|r| format!("{} -1 1 6 1 -1 0 0.5 0.500 {}.500\n", 8 - r, 13 + r)));
}

#[test]
fn a_stack_is_as_large_as_the_system_allows() {
    assert!((8 << 20..=1 << 30).contains(&Options::default().stack));
}
