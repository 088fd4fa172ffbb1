//! Whether a message is received as what it was sent (MPI 5.0, 3.3).

use crate::communicator::Communicator;
use crate::datatype::{Signature, Type};
use crate::message::{Content, Sent, Typed};
use crate::rank::Rank;
use crate::request::Landing;

use super::Kind;

impl Type {
    /// The signature of the first basic types of so many elements.
    pub fn beginning(&self, count: usize, elements: u64) -> Signature {
        let (mut signature, mut left) = (Signature::empty(), elements);
        if let Some(whole) = elements.checked_div(self.signature.elements) {
            let whole = whole.min(count as u64);
            signature = self.signature.repeated(whole);
            left -= whole * self.signature.elements;
        }
        if left > 0 {
            self.runs(1, &mut |basic, number| {
                let taken = (number as u64).min(left);
                signature = signature.then(Signature::of(basic).repeated(taken));
                left -= taken;
            });
        }
        signature
    }
}

impl Rank {
    /// What goes with a message for those who check it.
    pub fn sent_as(&self, count: usize, datatype: &Type) -> Option<Box<Sent>> {
        let typed = self.typed(count, datatype)?;
        self.stamp(Some(typed))
    }

    /// Of what a message is, for those who check it.
    pub fn typed(&self, count: usize, datatype: &Type) -> Option<Typed> {
        if !self.world.explored {
            return None;
        }
        let signature = datatype.signature.repeated(count as u64);
        Some(self.for_others(|| Typed { signature, datatype: datatype.described() }))
    }

    /// Checks that a message is received as what it was sent.
    pub fn check_types(&self, comm: Option<&Communicator>, landing: &Landing, content: &Content) {
        let (length, room) = (content.data.len(), landing.datatype.size * landing.count);
        self.check_length(comm, length, room);
        if length <= room && length > 0 {
            self.check_types_of(&landing.datatype, landing.count, content);
        }
    }

    /// The same, of so many elements.
    pub fn check_types_of(&self, datatype: &Type, count: usize, content: &Content) {
        let Some(sent) = &content.sent else { return };
        let Some(typed) = &sent.typed else { return };
        let received = datatype.beginning(count, typed.signature.elements);
        if typed.signature.matches(received) {
            return;
        }
        let message = format!(
            "{}: a message of {} from rank {} with tag {} is received as {}: it was sent by {}{}",
            self.call_name(),
            typed.datatype,
            content.source,
            content.tag,
            datatype.described(),
            sent.call,
            self.line_of(sent.at)
        );
        self.finding(Kind::TypeMismatch, &message);
    }
}
