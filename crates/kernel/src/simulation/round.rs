//! One round: the actors that can go on, each up to its next request; then the requests, served in the order of the
//! actors (Rosa's thesis, 4.2). User code sees nothing but its own port, so the order in which it runs does not matter.

use simurgh_models::prefetch::prefetch as prefetch_all;

use super::parallelism::{Mode, Plan, Seen};
use super::round_timer::RoundTimer;
use super::worker_pool::{Work, WorkerPool};
use super::{Code, Error, Simulation, prefetch};
use crate::context::{Body, Door, Port, Resumed};
use crate::ids::{ActorId, ExposedId};
use crate::kernel::{Served, Woken};
use crate::simcall::{ExecRequest, Note, PlatformRequest, Simcall};
use crate::simulation::report::{ActorFailure, Pacing};

/// How many actors run before the first of them is served, where that cannot be told from running all of them first: what
/// their code has just touched is still in the cache then, and the memory of a round is bounded. A request that concerns others
/// waits until all of the round have run ([`Simulation::run_rest`]).
const TOGETHER: usize = 512;

/// The actors of the present round that have not been served.
#[derive(Default)]
pub(super) struct Rest {
    /// The actors of the round, if they are many.
    actors: Vec<ActorId>,
    /// How many of them have run.
    run: usize,
    /// What those left who ran before it was their turn to be served.
    slots: Vec<Slot>,
}

/// A round of which it is to be learned how long it takes: when it began, or as good as, and how long its code took, and takes
/// for sure.
struct Timed {
    mode: Mode,
    start: u64,
    code: u64,
    sure: f64,
}

/// An actor of the present round, with all that its code needs to run.
#[derive(Default)]
pub(super) struct Slot {
    actor: Option<ActorId>,
    body: Option<Body>,
    door: Door,
    resumed: Option<Resumed>,
}

impl Slot {
    /// What the actor left.
    pub(super) fn port(&self) -> &Port {
        &self.door
    }
}

impl Work for Slot {
    /// Runs the code up to its next request.
    fn run(&mut self) {
        if let Some(body) = &mut self.body {
            self.resumed = Some(body.resume(&mut self.door));
        }
    }

    fn prefetch(&self) {
        self.body.iter().for_each(Body::prefetch);
    }
}

/// A request that is served later, with what goes before it.
pub(super) struct Held {
    pub(super) simcall: Simcall,
    /// For how many turns.
    turns: u8,
    pub(super) notes: Vec<Note>,
}

impl Simulation {
    /// Lets the actors run, round after round, until all of them wait.
    pub(super) fn run_actors(&mut self, ready: &mut Vec<ActorId>) -> Result<(), Error> {
        loop {
            ready.clear();
            self.kernel.take_ready(ready);
            if ready.is_empty() {
                // The last one may have been killed, or died with its host: then nobody had a turn.
                if self.only_daemons_are_left() {
                    self.end_daemons()?;
                }
                return Ok(());
            }
            self.rounds += 1;
            self.stand_still(ready)?;
            self.rest.actors.clear();
            if let [actor] = ready[..] {
                self.run_alone(actor)?;
                if self.only_daemons_are_left() {
                    self.end_daemons()?;
                }
                continue;
            }
            if ready.len() > TOGETHER {
                self.rest.actors.extend_from_slice(ready);
            }
            for (index, together) in ready.chunks(TOGETHER).enumerate() {
                if self.rest.slots.is_empty() {
                    self.rest.run = (index + 1) * TOGETHER;
                    self.run_together(together)?;
                } else {
                    let mut slots = std::mem::take(&mut self.rest.slots);
                    self.serve_slots(&mut slots)?;
                    break;
                }
            }
            if self.only_daemons_are_left() {
                self.end_daemons()?;
            }
        }
    }

    /// A round of one actor, as most are in many programs: there is nobody to share it with, or to be asked for beforehand.
    fn run_alone(&mut self, actor: ActorId) -> Result<(), Error> {
        let mut slots = std::mem::take(&mut self.slots);
        if slots.is_empty() {
            slots.push(Slot::default());
        }
        self.run_in_place(actor, &mut slots[0]);
        let served = self.serve_slot(&mut slots[0]);
        // What was there in the meantime has no memory.
        std::mem::forget(std::mem::replace(&mut self.slots, slots));
        served
    }

    fn run_together(&mut self, actors: &[ActorId]) -> Result<(), Error> {
        let mut slots = std::mem::take(&mut self.slots);
        if slots.len() < actors.len() {
            slots.resize_with(actors.len(), Slot::default);
        }
        let timed = if self.workers.count > 1 {
            self.run_as_chosen(actors, &mut slots)
        } else {
            self.run_sequentially(actors, &mut slots, None);
            None
        };
        let served = self.serve_slots(&mut slots[..actors.len()]);
        // What was there in the meantime has no memory.
        std::mem::forget(std::mem::replace(&mut self.slots, slots));
        if let (Some(Timed { mode, start, code, sure }), Some(watch)) = (timed, self.workers.stopwatch) {
            let seen = Seen { mode, code, whole: watch().saturating_sub(start), sure };
            self.workers.parallelism.learn(actors.len(), seen);
        }
        served
    }

    /// Serves those who have run, in their order.
    fn serve_slots(&mut self, slots: &mut [Slot]) -> Result<(), Error> {
        slots.chunks_mut(prefetch::TOGETHER).try_for_each(|slots| {
            if slots.len() >= prefetch::FEW {
                self.prefetch_requested(slots);
            }
            slots.iter_mut().try_for_each(|slot| self.serve_slot(slot))
        })
    }

    /// All of a round run before the first of them does something to another. It makes no difference otherwise.
    fn run_rest(&mut self) {
        let round = std::mem::take(&mut self.rest.actors);
        if let Some(actors) = round.get(self.rest.run..) {
            let mut slots = Vec::new();
            slots.resize_with(actors.len(), Slot::default);
            self.run_sequentially(actors, &mut slots, None);
            self.rest.slots = slots;
        }
    }

    /// Runs the actors by one thread or by all, as experience tells. What was chosen is judged after the requests were served
    /// too: what another thread has touched last is fetched from there.
    fn run_as_chosen(&mut self, actors: &[ActorId], slots: &mut Vec<Slot>) -> Option<Timed> {
        let Plan { mode, timed, patience } = match self.workers.stopwatch {
            None if actors.len() > 1 => Plan { mode: Mode::Parallel, timed: false, patience: None },
            _ => self.workers.parallelism.next(actors.len()),
        };
        let mut steps =
            self.workers.stopwatch.zip(patience).map(|(watch, patience)| RoundTimer::begin(watch, patience));
        let cut = match mode {
            Mode::Sequential => self.run_sequentially(actors, slots, steps.as_mut()),
            Mode::Parallel => {
                self.share(actors, slots, 0);
                None
            }
        };
        cut.or_else(|| {
            let mut steps = steps.filter(|_| timed)?;
            steps.look(actors.len());
            Some(Timed { mode, start: steps.start(), code: steps.taken(), sure: steps.cost() })
        })
    }

    /// Runs the actors one after the other. If that takes longer than one has patience for, the rest is shared; then what
    /// it would have taken alone is known.
    fn run_sequentially(
        &mut self,
        actors: &[ActorId],
        slots: &mut Vec<Slot>,
        mut steps: Option<&mut RoundTimer>,
    ) -> Option<Timed> {
        for (place, &actor) in actors.iter().enumerate() {
            if actors.len() > prefetch::CODE_BEFOREHAND && place.is_multiple_of(prefetch::CODE_TOGETHER) {
                self.prefetch_ready(actors.get(place + prefetch::CODE_TOGETHER..).unwrap_or_default());
                self.prefetch_code(&actors[place..]);
                actors[place..]
                    .iter()
                    .take(prefetch::CODE_TOGETHER)
                    .for_each(|&actor| self.kernel.prefetch_answer(actor));
                slots[place..]
                    .iter()
                    .take(prefetch::CODE_TOGETHER)
                    .for_each(|slot| prefetch_all(slot.port()));
            }
            self.run_in_place(actor, &mut slots[place]);
            if actors.len() >= prefetch::FEW {
                self.prefetch_mailboxes(slots[place].port());
            }
            let done = place + 1;
            if let Some(steps) = &mut steps
                && done < actors.len()
                && done.is_power_of_two()
            {
                steps.look(done);
                // One that is left is not shared.
                if steps.is_long() && done + 1 < actors.len() {
                    let sure = steps.cost();
                    self.share(actors, slots, done);
                    let code = (sure * actors.len() as f64) as u64;
                    let start = steps.now().saturating_sub(code);
                    return Some(Timed { mode: Mode::Sequential, start, code, sure });
                }
            }
        }
        None
    }

    /// Lets all threads run the actors from a place on.
    fn share(&mut self, actors: &[ActorId], slots: &mut Vec<Slot>, from: usize) {
        for (place, (&actor, slot)) in actors[from..].iter().zip(&mut slots[from..]).enumerate() {
            if place.is_multiple_of(prefetch::CODE_TOGETHER) {
                self.prefetch_ready(&actors[from + place..]);
            }
            if let Some(code) = prepare(self, actor, slot) {
                slot.body = code.body.take();
            }
        }
        let count = self.workers.count;
        let pool = self.workers.worker_pool.get_or_insert_with(|| WorkerPool::new(count));
        pool.run(slots, from..actors.len());
        for slot in &mut slots[from..actors.len()] {
            self.put_back(slot);
        }
        self.workers.rounds += 1;
    }

    /// Runs the code of an actor where it is, unless it is not its turn.
    #[inline(always)]
    fn run_in_place(&mut self, actor: ActorId, slot: &mut Slot) {
        if let Some(code) = prepare(self, actor, slot)
            && let Some(body) = &mut code.body
        {
            slot.resumed = Some(body.resume(&mut slot.door));
            if !slot.door.on_exit.is_empty() {
                code.rare.get_or_insert_default().on_exit.append(&mut slot.door.on_exit);
            }
        }
    }

    /// Puts the code back in its place.
    fn put_back(&mut self, slot: &mut Slot) {
        let (Some(actor), Some(body)) = (slot.actor, slot.body.take()) else { return };
        let code = self.kernel.kept_mut(actor);
        code.body = Some(body);
        if !slot.door.on_exit.is_empty() {
            code.rare.get_or_insert_default().on_exit.append(&mut slot.door.on_exit);
        }
    }

    #[inline(always)]
    fn serve_slot(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let Some(actor) = slot.actor.take() else { return Ok(()) };
        let port = &mut *slot.door;
        match slot.resumed.take() {
            Some(Resumed::Asked) => {}
            Some(ended) => self.see_out(actor, ended, port),
            None => {
                self.settle()?;
                return self.serve_held(actor);
            }
        }
        if !port.said.is_empty() {
            let said = std::mem::take(&mut port.said);
            self.pass_on(actor, &said);
        }
        if self.pacing != Pacing::Single
            && self.kernel.is_alive(actor)
            && let turns @ 1.. = port.simcall.as_ref().map_or(0, hold)
            && let Some(simcall) = port.simcall.take()
        {
            let notes = std::mem::take(&mut port.notes);
            self.hold(actor, Held { simcall, turns: turns - 1, notes });
            return Ok(());
        }
        if !port.posts.is_empty() {
            self.serve_posts(actor, port)?;
        }
        if !port.notes.is_empty() {
            self.serve_notes(actor, &mut port.notes)?;
        }
        // What most of them ask, straight away.
        let served = match &mut port.simcall {
            Some(Simcall::Send(request, follow)) => {
                let served = self.kernel.post_send(actor, request, *follow);
                if !matches!(served, Served::Gone) {
                    request.payload = None;
                }
                served
            }
            Some(Simcall::Recv(request, follow)) => self.kernel.post_recv(actor, request, *follow),
            Some(Simcall::Execute(request, follow)) if self.pacing == Pacing::Single => {
                self.kernel.post_execute(actor, request, *follow)
            }
            Some(simcall) => match self.kernel.serve_in_place(actor, simcall) {
                Some(served) => served,
                None => return port.simcall.take().map_or(Ok(()), |simcall| self.serve(actor, simcall)),
            },
            None => return Ok(()),
        };
        if matches!(served, Served::Gone) {
            return port.simcall.take().map_or(Ok(()), |request| self.drop_request(actor, request));
        }
        // Nothing is left in it that must be dropped.
        std::mem::forget(port.simcall.take());
        match served {
            Served::Answered(answer) => {
                self.settle()?;
                self.kernel.answer(actor, answer);
                Ok(())
            }
            Served::Blocked | Served::Gone => self.settle(),
            Served::Then(next) => {
                self.settle()?;
                self.serve(actor, next)
            }
        }
    }

    /// Whether a request may change what those see who have not run in this round; or calls what they might see.
    fn concerns_others(&self, actor: ActorId, simcall: &Simcall) -> bool {
        match simcall {
            Simcall::Kill(target) | Simcall::Suspend(target) | Simcall::Migrate(target, _)
                if *target != actor =>
            {
                true
            }
            Simcall::KillAll | Simcall::Platform(PlatformRequest::SetHostState(..)) => true,
            Simcall::Kill(_) | Simcall::Exit => {
                self.kernel.kept(actor).rare.as_ref().is_some_and(|rare| !rare.on_exit.is_empty())
            }
            _ => false,
        }
    }

    /// The code of an actor came to its end, one way or another: that is what it asks for.
    #[cold]
    fn see_out(&mut self, actor: ActorId, ended: Resumed, port: &mut Port) {
        match ended {
            Resumed::Asked => {}
            Resumed::Ended => port.simcall = Some(Simcall::Exit),
            Resumed::Failed(fault) => {
                port.simcall = Some(Simcall::Kill(actor));
                let (name, host) = (self.kernel.actor_name(actor).to_owned(), port.host);
                let (at, message) = (self.models.now(), fault.to_string());
                self.failures.push(ActorFailure { actor, name, host, at, message });
            }
        }
    }

    fn hold(&mut self, actor: ActorId, held: Held) {
        self.kernel.kept_mut(actor).rare.get_or_insert_default().held = Some(held);
        self.kernel.postpone(actor);
    }

    fn serve_held(&mut self, actor: ActorId) -> Result<(), Error> {
        let rare = self.kernel.kept_mut(actor).rare.as_mut();
        let Some(mut held) = rare.and_then(|rare| rare.held.take()) else { return Ok(()) };
        if held.turns > 0 {
            held.turns -= 1;
            self.hold(actor, held);
            return Ok(());
        }
        self.serve_notes(actor, &mut held.notes)?;
        self.serve(actor, held.simcall)
    }

    fn serve_notes(&mut self, actor: ActorId, notes: &mut Vec<Note>) -> Result<(), Error> {
        for note in notes.drain(..) {
            self.kernel.serve_note(actor, note);
            self.settle()?;
        }
        Ok(())
    }

    fn serve(&mut self, actor: ActorId, mut simcall: Simcall) -> Result<(), Error> {
        // It may have been ended by one that was served before it in this round.
        if !self.kernel.is_alive(actor) {
            return self.drop_request(actor, simcall);
        }
        if !self.rest.actors.is_empty() && self.concerns_others(actor, &simcall) {
            self.run_rest();
        }
        loop {
            if let Some(answer) = self.answer_platform(&simcall) {
                // What a change takes down goes before whoever made it goes on, who may be among it.
                self.tell_news()?;
                self.kernel.answer(actor, answer);
                return Ok(());
            }
            let begins_work = matches!(simcall, Simcall::Execute(..) | Simcall::Access(..));
            let shown: Option<(ActorId, ExposedId)> =
                if let Simcall::Expose(id, _) = &simcall { Some((actor, *id)) } else { None };
            match self.kernel.serve(actor, simcall) {
                Served::Answered(answer) => {
                    self.settle()?;
                    if shown.is_some() {
                        self.judge(shown);
                    }
                    self.kernel.answer(actor, answer);
                    return Ok(());
                }
                Served::Blocked | Served::Gone => return self.settle(),
                Served::Then(next) => {
                    self.settle()?;
                    if begins_work && self.pacing == Pacing::Reference {
                        self.hold(actor, Held { simcall: next, turns: 0, notes: Vec::new() });
                        return Ok(());
                    }
                    simcall = next;
                }
            }
        }
    }
}

/// Gives an actor what it needs to run, unless it is not its turn; then its code is the answer.
#[inline(always)]
fn prepare<'a>(simulation: &'a mut Simulation, actor: ActorId, slot: &mut Slot) -> Option<&'a mut Code> {
    slot.actor = Some(actor);
    if let Some(rare) = &mut simulation.kernel.kept_mut(actor).rare {
        if rare.held.is_some() {
            return None;
        }
        slot.door.received.clear();
        std::mem::swap(&mut rare.received, &mut slot.door.received);
    }
    let Woken { host, answer, kept } = simulation.kernel.wake(actor)?;
    simulation.turns += 1;
    slot.door.takes_posts = simulation.pacing == Pacing::Single;
    slot.door.program = simulation.program;
    slot.door.prepare(actor, host, simulation.models.now(), answer.take());
    Some(kept)
}

/// For how many turns a simcall is held before it is served, at the pace of the reference. Its programs ask several
/// things of its kernel for one operation; what is counted here are the requests before the one that acts.
fn hold(simcall: &Simcall) -> u8 {
    match simcall {
        Simcall::Send(..) | Simcall::Recv(..) => 1,
        Simcall::Execute(ExecRequest { priority, bound, .. }, _) => {
            2 + u8::from(priority.is_some()) + u8::from(bound.is_some())
        }
        Simcall::Access(..) => 3,
        _ => 0,
    }
}
