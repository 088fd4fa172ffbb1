//! Which characters XML 1.0 has, and what they may be part of (sections 2.2 and 2.3).

/// May begin a name.
pub(super) const NAME_START: u8 = 1;
/// May be in a name. A colon may, too, and is left out: it separates a prefix.
pub(super) const NAME: u8 = 2;
/// Separates.
pub(super) const SPACE: u8 = 4;
/// Stands for itself in the value of an attribute.
pub(super) const VALUE: u8 = 8;

/// What each byte of ASCII may be; those of longer characters are nothing here.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        if letter.is_ascii_alphabetic() || letter == b'_' {
            classes[byte] |= NAME_START;
        }
        if letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.') {
            classes[byte] |= NAME;
        }
        if matches!(letter, b' ' | b'\t' | b'\n' | b'\r') {
            classes[byte] |= SPACE;
        }
        if letter >= b' ' && !matches!(letter, b'"' | b'\'' | b'<' | b'&') {
            classes[byte] |= VALUE;
        }
        byte += 1;
    }
    classes
};

#[inline]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Where bytes of a class that are there end.
#[inline]
pub(super) fn past(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while at < bytes.len() && is(bytes[at], class) {
        at += 1;
    }
    at
}

pub(super) fn is_name_start(letter: char) -> bool {
    if letter.is_ascii() {
        return letter == ':' || is(letter as u8, NAME_START);
    }
    matches!(letter,
        '\u{c0}'..='\u{d6}'
        | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

pub(super) fn is_name(letter: char) -> bool {
    if letter.is_ascii() {
        return letter == ':' || is(letter as u8, NAME);
    }
    is_name_start(letter) || matches!(letter, '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Whether a document may hold it.
pub(super) fn is_xml(letter: char) -> bool {
    !matches!(letter, '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') || matches!(letter, '\t' | '\n' | '\r')
}

pub(super) fn is_xml_byte_of_ascii(byte: u8) -> bool {
    byte.is_ascii() && is_xml(byte as char)
}
