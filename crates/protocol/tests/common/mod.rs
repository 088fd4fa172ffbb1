//! Actors with one timer, which is set at the start.

use std::time::Duration;

use simurgh_protocol::{Actor, ActorId, Data, Out};

pub const SECOND: Duration = Duration::from_secs(1);

/// What an actor does when a message arrives, or its timer goes off.
pub type Handler<S> = fn(&mut S, &mut Out<Timed<S>>);

pub struct Timed<S: Data> {
    pub first: S,
    pub on_msg: Handler<S>,
    pub on_timeout: Handler<S>,
}

impl<S: Data> Actor for Timed<S> {
    type Msg = ();
    type State = S;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> S {
        out.set_timer((), SECOND);
        self.first.clone()
    }

    fn on_msg(&self, state: &mut S, _: ActorId, (): &(), out: &mut Out<Self>) {
        (self.on_msg)(state, out);
    }

    fn on_timeout(&self, state: &mut S, (): &(), out: &mut Out<Self>) {
        (self.on_timeout)(state, out);
    }
}

/// Ignores messages.
pub fn deaf<S: Data>(first: S, on_timeout: Handler<S>) -> Timed<S> {
    Timed { first, on_msg: |_, _| {}, on_timeout }
}

/// Goes from one number to the other, out of 0 and 1, when its timer goes off.
pub fn walker(from: u8) -> Timed<u8> {
    deaf(from, |state, _| *state = 1 - *state)
}
