//! A piece of a drawing with its size, and the few ways to make one of others.

use std::fmt::Write;

/// SVG elements whose extent starts at the origin.
#[derive(Clone, Default)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) body: String,
}

impl Scene {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Scene { width, height, body: String::new() }
    }

    /// Puts another scene on top, its origin at a point.
    pub(super) fn place(&mut self, x: f64, y: f64, other: &Scene) {
        let _ = writeln!(self.body, "<g transform=\"translate({x:.1},{y:.1})\">{}</g>", other.body);
    }

    pub(super) fn line(&mut self, class: &str, width: f64, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<path class=\"{class}\" stroke-width=\"{width:.1}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn path(&mut self, class: &str, width: f64, path: &str) {
        let _ = writeln!(self.body, "<path class=\"{class}\" stroke-width=\"{width:.1}\" d=\"{path}\"/>");
    }

    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), radius: f64) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\"/>",
            at.0, at.1, size.0, size.1
        );
    }

    pub(super) fn circle(&mut self, class: &str, at: (f64, f64), radius: f64, tooltip: &str) {
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            at.0,
            at.1,
            escape(tooltip)
        );
    }

    /// Text at a point, anchored `start`, `middle` or `end`.
    pub(super) fn text(&mut self, class: &str, anchor: &str, at: (f64, f64), text: &str) {
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            at.0,
            at.1,
            escape(text)
        );
    }

    /// In a rounded box with a title, and its kind on a second line.
    pub(super) fn boxed(self, title: &str, kind: &str, depth: u32) -> Scene {
        let (padding, head) = (18.0, 48.0);
        let title = shorten(title, 48);
        let words = text_width(&title, 13.5).max(text_width(kind, 11.0)) + 2.0 * padding;
        let width = (self.width + 2.0 * padding).max(words);
        let height = self.height + head + padding;
        let mut scene = Scene::new(width, height);
        let class = if depth.is_multiple_of(2) { "zone" } else { "zone1" };
        scene.rect(class, (0.0, 0.0), (width, height), 12.0);
        scene.text("title", "start", (padding, 22.0), &title);
        scene.text("small", "start", (padding, 38.0), kind);
        scene.place((width - self.width) / 2.0, head, &self);
        scene
    }
}

/// Scenes side by side, in rows of about the same width.
pub(super) fn grid(scenes: &[Scene], gap: f64) -> Scene {
    let area: f64 = scenes.iter().map(|scene| (scene.width + gap) * (scene.height + gap)).sum();
    let widest = scenes.iter().map(|scene| scene.width).fold(0.0, f64::max);
    let target = (area * 2.2).sqrt().max(widest);
    let (mut x, mut y, mut row_height, mut width) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut result = Scene::default();
    for scene in scenes {
        if x > 0.0 && x + scene.width > target {
            (x, y, row_height) = (0.0, y + row_height + gap, 0.0);
        }
        result.place(x, y, scene);
        x += scene.width + gap;
        width = width.max(x - gap);
        row_height = row_height.max(scene.height);
    }
    (result.width, result.height) = (width, y + row_height);
    result
}

/// What a text takes in a proportional font, about.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 0.6 } else { 1.0 }).sum::<f64>() * size
}

/// At most so many letters, the middle left out.
pub(super) fn shorten(text: &str, letters: usize) -> String {
    let all: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if all.len() <= letters {
        return all.into_iter().collect();
    }
    let head: String = all[..letters / 2].iter().collect();
    let tail: String = all[all.len() - (letters - letters / 2 - 1)..].iter().collect();
    format!("{head}…{tail}")
}

/// For text and attributes; characters that XML has no way to write are left out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
