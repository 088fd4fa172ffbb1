//! From the world to the kernel: what ended or changed at an instant, and who is told.

use simurgh_models::{ActionId, Change, Ended, Explanation, Outcome, Step};
use simurgh_platform::HostId;

use super::prefetch::{FEW, TOGETHER};
use super::{Error, KIND, Purpose, Simulation, TIMER, purpose};
use crate::event::Event;
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{Failure, SpawnRequest};

impl Simulation {
    /// Handles one move of the clock: first what changed in the platform, then what ended, in the models' order.
    pub(super) fn apply_step(&mut self, step: &mut Step) -> Result<(), Error> {
        if !step.changes.is_empty() {
            let mut changes = std::mem::take(&mut step.changes);
            for change in changes.drain(..) {
                self.changed(change)?;
            }
            step.changes = changes;
        }
        if step.ended.is_empty() {
            return Ok(());
        }
        let all = std::mem::take(&mut step.ended);
        let timers_end = all.iter().rposition(|ended| ended.token & KIND == TIMER).unwrap_or(0);
        // What happens to an actor before its turn in this list may have set its alarm anew.
        for (place, ended) in all.iter().enumerate() {
            if place.is_multiple_of(TOGETHER) && all.len() - place >= FEW {
                self.prefetch_ended(&all[place..]);
            }
            match purpose(ended.token) {
                Purpose::Activity(activity) => {
                    if place < timers_end {
                        self.time_out_waiters(activity, &all[place + 1..=timers_end]);
                    }
                    if self.action(activity) != Some(ended.action) {
                        continue;
                    }
                    self.explained(activity, ended.action);
                    let result = match ended.outcome {
                        Outcome::Done => Ok(()),
                        Outcome::Failed(resource) => Err(Failure::Resource(resource)),
                    };
                    self.kernel.finish(activity, result);
                }
                Purpose::Timer(actor) => {
                    if all.len() < FEW {
                        self.prefetch_alarmed();
                    }
                    if !self.models.alarm_is_set(actor.0) {
                        self.kernel.timer_fired(actor);
                    }
                }
                Purpose::Kill(actor) => self.kernel.end(actor, true),
                Purpose::Start(index) => {
                    if let Some(request) = self.late.get_mut(index).and_then(Option::take) {
                        self.spawn(request)?;
                    }
                }
            }
            self.settle()?;
        }
        step.ended = all;
        step.ended.clear();
        Ok(())
    }

    /// A timeout at the instant of the completion wins, also where the two come in the other order.
    fn time_out_waiters(&mut self, activity: ActivityId, ended: &[Ended]) {
        let Some(found) = self.kernel.activities().get(activity) else { return };
        let waiters: Vec<ActorId> = found.waiters.iter().collect();
        for actor in waiters {
            let token = TIMER | u64::from(actor.0);
            if !self.models.alarm_is_set(actor.0) && ended.iter().any(|ended| ended.token == token) {
                self.kernel.timer_fired(actor);
            }
        }
    }

    fn changed(&mut self, change: Change) -> Result<(), Error> {
        match change {
            Change::HostOff(host) => {
                self.tell(Event::HostState(host, false));
                for actor in self.kernel.actors_on(host) {
                    self.die_with_host(actor, host)?;
                }
            }
            Change::HostOn(host) => {
                self.tell(Event::HostState(host, true));
                self.boot(host)?;
            }
            Change::LinkOff(link) => self.tell(Event::LinkState(link, false)),
            Change::LinkOn(link) => self.tell(Event::LinkState(link, true)),
            Change::HostSpeed(_) | Change::LinkBandwidth(_) | Change::LinkLatency(_) => {}
        }
        self.settle()
    }

    pub(super) fn die_with_host(&mut self, actor: ActorId, host: HostId) -> Result<(), Error> {
        if let Some(boot) = self.kernel.kept(actor).rare.as_deref().and_then(|rare| rare.boot) {
            let boot = &mut self.boots[boot];
            // Whoever has moved does not come back to where it died.
            boot.is_awaited = boot.host == host;
        }
        self.kernel.end(actor, true);
        self.settle()
    }

    /// Starts all that belongs to a host that comes back, whether it was there when the host went off, had ended before, or lives
    /// elsewhere.
    fn boot(&mut self, host: HostId) -> Result<(), Error> {
        for index in 0..self.boots.len() {
            let boot = &mut self.boots[index];
            if boot.host != host {
                continue;
            }
            boot.is_awaited = false;
            let mut request = SpawnRequest::new(boot.name.clone(), host, (boot.code)());
            request.daemon = boot.daemon;
            let actor = self.kernel.spawn(request);
            self.settle()?;
            self.kernel.kept_mut(actor).rare.get_or_insert_default().boot = Some(index);
        }
        Ok(())
    }

    pub(super) fn tell(&mut self, event: Event) {
        if !self.observers.is_empty() {
            self.events.push(event);
        }
    }

    #[inline(always)]
    pub(super) fn explained(&mut self, activity: ActivityId, action: ActionId) {
        if self.explaining {
            self.tell_explanation(activity, action);
        }
    }

    #[cold]
    fn tell_explanation(&mut self, activity: ActivityId, action: ActionId) {
        if let Some(explanation) = self.models.take_explanation(action) {
            let explanation: Box<Explanation> = Box::new(explanation);
            self.tell(Event::Explained { activity, explanation });
        }
    }

    /// Tells the observers what has happened since the last time.
    #[inline(always)]
    pub(super) fn publish(&mut self) {
        if !self.observers.is_empty() {
            self.publish_all();
        }
    }

    #[cold]
    fn publish_all(&mut self) {
        let now = self.models.now();
        let mut events = std::mem::take(&mut self.events);
        self.kernel.take_events(&mut events);
        for usage in self.models.take_usage() {
            events.push(Event::Used(usage));
        }
        for event in &events {
            let at = if let Event::Used(usage) = event { usage.at } else { now };
            for observer in &mut self.observers {
                observer.event(at, event);
            }
        }
        events.clear();
        self.events = events;
    }
}
