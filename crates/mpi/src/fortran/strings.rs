//! Texts of Fortran: as long as their variable, padded with blanks, without a zero at the end.

use std::cell::UnsafeCell;
use std::ffi::{CString, c_char};

/// A text of the program, as C has it.
#[derive(Debug)]
pub struct Text(CString);

impl Text {
    /// Without the blanks at its end, and without those before it where the standard strips them too (`MPI_Info_set`, say).
    ///
    /// # Safety
    /// There are `length` letters.
    pub unsafe fn new(first: *const c_char, length: usize, stripped: bool) -> Self {
        // SAFETY: there are so many letters.
        let letters = match first.is_null() {
            true => &[],
            false => unsafe { std::slice::from_raw_parts(first.cast::<u8>(), length) },
        };
        Self::of(letters, stripped)
    }

    fn of(letters: &[u8], stripped: bool) -> Self {
        let letters = letters.split(|letter| *letter == 0).next().unwrap_or_default();
        let end = letters.iter().rposition(|letter| *letter != b' ').map_or(0, |last| last + 1);
        let begin = match stripped {
            true => letters[..end].iter().position(|letter| *letter != b' ').unwrap_or(0),
            false => 0,
        };
        Self(CString::new(&letters[begin..end]).unwrap_or_default())
    }

    /// Where it begins.
    pub fn as_ptr(&self) -> *mut c_char {
        self.0.as_ptr().cast_mut()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Several texts, as C has them: a pointer to each, and a null pointer at the end.
#[derive(Debug)]
pub struct Texts {
    _texts: Vec<Text>,
    pointers: Vec<*mut c_char>,
}

impl Texts {
    /// These texts.
    pub fn new(texts: Vec<Text>) -> Self {
        let end = std::iter::once(std::ptr::null_mut());
        let pointers = texts.iter().map(Text::as_ptr).chain(end).collect();
        Self { _texts: texts, pointers }
    }

    /// An array of texts of one length, which lie `step` letters apart and end with a blank one.
    ///
    /// # Safety
    /// There is a blank one.
    pub unsafe fn until_blank(first: *const c_char, length: usize, step: usize) -> Self {
        let mut texts = Vec::new();
        let mut next = first;
        loop {
            // Blanks on both sides are no part of an argument (11.8.2).
            // SAFETY: a blank text is still to come, or this is it.
            let text = unsafe { Text::new(next, length, true) };
            if text.is_empty() {
                return Self::new(texts);
            }
            texts.push(text);
            // SAFETY: the blank one is still to come.
            next = unsafe { next.add(step) };
        }
    }

    /// Where the pointers begin.
    pub fn as_mut_ptr(&mut self) -> *mut *mut c_char {
        self.pointers.as_mut_ptr()
    }
}

/// Room for a text that C writes.
#[derive(Debug)]
pub struct Room(UnsafeCell<Vec<u8>>);

/// What the first byte is until something is written.
const UNTOUCHED: u8 = 1;

impl Room {
    /// For so many letters and a zero.
    pub fn new(letters: usize) -> Self {
        let mut bytes = vec![0; letters + 1];
        bytes[0] = UNTOUCHED;
        Self(UnsafeCell::new(bytes))
    }

    /// Where C writes it.
    pub fn as_ptr(&self) -> *mut c_char {
        // SAFETY: nobody else looks at it now.
        unsafe { (*self.0.get()).as_mut_ptr().cast() }
    }

    /// Writes what came where the program wants it: of a long one the beginning, after a short one blanks. If nothing came, the
    /// program keeps what it has.
    ///
    /// # Safety
    /// There is room for `length` letters.
    pub unsafe fn write(&self, place: *mut c_char, length: usize) {
        // SAFETY: C has written what it wanted to.
        let bytes = unsafe { &*self.0.get() };
        if bytes[0] == UNTOUCHED {
            return;
        }
        let text = bytes.split(|letter| *letter == 0).next().unwrap_or_default();
        let text = &text[..text.len().min(length)];
        // SAFETY: there is room for so many letters.
        unsafe {
            let place = place.cast::<u8>();
            std::ptr::copy_nonoverlapping(text.as_ptr(), place, text.len());
            std::ptr::write_bytes(place.add(text.len()), b' ', length - text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(letters: &str, stripped: bool) -> String {
        Text::of(letters.as_bytes(), stripped).0.into_string().expect("it is a text")
    }

    #[test]
    fn blanks_at_the_end_do_not_count() {
        assert_eq!(text("  a name   ", false), "  a name");
        assert_eq!(text("  a name   ", true), "a name");
        assert_eq!(text("     ", true), "");
        assert_eq!(text("", false), "");
        assert_eq!(text("a\0b", false), "a");
    }

    fn written(from_c: &str, room: usize, length: usize) -> String {
        let own = Room::new(room);
        let mut place = vec![b'x'; length];
        // SAFETY: there is room on both sides.
        unsafe {
            crate::abi::write_text(from_c, own.as_ptr(), room + 1);
            own.write(place.as_mut_ptr().cast(), length);
        }
        String::from_utf8(place).expect("it is a text")
    }

    #[test]
    fn texts_are_padded_or_cut() {
        assert_eq!(written("abc", 10, 6), "abc   ");
        assert_eq!(written("abcdef", 10, 3), "abc");
        assert_eq!(written("", 10, 2), "  ");
    }

    #[test]
    fn what_c_does_not_write_is_left() {
        let mut place = *b"old";
        // SAFETY: there are three letters.
        unsafe { Room::new(8).write(place.as_mut_ptr().cast(), 3) };
        assert_eq!(&place, b"old");
    }

    #[test]
    fn an_array_of_texts_ends_with_a_blank_one() {
        let array = "one  two    x   ";
        // SAFETY: the third text is blank.
        let mut texts = unsafe { Texts::until_blank(array.as_ptr().cast(), 4, 4) };
        assert_eq!(texts.pointers.len(), 3);
        // SAFETY: there are three pointers, the last of which is null.
        unsafe {
            assert_eq!(crate::abi::text_of(*texts.as_mut_ptr().add(1)), "two");
            assert!((*texts.as_mut_ptr().add(2)).is_null());
        }
    }
}
