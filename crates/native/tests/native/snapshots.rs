//! Processes are put back to what they were.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simurgh_kernel::context::{Body, Door, Resumed};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::{Answer, Simcall};
use simurgh_models::SimTime;
use simurgh_native::{Image, Options, Processes};
use simurgh_platform::HostId;

use crate::harness::{Host, Source, c, cpp};

/// Runs code until it asks; whether it has ended instead.
fn goes_on(body: &mut Body, rank: usize, answer: Option<Answer>) -> bool {
    let mut door = Door::new();
    door.prepare(ActorId(rank as u32), HostId::from_index(0), SimTime::ZERO, answer);
    !matches!(body.resume(&mut door), Resumed::Asked)
}

struct Rewound {
    host: Arc<Host>,
    processes: Processes,
    snapshot: simurgh_native::Snapshot,
}

impl Rewound {
    /// Processes that were kept when each had asked for the first time.
    fn new(source: &Source, count: usize) -> Self {
        let host = Host::new();
        let image = Arc::new(Image::read(&source.compile(), host.clone()).unwrap());
        let processes = Processes::new(image, count, Options::default()).unwrap();
        processes.keep_files();
        let mut bodies: Vec<Body> =
            (0..count).map(|rank| Body::Coroutine(processes.coroutine(rank))).collect();
        for (rank, body) in bodies.iter_mut().enumerate() {
            assert!(!goes_on(body, rank, None), "it asks first");
        }
        let snapshot = processes.snapshot();
        drop(bodies);
        Self { host, processes, snapshot }
    }

    /// What all wrote, from the moment of the snapshot to their end, one after the other.
    fn run(&self) -> String {
        self.processes.restore(&self.snapshot);
        self.host.forget();
        let count = self.processes.count();
        for rank in 0..count {
            let mut body = Body::Coroutine(self.processes.asking(rank, Simcall::Yield));
            assert!(!goes_on(&mut body, rank, None), "it asks again what it asked");
            while !goes_on(&mut body, rank, Some(Answer::Ready)) {}
        }
        (0..count).map(|rank| self.host.text(rank, 1)).collect()
    }
}

#[test]
fn globals_heaps_and_stacks_are_what_they_were() {
    let source = c(r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void yield_now(void); int my_rank(void);
int written = 7, zero; static __thread int own = 3;
double large[1 << 18]; /* more than is copied whole */
__attribute__((noinline)) static int garbage(void) { /* reads before it writes, below what the host's calls use */
    volatile int left[2000]; int sum = 0;
    for (int i = 0; i < 1000; i++) { sum += left[i] != 0; left[i] = i + 1; }
    return sum;
}
int main(void) {
    int local = 1; char *early = malloc(100); strcpy(early, "early"); large[5] = 0.5; srand(7);
    yield_now();
    int sum = garbage();
    written++; zero++; own++; local++; large[5]++; large[1 << 17]++; early[0]++;
    char *late = calloc(1, 1 << 20); int clean = late[500000] == 0; memset(late, 1, 1 << 20);
    char *more = calloc(1, 64); clean += more[10] == 0; memset(more, 1, 64);
    yield_now();
    free(early);
    printf("%d: %d %d %d %d %g %g %s %d %d %p %d\n", my_rank(), written, zero, own, local, large[5], large[1 << 17], "x", clean, rand(),
           (void *)late, sum);
    return 0;
}
"#);
    let rewound = Rewound::new(&source, 3);
    let first = rewound.run();
    assert!(first.starts_with("0: 8 1 4 2 1.5 1 x 2 "), "{first}");
    assert_eq!(first.lines().count(), 3, "{first}");
    for _ in 0..20 {
        assert_eq!(rewound.run(), first);
    }
}

#[test]
fn streams_and_exceptions_are_what_they_were() {
    let source = cpp(r#"
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <iostream>
extern "C" { void yield_now(void); int my_rank(void); }
std::map<std::string, int> table{{"a", 1}};
int main() {
    std::cout << "before\n" << std::flush;
    yield_now();
    FILE *file = fopen("/dev/null", "w"); fprintf(file, "text"); /* stays open */
    table["b"] += 2; table["a"]++;
    try { throw std::runtime_error("thrown"); } catch (std::exception &e) { table[e.what()]++; }
    yield_now();
    for (auto &[name, value] : table) std::cout << name << value << ' ';
    std::cout << std::endl;
}
"#);
    let rewound = Rewound::new(&source, 2);
    for _ in 0..50 {
        assert_eq!(rewound.run(), "a2 b2 thrown1 \na2 b2 thrown1 \n");
    }
}

/// What a process does to files, descriptors, maps, its directory and its environment is not seen by the next execution, nor afterwards.
#[test]
fn files_descriptors_maps_and_directories_are_what_they_were() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("put-back");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    for (name, text) in [("kept", "7\n"), ("gone", "here"), ("old", "named")] {
        std::fs::write(folder.join("inner").join(name), text).unwrap();
    }
    let text = r#"
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
void yield_now(void);
int main(void) {
    chdir("FOLDER/inner"); setenv("WORD", "early", 1);
    int log = open("early", O_RDWR | O_CREAT | O_TRUNC, 0600); write(log, "abc", 3);
    yield_now();
    char here[500], word[10]; strcpy(word, getenv("WORD")); getcwd(here, sizeof here);
    long position = lseek(log, 0, SEEK_CUR); write(log, "def", 3);
    int counter = open("counter", O_RDWR | O_CREAT | O_APPEND, 0600); write(counter, "x", 1);
    long size = lseek(counter, 0, SEEK_END);
    int number; FILE *file = fopen("kept", "r+"); fscanf(file, "%d", &number); rewind(file); fprintf(file, "%d\n", number + 1);
    int removed = unlink("gone"), made = mkdir("made", 0700), renamed = rename("old", "new");
    int inside = open("made/inside", O_WRONLY | O_CREAT, 0600), two[2]; pipe(two); dup(two[0]);
    char name[] = "tempXXXXXX"; int temporary = mkstemp(name);
    char *place = (char *)0x600000000000, *map = mmap(place, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    int mapped = map == place; map[5] = 1; munmap(map + 4096, 4096);
    setenv("WORD", "late", 1); chdir("/");
    yield_now();
    printf("%s %s %ld %ld %d %d %d %d %d %d\n", strrchr(here, '/'), word, position, size, number, removed, made, renamed, mapped,
           inside > 2 && temporary > 2);
    return 0;
}
"#;
    let rewound = Rewound::new(&c(&text.replace("FOLDER", &folder.display().to_string())), 1);
    for _ in 0..20 {
        assert_eq!(rewound.run(), "/inner early 3 1 7 0 0 0 1 1\n");
    }
    // The one that was open before is all that is open now.
    rewound.processes.restore(&rewound.snapshot);
    let open = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    let open: Vec<_> = open.filter(|path| path.starts_with(&folder) && path.is_file()).collect();
    assert_eq!(open, [folder.join("inner/early")]);
    drop(rewound);
    let mut left: Vec<String> = std::fs::read_dir(folder.join("inner"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["gone", "kept", "old"]);
    assert_eq!(std::fs::read_to_string(folder.join("inner/kept")).unwrap(), "7\n");
}

/// A program of seven small processes is put back some ten thousand times a second.
#[test]
#[ignore = "measures"]
fn speed_of_putting_back() {
    let source = c("void yield_now(void); int main(void) { yield_now(); return 0; }");
    let rewound = Rewound::new(&source, 7);
    #[expect(clippy::disallowed_methods, reason = "it is measured")]
    let start = Instant::now();
    for _ in 0..10_000 {
        rewound.processes.restore(&rewound.snapshot);
    }
    let spent: Duration = start.elapsed();
    println!("{:?}, {} us each", rewound.snapshot, spent.as_micros() as f64 / 10_000.0);
}
