//! Charts with logarithmic axes, as SVG: what grows how fast is the slope of a line.

use std::fmt::Write;

/// A line of a chart.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A chart.
pub struct Chart {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    pub series: Vec<Series>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// Told apart by those who see few colours, on light and on dark ground.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

/// The decades around some numbers.
fn decades(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for number in numbers.filter(|number| *number > 0.0) {
        (low, high) = (low.min(number), high.max(number));
    }
    if high <= 0.0 {
        return (0.0, 1.0);
    }
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    (low, if high > low { high } else { low + 1.0 })
}

/// 1000 as "1k", 0.001 as "1m".
fn short(decade: i32) -> String {
    const NAMES: [(i32, &str); 6] = [(9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"), (-6, "µ")];
    let &(base, name) = NAMES.iter().find(|(base, _)| decade >= *base).unwrap_or(&(-9, "n"));
    format!("{}{name}", 10_i32.pow((decade - base).unsigned_abs()))
}

impl Chart {
    /// As a picture.
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let (x0, x1) = decades(all().map(|point| point.0));
        let (y0, y1) = decades(all().map(|point| point.1));
        let at_x = |x: f64| LEFT + (x.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
        let at_y = |y: f64| HEIGHT - BOTTOM - (y.log10() - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
            escape(&self.title)
        );
        let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
        for decade in x0 as i32..=x1 as i32 {
            let x = at_x(10_f64.powi(decade));
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                short(decade)
            );
        }
        for decade in y0 as i32..=y1 as i32 {
            let y = at_y(10_f64.powi(decade));
            let _ = writeln!(
                out,
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                short(decade)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(left, right),
            HEIGHT - 14.0,
            escape(self.x),
            f64::midpoint(top, bottom),
            escape(self.y)
        );
        // Names that would lie on each other are moved apart.
        let mut last = f64::NEG_INFINITY;
        let end = |series: &Series| series.points.last().map_or(bottom, |point| at_y(point.1));
        let mut order: Vec<_> = (0..self.series.len()).collect();
        order.sort_by(|&a, &b| end(&self.series[a]).total_cmp(&end(&self.series[b])));
        for index in order {
            let (series, colour) = (&self.series[index], COLOURS[index % COLOURS.len()]);
            let points: Vec<_> =
                series.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", at_x(x), at_y(y))).collect();
            let label = end(series).max(last + 14.0);
            last = label;
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            for &(x, y) in &series.points {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                    at_x(x),
                    at_y(y)
                );
            }
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                right + 10.0,
                label + 4.0,
                escape(&series.name)
            );
        }
        out.push_str("</svg>\n");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
