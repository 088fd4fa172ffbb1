//! Operators of reductions, of the standard and of programs (MPI 5.0, 6.9).
//!
//! - `numbers`: what operators do to numbers, one by one; `extended`, `quad`, `half`: arithmetic that Rust has no types for;
//! - `combine`: what they do to many, by the kind of number; `pairs`: to values with an index.

mod combine;
mod extended;
mod half;
mod numbers;
mod pairs;
mod quad;
#[cfg(test)]
mod tests;

use std::ffi::c_void;
use std::rc::Rc;

use crate::abi::{self, Datatype, Function, Op};
use crate::datatype::{Class, Leaf, Type};
use crate::error::{Error, Result, fail};
use crate::message::Data;
use crate::os;
use crate::rank::Rank;

/// An operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    /// What it does.
    pub action: Action,
    /// Whether the order of operands does not matter.
    pub commutative: bool,
}

/// What an operator does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// What the standard says.
    Predefined(Predefined),
    /// What a function of the program does.
    Program(Function, Language),
}

/// How a function of the program is called.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// The datatype is a handle of C.
    C,
    /// The datatype is an integer.
    Fortran,
}

/// An operator of the standard.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Predefined {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// The operators of the standard: handles, names.
const PREDEFINED: [(Op, &str, Predefined); 14] = [
    (abi::SUM, "MPI_SUM", Predefined::Sum),
    (abi::MIN, "MPI_MIN", Predefined::Min),
    (abi::MAX, "MPI_MAX", Predefined::Max),
    (abi::PROD, "MPI_PROD", Predefined::Prod),
    (abi::BAND, "MPI_BAND", Predefined::Band),
    (abi::BOR, "MPI_BOR", Predefined::Bor),
    (abi::BXOR, "MPI_BXOR", Predefined::Bxor),
    (abi::LAND, "MPI_LAND", Predefined::Land),
    (abi::LOR, "MPI_LOR", Predefined::Lor),
    (abi::LXOR, "MPI_LXOR", Predefined::Lxor),
    (abi::MINLOC, "MPI_MINLOC", Predefined::Minloc),
    (abi::MAXLOC, "MPI_MAXLOC", Predefined::Maxloc),
    (abi::REPLACE, "MPI_REPLACE", Predefined::Replace),
    (abi::NO_OP, "MPI_NO_OP", Predefined::NoOp),
];

/// What people call an operator.
pub fn name_of(op: Op) -> &'static str {
    PREDEFINED.iter().find(|known| known.0 == op).map_or("an operator of the program", |known| known.1)
}

impl Predefined {
    /// `MPI_SUM`.
    pub fn name(self) -> &'static str {
        PREDEFINED.iter().find(|known| known.2 == self).map_or("", |known| known.1)
    }

    /// Whether the standard has it for such data (6.9.2).
    pub fn is_for(self, leaf: Leaf) -> bool {
        use Class::{Byte, CInteger, Complex, Floating, FortranInteger, Logical, MultiLanguage};
        let class = match (self, leaf) {
            (Predefined::Replace | Predefined::NoOp, _) => return true,
            (_, Leaf::Basic(basic)) => basic.class,
            (Predefined::Minloc | Predefined::Maxloc, Leaf::Pair(..)) => return true,
            (_, Leaf::Pair(..)) => return false,
        };
        match self {
            Predefined::Min | Predefined::Max => {
                matches!(class, CInteger | FortranInteger | Floating | MultiLanguage)
            }
            Predefined::Sum | Predefined::Prod => {
                matches!(class, CInteger | FortranInteger | Floating | Complex | MultiLanguage)
            }
            Predefined::Land | Predefined::Lor | Predefined::Lxor => {
                // Of the standard C integers and logicals alone, but programs use counts and addresses too.
                matches!(class, CInteger | Logical | MultiLanguage)
            }
            Predefined::Band | Predefined::Bor | Predefined::Bxor => {
                matches!(class, CInteger | FortranInteger | Byte | MultiLanguage)
            }
            _ => false,
        }
    }
}

impl Operator {
    /// One of the standard.
    pub fn predefined(operator: Predefined) -> Self {
        let commutative = operator != Predefined::Replace && operator != Predefined::NoOp;
        Self { action: Action::Predefined(operator), commutative }
    }

    /// One of a program.
    pub fn of_program(function: Function, language: Language, commutative: bool) -> Self {
        Self { action: Action::Program(function, language), commutative }
    }

    /// Checks that it can be applied to elements of a type.
    ///
    /// # Errors
    /// If it is one of the standard, and the standard does not have it for this type: derived ones among them.
    pub fn check(&self, datatype: &Type) -> Result {
        let Action::Predefined(operator) = self.action else { return Ok(()) };
        match datatype.leaf {
            Some(leaf) if operator.is_for(leaf) => Ok(()),
            Some(_) => {
                fail(abi::ERR_OP, format!("{} is not defined for {}", operator.name(), datatype.label()))
            }
            None => fail(
                abi::ERR_OP,
                format!(
                    "{} is not defined for derived datatypes: use a predefined one, or an operator made with MPI_Op_create",
                    operator.name()
                ),
            ),
        }
    }

    /// `inoutvec[i] = invec[i] op inoutvec[i]`, for `count` elements. A function of the program gets the handle that the
    /// program gave. It runs as this process, and may call MPI.
    ///
    /// # Errors
    /// If it is not defined for this type.
    ///
    /// # Safety
    /// So many elements lie at both places.
    pub unsafe fn apply(
        &self,
        me: &Rank,
        invec: *const c_void,
        inoutvec: *mut c_void,
        count: usize,
        handle: Datatype,
        datatype: &Rc<Type>,
    ) -> Result {
        if count == 0 {
            return Ok(());
        }
        match self.action {
            Action::Predefined(operator) => {
                self.check(datatype)?;
                let leaf = datatype.leaf.expect("a checked type has no parts");
                let stride = datatype.extent as usize;
                // SAFETY: so many elements lie there.
                unsafe { combine::combine(operator, leaf, stride, invec.cast(), inoutvec.cast(), count) };
            }
            Action::Program(function, language) => {
                // The program may have freed the type since: its function gets one for as long as it runs.
                let is_there = me.datatype(handle).is_ok_and(|found| Rc::ptr_eq(&found, datatype));
                let handle = if is_there {
                    handle
                } else {
                    Datatype(me.types.borrow_mut().insert(Rc::clone(datatype)))
                };
                // SAFETY: so many elements lie there.
                unsafe { call(function, language, invec, inoutvec, count, handle, datatype.extent) };
                if !is_there {
                    me.types.borrow_mut().remove(handle.0);
                }
            }
        }
        Ok(())
    }

    /// The same where the left operands are data without gaps, and the elements may be of a derived type of one basic type:
    /// what one-sided communication does at its target (12.3.4).
    ///
    /// # Errors
    /// If it is not one of the standard, or not for this type.
    ///
    /// # Safety
    /// `count` elements lie at `target`.
    pub unsafe fn accumulate(
        &self,
        data: &[u8],
        target: *mut c_void,
        count: usize,
        datatype: &Type,
    ) -> Result {
        let Action::Predefined(operator) = self.action else {
            return fail(
                abi::ERR_OP,
                "an operator that a program made cannot be used for one-sided communication",
            );
        };
        match operator {
            Predefined::NoOp => return Ok(()),
            Predefined::Replace => {
                // SAFETY: so many elements lie there.
                unsafe { datatype.unpack(data, target, count) };
                return Ok(());
            }
            _ => {}
        }
        let Some(leaf) = datatype.uniform.filter(|leaf| operator.is_for(*leaf)) else {
            if datatype.size == 0 {
                return Ok(());
            }
            return fail(abi::ERR_OP, format!("{} is not defined for {}", operator.name(), datatype.label()));
        };
        let length = data.len().min(datatype.size * count);
        let numbers = length / leaf.size();
        if datatype.is_contiguous() {
            // SAFETY: so many elements lie there, without gaps.
            unsafe { combine::combine(operator, leaf, leaf.size(), data.as_ptr(), target.cast(), numbers) };
            return Ok(());
        }
        let mut there = Data::new();
        // SAFETY: so many elements lie there.
        unsafe {
            datatype.pack_range(target, 0, length, &mut there);
            combine::combine(operator, leaf, leaf.size(), data.as_ptr(), there.as_mut_ptr(), numbers);
            datatype.unpack(&there, target, count);
        }
        Ok(())
    }
}

/// Calls a function of the program; one with `int` counts several times if there are more elements.
///
/// # Safety
/// So many elements lie at both places.
unsafe fn call(
    function: Function,
    language: Language,
    invec: *const c_void,
    inoutvec: *mut c_void,
    count: usize,
    handle: Datatype,
    extent: i64,
) {
    let mut handle = handle;
    if function.wide {
        type Large = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut Datatype);
        let mut count = count as i64;
        // SAFETY: the program gave a function of this kind, and has so many elements there.
        os::in_heap_of_program(|| unsafe {
            let function: Large = std::mem::transmute(function.address);
            function(invec.cast_mut(), inoutvec, &raw mut count, &raw mut handle);
        });
        return;
    }
    type Small = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i32, *mut c_void);
    let mut integer = handle.to_fortran();
    let datatype: *mut c_void = match language {
        Language::C => (&raw mut handle).cast(),
        Language::Fortran => (&raw mut integer).cast(),
    };
    let mut done = 0;
    while done < count {
        let offset = (done as i64).wrapping_mul(extent) as isize;
        let mut now = (count - done).min(i32::MAX as usize) as i32;
        done += now as usize;
        // SAFETY: as above.
        os::in_heap_of_program(|| unsafe {
            let function: Small = std::mem::transmute(function.address);
            let (left, right) = (invec.wrapping_byte_offset(offset), inoutvec.wrapping_byte_offset(offset));
            function(left.cast_mut(), right, &raw mut now, datatype);
        });
    }
}

impl Rank {
    /// An operator.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn operator(&self, op: Op) -> Result<Rc<Operator>> {
        if let Some(found) = PREDEFINED.iter().find(|known| known.0 == op) {
            return Ok(Rc::new(Operator::predefined(found.2)));
        }
        if op == abi::OP_NULL {
            return fail(abi::ERR_OP, "the operator is MPI_OP_NULL");
        }
        match self.operators.borrow().get(op.0) {
            Some(found) => Ok(Rc::clone(found)),
            None => fail(
                abi::ERR_OP,
                format!("no operator has the handle {:#x}: it was freed, or never made", op.0),
            ),
        }
    }

    /// An operator for a reduction: `MPI_REPLACE` and `MPI_NO_OP` are for one-sided communication alone.
    ///
    /// # Errors
    /// If the handle stands for none, or it cannot be applied to the type.
    pub fn operator_for(&self, op: Op, datatype: &Type) -> Result<Rc<Operator>> {
        let found = self.operator(op)?;
        if let Action::Predefined(operator @ (Predefined::Replace | Predefined::NoOp)) = found.action {
            return fail(
                abi::ERR_OP,
                format!(
                    "{} is for one-sided communication: it is no operator of reductions",
                    operator.name()
                ),
            );
        }
        found.check(datatype)?;
        self.check_text(&found, datatype)?;
        Ok(found)
    }

    /// Checks that an operator of the standard is not given text: libraries take `MPI_CHAR` for a number, and the standard does not.
    ///
    /// # Errors
    /// If it is, and mistakes are looked for.
    pub fn check_text(&self, operator: &Operator, datatype: &Type) -> Result {
        let Action::Predefined(action) = operator.action else { return Ok(()) };
        let is_text = matches!(datatype.uniform, Some(Leaf::Basic(basic)) if basic.handle == abi::CHAR);
        if !self.world.explored || !is_text || matches!(action, Predefined::Replace | Predefined::NoOp) {
            return Ok(());
        }
        fail(
            abi::ERR_OP,
            format!(
                "{} is not defined for {}, which is text: MPI_SIGNED_CHAR and MPI_INT8_T are numbers",
                action.name(),
                datatype.label()
            ),
        )
    }

    /// Keeps an operator of the program, and gives its handle.
    ///
    /// # Errors
    /// If there is no function.
    pub fn make_operator(&self, function: Function, language: Language, commutative: bool) -> Result<Op> {
        if function.address == 0 {
            return fail(abi::ERR_ARG, "the function of the operator is a null pointer");
        }
        let operator = Operator::of_program(function, language, commutative);
        Ok(Op(self.operators.borrow_mut().insert(Rc::new(operator))))
    }

    /// Takes an operator from the program; what uses it still may go on.
    ///
    /// # Errors
    /// If it is one of the standard, or none.
    pub fn free_operator(&self, op: Op) -> Result {
        if let Action::Predefined(operator) = self.operator(op)?.action {
            return fail(abi::ERR_OP, format!("{} is predefined: it cannot be freed", operator.name()));
        }
        let removed = self.operators.borrow_mut().remove(op.0);
        removed.map(drop).ok_or_else(|| Error::new(abi::ERR_OP, "the operator was freed already"))
    }
}
