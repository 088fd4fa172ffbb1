//! The time axis: round dates in a unit that suits the length of the run.

use super::canvas::Canvas;
use super::layout::Layout;

/// Room for a date with its unit.
const TICK_WIDTH: f64 = 90.0;

pub(super) fn draw(canvas: &mut Canvas, layout: &Layout<'_>) {
    let scale = layout.scale;
    let count = ((scale.right - scale.left) / TICK_WIDTH).floor().max(1.0);
    for (seconds, label) in ticks(scale.end, count as usize) {
        let x = scale.x(seconds);
        canvas.line((x, layout.rows_top), (x, layout.rows_bottom), "grid", "");
        if !layout.links.is_empty() {
            canvas.line((x, layout.strip_top), (x, layout.strip_bottom), "grid", "");
        }
        canvas.text(x, layout.rows_top - 7.0, "quiet middle", &label);
        canvas.text(x, layout.rows_bottom + 16.0, "quiet middle", &label);
    }
    for y in [layout.rows_top, layout.rows_bottom] {
        canvas.line((scale.left, y), (scale.right, y), "frame", "");
    }
}

/// At most `count` steps of 1, 2 or 5 times a power of ten, as seconds and as text.
fn ticks(end: f64, count: usize) -> Vec<(f64, String)> {
    // Written this way round so that NaN has no ticks either.
    if !(end > 0.0 && end.is_finite()) {
        return vec![(0.0, "0 s".to_owned())];
    }
    let (unit, name) = match end {
        end if end >= 1.0 => (1.0, "s"),
        end if end >= 1e-3 => (1e-3, "ms"),
        end if end >= 1e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    };
    let length = end / unit;
    let rough = length / count as f64;
    let power = rough.log10().floor();
    let magnitude = 10_f64.powf(power);
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude);
    let step = step.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(rough);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    // The last tick may be the end itself, short of it by rounding only.
    let last = (length / step * (1.0 + 1e-12)).floor() as usize;
    let tick = |index: usize| {
        let value = index as f64 * step;
        (value * unit, format!("{value:.decimals$} {name}"))
    };
    (0..=last.min(count + 1)).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::ticks;

    fn labels(end: f64, count: usize) -> Vec<String> {
        ticks(end, count).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(10.0, 5), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]);
        assert_eq!(labels(1.3, 4), ["0.0 s", "0.5 s", "1.0 s"]);
        assert_eq!(labels(0.25, 5), ["0 ms", "50 ms", "100 ms", "150 ms", "200 ms", "250 ms"]);
        assert_eq!(labels(3e-6, 3), ["0 µs", "1 µs", "2 µs", "3 µs"]);
        assert_eq!(labels(86400.0, 4), ["0 s", "50000 s"]);
    }

    #[test]
    fn a_run_without_duration_has_one_tick() {
        for end in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(labels(end, 10), ["0 s"]);
        }
    }

    #[test]
    fn ticks_never_pass_the_end_nor_their_number() {
        let mut end = 1e-12;
        while end < 1e12 {
            for count in [1, 2, 7, 14] {
                let ticks = ticks(end, count);
                assert!(!ticks.is_empty() && ticks.len() <= count + 1, "{end}: {ticks:?}");
                assert!(ticks.iter().all(|(seconds, _)| *seconds <= end * (1.0 + 1e-9)), "{end}: {ticks:?}");
            }
            end *= 1.37;
        }
    }
}
