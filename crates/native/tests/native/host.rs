//! What a host can do with processes, and what it must not suffer from them.

use std::path::Path;
use std::sync::Arc;

use simurgh_kernel::context::{Body, Coroutine, Door, Resumed};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::{Answer, SpawnRequest};
use simurgh_kernel::simulation::Simulation;
use simurgh_models::{Models, SimTime};
use simurgh_native::{End, Heap, Image, Options, Processes, switch_heap, with_heap};
use simurgh_platform::{HostId, Platform};

use crate::harness::{Host, c};

fn once(body: &mut Body, door: &mut Door, answer: Option<Answer>) -> Resumed {
    door.prepare(ActorId(0), HostId(0), SimTime::ZERO, answer);
    body.resume(door)
}

#[test]
fn where_a_suspended_process_is() {
    let program = c(r#"void yield_now(void);
        __attribute__((noinline)) void inner(void) { yield_now(); __asm__ volatile(""); }
        int main(void) {
            inner();
            yield_now();
            return 0;
        }"#)
    .compile();
    let image = Arc::new(Image::read(&program, Host::new()).unwrap());
    assert_eq!(image.imports("yield"), ["yield_now"]);
    assert_eq!(image.undefined(), [""; 0]);
    let processes = Processes::new(image, 2, Options { first: 10, ..Options::default() }).unwrap();
    let mut body = Body::Coroutine(processes.coroutine(11));
    let mut door = Door::new();
    let places = || -> Vec<(String, u32)> {
        let frames = processes.place(11);
        frames.into_iter().filter_map(|f| Some((f.function, f.place?.line))).collect()
    };
    assert!(places().is_empty());
    once(&mut body, &mut door, None);
    assert_eq!(places(), [("inner".to_owned(), 2), ("main".to_owned(), 4)]);
    once(&mut body, &mut door, Some(Answer::Ready));
    assert_eq!(places(), [("main".to_owned(), 5)]);
    assert!(matches!(once(&mut body, &mut door, Some(Answer::Ready)), Resumed::Ended));
    assert_eq!((processes.end(11), processes.end(10)), (Some(End::Exited(0)), None));
    let script = processes.gdb_script([11], Path::new("no such file"));
    assert!(script.contains(&format!("add-symbol-file {} -o 0x1", program.display())), "{script}");
    drop(body);
}

#[test]
fn processes_may_be_dropped_before_they_end() {
    let program = c(r#"#include <stdio.h>
        void yield_now(void);
        int main(void) { FILE *f = fopen("/dev/null", "w"); fprintf(f, "unwritten"); for (;;) yield_now(); }"#)
    .compile();
    for _ in 0..3 {
        let image = Arc::new(Image::read(&program, Host::new()).unwrap());
        let processes = Processes::new(image, 10, Options::default()).unwrap();
        let mut door = Door::new();
        for rank in 0..5 {
            let mut body = Body::Coroutine(processes.coroutine(rank));
            once(&mut body, &mut door, None);
            drop(body);
            assert_eq!(processes.end(rank), Some(End::Killed));
        }
    }
}

#[test]
fn heaps_are_chosen_by_who_works() {
    let program = c(r#"#include <stdlib.h>
        void yield_now(void);
        int main(void) { void *p = malloc(1000); yield_now(); free(p); yield_now(); return 0; }"#)
    .with(&["-fno-builtin"])
    .compile();
    let image = Arc::new(Image::read(&program, Host::new()).unwrap());
    let processes = Processes::new(image, 1, Options::default()).unwrap();
    let mut door = Door::new();
    let mut body = Body::Coroutine(processes.coroutine(0));
    once(&mut body, &mut door, None);
    let held = processes.allocated(0);
    assert!(held >= 1000);
    once(&mut body, &mut door, Some(Answer::Ready));
    assert_eq!(processes.allocated(0), held - 1000);
    assert_eq!(switch_heap(Heap::Library), Heap::Host, "outside of processes it is always the host's");
    assert_eq!(with_heap(Heap::Program, || *Box::new(7)), 7);
}

#[test]
fn the_kernel_runs_them_in_simulated_time() {
    let program = c(r#"#include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        int my_rank(void);
        int main(void) { usleep(1500000 * (1 + my_rank())); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
            printf("%ld.%09ld\n", (long)t.tv_sec, t.tv_nsec); if (my_rank() == 2) *(volatile int *)0 = 1; return 0; }"#)
    .compile();
    let host = Host::new();
    let image = Arc::new(Image::read(&program, host.clone()).unwrap());
    let processes = Processes::new(image, 4, Options::default()).unwrap();
    let models = Models::new(Arc::new(Platform::builtin()), &Default::default()).unwrap();
    let mut simulation = Simulation::new(models, 0);
    for rank in 0..4 {
        let body = Body::Coroutine(processes.coroutine(rank));
        simulation.spawn(SpawnRequest::new(format!("rank {rank}"), HostId(0), body)).unwrap();
    }
    let _ = simulation.run(None);
    let texts: Vec<String> = (0..4).map(|rank| host.text(rank, 1)).collect();
    assert_eq!(texts, ["1.500000000\n", "3.000000000\n", "4.500000000\n", "6.000000000\n"]);
    assert!(matches!(processes.end(2), Some(End::Crashed(_))));
    assert_eq!(processes.end(3), Some(End::Exited(0)));
}

#[test]
fn a_crash_of_the_host_is_as_without_us() {
    if std::env::var_os("SIMURGH_TEST_CRASH").is_some() {
        let program = c("int main(void) { return 0; }").compile();
        let image = Arc::new(Image::read(&program, Host::new()).unwrap());
        let _processes = Processes::new(image, 1, Options::default()).unwrap();
        // SAFETY: none; the test is that this ends us.
        unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "host::a_crash_of_the_host_is_as_without_us"]).env("SIMURGH_TEST_CRASH", "1");
    let status = command.output().unwrap().status;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGSEGV));
}

#[test]
fn a_coroutine_may_be_resumed_by_hand() {
    let program = c("void yield_now(void); int main(void) { yield_now(); return 3; }").compile();
    let image = Arc::new(Image::read(&program, Host::new()).unwrap());
    let processes = Processes::new(image, 1, Options::default()).unwrap();
    let mut coroutine: Box<dyn Coroutine> = processes.coroutine(0);
    let mut door = Door::new();
    assert_eq!(coroutine.resume(&mut door), None);
    assert!(door.simcall.take().is_some());
    door.answer = Some(Answer::Ready);
    assert_eq!(coroutine.resume(&mut door), Some(Err("exited with code 3".to_owned())));
}
