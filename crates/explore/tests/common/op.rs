//! What the actors of a small program do: plain data.

/// What an actor does next.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Op {
    Send(u32),
    Isend(u32),
    Dsend(u32),
    Recv(u32),
    RecvFrom(u32, u32),
    RecvTimed(u32),
    Irecv(u32),
    IrecvFrom(u32, u32),
    WaitAll,
    WaitAny,
    TestAny,
    Probe(u32),
    ProbeFrom(u32, u32),
    Lock(u32),
    LockTimed(u32),
    TryLock(u32),
    Unlock(u32),
    Acquire(u32),
    Release(u32),
    AcquireTimed(u32),
    Barrier,
    WaitCondition,
    WaitConditionTimed,
    NotifyOne,
    NotifyAll,
    Join(u32),
    JoinTimed(u32),
    IsAlive(u32),
    Cancel,
    /// Lets go of the last post, without taking it back.
    Forget,
    Spawn(u32),
    Kill(u32),
    Suspend(u32),
    Resume(u32),
    BecomeDaemon,
    Choose(u32),
    /// Shows a value in one of four places.
    Expose(u32, u32),
    Sleep,
    /// Sends to mailbox 1 if the last message received came from this actor.
    SendIfFrom(u32),
    /// Fails unless the last message received came from this actor.
    Expect(u32),
    /// A message with a tag, waited for at most so long.
    SendTimed(u32),
    /// Messages with a tag, and receives that name it.
    DsendTagged(u32, u32),
    IsendTagged(u32, u32),
    RecvTagged(u32, u32),
    IrecvTagged(u32, u32),
    ProbeTagged(u32, u32),
    /// Waits for the first of what is pending; the second keeps it when the time is up, the third takes it back.
    WaitOne,
    WaitOneTimed,
    WaitOneOrGiveUp,
    /// Waits for any, at most so long: what is pending stays so, or is taken back.
    WaitAnyTimed,
    WaitAnyOrGiveUp,
    TestOne,
    /// Takes back the oldest that is pending.
    CancelFirst,
    TryAcquire(u32),
    /// Comes to a barrier of three; who came last is told to those who ask.
    BarrierOfThree {
        told: bool,
    },
    BarrierOfFour {
        told: bool,
    },
    /// Comes to the barrier of two, and does not ask.
    BarrierUntold,
    /// The next operation is left out unless the last message came from this actor.
    IfFrom(u32),
    /// The next operation is left out unless the last answer was yes, or the last number chosen is not 0.
    IfYes,
    /// Creates one that receives, one that is a daemon and receives, or one that locks.
    SpawnReceiver(u32),
    SpawnDaemon(u32),
    SpawnLocker(u32),
    /// Waits for the end of the last that it created.
    JoinChild,
    JoinChildTimed,
    /// Ends all others.
    KillAll,
}

/// The operations of each actor.
pub type Program = Vec<Vec<Op>>;
