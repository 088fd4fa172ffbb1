//! A counterexample as people read it: plain data, made by following its schedule on the kernel.
//!
//! - `words`: what each step does.
//! - `standing`: what each actor is about at the end.
//!
//! [`tell`] executes a schedule, so that what is told is what happened.

mod standing;
mod words;

use serde::{Serialize, Serializer};
use simurgh_kernel::context::{Label, Part, Place};
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;

use simurgh_explore::actors::{Actors, Network};
use simurgh_explore::determinism::{Posted, Traffic};
use simurgh_explore::replay::Follower;
use simurgh_explore::verdict::{Impossible, Step, Violation};
use words::Teller;

pub use standing::{How, Standing};
pub use words::varies;

/// An execution, step by step, and what went wrong in it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Counterexample {
    /// What went wrong, in one line. Nothing may have: then this is any execution.
    pub what: Option<String>,
    /// The same as data.
    #[serde(skip)]
    pub violation: Option<Violation>,
    /// Where in the program, if that is known.
    #[serde(serialize_with = "place")]
    pub place: Option<Place>,
    /// How it differs from another execution, if that is what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// What may arrive before what.
    #[serde(serialize_with = "printed")]
    pub network: Network,
    /// The names of all actors, by number. They are unique: the number is added where it is needed.
    pub actors: Vec<String>,
    /// What the actors said before the first step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
    /// The values that actors expose, before the first step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<Shown>,
    /// What happened.
    pub steps: Vec<Taken>,
    /// How all actors stand after the last step.
    pub standing: Vec<Standing>,
}

impl Counterexample {
    /// Whether actors wait for ever.
    pub fn is_deadlock(&self) -> bool {
        matches!(self.violation, Some(Violation::Deadlock { .. }))
    }

    /// The values that are exposed after the last step.
    pub fn shown(&self) -> Vec<Shown> {
        let mut now: Vec<Shown> = Vec::new();
        for news in self.shows.iter().chain(self.steps.iter().flat_map(|step| &step.shows)) {
            match now.iter_mut().find(|shown| shown.name == news.name) {
                Some(shown) => shown.value.clone_from(&news.value),
                None => now.push(news.clone()),
            }
        }
        now
    }
}

/// How an actor communicates differently in two executions: in this one, and in another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// Who.
    pub actor: u32,
    /// What it is that differs: `sends` or `receives`.
    pub what: &'static str,
    /// Which one of them, from 1.
    pub number: usize,
    /// What it is here.
    pub here: Exchanged,
    /// What it is in the other execution.
    pub there: Exchanged,
    /// The other execution.
    #[serde(serialize_with = "all_printed")]
    pub schedule: Vec<Step>,
}

/// A send or a receive of one of two executions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Exchanged {
    /// What it does, in words that go on from "it"; or that it does not come about.
    pub does: String,
    /// Its step, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The line of the program.
    #[serde(serialize_with = "place", skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Something that an actor said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Said {
    /// Who.
    pub actor: u32,
    /// What.
    pub text: String,
}

/// A value that an actor exposes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub value: String,
}

/// A call of which a step is part, as its actor names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Call {
    /// The call, as people say it.
    pub text: String,
    /// Which one of the actor it is: steps with the same number belong together.
    pub number: u64,
    /// Which part of it.
    #[serde(serialize_with = "part")]
    pub part: Part,
}

impl From<&Label> for Call {
    fn from(label: &Label) -> Self {
        Self { text: label.text.clone(), number: label.call, part: label.part }
    }
}

/// One step that was taken.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Taken {
    /// Its number, from 1.
    pub number: usize,
    /// How it is written in a schedule.
    #[serde(serialize_with = "printed")]
    pub step: Step,
    /// Whose it is; nobody's if a message arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<u32>,
    /// What it does, in one word.
    pub kind: &'static str,
    /// What it does, in words that go on from the name of the actor.
    pub does: String,
    /// The call of its actor that it is part of, if the actor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The step of the schedule, where this stands for several of them: the row of a call.
    #[serde(skip)]
    pub at: Option<usize>,
    /// The mailbox that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mailbox: Option<String>,
    /// The message that is sent, arrives or is received; messages are numbered from 1 in the order in which they are
    /// sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
    /// The other actor that it is about: who sent what is received, who is created or waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<u32>,
    /// How long the message is that is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// The steps of others that it had to wait for: what it receives was sent there, the lock was given back there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// The line of the program.
    #[serde(serialize_with = "place", skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What was said when the actor had its answer, up to its next step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
    /// The exposed values that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<Shown>,
    /// What went wrong then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

fn printed<T: std::fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn all_printed<T: std::fmt::Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

fn part<S: Serializer>(part: &Part, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match part {
        Part::Own => "own",
        Part::Inner => "inner",
        Part::Hidden => "hidden",
    })
}

fn place<S: Serializer>(place: &Option<Place>, serializer: S) -> Result<S::Ok, S::Error> {
    match place {
        Some(place) => serializer.collect_str(place),
        None => serializer.serialize_none(),
    }
}

/// What people call the things that the kernel knows by number.
pub type MailboxNames<'a> = &'a dyn Fn(MailboxId) -> String;

/// Follows a schedule on the kernel and tells what happens, above all of this violation.
///
/// # Errors
/// Where it cannot be followed.
pub fn tell<F: FnMut(&mut Kernel)>(
    system: &mut Actors<F>,
    schedule: &[Step],
    about: Option<&Violation>,
    names: MailboxNames<'_>,
) -> Result<Counterexample, Impossible> {
    let mut telling = Telling::new(system, names);
    for &step in schedule {
        telling.take(step)?;
    }
    Ok(telling.end(|violation, _| Some(violation) == about))
}

/// Follows a schedule on the kernel and tells how the actors stand at the start, and after each step: those that stand
/// otherwise than before.
///
/// # Errors
/// Where it cannot be followed.
pub fn standings<F: FnMut(&mut Kernel)>(
    system: &mut Actors<F>,
    schedule: &[Step],
    names: MailboxNames<'_>,
) -> Result<Vec<Vec<Standing>>, Impossible> {
    let mut telling = Telling::new(system, names);
    let mut now = telling.standing();
    let mut all = vec![now.clone()];
    for &step in schedule {
        telling.take(step)?;
        all.push(renew(&mut now, telling.standing()));
    }
    Ok(all)
}

/// Takes what is now in place of what was, and gives what is not the same.
fn renew<T: Clone + PartialEq>(known: &mut Vec<T>, now: Vec<T>) -> Vec<T> {
    let before = std::mem::replace(known, now);
    let is_new = |(index, one): &(usize, &T)| before.get(*index) != Some(*one);
    known.iter().enumerate().filter(is_new).map(|(_, one)| one.clone()).collect()
}

/// An execution that is told while it takes place.
pub struct Telling<'a, F: FnMut(&mut Kernel)> {
    follower: Follower<'a, Actors<F>>,
    teller: Teller<'a>,
    /// The exposed values when they were last looked at.
    known: Vec<Shown>,
    /// What is told until now.
    told: Counterexample,
}

impl<'a, F: FnMut(&mut Kernel)> Telling<'a, F> {
    /// Starts anew.
    pub fn new(system: &'a mut Actors<F>, names: MailboxNames<'a>) -> Self {
        system.listen();
        let told = Counterexample { network: system.network(), ..Counterexample::default() };
        let follower = Follower::new(system);
        let mut telling = Self { follower, teller: Teller::new(names), known: Vec::new(), told };
        telling.told.said = telling.take_said();
        telling.told.shows = telling.news();
        telling.teller.learn_names(telling.follower.system.kernel());
        telling
    }

    /// The name of an actor.
    pub fn name(&self, actor: u32) -> &str {
        self.teller.actor(actor)
    }

    /// Whether a step can be taken now.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&mut self, step: Step) -> Result<(), Impossible> {
        self.follower.check(step)
    }

    /// The line that the actor of a step goes on from.
    pub fn place(&self, step: Step) -> Option<Place> {
        self.follower.system.place(ActorId(step.actor))
    }

    /// Takes a step.
    ///
    /// # Errors
    /// If it is not possible.
    pub fn take(&mut self, step: Step) -> Result<&Taken, Impossible> {
        self.follower.check(step)?;
        let asked = self.teller.look(self.follower.system, self.told.steps.len() + 1, step);
        let failed = self.follower.violations().len();
        let kind = self.follower.take(step)?.kind.clone();
        self.teller.learn_names(self.follower.system.kernel());
        let mut taken = self.teller.describe(asked, &kind);
        taken.said = self.take_said();
        taken.shows = self.news();
        let violations = &self.follower.violations()[failed..];
        taken.fails = violations.first().map(|(_, violation)| self.teller.violation(violation));
        self.told.steps.push(taken);
        Ok(self.told.steps.last().expect("just added"))
    }

    /// How all actors stand now.
    pub fn standing(&mut self) -> Vec<Standing> {
        self.teller.standing(self.follower.system)
    }

    /// The whole: about the first violation that came and is meant, which is told in one line too, or else the first that came.
    pub fn end(mut self, is_about: impl Fn(&Violation, &str) -> bool) -> Counterexample {
        self.told.standing = self.standing();
        let Self { follower, teller, mut told, .. } = self;
        let system = &*follower.system;
        let count = system.kernel().actor_count() as u32;
        told.actors = (0..count).map(|actor| teller.actor(actor).to_owned()).collect();
        let places: Vec<_> = (0..follower.violations().len()).map(|n| system.violation_place(n)).collect();
        let violations = follower.end().violations;
        let chosen = |(_, came): &(usize, Violation)| is_about(came, &teller.violation(came));
        let index = violations.iter().position(chosen).unwrap_or(0);
        told.place = places.get(index).copied().flatten();
        if let Some((_, violation)) = violations.into_iter().nth(index) {
            told.what = Some(teller.violation(&violation));
            told.difference = teller.difference(&violation);
            told.violation = Some(violation);
        }
        told
    }

    /// The values that are shown and are new since the last look.
    fn news(&mut self) -> Vec<Shown> {
        let exposure = self.follower.system.kernel().exposure();
        let now = exposure.texts().map(|(name, value)| Shown { name: name.to_owned(), value }).collect();
        renew(&mut self.known, now)
    }

    fn take_said(&mut self) -> Vec<Said> {
        let said = self.follower.system.take_said();
        said.into_iter().map(|(actor, text)| Said { actor, text }).collect()
    }
}

impl Teller<'_> {
    /// How two executions differ, if that is what is wrong.
    fn difference(&self, violation: &Violation) -> Option<Difference> {
        let Violation::Varies { actor, what, number, first, second, other } = violation else { return None };
        let exchanged = |posted: &Option<Posted>| Exchanged {
            does: self.exchange(posted.as_ref()),
            step: posted.map(|posted| posted.step),
            place: posted.and_then(|posted| posted.place),
        };
        let what = match what {
            Traffic::Sends => "sends",
            Traffic::Receives => "receives",
        };
        let (here, there) = (exchanged(second), exchanged(first));
        Some(Difference { actor: *actor, what, number: number + 1, here, there, schedule: other.clone() })
    }
}
