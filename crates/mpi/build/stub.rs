//! The library that programs are linked with: all names, and nothing behind them.
//!
//! When Simurgh runs a program it puts its own functions in their places. Run by itself, a program starts itself again as
//! one process of a simulation (`alone.c`), as MPI wants it (11.8.2): configure scripts run what they have compiled.

use std::fmt::Write;

/// Common blocks of Fortran programs. That this library refers to them makes the linker export them from the program.
const BLOCKS: [&str; 2] = ["simurghmpi", "simurghmpc"];

const OPENING: &str = "/* The names of MPI. Made from the tables of Simurgh. */
    .text
.Lalone:
#if defined(__x86_64__)
    jmp simurgh_alone
#elif defined(__aarch64__)
    b simurgh_alone
#else
#error \"programs can be built for x86-64 and aarch64\"
#endif
    .hidden simurgh_alone
    .balign 8
";

const CLOSING: &str = "    .section .note.GNU-stack,\"\",%progbits\n";

/// The text of the library, in assembly language.
pub fn stub(names: &[String]) -> String {
    let mut text = OPENING.to_owned();
    for name in names {
        writeln!(text, ".globl {name}\n.type {name},%function\n.set {name},.Lalone")
            .expect("memory is there");
    }
    text += "    .section .data.rel,\"aw\",%progbits\n    .balign 8\n";
    for block in BLOCKS {
        for form in crate::fortran::forms(block) {
            writeln!(text, ".weak {form}\n    .quad {form}").expect("memory is there");
        }
    }
    text + CLOSING
}
