//! Memory of messages that were received, kept for those that are sent: what was read last is still in the cache, and blocks of some
//! kilobytes are dear to an allocator.

use std::cell::RefCell;

use crate::message::{Content, Data};

/// Blocks of so many bytes and more are kept, each in the class of its length: a power of two.
const LEAST: usize = 64;
/// There are so many classes; what is longer than the last is not kept.
const CLASSES: usize = 17;
/// So many bytes are kept in a class, at most.
const MOST: usize = 4 << 20;

thread_local! {
    /// What this thread keeps: it belongs to no process, and the processes that a thread runs never run at once.
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept::NOTHING) };
}

#[derive(Debug)]
struct Kept {
    /// Empty messages: each in the memory that a message had.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    messages: Vec<Box<Content>>,
    blocks: [Vec<Data>; CLASSES],
}

/// The class whose blocks have room for so many bytes.
fn class_for(length: usize) -> Option<usize> {
    let class = length.next_power_of_two().max(LEAST).ilog2() - LEAST.ilog2();
    ((class as usize) < CLASSES).then_some(class as usize)
}

impl Kept {
    const NOTHING: Kept = Kept { messages: Vec::new(), blocks: [const { Vec::new() }; CLASSES] };
}

/// Whatever is kept at the end of a thread has nobody to take it.
fn kept<T>(none: T, take: impl FnOnce(&mut Kept) -> T) -> T {
    KEPT.try_with(|kept| take(&mut kept.borrow_mut())).unwrap_or(none)
}

/// Room for so many bytes, with none in it.
pub fn data(length: usize) -> Data {
    if length <= Data::new().inline_size() {
        return Data::new();
    }
    let Some(class) = class_for(length) else { return Data::with_capacity(length) };
    let kept = kept(None, |kept| kept.blocks[class].pop());
    kept.unwrap_or_else(|| Data::with_capacity(LEAST << class))
}

/// Puts a message into memory that one had.
pub fn boxed(content: Content) -> Box<Content> {
    match kept(None, |kept| kept.messages.pop()) {
        Some(mut kept) => {
            *kept = content;
            kept
        }
        None => Box::new(content),
    }
}

/// Keeps the memory of a message that nobody needs any more.
pub fn keep(mut content: Box<Content>) {
    content.sent = None;
    let mut data = std::mem::take(&mut content.data);
    kept((), |kept| {
        if kept.messages.len() < MOST / size_of::<Content>() {
            kept.messages.push(content);
        }
        if data.spilled()
            && data.capacity().is_power_of_two()
            && let Some(class) = class_for(data.capacity())
            && kept.blocks[class].len() < MOST >> (class as u32 + LEAST.ilog2())
        {
            data.clear();
            kept.blocks[class].push(data);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(data: Data) -> Content {
        Content { process: 1, source: 2, tag: 3, waited: false, sent: None, data }
    }

    #[test]
    fn memory_comes_again_and_what_was_in_it_does_not() {
        let mut block = data(5000);
        block.extend_from_slice(&[7; 5000]);
        let (address, message) = (block.as_ptr(), boxed(content(block)));
        let place = &raw const *message;
        keep(message);
        let again = data(4097);
        assert_eq!((again.as_ptr(), again.len()), (address, 0));
        let message = boxed(content(again));
        assert_eq!(&raw const *message, place);
        assert_ne!(data(5000).as_ptr(), address, "it is given to one at a time");
    }

    #[test]
    fn classes_have_room_and_an_end() {
        let million = 1 << 20;
        for (length, class) in [
            (33, Some(0)),
            (64, Some(0)),
            (65, Some(1)),
            (65536, Some(10)),
            (65537, Some(11)),
            (4 * million, Some(16)),
            (4 * million + 1, None),
        ] {
            assert_eq!(class_for(length), class, "{length}");
            assert!(data(length).capacity() >= length);
        }
        for _ in 0..100 {
            keep(Box::new(content(Data::with_capacity(65536))));
        }
        assert_eq!(kept(0, |kept| kept.blocks[10].len()), MOST / 65536);
    }
}
