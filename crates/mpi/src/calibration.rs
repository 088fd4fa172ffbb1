//! The speed of this machine: measured once, by a loop of additions and multiplications, and remembered beside the files that
//! programs are compiled with, so that one run is scaled like the other.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::compute::processor_time;
use crate::toolchain::cache;

/// What this machine does in a second, in flops.
pub fn speed() -> f64 {
    static SPEED: OnceLock<f64> = OnceLock::new();
    *SPEED.get_or_init(|| {
        let places: Vec<PathBuf> = cache::places().into_iter().map(|place| place.join("speed")).collect();
        let machine = machine();
        let known = places.iter().find_map(|place| read(&std::fs::read_to_string(place).ok()?, &machine));
        known.unwrap_or_else(|| {
            let speed = calibrate();
            // Where nothing can be written, it is measured again.
            let _ = places.iter().find(|place| remember(place, &machine, speed).is_ok());
            speed
        })
    })
}

/// What tells this machine from another that has the same files: its processor.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// The speed that a text gives for a machine: `flops a second`, a tab, the machine.
fn read(text: &str, machine: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
    let (speed, _) = lines.find(|(_, known)| *known == machine)?;
    speed.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0)
}

fn remember(place: &std::path::Path, machine: &str, speed: f64) -> std::io::Result<()> {
    let others = std::fs::read_to_string(place).unwrap_or_default();
    let others =
        others.lines().filter(|line| line.split_once('\t').is_some_and(|(_, known)| known != machine));
    let text: String = others.map(|line| format!("{line}\n")).collect();
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder)?;
    }
    simurgh_files::write(place, |out| out.write_all(format!("{text}{speed:.0}\t{machine}\n").as_bytes()))
}

/// The best of some short runs, which others disturb least.
fn calibrate() -> f64 {
    const TURNS: u32 = 200_000;
    let run = || {
        let (start, mut sums) = (processor_time(), [1.0f64, 2.0, 3.0, 4.0]);
        for _ in 0..TURNS {
            for sum in &mut sums {
                *sum = std::hint::black_box(*sum * 0.999_999 + 1e-6);
            }
        }
        std::hint::black_box(sums);
        f64::from(TURNS) * 8.0 / (processor_time() - start).max(1e-9)
    };
    (0..20).map(|_| run()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_measured_once_and_each_has_its_own_line() {
        let folder = std::env::temp_dir().join(format!("simurgh-speed-{}", std::process::id()));
        let place = folder.join("speed");
        for (machine, speed) in [("one", 1e9), ("two", 2e9), ("one", 3e9)] {
            remember(&place, machine, speed).expect("it can be written");
        }
        let text = std::fs::read_to_string(&place).expect("it was written");
        assert_eq!(text, "2000000000\ttwo\n3000000000\tone\n");
        assert_eq!((read(&text, "one"), read(&text, "three")), (Some(3e9), None));
        assert_eq!(read("nonsense\tone\n", "one"), None);
        let _ = std::fs::remove_dir_all(folder);
    }
}
