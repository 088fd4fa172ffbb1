//! What each rank tells each other, in rounds: the ring of [`allgather`](super::allgather), with the messages of few of the rounds.
//!
//! Where all processes are in the same situation (see [`even`](crate::even)) and all are at the same date, they stay at the same
//! date: a round takes all of them as long as each other round of its kind did, of which there are two, within hosts and between them. So
//! one of each kind is simulated, and for the others the time passes. Ranks that began at different dates are soon
//! at the same one: after d rounds the last has held up 1 + d (d + 1) / 2 of them.

use super::team::Team;
use crate::error::Result;
use crate::p2p::HEADER;

/// After so many rounds ranks look whether they are at the same date.
const LOOK: usize = 8;

/// Each tells each other so many bytes, with nothing in them. `number` is that of several times in one collective.
///
/// # Errors
/// If a message is lost.
pub fn tell_all(team: &Team<'_>, bytes: usize, number: usize) -> Result {
    let mut data = vec![0; 2 * bytes];
    let mut round = |away| {
        let (to, from) = (team.after(away), team.before(away));
        team.exchange_in(&mut data, to, 0..bytes, from, bytes..2 * bytes)
    };
    let Some(stride) = team.stride() else { return (1..team.size).try_for_each(round) };
    for away in 1..team.size {
        if away % LOOK == 1 && team.is_in_step(number * team.size + away) {
            return pass_rounds(team, away, stride, bytes, round);
        }
        round(away)?;
    }
    Ok(())
}

/// The rounds from one on, of ranks that are in step; the hosts begin again after some ranks.
fn pass_rounds(
    team: &Team<'_>,
    first: usize,
    stride: usize,
    bytes: usize,
    mut round: impl FnMut(usize) -> Result,
) -> Result {
    let (mut seconds, mut passed) = (0.0, 0);
    for within in [false, true] {
        let mut of_kind = (first..team.size).filter(|away| away.is_multiple_of(stride) == within);
        if let Some(one) = of_kind.next() {
            let began = team.me.now();
            round(one)?;
            let others = of_kind.count();
            seconds += (team.me.now() - began) * others as f64;
            passed += others as u64;
        }
    }
    team.me.sleep(seconds);
    team.me.traffic.passes(passed, bytes as u64);
    team.me.tracks.passes(passed, bytes as f64 + HEADER);
    team.me.world.even.skips(passed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use simurgh_platform::{HostId, Platform};

    use super::*;
    use crate::even::Even;
    use crate::rank::Rank;
    use crate::testing;
    use crate::world::{Costs, World};

    /// Dates at which ranks have told each other twice, and how many messages were not sent. A rank begins at its date.
    fn told(
        hosts: usize,
        more: &str,
        begins: fn(u32) -> f64,
        even: fn(&Platform, &[HostId]) -> Even,
    ) -> (Vec<f64>, u64) {
        const RANKS: usize = 96;
        let text = format!(
            "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform version=\"4.1\">\
             <cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" {more}/></platform>",
            hosts - 1
        );
        let platform =
            Arc::new(Platform::from_xml(&text, "cluster", Path::new(".")).expect("it is well written"));
        let hosts: Vec<HostId> = platform.hosts().collect();
        let hosts: Vec<HostId> = hosts.into_iter().cycle().take(RANKS).collect();
        let mut world = testing::world(&hosts, Costs::default(), super::super::Selection::default());
        let one: &mut World = Arc::get_mut(&mut world).expect("nobody else has it yet");
        one.even = even(&platform, &hosts);
        let of_all = Arc::clone(&world);
        let dates = testing::run(&platform, &hosts, move |process| {
            let me = Rank::new(process, Arc::clone(&of_all));
            me.sleep(begins(process));
            let team = Team::all(&me, &me.comm_world, 7);
            tell_all(&team, 4, 0).expect("nothing is lost");
            tell_all(&team, 4, 1).expect("nothing is lost");
            me.now()
        });
        (dates.expect("all come to an end"), world.even.skipped())
    }

    #[test]
    fn rounds_that_are_passed_take_as_long_as_those_that_are_simulated() {
        let at_once: fn(u32) -> f64 = |_| 0.0;
        let apart: fn(u32) -> f64 = |process| f64::from(process * 37 % 96) * 1e-5;
        let one_late: fn(u32) -> f64 = |process| if process == 5 { 0.01 } else { 1e-7 };
        let backbone = "bb_bw=\"500MBps\" bb_lat=\"1us\"";
        let own = "loopback_bw=\"1GBps\" loopback_lat=\"1us\"";
        let shared = "sharing_policy=\"SHARED\"";
        for (hosts, more) in [(96, ""), (96, backbone), (24, own), (12, shared), (1, "")] {
            for begins in [at_once, apart, one_late] {
                let (expected, none) = told(hosts, more, begins, |_, _| Even::default());
                let (dates, skipped) = told(hosts, more, begins, Even::new);
                assert!(none == 0 && skipped > 0, "{hosts} {more}: {skipped}");
                for (date, expected) in dates.iter().zip(&expected) {
                    assert!((date - expected).abs() <= 1e-9 * expected, "{hosts} {more}: {date} {expected}");
                }
            }
        }
    }
}
