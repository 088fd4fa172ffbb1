//! What nodes say to each other. All of it goes to the one mailbox that each node has.

use crate::ring::Id;

/// A message to a node.
#[derive(Clone, Debug)]
pub enum Message {
    /// Wants an answer with the same number.
    Ask {
        /// Who asks.
        from: Id,
        /// Which of its questions it is.
        number: u64,
        /// What it asks.
        question: Question,
    },
    /// The answer to a question.
    Answer {
        /// To which.
        number: u64,
        /// What.
        answer: Answer,
    },
    /// The sender might be the predecessor.
    Notify {
        /// Who.
        from: Id,
    },
    /// The sender leaves; what it knew of its neighbours.
    Leave {
        /// Who.
        from: Id,
        /// Who was before it.
        predecessor: Option<Id>,
        /// Who came after it.
        successors: Vec<Id>,
    },
}

/// What a node can be asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// Who owns this key, or who is closer to it? The silent ones have been asked, and did not answer.
    Route {
        /// The key.
        key: Id,
        /// Those that cannot be asked.
        silent: Vec<Id>,
    },
    /// Who are your neighbours?
    Neighbours,
    /// Are you there?
    Ping,
}

/// What a node answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// This node owns the key.
    Owner(Id),
    /// This node is closer to the key.
    Closer(Id),
    /// Its neighbours.
    Neighbours {
        /// The one before it.
        predecessor: Option<Id>,
        /// The ones after it, the nearest first.
        successors: Vec<Id>,
    },
    /// It is there.
    Here,
}

impl Message {
    /// How long it is.
    pub fn bytes(&self) -> f64 {
        const HEADER: usize = 40;
        const ID: usize = 20;
        let ids = match self {
            Message::Ask { question: Question::Route { silent, .. }, .. } => 2 + silent.len(),
            Message::Answer { answer: Answer::Neighbours { successors, .. }, .. } => 1 + successors.len(),
            Message::Leave { successors, .. } => 2 + successors.len(),
            Message::Ask { .. } | Message::Answer { .. } | Message::Notify { .. } => 1,
        };
        (HEADER + ID * ids) as f64
    }
}
