//! Handles of what programs make: which kind of object, which one, and which of those that had its place.

/// What a handle stands for; a part of its number, so that one kind is never taken for another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Kind {
    Comm = 1,
    Datatype,
    Errhandler,
    File,
    Group,
    Info,
    Message,
    Op,
    Request,
    Session,
    Win,
    Keyval,
    ControlHandle,
    PerformanceHandle,
    ToolSession,
}

const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 6;

/// Objects of one kind, by their handles. A handle that was given back stands for nothing until its number comes again.
#[derive(Debug)]
pub struct Table<T> {
    kind: Kind,
    places: Vec<Place<T>>,
    free: Vec<u32>,
    count: usize,
}

#[derive(Debug)]
struct Place<T> {
    generation: u8,
    /// Where the program went on after it was made, if that is noted.
    made: usize,
    object: Option<T>,
}

impl<T> Table<T> {
    /// No objects.
    pub fn new(kind: Kind) -> Self {
        Self { kind, places: Vec::new(), free: Vec::new(), count: 0 }
    }

    /// Keeps an object, and gives its handle.
    ///
    /// # Panics
    /// If there are more than a million.
    pub fn insert(&mut self, object: T) -> usize {
        self.count += 1;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                assert!(
                    self.places.len() < 1 << INDEX_BITS,
                    "a process has more than a million objects of MPI"
                );
                self.places.push(Place { generation: 0, made: 0, object: None });
                self.places.len() as u32 - 1
            }
        };
        let place = &mut self.places[index as usize];
        place.object = Some(object);
        place.made = simurgh_native::caller();
        let generation = place.generation;
        self.number(generation, index)
    }

    fn index(&self, handle: usize) -> Option<usize> {
        let kind = handle >> (INDEX_BITS + GENERATION_BITS);
        let generation = handle >> INDEX_BITS & ((1 << GENERATION_BITS) - 1);
        let index = handle & ((1 << INDEX_BITS) - 1);
        let place = self.places.get(index).filter(|_| kind == self.kind as usize)?;
        (usize::from(place.generation) == generation).then_some(index)
    }

    /// What a handle stands for.
    pub fn get(&self, handle: usize) -> Option<&T> {
        self.places[self.index(handle)?].object.as_ref()
    }

    /// What a handle stands for.
    pub fn get_mut(&mut self, handle: usize) -> Option<&mut T> {
        let index = self.index(handle)?;
        self.places[index].object.as_mut()
    }

    /// Gives a handle back.
    pub fn remove(&mut self, handle: usize) -> Option<T> {
        let index = self.index(handle)?;
        let place = &mut self.places[index];
        let object = place.object.take()?;
        place.generation = (place.generation + 1) & ((1 << GENERATION_BITS) - 1);
        self.free.push(index as u32);
        self.count -= 1;
        Some(object)
    }

    /// The handle of the first object of which this is true.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<usize> {
        let found = |place: &Place<T>| place.object.as_ref().is_some_and(&is);
        let index = self.places.iter().position(found)?;
        Some(self.number(self.places[index].generation, index as u32))
    }

    fn number(&self, generation: u8, index: u32) -> usize {
        let number = u32::from(self.kind as u8) << (INDEX_BITS + GENERATION_BITS)
            | u32::from(generation) << INDEX_BITS
            | index;
        number as usize
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them with their handles, and where the program went on after each was made.
    pub fn with_origins(&self) -> impl Iterator<Item = (usize, &T, usize)> {
        let all = self.places.iter().enumerate();
        all.filter_map(|(index, place)| {
            let handle = self.number(place.generation, index as u32);
            place.object.as_ref().map(|object| (handle, object, place.made))
        })
    }

    /// All of them, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.object.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_was_given_back_stands_for_nothing() {
        let (mut groups, infos) = (Table::new(Kind::Group), Table::<u32>::new(Kind::Info));
        let first = groups.insert('a');
        let second = groups.insert('b');
        assert_eq!((groups.get(first), groups.get(second)), (Some(&'a'), Some(&'b')));
        assert_eq!(infos.get(first), None);
        assert_eq!(groups.remove(first), Some('a'));
        assert_eq!(groups.get(first), None);
        assert_eq!(groups.remove(first), None);
        let third = groups.insert('c');
        assert_ne!(first, third);
        assert_eq!((groups.get(first), groups.get(third)), (None, Some(&'c')));
        assert!(third > 4096 && i32::try_from(third).is_ok());
    }
}
