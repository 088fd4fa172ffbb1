//! When the order of two steps may matter: one pure function.
//!
//! From Rosa's thesis, "Performance and correctness assessment of distributed systems" (2011), 3.12, theorems 2 to 7,
//! made finer in three ways: receives are told apart by what they accept, and messages by what any receive or probe of
//! their mailbox could choose by, as far as such were seen ([`MatchKeys`](crate::transition::MatchKeys)); a wait depends on
//! the very posts that completed its set, not on any wait or test; and requests for locks and the like are a post and a
//! wait too, so that what theorem 2 says of sends and receives (a post and its counterpart are independent, whoever is
//! first) holds for locking and unlocking, acquiring and releasing.
//!
//! `tests/agreement.rs` executes both orders of every pair that is called independent here, at every reachable state of random programs;
//! `tests/faults.rs` does it with messages that are lost, `tests/trust.rs` with all that actors can ask for. The arms that concern
//! communication are specs/Dependence.tla too, where TLC finds each of them when it is broken; its name there is cited here.

use simurgh_kernel::operation::{Side, Token};

use crate::transition::{Awaited, Ending, Kind, Known, Outcome, Posting, Transition};
use crate::verdict::Step;
use simurgh_search::Reversal;

/// Whether the order of two steps may matter, or one may make the other possible.
pub fn dependent(a: &Transition, b: &Transition) -> bool {
    // Steps of one process are done in its order.
    let same = a.step.actor == b.step.actor && (a.step.actor != Step::NETWORK || a.process() == b.process());
    same || ordered(a, b) || ordered(b, a)
}

/// Half of the relation: each pair of kinds is decided where the first of them stands.
fn ordered(a: &Transition, b: &Transition) -> bool {
    use Kind::*;
    let other = b.step.actor;
    match &a.kind {
        // Theorem 2: a send and a receive are independent, whoever is first, with criteria too: each meets the oldest
        // that fits, which the other does not change. Theorem 3: two sends, or two receives, are dependent in one
        // mailbox only; finer: not if no receive accepts both messages, or no message is accepted by both receives.
        Post(own) | Arrive { posting: own, .. } => match &b.kind {
            Post(other) | Arrive { posting: other, .. } => {
                own.mailbox == other.mailbox && can_be_told_apart(own, other)
            }
            // What was sent arrives, and its copy too. Spec: "submit-arrive".
            Submit { post: sent, .. } => own.post.original() == *sent,
            Probe(mailbox, criteria) => {
                own.mailbox == *mailbox
                    && match &own.side {
                        // Spec: "send-probe".
                        Side::Send(envelope) => criteria.admits(envelope),
                        // Spec: "recv-probe".
                        Side::Recv(other) => criteria.overlaps(other),
                    }
            }
            // Spec: "send-wait", "send-withdraw", "recv-wait", "recv-withdraw".
            Wait { awaited: set, .. } | Withdraw(set) | Exit { withdrawn: set, .. } => completed(set, own),
            _ => false,
        },
        // What becomes of a message is decided when it is sent, and concerns nobody before it arrives; but the last that may
        // be lost is the only one, and so is the last that may come twice. (That earlier ones leave fewer for later ones
        // makes no difference to their order: see `actors::faults`.)
        Submit { fate, last, .. } => {
            matches!(&b.kind, Submit { fate: f, last: l, .. } if fate == f && *last && *l)
        }
        // Theorem 4: waits and tests are independent, also of one communication. A wait that gave up takes posts back.
        // Spec: "timeout", "withdraw".
        Wait { awaited, outcome: Outcome::Timeout, .. } => withdrawn(awaited, b),
        Withdraw(posts) => withdrawn(posts, b),
        // Theorems 5 to 7: what is local is independent of all others. The rest is decided where the other stands.
        Wait { .. } | Probe(..) | Choose | Give(_) | BarrierWait(..) => false,
        // Locking is a post to a queue: two of them are ordered as theorem 3's sends are; locking and unlocking are
        // independent as theorem 2's send and receive are, since the oldest in the queue is served.
        Take(token) => matches!(b.kind, Take(t) | TryTake(t) if t == *token),
        TryTake(token) => matches!(b.kind, TryTake(t) | Give(t) if t == *token),
        // The lock is had because it was given back; giving up leaves the queue before it is given back, or does not.
        TakeWait(token, _) => matches!(b.kind, Give(t) if t == *token),
        // To wait for a condition is to give a lock back and to post to the condition's queue. Whoever is notified posts
        // to the queue of a lock, and a notification does not say of which: it depends on all that queues for locks.
        ConditionPost(condition, lock) => match &b.kind {
            ConditionPost(c, _) | Notify(c) => c == condition,
            TryTake(t) | TakeWait(t, _) | ConditionWait(_, t, _) => t == lock,
            _ => false,
        },
        ConditionWait(condition, lock, own) => match &b.kind {
            Give(t) => t == lock,
            Notify(c) => c == condition,
            Take(t) | TryTake(t) => own.timeout && t == lock,
            TakeWait(t, other) | ConditionWait(_, t, other) => (own.timeout || other.timeout) && t == lock,
            _ => false,
        },
        Notify(condition) => match &b.kind {
            Take(Token::Mutex(_)) | TryTake(Token::Mutex(_)) | Notify(_) | ConditionWait(..) => true,
            ConditionPost(c, _) => c == condition,
            _ => false,
        },
        // Who comes last is told so, if it asks; and where there are more than have room, who comes first: `actors::barriers`.
        BarrierPost { barrier, round, told, crowd } => match &b.kind {
            BarrierPost { barrier: o, told: asks, crowd: c, .. } => {
                barrier == o && (*told || *asks || crowd.0 || c.0)
            }
            // All have to come; for the next round, nobody has to.
            BarrierWait(o, r) => barrier == o && (round == r || crowd.0),
            _ => false,
        },
        // Actors are numbered in the order of their creation; whoever was created goes on thanks to it.
        Spawn(child) => matches!(b.kind, Spawn(_)) || other == *child,
        Join(target, _) | IsAlive(target) => match &b.kind {
            Exit { .. } => other == *target,
            Spawn(child) => child == target,
            _ => false,
        },
        // Who ends takes back what has met nobody; what has met somebody would have been, a little earlier. Daemons end with the last of the others, which so concerns them all.
        Exit { withdrawn: posts, last } => *last || withdrawn(posts, b),
        // An invariant that looks at both values sees which of them changed first. What no invariant looks at is no step.
        Expose(_, invariants) => matches!(b.kind, Expose(_, others) if invariants & others != 0),
        // To kill, to halt and to let go on is dependent on everything: rare, and not worth a finer look.
        Interfere => true,
    }
}

/// Whether a post, or the arrival of what was posted, completed one of the set, or may yet do so. What has met its partner
/// depends on that alone; what has not, on all that it might meet, since which of them it will be may change with their order.
fn completed(set: &[Awaited], own: &Posting) -> bool {
    set.iter().any(|a| match a.partner {
        Some(partner) => own.post == partner || own.post == a.post,
        // Nothing that others do changes what was lost.
        None if a.lost => false,
        None => own.post == a.post || may_meet(a, own.mailbox, own.side),
    })
}

/// Whether a post may meet one that comes to a mailbox.
fn may_meet(posted: &Awaited, mailbox: u32, side: Side) -> bool {
    posted.mailbox == mailbox && posted.side.meets(&side)
}

/// Whether taking these posts back matters to a step: it might have met one of them, or seen it, or waits for it.
fn withdrawn(posts: &[Awaited], step: &Transition) -> bool {
    posts.iter().filter(|taken| taken.partner.is_none() && !taken.lost).any(|taken| match &step.kind {
        Kind::Post(other) => may_meet(taken, other.mailbox, other.side),
        Kind::Arrive { posting: other, .. } => {
            may_meet(taken, other.mailbox, other.side) || other.post == taken.post
        }
        Kind::Probe(mailbox, criteria) => may_meet(taken, *mailbox, Side::Recv(*criteria)),
        Kind::Wait { awaited: others, .. } | Kind::Withdraw(others) => {
            others.iter().any(|a| a.post == taken.post)
        }
        _ => false,
    })
}

/// Whether somebody may tell which of two posts came to their mailbox first.
pub(crate) fn can_be_told_apart(one: &Posting, two: &Posting) -> bool {
    match (&one.side, &two.side) {
        // Spec: "send-send", "observers".
        (Side::Send(a), Side::Send(b)) => {
            one.observers.0.tell_apart(a, b) || two.observers.0.tell_apart(a, b)
        }
        // Spec: "recv-recv".
        (Side::Recv(a), Side::Recv(b)) => a.overlaps(b),
        _ => false,
    }
}

/// What may come of a race if the second step is to go first.
pub fn reversal(first: &Transition, second: &Transition) -> Reversal {
    use Kind::*;
    match (&first.kind, &second.kind) {
        (_, Wait { single: true, timed: false, outcome: Outcome::Taken, awaited, .. }) => {
            match &first.kind {
                // Taking back what another waits for is the only other way to complete a wait.
                Post(_) | Arrive { .. } if awaited.len() == 1 => Reversal::Never,
                _ => Reversal::Look,
            }
        }
        (_, Wait { .. }) => Reversal::Look,
        (Submit { .. }, Arrive { .. }) => Reversal::Never,
        // Whoever gave the lock back, or ended, made it possible.
        (Give(Token::Mutex(_)), TakeWait(_, Ending { timed: false, .. }))
        | (Exit { last: false, .. }, Join(_, Ending { timed: false, .. })) => Reversal::Never,
        // Another may have given what this one got, or notified it, or come to the barrier in its stead.
        (BarrierPost { crowd: Known(false), .. }, BarrierWait(..)) => Reversal::Never,
        // In which round it comes may change.
        (BarrierPost { crowd: Known(true), .. }, BarrierPost { .. }) => Reversal::Look,
        (_, TakeWait(..) | Join(..) | ConditionWait(..) | BarrierWait(..)) => Reversal::Look,
        // Actors are numbered in the order of their creation.
        (Spawn(_), Spawn(_)) => Reversal::Look,
        (Spawn(child), _) if second.step.actor == *child => Reversal::Never,
        (Exit { .. } | Withdraw(_) | Interfere, _) | (_, Exit { .. } | Withdraw(_) | Interfere) => {
            Reversal::Look
        }
        _ => Reversal::Same,
    }
}
