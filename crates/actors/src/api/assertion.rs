//! `simurgh::check!`: what must be true of an actor, said where it is.

use std::fmt::Arguments;

use simurgh_kernel::context::{Place, stand_at, violate};

/// Says that a condition must hold here. If it does not, the actor ends with a violation that names the place and says
/// the condition, or the message that is given: `check!(balance >= 0, "the balance is {balance}")`.
///
/// It may stand anywhere in the code of an actor, in plain functions that are called from it too. Simulated, the actor
/// has failed and the exit code is 1; explored (`my_program check`), the verdict is `violated`, with a schedule that
/// leads there. Unlike `assert!` it prints nothing, which matters when millions of executions are explored. Outside of any
/// actor (in a unit test of a function, say) it panics as `assert!` does.
///
/// ```
/// use simurgh::prelude::*;
///
/// fn withdraw(balance: i64, amount: i64) -> i64 {
///     simurgh::check!(amount <= balance, "{amount} is more than {balance}");
///     balance - amount
/// }
///
/// async fn account(ctx: Ctx) -> simurgh::Result {
///     let mut balance = 10;
///     for _ in 0..2 {
///         let amount = ctx.mailbox::<i64>("withdrawals").recv().await?;
///         balance = withdraw(balance, amount);
///     }
///     Ok(())
/// }
///
/// async fn customer(ctx: Ctx, amount: i64) -> simurgh::Result {
///     ctx.mailbox("withdrawals").send(amount, 8.0).await
/// }
///
/// let mut program = Program::new(Platform::builtin());
/// program.spawn("account", "node-0", account)?;
/// program.spawn("a", "node-1", |ctx| customer(ctx, 4))?;
/// program.spawn("b", "node-2", |ctx| customer(ctx, 8))?;
/// let outcome = program.simulate(Settings::default())?;
/// let failure = &outcome.report.failures[0];
/// assert_eq!(failure.name, "account");
/// assert!(failure.message.ends_with(": 8 is more than 6"), "{}", failure.message);
/// # Ok::<(), simurgh::Error>(())
/// ```
///
/// # What a program may depend on
///
/// An exploration runs a program again and again from its start, in one process, and takes for granted that an actor that
/// gets the same messages and makes the same choices does the same. So actors must not share state behind the back of
/// the kernel: no `static` that changes, no `Arc<Mutex>` of the standard library that several of them lock, no clock, no
/// random numbers but those of [`Ctx::choose`](crate::Ctx::choose) and [`Ctx::random`](crate::Ctx::random), nothing that
/// depends on the order of a hash map. What actors share goes through messages, or through
/// [`Mutex`](crate::Mutex), [`Semaphore`](crate::Semaphore) and the like of this crate.
///
/// An assertion speaks of the actor that it stands in. What must be true of several actors at once is an invariant over
/// state that they expose.
#[macro_export]
macro_rules! check {
    ($condition:expr $(,)?) => {
        match $condition {
            true => {}
            false => $crate::api::violated(
                file!(),
                line!(),
                format_args!("{} does not hold", stringify!($condition)),
            ),
        }
    };
    ($condition:expr, $($message:tt)+) => {
        match $condition {
            true => {}
            false => $crate::api::violated(file!(), line!(), format_args!($($message)+)),
        }
    };
}

/// Ends the actor that runs; `check!` comes here.
#[doc(hidden)]
#[cold]
pub fn violated(file: &str, line: u32, message: Arguments<'_>) -> ! {
    stand_at(Place::new(file, line));
    violate(format!("{file}:{line}: {message}"))
}
