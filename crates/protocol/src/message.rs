//! A message whose type only its actors know.
//!
//! A search goes through numbers, and needs of a message no more than what [`Data`] says: whether it equals another, its hash, how it
//! prints. So searches are compiled once for all protocols, and not again for each type of messages.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::actor::Data;

/// A message of any type.
#[derive(Clone)]
pub(crate) struct Message(Arc<dyn Typeless>);

/// What is asked of a message without knowing its type.
trait Typeless: Any + fmt::Debug + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<M: Data> Typeless for M {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<M>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl Message {
    pub(crate) fn new(msg: impl Data) -> Self {
        Self(Arc::new(msg))
    }

    /// The message, for who knows its type.
    pub(crate) fn get<M: Data>(&self) -> &M {
        let typeless: &dyn Any = &*self.0;
        typeless.downcast_ref().expect("all actors of a system speak one language")
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

impl Eq for Message {}

impl Hash for Message {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActorId;
    use crate::hash::{fingerprint, fingerprints};

    #[test]
    fn a_message_equals_hashes_and_prints_as_what_it_is() {
        let plain = (ActorId(1), "text", vec![1_u8, 2], Some('c'), [3_u64; 2]);
        let message = Message::new(plain.clone());
        assert_eq!(fingerprint(&message), fingerprint(&plain));
        assert_eq!(format!("{message:?} {message:#?}"), format!("{plain:?} {plain:#?}"));
        assert_eq!(message, Message::new(plain.clone()));
        assert_ne!(message, Message::new((ActorId(2), "text", vec![1_u8, 2], Some('c'), [3_u64; 2])));
        assert_eq!(message.get::<(ActorId, &str, Vec<u8>, Option<char>, [u64; 2])>(), &plain);
        // Actors inside are renamed, too.
        let swap = [vec![0, 1], vec![1, 0]];
        assert_eq!(
            fingerprints(&swap, || fingerprint(&message)),
            fingerprints(&swap, || fingerprint(&plain))
        );
    }
}
