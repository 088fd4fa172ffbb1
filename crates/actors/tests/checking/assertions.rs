//! What a test says that fails.

use super::{one_seat, right, unmade, wrong};

#[test]
#[should_panic(expected = "it does not hold\n\nreceiver failed: ")]
fn what_is_violated_does_not_hold() {
    simurgh::check(wrong).assert_holds();
}

#[test]
#[should_panic(expected = "to see it again: `replay(\"")]
fn what_fails_says_how_to_see_it_again() {
    simurgh::check(one_seat).assert_holds();
}

#[test]
#[should_panic(
    expected = "it is not known whether it holds: not all orders were tried\n\nnot-exhausted: 2 executions"
)]
fn what_is_not_exhausted_does_not_hold() {
    simurgh::check(right).executions(2).assert_holds();
}

#[test]
#[should_panic(expected = "it cannot be checked\n\ncannot-run: there is no host \"no-such-host\"")]
fn what_cannot_run_does_not_hold() {
    simurgh::check(unmade).assert_holds();
}

#[test]
#[should_panic(expected = "nothing is violated\n\nholds: 6 executions")]
fn what_holds_is_not_violated() {
    simurgh::check(right).assert_violated();
}

#[test]
#[should_panic(
    expected = "nothing is violated but that actors wait for ever (`assert_deadlock`)\n\ndeadlock: "
)]
fn a_deadlock_is_no_violation() {
    simurgh::check(one_seat).assert_violated();
}

#[test]
#[should_panic(expected = "nobody waits for ever\n\nholds: 6 executions")]
fn what_holds_has_no_deadlock() {
    simurgh::check(right).assert_deadlock();
}

#[test]
#[should_panic(expected = "nobody waits for ever, but something else goes wrong (`assert_violated`)")]
fn a_violation_is_no_deadlock() {
    simurgh::check(wrong).assert_deadlock();
}
