//! How long a large cluster takes to load, and two million hosts to build; the numbers of the commit messages.
//!
//! `cargo run --release -p simurgh-platform --example measure [FILE]`

use simurgh_platform::{Platform, Route, Routing};

fn main() {
    if let Some(file) = std::env::args().nth(1) {
        let platform = timed("load", || Platform::from_file(&file).unwrap_or_else(|error| panic!("{error}")));
        let hosts: Vec<_> = platform.hosts().collect();
        let mut route = Route::default();
        let mut links = 0;
        timed("a million routes", || {
            for i in 0..1_000_000_usize {
                let (src, dst) = (hosts[i * 7919 % hosts.len()], hosts[i * 104_729 % hosts.len()]);
                if platform.route_into(src, dst, &mut route).is_ok() {
                    links += route.links.len();
                }
            }
        });
        println!("{platform:?}, {links} links crossed");
        return;
    }
    let platform = timed("build two million hosts", || {
        let mut b = Platform::builder();
        let world = b.zone("world", Routing::Star);
        for i in 0..2_000_000 {
            let host = b.host(world, &format!("peer-{i}"), 1e9).id();
            let link = b.link(world, &format!("link-{i}"), 1e7, 0.01).id();
            b.star(world, host, &[link]);
        }
        b.build().unwrap_or_else(|error| panic!("{error}"))
    });
    println!("{platform:?}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!(
        "{}",
        status
            .lines()
            .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
            .collect::<Vec<_>>()
            .join(", ")
    );
}

#[allow(clippy::disallowed_methods, reason = "this program measures")]
fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let result = run();
    println!("{what}: {:.3} s", start.elapsed().as_secs_f64());
    result
}
