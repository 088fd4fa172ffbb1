//! From the kernel to the world: what it wants done is done by the models, and the code of actors is kept and dropped.

use simurgh_models::{ActionId, Refused, Transfer};

use super::{ActorFailure, Boot, Code, Error, KILL, Rare, Simulation, action_of};
use crate::activity::Kind;
use crate::context::{Body, part};
use crate::ids::{ActivityId, ActorId};
use crate::kernel::{Effect, PendingTransfer};
use crate::simcall::{Failure, Note, Simcall, SpawnRequest};

impl Simulation {
    /// Carries out what the kernel wants done in the world.
    #[inline(always)]
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        if let Some(&PendingTransfer { activity, src, dst, bytes, rate }) = self.kernel.pending_transfer() {
            self.kernel.transfer_started();
            self.depart(activity, Transfer { src, dst, bytes, rate })?;
        } else if let Some(begun) = self.kernel.take_begun() {
            self.execute(begun)?;
        }
        if self.kernel.has_effects() {
            self.settle_all()?;
        }
        if !self.kernel.timers().is_empty() {
            self.settle_timers();
        }
        self.publish();
        Ok(())
    }

    fn settle_all(&mut self) -> Result<(), Error> {
        while let Some(effect) = self.kernel.next_effect() {
            match effect {
                Effect::Transfer { activity, src, dst, bytes, rate } => {
                    self.depart(activity, Transfer { src, dst, bytes, rate })?;
                }
                Effect::UnderWay(_) => unreachable!("simulated messages are not held back"),
                Effect::Execute(activity) => self.execute(activity)?,
                Effect::Access(activity, what) => {
                    let started = self.models.io(what, activity.to_bits());
                    self.started(activity, started)?;
                }
                Effect::Parallel(activity, what) => {
                    let started = self.models.parallel(*what, activity.to_bits());
                    self.started(activity, started)?;
                }
                Effect::Flow(activity, what) => self.depart(activity, what)?,
                Effect::Move(activity, mut what) => {
                    if let Some(action) = self.action(activity) {
                        // Each thread does all of the flops; what is left is told for all of them together.
                        let left =
                            self.models.remaining(action).map(|all| all / f64::from(what.threads.max(1)));
                        what.flops = left.unwrap_or(what.flops);
                        self.models.cancel(action);
                        let started = self.models.execute(what, activity.to_bits());
                        self.started(activity, started)?;
                    }
                }
                Effect::Stop(activity, note) => {
                    if let Some(action) = note.map(ActionId::from_bits) {
                        self.models.cancel(action);
                        self.explained(activity, action);
                    }
                }
                Effect::Pause(activity) => {
                    if let Some(action) = self.action(activity) {
                        self.models.suspend(action);
                    }
                }
                Effect::Continue(activity) => {
                    if let Some(action) = self.action(activity) {
                        self.models.resume(action);
                    }
                }
                Effect::Started(actor, request) => {
                    let host = request.host;
                    self.keep_code(actor, *request);
                    if !self.models.host_is_on(host) {
                        self.die_with_host(actor, host)?;
                    }
                }
                Effect::Ended { actor, failed } => self.drop_code(actor, failed),
            }
        }
        Ok(())
    }

    /// A message sets out.
    #[inline]
    fn depart(&mut self, activity: ActivityId, what: Transfer) -> Result<(), Error> {
        // One that was given up at once never sets out.
        let Some(record) = self.kernel.running(activity) else { return Ok(()) };
        match self.models.transfer(what, activity.to_bits()) {
            Ok(action) => {
                record.driver_data = action.to_bits();
                Ok(())
            }
            refused => self.started(activity, refused),
        }
    }

    /// A computation begins.
    fn execute(&mut self, activity: ActivityId) -> Result<(), Error> {
        // One that was given up at once never begins.
        let Some(what) = self.kernel.execution(activity) else { return Ok(()) };
        let started = self.models.execute(what.clone(), activity.to_bits());
        self.started(activity, started)
    }

    fn settle_timers(&mut self) {
        for &(actor, duration) in self.kernel.timers() {
            match duration {
                Some(duration) => self.models.set_alarm(actor.0, duration),
                None => self.models.clear_alarm(actor.0),
            }
        }
        self.kernel.clear_timers();
    }

    pub(super) fn action(&self, activity: ActivityId) -> Option<ActionId> {
        action_of(&self.kernel, activity)
    }

    fn started(&mut self, activity: ActivityId, started: Result<ActionId, Refused>) -> Result<(), Error> {
        match started {
            Ok(action) => self.kernel.set_driver_data(activity, action.to_bits()),
            Err(Refused::Off(resource)) => self.kernel.finish(activity, Err(Failure::Resource(resource))),
            Err(Refused::NoRoute(source)) => {
                let (sender, receiver) = self.ends_of(activity);
                return Err(Error::NoRoute { sender, receiver, source: Box::new(source) });
            }
            Err(other) => {
                let (actor, _) = self.ends_of(activity);
                return Err(Error::Refused { actor, reason: other.to_string() });
            }
        }
        Ok(())
    }

    /// Who is at the two ends of an activity, for messages.
    fn ends_of(&self, activity: ActivityId) -> (String, String) {
        let name = |actor: ActorId| format!("actor {:?}", self.kernel.actor_name(actor));
        match self.kernel.activities().get(activity).map(|activity| &activity.kind) {
            Some(Kind::Comm(comm)) => {
                (comm.sender().map_or_else(String::new, name), comm.receiver().map_or_else(String::new, name))
            }
            Some(
                Kind::Execution { actor, .. }
                | Kind::Access { actor, .. }
                | Kind::Parallel { actor }
                | Kind::Flow { actor },
            ) => (name(*actor), String::new()),
            None => (String::new(), String::new()),
        }
    }

    fn keep_code(&mut self, actor: ActorId, request: SpawnRequest) {
        let kill = request.kill_at.map(|date| {
            let delay = (date - self.models.now().seconds()).max(0.0);
            self.models.timer(delay, KILL | u64::from(actor.0))
        });
        let SpawnRequest { name, host, body, daemon, reboot, .. } = request;
        let boot = reboot.map(|code| {
            self.boots.push(Boot { host, name, daemon, code, is_awaited: false });
            self.boots.len() - 1
        });
        let rare =
            (boot.is_some() || kill.is_some()).then(|| Box::new(Rare { boot, kill, ..Rare::default() }));
        *self.kernel.kept_mut(actor) = Code { body: Some(body), rare };
    }

    fn drop_code(&mut self, actor: ActorId, failed: bool) {
        for note in self.part_with(actor, failed) {
            self.kernel.serve_note(actor, note);
        }
    }

    /// Drops a request of an actor that was ended in this round, before it was its turn to be served.
    #[cold]
    pub(super) fn drop_request(&mut self, actor: ActorId, request: Simcall) -> Result<(), Error> {
        let (host, now) = (self.kernel.actor_host(actor), self.models.now());
        let door = &mut self.parting;
        door.prepare(actor, host, now, None);
        Body::dispose_request(request, door);
        let notes = std::mem::take(&mut door.notes);
        notes.into_iter().for_each(|note| self.kernel.serve_note(actor, note));
        self.settle()
    }

    /// Those who are blocked when nothing can happen any more end with the simulation. The kernel does not hear of it: it still knows
    /// what they waited for, and nobody is left to go on.
    pub(super) fn part_with_all(&mut self) {
        for index in 0..self.kernel.actor_count() {
            let actor = ActorId::from_index(index);
            if self.kernel.is_alive(actor) {
                drop(self.part_with(actor, true));
            }
        }
    }

    /// Drops the code of an actor, and calls what it wants called at its end. Gives what that leaves to be done.
    fn part_with(&mut self, actor: ActorId, failed: bool) -> Vec<Note> {
        let (host, now) = (self.kernel.actor_host(actor), self.models.now());
        let code = self.kernel.kept_mut(actor);
        let rare = code.rare.take().unwrap_or_default();
        if let Some(kill) = rare.kill {
            self.models.cancel(kill);
        }
        let door = &mut self.parting;
        door.prepare(actor, host, now, None);
        let (held, notes) = rare.held.map_or((None, Vec::new()), |held| (Some(held.simcall), held.notes));
        door.notes.extend(notes);
        if let Some(body) = code.body.take() {
            body.dispose(door);
        }
        if let Some(request) = held {
            Body::dispose_request(request, door);
        }
        let panics = part(rare.on_exit, failed, door);
        let (notes, said) = (std::mem::take(&mut door.notes), std::mem::take(&mut door.said));
        self.pass_on(actor, &said);
        for message in panics {
            let name = self.kernel.actor_name(actor).to_owned();
            let message = format!("panicked in what it does at its end: {message}");
            self.failures.push(ActorFailure { actor, name, host, at: now, message });
        }
        notes
    }
}
