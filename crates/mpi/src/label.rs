//! What a process asks the kernel, named by the call of MPI that it is in: `MPI_Send(2 x MPI_INT to 1, tag 7)`.
//!
//! The process does not run while it is looked at: nothing of its memory is changed here.

use simurgh_kernel::context::{Label, Part};
use simurgh_kernel::simcall::Simcall;

use crate::abi::{self, Comm, Datatype, Op, Procedure};
use crate::arguments::{Arguments, Meaning};
use crate::communicator::context;
use crate::datatype::basic::BASICS;
use crate::doing::{Awaited, Note, Way};
use crate::operator;
use crate::rank::Rank;
use crate::report::called;

impl Rank {
    /// What the process calls what it asks; nothing outside of any call.
    pub(crate) fn label(&self, asked: &Simcall) -> Option<Label> {
        let procedure = self.procedure.get()?;
        // SAFETY: it is in a call.
        let (call, arguments) = unsafe { self.doing.call() };
        let words = self.in_words(procedure, arguments);
        let text = format!("{}({})", procedure.name(), words);
        Some(Label { text, call, part: self.part(asked) })
    }

    /// Whether the program has asked for this itself.
    fn part(&self, asked: &Simcall) -> Part {
        let of_program = |context: u32| context.is_multiple_of(context::STEP);
        let own = match asked {
            Simcall::Arrive { barrier, .. } if *barrier == self.start => return Part::Hidden,
            Simcall::Send(request, _) => of_program(request.envelope.context),
            Simcall::Recv(request, _) => of_program(request.criteria.context),
            Simcall::Probe(_, criteria) => of_program(criteria.context),
            Simcall::WaitAny { .. } | Simcall::TestAny { .. } => {
                self.doing.message().is_none_or(|note| of_program(note.context))
            }
            _ => false,
        };
        if own { Part::Own } else { Part::Inner }
    }

    /// The arguments as people say them.
    fn in_words(&self, procedure: Procedure, arguments: &Arguments<'_>) -> String {
        let name = procedure.name();
        let receives = name.to_lowercase().contains("recv") && !name.to_lowercase().contains("send");
        let is_point_to_point = arguments.meanings.iter().any(|(meaning, _)| *meaning == Meaning::Tag);
        let (mut words, mut count): (Vec<String>, Option<i64>) = (Vec::new(), None);
        for (meaning, name, value) in arguments.iter() {
            // How much a receive has room for does not say what comes; and what collectives receive follows from what they send.
            let of_receive = receives || name.starts_with("recv");
            match meaning {
                Meaning::Count => count = Some(value),
                Meaning::Datatype if of_receive => count = None,
                Meaning::Datatype => {
                    let name = self.name_of_type(Datatype(value as usize));
                    words.push(match count.take() {
                        Some(count) => format!("{count} x {name}"),
                        None => name,
                    });
                }
                Meaning::Rank => {
                    let rank = match value as i32 {
                        abi::ANY_SOURCE => "any".to_owned(),
                        abi::PROC_NULL => "nobody".to_owned(),
                        rank => rank.to_string(),
                    };
                    let said = match name {
                        "dest" | "target_rank" => format!("to {rank}"),
                        "source" => format!("from {rank}"),
                        _ => format!("{name} {rank}"),
                    };
                    // What goes there, if it was said.
                    match words.last_mut() {
                        Some(what) if is_point_to_point && what.contains(" x ") && name == "dest" => {
                            *what = format!("{what} {said}");
                        }
                        _ => words.push(said),
                    }
                }
                Meaning::Tag if value as i32 == abi::ANY_TAG => words.push("any tag".to_owned()),
                Meaning::Tag => words.push(format!("tag {}", value as i32)),
                Meaning::Op => words.push(operator::name_of(Op(value as usize)).to_owned()),
                Meaning::Comm => words.extend(self.name_of_comm(Comm(value as usize))),
                Meaning::Request => words.push(self.name_of_request(value as usize)),
                Meaning::Requests => {
                    if let Some(last) =
                        words.last_mut().and_then(|last| last.strip_prefix("count ").map(str::to_owned))
                    {
                        words.pop();
                        words.push(format!("{last} request{}", if last == "1" { "" } else { "s" }));
                    }
                }
                Meaning::Number => words.push(format!("{} {}", name.trim_start_matches("in"), value as i32)),
            }
        }
        words.join(", ")
    }

    fn name_of_type(&self, datatype: Datatype) -> String {
        if let Some(basic) = BASICS.iter().find(|basic| basic.handle == datatype) {
            return basic.name.to_owned();
        }
        let types = self.types.try_borrow();
        let own = types.ok().and_then(|types| types.get(datatype.0).map(|own| own.label()));
        own.unwrap_or_else(|| "a datatype".to_owned())
    }

    /// Nothing for that of all.
    fn name_of_comm(&self, comm: Comm) -> Option<String> {
        match comm {
            abi::COMM_WORLD => None,
            abi::COMM_SELF => Some("on MPI_COMM_SELF".to_owned()),
            Comm(handle) => {
                let comms = self.comms.try_borrow().ok()?;
                let name = called(self, comms.get(handle)?)?;
                Some(format!("on {name}"))
            }
        }
    }

    /// The call that has begun a request, and what it is about.
    fn name_of_request(&self, at: usize) -> String {
        const UNKNOWN: &str = "a request";
        if at == 0 {
            return UNKNOWN.to_owned();
        }
        // SAFETY: the call has read it there before it asked.
        let handle = unsafe { (at as *const usize).read_unaligned() };
        let begun = self.requests.try_borrow().ok().and_then(|requests| requests.get(handle)?.begun.get());
        let Some(Awaited { note, begun_by: Some(by), .. }) = begun else { return UNKNOWN.to_owned() };
        let about = note
            .filter(|note| note.context.is_multiple_of(context::STEP))
            .map(|note| self.name_of_message(&note));
        about.map_or_else(|| by.name().to_owned(), |about| format!("{} {about}", by.name()))
    }

    fn name_of_message(&self, note: &Note) -> String {
        let tag = note.tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}"));
        match note.way {
            Way::To { process, .. } => {
                let rank = self.with_comm(note.context, |comm| comm.peers().rank_of(process)).flatten();
                format!("to {}, {tag}", rank.unwrap_or(process as usize))
            }
            Way::From(None) => format!("from any, {tag}"),
            Way::From(Some(rank)) => format!("from {rank}, {tag}"),
        }
    }
}
