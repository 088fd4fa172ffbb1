//! Measured, on demand: `cargo test --release -p simurgh-native --test native -- --ignored --nocapture speed`.

use std::sync::Arc;
use std::time::Duration;

use simurgh_native::{Image, Options, Processes};

use crate::harness::{Host, c, run};

/// Processor time, which others on the machine do not change much.
struct Instant(Duration);

impl Instant {
    fn now() -> Self {
        // SAFETY: there is room for the answer.
        let at = unsafe {
            let mut at: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut at);
            at
        };
        Self(Duration::new(at.tv_sec as u64, at.tv_nsec as u32))
    }

    fn elapsed(&self) -> Duration {
        Self::now().0 - self.0
    }
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let pss = text.lines().find(|line| line.starts_with("Pss:")).expect("the kernel says");
    let tables = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    kilobytes(pss) + tables.lines().find(|line| line.starts_with("VmPTE")).map_or(0, kilobytes)
}

#[test]
#[ignore = "measures"]
fn speed() {
    let program = c(r#"
        #include <stdio.h>
        #include <stdlib.h>
        void yield_now(void);
        int main(int argc, char **argv) { int n = atoi(argv[1]); for (int i = 0; i < n; i++) yield_now(); printf("done\n"); return 0; }"#)
    .compile();
    for count in [1024, 4096] {
        let before = resident();
        let start = Instant::now();
        let host = Host::new();
        let image = Arc::new(Image::read(&program, host.clone()).unwrap());
        let read = start.elapsed();
        let options = Options { args: vec!["program".to_owned(), "1".to_owned()], ..Options::default() };
        let processes = Processes::new(image, count, options).unwrap();
        let loaded = start.elapsed();
        drop(processes);
        println!("{count}: read {read:?}, loaded {loaded:?}, end {:?}", start.elapsed() - loaded);
        let options =
            |n: usize| Options { args: vec!["program".to_owned(), n.to_string()], ..Options::default() };
        let start = Instant::now();
        let one = run(Host::new(), program.clone(), count, options(1)).unwrap();
        println!(
            "{count}: run with one yield {:?}, {} KiB a process",
            start.elapsed(),
            (resident() - before) / count
        );
        drop(one);
    }
    let blocks = |malloc: unsafe extern "C" fn(usize) -> *mut u8, free: unsafe extern "C" fn(*mut u8)| {
        let start = Instant::now();
        for i in 0..20_000_000_usize {
            // SAFETY: a block is given back as it came.
            unsafe { free(std::hint::black_box(malloc(16 + i % 500))) };
        }
        start.elapsed().as_secs_f64() / 20e6 * 1e9
    };
    unsafe extern "C" {
        fn __libc_malloc(size: usize) -> *mut u8;
        fn __libc_free(block: *mut u8);
    }
    for _ in 0..3 {
        let ours = blocks(simurgh_native::malloc::malloc, simurgh_native::malloc::free);
        println!(
            "1: malloc and free of the host {ours:.2} ns, of libc {:.2} ns",
            blocks(__libc_malloc, __libc_free)
        );
    }
    let time = |n: usize, count: usize| {
        let options = Options { args: vec!["program".to_owned(), n.to_string()], ..Options::default() };
        let start = Instant::now();
        drop(run(Host::new(), program.clone(), count, options).unwrap());
        start.elapsed().as_secs_f64()
    };
    for count in [2, 64, 1024] {
        let yields = 2_000_000 / count;
        let spent = time(yields, count) - time(0, count);
        println!("{count}: {:.1} ns a yield and resume", spent * 1e9 / (yields * count) as f64);
    }
}
