//! Processes that end badly: each ends alone, and says where.

use simurgh_native::{End, Options};

use crate::harness::c;

/// A program whose second process does something wrong in line 6.
fn wrong(what: &str) -> String {
    let run = c(&format!(
        r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include <signal.h>
int my_rank(void); void yield_now(void); int pause(void); unsigned alarm(unsigned s); unsigned sleep(unsigned s); int deep(int n); void (*null)(void); volatile int zero; char *volatile bad = (char *)1; volatile int *volatile nothing;
void fault(void) {{
    {what}
}}
int deep(int n) {{ volatile char big[4096]; big[n % 4096] = 1; return n < 0 ? 0 : deep(n + 1) + big[0]; }}
int main(void) {{
    yield_now();
    if (my_rank() == 1) fault();
    yield_now();
    printf("fine\n");
    return 0;
}}"#
    ))
    .with(&["-fno-builtin"])
    .run(3);
    for rank in [0, 2] {
        assert_eq!((run.end(rank), run.out(rank)), (End::Exited(0), "fine\n".to_owned()));
    }
    assert!(run.endings[1].is_some(), "{what}: {}", run.end(1));
    run.crash(1)
}

#[test]
fn each_kind_is_told_with_its_line() {
    let cases = [
        ("*nothing = 3;", "segmentation fault writing 0x0"),
        ("zero = *nothing;", "segmentation fault reading 0x0"),
        ("zero = 100 / zero;", "integer division by zero"),
        ("zero = strlen(bad);", "segmentation fault reading 0x1"),
        ("null();", "segmentation fault: call of a null function pointer"),
        ("__builtin_trap();", "illegal instruction"),
        ("raise(SIGSEGV);", "segmentation fault, raised"),
        ("abort();", "aborted"),
        ("{ char *p = malloc(10); free(p); free(p); }", "double free of 0x"),
        ("{ char *p = malloc(100); free(p + 16); }", "which is not the beginning of an allocated block"),
        ("{ char *p = malloc(10); memset(p, 1, 11); free(p); }", "heap corruption: written beyond the end"),
        ("{ char local[100]; bad = local; free(bad); }", "which is not the beginning of an allocated block"),
        ("raise(SIGTERM);", "SIGTERM"),
        ("pause();", "pause: waits for a signal, and none comes: no alarm is set"),
        ("{ alarm(1); sleep(2); }", "ended by an alarm that it has set (SIGALRM), which it does not handle"),
    ];
    for (what, message) in cases {
        let told = wrong(what);
        assert!(told.contains(message), "{what}: {told}");
        assert!(told.starts_with("8: "), "{what}: {told}");
    }
}

#[test]
fn a_stack_that_is_too_deep() {
    let told = wrong("zero = deep(1);");
    assert!(told.contains("stack overflow: more than 8192 KiB of stack"), "{told}");
}

#[test]
fn assertions() {
    let told = wrong("assert(zero == 1);");
    assert!(told.contains("assertion `zero == 1' failed") && told.starts_with("8: "), "{told}");
}

#[test]
fn writing_to_constants_is_a_fault_as_anywhere() {
    assert!(
        wrong("strcpy((char *)\"constant\", bad + 1 ? \"x\" : 0);").contains("segmentation fault writing")
    );
}

#[test]
fn a_crash_within_libc_is_told_where_it_was_called() {
    let told = wrong("memcpy(bad, \"0123456789\", 1 + 8 * !zero);");
    assert!(told.contains("segmentation fault writing 0x1") && told.starts_with("8: "), "{told}");
}

#[test]
fn backtraces_name_functions() {
    let run = c(r#"
        int my_rank(void);
        __attribute__((noinline)) void inner(int *p) { *p = 1; __asm__ volatile(""); }
        __attribute__((noinline)) void outer(int *p) { inner(p); __asm__ volatile(""); }
        int main(void) { outer((int *)8); return 0; }"#)
    .run(1);
    let end = run.end(0);
    let names: Vec<&str> = end.crash().unwrap().backtrace.iter().map(|frame| &*frame.function).collect();
    assert_eq!(&names[..3], ["inner", "outer", "main"]);
    assert!(end.to_string().ends_with("program.c:3: segmentation fault writing 0x8"), "{end}");
}

#[test]
fn hundreds_may_crash() {
    let run = c(r#"int my_rank(void); void yield_now(void);
        int main(void) { for (int i = 0; i < my_rank() % 7; i++) yield_now(); if (my_rank() % 2) *(int *)0 = 1; return 0; }"#)
    .run(400);
    for rank in 0..400 {
        assert_eq!(matches!(run.end(rank), End::Crashed(_)), rank % 2 == 1);
    }
}

#[test]
fn a_loop_without_end_is_ended_from_outside() {
    let program = c(r#"#include <stdio.h>
        int my_rank(void); volatile int forever = 1;
        int main(void) {
            if (my_rank() == 1) while (forever) ;
            puts("fine"); return 0;
        }"#);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Another test's process may be the one that runs: what is ended must have run for long.
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(300));
                simurgh_native::Processes::interrupt_after(std::time::Duration::from_millis(500));
            }
        });
        let run = program.run(3);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        run
    });
    assert!(run.crash(1).contains("4: did not come back"), "{}", run.crash(1));
    assert_eq!(run.out(2), "fine\n");
}

#[test]
fn names_that_are_nowhere() {
    let run = c(r#"extern int nowhere(int) __attribute__((visibility("default")));
        int my_rank(void);
        int main(void) { return my_rank() ? nowhere(1) : 0; }"#)
    .with(&["-fPIC", "-Wl,--unresolved-symbols=ignore-in-object-files", "-Wl,-z,lazy", "-shared"])
    .run(2);
    assert_eq!(run.end(0), End::Exited(0));
    assert!(
        run.crash(1).contains("uses nowhere, which neither the program nor its libraries nor Simurgh define"),
        "{}",
        run.crash(1)
    );
}

#[test]
fn a_smaller_stack() {
    let program = c(r#"int my_rank(void);
        int deep(int n) { volatile char big[1024]; big[0] = n; return n ? deep(n - 1) + big[0] : 0; }
        int main(void) { return deep(500) & 0; }"#);
    let options = Options { stack: 256 * 1024, ..Options::default() };
    assert!(program.run_with(1, options).crash(0).contains("stack overflow: more than 256 KiB"));
    assert_eq!(program.run(1).end(0), End::Exited(0));
}

#[test]
fn a_program_handles_its_own_faults() {
    let run = c(r#"#include <setjmp.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        int my_rank(void); void yield_now(void);
        static sigjmp_buf back; static volatile int *nowhere; static volatile int none;
        static void jump(int signal) { siglongjmp(back, signal); }
        static void told(int signal, siginfo_t *info, void *context) {
          (void)context; printf("%d at %p\n", signal, info->si_addr); yield_now(); exit(0); }
        static void returns(int signal) { printf("seen %d\n", signal); }
        int main(void) {
          struct sigaction action = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};
          signal(SIGSEGV, jump); signal(SIGFPE, jump); yield_now();
          for (int i = 0; i < 3; i++) { int s = sigsetjmp(back, 1); if (!s) *nowhere = 1; yield_now(); printf("%d ", s); }
          int s = sigsetjmp(back, 1); if (!s) none = 100 / none; printf("%d\n", s); yield_now();
          nowhere = (int *)8; if (my_rank() == 1) signal(SIGSEGV, returns); else sigaction(SIGSEGV, &action, 0);
          *nowhere = 1; return 1; }"#)
    .run(3);
    for rank in [0, 2] {
        assert_eq!(run.end(rank), End::Exited(0), "{}", run.err(rank));
        assert_eq!(run.out(rank), "11 11 11 8\n11 at 0x8\n");
    }
    assert_eq!(run.out(1), "11 11 11 8\nseen 11\n");
    let crash = run.end(1).crash().cloned().expect("it returned to what failed");
    assert!(crash.message.contains("writing 0x8"), "{}", crash.message);
}
