//! Texts that come from files, as they are shown in one line: nothing in them moves a cursor, and nobody has to read a word of
//! a hundred thousand letters.

use std::borrow::Cow;

/// Longer words are shortened.
const WORD_MAX: usize = 200;
/// Longer lines are shortened.
const LINE_MAX: usize = 1000;

/// A text in one line: control characters are escaped, long words are shortened, and so is the whole.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return shortened(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(shortened(&escaped).into_owned())
}

/// Whether a character moves the cursor, turns the direction of a text, or cannot be seen: Unicode's controls and formats (Cc, Cf),
/// its separators of lines, and letters and marks that are blank.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text of any form, in which all can be seen: what moves the cursor, turns the direction of the text or is blank is escaped. Ends of
/// lines, tabs, and what gives colours stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_unseen = |(at, character): (usize, char)| match character {
        '\n' | '\t' => false,
        '\x1b' => !is_colour(&text[at + 1..]),
        _ => is_hidden(character),
    };
    if !text.char_indices().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if is_unseen((at, character)) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Whether what follows an escape character sets a colour, and no more.
fn is_colour(rest: &str) -> bool {
    let is_number = |character: char| character.is_ascii_digit() || character == ';';
    rest.strip_prefix('[').is_some_and(|rest| rest.trim_start_matches(is_number).starts_with('m'))
}

/// The same without a look at control characters.
pub fn shortened(text: &str) -> Cow<'_, str> {
    // Bytes are at least as many as letters, and quickly counted.
    let is_long = |word: &str| word.len() > WORD_MAX && word.chars().count() > WORD_MAX;
    let words = if text.len() > WORD_MAX && text.split_whitespace().any(is_long) {
        let short = |word| match is_long(word) {
            true => cut(word, WORD_MAX / 2, WORD_MAX / 4),
            false => word.to_owned(),
        };
        let mut out = String::new();
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end_matches(char::is_whitespace);
            out.push_str(&short(word));
            out.push_str(&piece[word.len()..]);
        }
        Cow::Owned(out)
    } else {
        Cow::Borrowed(text)
    };
    if words.len() > LINE_MAX && words.chars().count() > LINE_MAX {
        return Cow::Owned(cut(&words, LINE_MAX / 2, LINE_MAX / 4));
    }
    words
}

/// The first and the last letters of a text, and how many are left out.
fn cut(text: &str, first: usize, last: usize) -> String {
    let count = text.chars().count();
    let head: String = text.chars().take(first).collect();
    let tail: String = text.chars().skip(count - last).collect();
    format!("{head}[... {} letters ...]{tail}", count - first - last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_seen_in_several_lines() {
        assert_eq!(visible("\x1b[1ma\x1b[m\n\tä\n"), "\x1b[1ma\x1b[m\n\tä\n");
        assert_eq!(visible("a\u{202e}b\n\u{9b}c"), "a\\u{202e}b\n\\u{9b}c");
        // What is no colour moves the cursor, or may.
        assert_eq!(
            visible("\x1b[2J\x1b[31;1mx\x1b\x07\r\x7f"),
            "\\u{1b}[2J\x1b[31;1mx\\u{1b}\\u{7}\\r\\u{7f}"
        );
    }

    #[test]
    fn nothing_moves_the_cursor_and_nothing_is_endless() {
        assert_eq!(shown("as it is: \"ä\""), "as it is: \"ä\"");
        assert_eq!(shown("a\u{1b}[31m\nb\t\u{7f}"), "a\\u{1b}[31m\\nb\\t\\u{7f}");
        assert_eq!(shown("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
        assert_eq!(shown("a\u{200b}b\u{2028}\u{ad}\u{feff}"), "a\\u{200b}b\\u{2028}\\u{ad}\\u{feff}");
        assert_eq!(shown("\u{e0041}\u{206a}\u{180e}"), "\\u{e0041}\\u{206a}\\u{180e}");
        // Words of other scripts, with marks, and pictures stay as they are.
        assert_eq!(shown("سیمرغ कि é ✈ 語"), "سیمرغ कि é ✈ 語");
        let long = "x".repeat(100_000);
        let short = format!("{}[... 99850 letters ...]{}", "x".repeat(100), "x".repeat(50));
        assert_eq!(shown(&format!("link {long:?} is unknown; add it")), {
            let quoted = format!("\"{}[... 99852 letters ...]{}\"", "x".repeat(99), "x".repeat(49));
            format!("link {quoted} is unknown; add it")
        });
        assert_eq!(shown(&format!("{long} \u{1}")), format!("{short} \\u{{1}}"));
        assert!(shown(&"ab ".repeat(100_000)).chars().count() < LINE_MAX);
    }
}
