//! Compiled programs as actors: ordinary executables of C, C++ and Fortran, many processes of them in one process of the
//! operating system.
//!
//! A loader of our own reads the program, its libraries and a shim once ([`Image`]), and gives each process a private
//! copy of all of them ([`Processes`]), a stack and two heaps, at addresses that are the same in every run. The kernel runs
//! a process as any other actor, up to its next simcall. What programs may call beside libc is a [`Personality`]'s.
//!
//! In reading order:
//! - [`personality`](Personality): what a host offers, how processes end.
//! - `elf`, `libraries`, `group`: the files, and what a name means among them.
//! - `relocation`, `tls`, `image`, `place`: names looked up once, copies made many times.
//! - `region`, `arena`, `malloc`: where processes lie, their heaps, and who serves `malloc`.
//! - `switch`, `fiber`, `current`, `processes`: how they run.
//! - `shim`, `dl`, `find_object`, `libgomp`, [`threads`], `lending`: what they find in the place of parts of libc; OpenMP.
//! - `child`: what becomes of children that processes make by `fork`.
//! - `counting`: what programs execute, block by block. `watch`, `known`: what they and the functions that they call touch; `execute`: one
//!   instruction, without a trap after it.
//! - `signals`, `handlers`, `unwind`, `lines`: crashes, and where in the program they happened; `debugger`: what gdb finds.
//!
//! A program that linked this crate has `malloc` and its like replaced by ours, which hand on to libc's while no process runs.

mod arena;
mod callers;
mod child;
mod counting;
mod current;
mod debugger;
mod dl;
mod elf;
mod error;
mod execute;
mod fiber;
mod files;
mod find_object;
mod group;
mod handlers;
mod image;
mod known;
mod lending;
mod libgomp;
mod libraries;
mod lines;
pub mod malloc;
mod personality;
mod place;
mod processes;
mod region;
mod relocation;
mod shim;
mod signals;
mod snapshot;
mod switch;
pub mod threads;
mod tls;
mod unwind;
mod watch;

pub use callers::{caller, noting_callers, place_in_program, set_caller, state_without};
pub use child::{end_child, is_child};
pub use counting::executed;
pub use current::{
    Heap, ask, current, leave, local, look, set_local, switch_heap, symbol, with_heap, with_port,
};
pub use error::Error;
pub use files::{note_descriptor, touch};
pub use image::Image;
pub use lending::{is_for_worker, is_worker, on_process};
pub use personality::{Crash, End, Export, Frame, Personality, SourceLine};
pub use processes::{Options, Processes};
/// The part of the C library that each process has for itself, as a debugger reads it.
pub use shim::BYTES as SHIM;
pub use snapshot::Snapshot;
pub use watch::{Touch, watch};
