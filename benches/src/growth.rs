//! How cost grows with the size of a system: measured, and drawn. Each run is a process of its own, so that its memory is
//! its own too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;

use crate::chart::{Chart, Series};

/// What is measured, and where the pictures go.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The directory of the pictures
    #[arg(long, default_value = "docs/pictures")]
    out: PathBuf,
    /// The largest system of Chord nodes
    #[arg(long, default_value_t = 64_000)]
    nodes: u64,
    /// Runs each so many times, and takes the fastest
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
}

/// One run.
#[derive(Copy, Clone)]
struct Run {
    seconds: f64,
    bytes: f64,
    counted: f64,
}

/// Runs workloads in turn, several times, and gives the fastest of each: a machine is now faster, now slower, for minutes.
fn measure<const N: usize>(all: &[[String; N]], times: u32) -> simurgh::Result<Vec<[Run; N]>> {
    let never = Run { seconds: f64::INFINITY, bytes: 0.0, counted: 0.0 };
    let mut best = vec![[never; N]; all.len()];
    for _ in 0..times {
        for (arguments, best) in all.iter().flatten().zip(best.iter_mut().flatten()) {
            let run = run_once(arguments)?;
            if run.seconds < best.seconds {
                *best = run;
            }
        }
    }
    Ok(best)
}

#[expect(clippy::disallowed_methods, reason = "this program measures")]
fn run_once(arguments: &str) -> simurgh::Result<Run> {
    let program = std::env::current_exe().map_err(|error| fail(arguments, &error.to_string()))?;
    let start = Instant::now();
    let output = Command::new(&program)
        .args(arguments.split_whitespace())
        .arg("--stats")
        .output()
        .map_err(|error| fail(arguments, &error.to_string()))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(fail(arguments, &String::from_utf8_lossy(&output.stderr)));
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = |name: &str| {
        let mut words = told.split_whitespace().skip_while(|word| *word != name);
        words.nth(1).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0)
    };
    Ok(Run { seconds, bytes: number("peak"), counted: number("messages") })
}

fn fail(arguments: &str, why: &str) -> simurgh::Error {
    simurgh::Error::input(format!("{arguments}: {}", why.trim()))
}

/// Measures, prints tables, and writes the pictures.
pub fn run(options: &Options) -> simurgh::Result<()> {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| fail(&options.out.display().to_string(), &error.to_string()))?;
    chord(options)?;
    flows(options)?;
    workers(options)
}

fn chord(options: &Options) -> simurgh::Result<()> {
    println!("chord: nodes, µs a message, hops a lookup, µs for each of those hops, bytes a node");
    let (mut cost, mut hops, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    // About as many messages for each size; what it takes to make the system is taken off.
    let sizes: Vec<(u64, f64)> = std::iter::successors(Some(1000_u64), |nodes| Some(nodes * 4))
        .take_while(|nodes| *nodes <= options.nodes)
        .map(|nodes| (nodes, (2_000_000.0 / nodes as f64).clamp(10.0, 400.0)))
        .collect();
    let of = |&(nodes, seconds): &(u64, f64)| {
        [0.0, seconds].map(|seconds| format!("chord {nodes} {seconds} --workers 1"))
    };
    let runs = measure(&sizes.iter().map(of).collect::<Vec<_>>(), options.times)?;
    for ((nodes, seconds), [empty, full]) in sizes.into_iter().zip(runs) {
        let each = (full.seconds - empty.seconds).max(0.0) / full.counted * 1e6;
        // One lookup in ten seconds, one question in twenty, one finger in 120: of these, lookups take hops, and one message
        // more, the answer.
        let asked = nodes as f64 * seconds * (1.0 / 10.0 + 1.0 / 120.0);
        let answered = nodes as f64 * seconds / 20.0 * 2.0;
        let way = (full.counted - answered) / asked - 1.0;
        println!("{nodes:>8} {each:>8.2} {way:>8.2} {:>8.3} {:>8.0}", each / way, full.bytes / nodes as f64);
        cost.push((nodes as f64, each));
        hops.push((nodes as f64, way));
        memory.push((nodes as f64, full.bytes / nodes as f64));
    }
    write(
        options,
        "scale-chord.svg",
        &Chart {
            title: "Chord: the cost of a message".to_owned(),
            x: "nodes",
            y: "µs; hops",
            series: vec![
                Series { name: "µs a message".to_owned(), points: cost },
                Series { name: "hops a lookup".to_owned(), points: hops },
            ],
        },
    )?;
    write(
        options,
        "scale-memory.svg",
        &Chart {
            title: "Chord: memory".to_owned(),
            x: "nodes",
            y: "bytes",
            series: vec![Series { name: "bytes a node".to_owned(), points: memory }],
        },
    )
}

fn flows(options: &Options) -> simurgh::Result<()> {
    println!("flows: flows at once, µs a flow");
    let mut cost = Vec::new();
    let sizes = [16, 32, 64, 128, 256];
    let runs = measure(&sizes.map(|hosts| [format!("flows {hosts} 16 --workers 1")]), options.times)?;
    for (hosts, [run]) in sizes.into_iter().zip(runs) {
        let count = f64::from(hosts) * 16.0;
        println!("{count:>8} {:>8.2}", run.seconds / count * 1e6);
        cost.push((count, run.seconds / count * 1e6));
    }
    let title = "Flows that share links: the cost of each".to_owned();
    let series = vec![Series { name: "µs a flow".to_owned(), points: cost }];
    write(options, "scale-flows.svg", &Chart { title, x: "flows at once", y: "µs", series })
}

fn workers(options: &Options) -> simurgh::Result<()> {
    println!("matmul: size, seconds by one thread, by two, ratio");
    let (mut one, mut two) = (Vec::new(), Vec::new());
    let sizes = [64, 128, 256, 512, 1024];
    let of = |size: i32| [1, 2].map(|workers| format!("matmul {size} --workers {workers}"));
    for (size, [alone, shared]) in sizes.into_iter().zip(measure(&sizes.map(of), options.times)?) {
        let ratio = alone.seconds / shared.seconds;
        println!("{size:>8} {:>8.4} {:>8.4} {ratio:>8.2}", alone.seconds, shared.seconds);
        one.push((f64::from(size), alone.seconds));
        two.push((f64::from(size), shared.seconds));
    }
    let series = vec![
        Series { name: "one thread".to_owned(), points: one },
        Series { name: "two threads".to_owned(), points: two },
    ];
    let title = "A matrix product, really computed".to_owned();
    write(options, "scale-workers.svg", &Chart { title, x: "rows", y: "seconds", series })
}

fn write(options: &Options, name: &str, chart: &Chart) -> simurgh::Result<()> {
    let path: &Path = &options.out.join(name);
    std::fs::write(path, chart.svg()).map_err(|error| fail(&path.display().to_string(), &error.to_string()))
}
