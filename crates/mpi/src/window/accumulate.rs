//! What combines data with those at the target, at one instant (MPI 5.0, 12.3.4).
//!
//! All of it is atomic for each element, since nothing else runs between reading and writing. An accumulate waits for its flow,
//! so those of one origin happen in their order. What fetches data too fetches them when it combines.

use std::rc::Rc;

use super::Window;
use super::atomics::Effect;
use super::transfer::{Access, Deed, Operation};
use crate::abi;
use crate::datatype::{Class, Leaf, Type};
use crate::error::{Result, fail};
use crate::operator::{Action, Operator, Predefined};
use crate::rank::Rank;
use crate::verify;

/// What is done to the data at the target.
#[derive(Clone, Debug)]
pub struct Accumulation {
    /// What is done to them.
    pub operator: Rc<Operator>,
    /// Where the data go that were there before.
    fetched: Option<Operation>,
}

impl Accumulation {
    /// One by this operator; the data that were there may be wanted.
    pub fn new(operator: Rc<Operator>, fetched: Option<Operation>) -> Self {
        Self { operator, fetched }
    }

    /// A number of the operator.
    fn number(&self) -> usize {
        match self.operator.action {
            Action::Predefined(operator) => operator as usize,
            Action::Program(..) => usize::MAX,
        }
    }

    /// Whether it changes nothing.
    pub fn is_fetch(&self) -> bool {
        self.operator.action == Action::Predefined(Predefined::NoOp)
    }

    /// Checks that it can be done to elements of a type.
    ///
    /// # Errors
    /// If the operator is not for it.
    pub fn check(&self, datatype: &Type) -> Result {
        let Action::Predefined(operator) = self.operator.action else {
            return fail(
                abi::ERR_OP,
                "an operator that a program made cannot be used for one-sided communication: those of the standard can",
            );
        };
        if operator == Predefined::NoOp && self.fetched.is_none() {
            return fail(
                abi::ERR_OP,
                "MPI_NO_OP is for MPI_Get_accumulate, MPI_Rget_accumulate and MPI_Fetch_and_op",
            );
        }
        if matches!(operator, Predefined::NoOp | Predefined::Replace) || datatype.size == 0 {
            return Ok(());
        }
        match datatype.uniform {
            Some(leaf) if operator.is_for(leaf) => Ok(()),
            Some(_) => {
                fail(abi::ERR_OP, format!("{} is not defined for {}", operator.name(), datatype.label()))
            }
            None => fail(
                abi::ERR_TYPE,
                format!(
                    "{} is of several basic types, and data are accumulated of one alone",
                    datatype.label()
                ),
            ),
        }
    }

    pub(super) fn happens(self, data: &[u8], target: &Operation) -> Result {
        let before = self.fetched.as_ref().map(|_| target.data());
        // SAFETY: the elements lie in the window of the target.
        unsafe { self.operator.accumulate(data, target.buffer, target.count, &target.datatype)? };
        if let (Some(place), Some(before)) = (&self.fetched, &before) {
            place.put(before);
        }
        Ok(())
    }
}

impl Rank {
    /// `MPI_Accumulate`, and those that fetch as well.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn accumulate(&self, access: &Access, accumulation: Accumulation) -> Result {
        let Access { window, rank, .. } = access;
        let number = kind_of(&access.target.datatype);
        let deed = verify::Deed::Accumulate(accumulation.number(), number);
        let only_updates = accumulation.fetched.is_none();
        if let (Some(fetched), false) = (&accumulation.fetched, accumulation.is_fetch()) {
            self.check_apart(|| (vec![access.origin.uses(false)], vec![fetched.uses(true)]));
        }
        self.check_access_by(access, deed, only_updates, || {
            // Who only fetches does not look at what is at the origin.
            let origin = Some(&access.origin).filter(|_| !accumulation.is_fetch());
            let read = origin.map(|origin| origin.uses(false));
            read.into_iter().chain(accumulation.fetched.iter().map(|place| place.uses(true))).collect()
        });
        let effect = match (only_updates, accumulation.is_fetch()) {
            (true, _) => Effect::Updates,
            (false, true) => Effect::Reads,
            (false, false) => Effect::Both,
        };
        self.atomically(window, *rank, effect, || {
            if !only_updates {
                self.wait_for_data_from(window, *rank, access.target.bytes() as u64)?;
            }
            self.combine(access, accumulation)
        })
    }

    fn combine(&self, access: &Access, accumulation: Accumulation) -> Result {
        let Access { window, rank, origin, target } = access;
        if accumulation.is_fetch() {
            if *rank == window.comm.rank {
                self.looks_at(window);
            }
            return self.with_memory_of(window, *rank, || {
                self.has_looked_at(window, *rank, &target.ranges());
                accumulation.happens(&[], target)
            });
        }
        let deed = Deed::Accumulate(origin.data(), accumulation, target.clone());
        self.begin_put(access, deed, true)?;
        self.flush(window, *rank)
    }

    /// `MPI_Compare_and_swap`.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn compare_and_swap(
        &self,
        window: &Rc<Window>,
        rank: usize,
        origin: &Operation,
        compare: &Operation,
        result: &Operation,
        target: &Operation,
    ) -> Result {
        let access =
            Access { window: Rc::clone(window), rank, origin: origin.clone(), target: target.clone() };
        let kind = kind_of(&target.datatype);
        let deed = verify::Deed::swap(kind);
        self.check_apart(|| (vec![origin.uses(false), compare.uses(false)], vec![result.uses(true)]));
        self.check_access_by(&access, deed, false, || {
            vec![origin.uses(false), compare.uses(false), result.uses(true)]
        });
        // It is a poll until it swaps.
        self.atomically(window, rank, Effect::Swaps, || {
            let bytes = target.bytes() as u64;
            self.wait_for_data_from(window, rank, bytes)?;
            let is_equal = self.with_memory_of(window, rank, || {
                let before = target.data();
                let is_equal = before == compare.data();
                let new = origin.data();
                result.put(&before);
                match is_equal {
                    true => target.put(&new),
                    false => self.has_looked_at(window, rank, &target.ranges()),
                }
                is_equal
            });
            if is_equal {
                self.check_update(window, rank);
                window.has_news();
                self.forgets_polls();
                self.begin_flow_to(window, rank, bytes);
            } else if rank == window.comm.rank {
                self.looks_at(window);
            }
            Ok(())
        })
    }
}

/// A number for what the elements of a type are.
fn kind_of(datatype: &Type) -> usize {
    match datatype.uniform {
        Some(Leaf::Basic(basic)) => 1 + basic.number as usize,
        _ => 0,
    }
}

/// Checks that a type can be compared and swapped (12.3.4.4).
///
/// # Errors
/// If it cannot.
pub fn check_swapped(datatype: &Type) -> Result {
    let class = match datatype.leaf {
        Some(Leaf::Basic(basic)) => Some(basic.class),
        _ => None,
    };
    match class {
        Some(
            Class::CInteger | Class::FortranInteger | Class::Logical | Class::MultiLanguage | Class::Byte,
        ) => Ok(()),
        _ => fail(
            abi::ERR_TYPE,
            format!(
                "{} cannot be compared and swapped: integers, logicals, bytes and addresses can",
                datatype.label()
            ),
        ),
    }
}
