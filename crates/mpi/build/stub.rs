//! The library that programs are linked with: all names, and nothing behind them.
//!
//! When Simurgh runs a program it puts its own functions in their places. Run by itself, a program says how to run it.

use std::fmt::Write;

/// Common blocks of Fortran programs. That this library refers to them makes the linker export them from the program.
const BLOCKS: [&str; 2] = ["simurghmpi", "simurghmpc"];

const OPENING: &str = "/* The names of MPI. Made from the tables of Simurgh. */
    .text
.Lalone:
#if defined(__x86_64__)
    movl $1, %eax
    movl $2, %edi
    leaq .Lmessage(%rip), %rsi
    movl $.Lend - .Lmessage, %edx
    syscall
    movl $231, %eax
    movl $2, %edi
    syscall
#elif defined(__aarch64__)
    mov x8, #64
    mov x0, #2
    adr x1, .Lmessage
    mov x2, #.Lend - .Lmessage
    svc #0
    mov x8, #94
    mov x0, #2
    svc #0
#else
#error \"programs can be built for x86-64 and aarch64\"
#endif
.Lmessage:
    .ascii \"this program calls MPI as Simurgh has it: run it with `simurgh run -n 4 PROGRAM`\\n\"
.Lend:
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
