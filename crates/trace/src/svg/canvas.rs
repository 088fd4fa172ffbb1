//! How the elements of the picture are written: short numbers, escaped names.

use std::fmt::Write;

use crate::text;

/// Elements, in the order in which they are painted.
#[derive(Default)]
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    pub(super) fn into_string(self) -> String {
        self.text
    }

    /// Adds an element as it is.
    pub(super) fn raw(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str, more: &str) {
        let element = rect(x, y, width, height, fill, more);
        self.raw(&format!("<{element}/>"));
    }

    /// A rectangle that tells more when the pointer rests on it.
    pub(super) fn told_rect(&mut self, frame: [f64; 4], fill: &str, more: &str, told: &str) {
        let [x, y, width, height] = frame;
        let element = rect(x, y, width, height, fill, more);
        self.raw(&format!("<{element}><title>{}</title></rect>", text::xml(told)));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, more: &str) {
        let element = line(from, to, class, more);
        self.raw(&format!("<{element}/>"));
    }

    /// A line that tells more when the pointer rests on it.
    pub(super) fn told_line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        class: &str,
        more: &str,
        told: &str,
    ) {
        let element = line(from, to, class, more);
        self.raw(&format!("<{element}><title>{}</title></line>", text::xml(told)));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, content: &str) {
        self.told_text(x, y, class, content, None);
    }

    /// A text cut to a width, which tells the whole when the pointer rests on it.
    pub(super) fn fitted(&mut self, x: f64, y: f64, class: &str, content: &str, size: f64, width: f64) {
        let line = text::line(content);
        let cut = fit(&line, size, width);
        let told = (cut != content).then_some(content);
        self.told_text(x, y, class, &cut, told);
    }

    fn told_text(&mut self, x: f64, y: f64, class: &str, content: &str, told: Option<&str>) {
        let mut element = format!("<text x=\"{}\" y=\"{}\"", number(x), number(y));
        if !class.is_empty() {
            let _ = write!(element, " class=\"{class}\"");
        }
        let _ = write!(element, ">{}", text::xml(content));
        if let Some(told) = told {
            let _ = write!(element, "<title>{}</title>", text::xml(told));
        }
        element.push_str("</text>");
        self.raw(&element);
    }
}

fn rect(x: f64, y: f64, width: f64, height: f64, fill: &str, more: &str) -> String {
    let [x, y, width, height] = [x, y, width, height].map(number);
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    format!("rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{more}")
}

fn line(from: (f64, f64), to: (f64, f64), class: &str, more: &str) -> String {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    format!("line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"{more}")
}

/// A coordinate, to a hundredth of a pixel.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// How wide a text is, nearly: fonts differ.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let part = |character: char| match character {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' => 0.34,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        'A'..='Z' => 0.68,
        character if character.is_ascii() => 0.57,
        character if (character as u32) < 0x1100 => 0.62,
        _ => 1.0,
    };
    // The widest of the fonts that may be taken is wider than most.
    text.chars().map(part).sum::<f64>() * size * 1.08
}

/// The text, cut so that it fits into a width.
fn fit(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let room = width - text_width("…", size);
    let mut used = 0.0;
    let fits = |character: &char| {
        used += text_width(character.encode_utf8(&mut [0; 4]), size);
        used <= room
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        let cases = [(0.0, "0"), (-0.001, "0"), (1.0, "1"), (1.5, "1.5"), (100.0, "100"), (0.125, "0.12")];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fit("short", 11.0, 100.0), "short");
        let cut = fit(&"x".repeat(500), 11.0, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 11.0) <= 100.0, "{cut}");
        assert_eq!(fit("anything", 11.0, 0.0), "…");
    }
}
