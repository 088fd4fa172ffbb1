//! Every algorithm among simulated ranks: whether the data are right, and whether the dates are those of recorded runs.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use simurgh_platform::{HostId, Platform};

use super::folding::{Combine, Folding};
use super::gather::Harvest;
use super::scan::Own;
use super::scatter::Deal;
use super::selection::*;
use super::team::Team;
use super::*;
use crate::error::Result;
use crate::rank::Rank;
use crate::testing;
use crate::world::{Costs, Overhead};

/// An operator of tests, on elements of so many bytes.
#[derive(Copy, Clone, Debug)]
enum Operator {
    /// Bytes are added.
    Sum(usize),
    /// Of eight bytes: x -> a x + b, one after the other; not commutative.
    Affine,
    /// The left one; not commutative.
    Left(usize),
}

impl Combine for Operator {
    fn element(&self) -> usize {
        match self {
            Operator::Sum(element) | Operator::Left(element) => *element,
            Operator::Affine => 8,
        }
    }

    fn is_commutative(&self) -> bool {
        matches!(self, Operator::Sum(_))
    }

    fn combine(&self, _me: &Rank, input: &[u8], inout: &mut [u8]) -> Result {
        assert_eq!(input.len(), inout.len());
        assert_eq!(inout.len() % self.element(), 0);
        match self {
            Operator::Sum(_) => {
                inout.iter_mut().zip(input).for_each(|(sum, byte)| *sum = sum.wrapping_add(*byte))
            }
            Operator::Left(_) => inout.copy_from_slice(input),
            Operator::Affine => {
                for (left, right) in input.chunks(8).zip(inout.chunks_mut(8)) {
                    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
                    let (a, b) = (number(&left[..4]) | 1, number(&left[4..]));
                    let (c, d) = (number(&right[..4]) | 1, number(&right[4..]));
                    right[..4].copy_from_slice(&a.wrapping_mul(c).to_le_bytes());
                    right[4..].copy_from_slice(&a.wrapping_mul(d).wrapping_add(b).to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

/// What a rank has: 1 + (7 from + at + at / 251) mod 253 at each place. It is copied line by line out of a row of such bytes: computing them
/// one by one takes most of these tests.
fn data(from: usize, bytes: usize) -> Vec<u8> {
    const ROW: [u8; 504] = {
        let mut row = [0; 504];
        let mut at = 0;
        while at < row.len() {
            row[at] = (1 + at % 253) as u8;
            at += 1;
        }
        row
    };
    let mut data = Vec::with_capacity(bytes + 251);
    let mut first = from * 7 % 253;
    while data.len() < bytes {
        data.extend_from_slice(&ROW[first..first + 251]);
        first = (first + 252) % 253;
    }
    data.truncate(bytes);
    data
}

#[test]
fn data_are_what_they_are_said_to_be() {
    let obvious = |from: usize, at: usize| (1 + (from * 7 + at + at / 251) % 253) as u8;
    for (from, bytes) in [(0, 0), (3, 1), (36, 251), (1, 252), (8, 70_000)] {
        assert_eq!(data(from, bytes), (0..bytes).map(|at| obvious(from, at)).collect::<Vec<u8>>());
    }
}

/// What the operator makes of what these ranks have.
fn expected(me: &Rank, operator: Operator, ranks: std::ops::Range<usize>, bytes: usize) -> Vec<u8> {
    let mut ranks = ranks.rev();
    let mut sum = data(ranks.next().expect("somebody"), bytes);
    for rank in ranks {
        operator.combine(me, &data(rank, bytes), &mut sum).expect("it knows bytes");
    }
    sum
}

/// Unequal counts as the recorded runs have them.
fn part(count: usize, index: usize) -> usize {
    count * (1 + index % 3) / 2
}

/// A collective with its arguments.
#[derive(Clone, Debug)]
struct Run {
    name: String,
    operator: Operator,
    element: usize,
    unequal: bool,
    count: usize,
    root: usize,
}

/// Runs it as one rank, and looks at the data.
fn play(me: &Rank, run: &Run) -> Result<std::result::Result<(), String>> {
    let comm = Rc::clone(&me.comm_world);
    let team = Team::all(me, &comm, 0);
    let (rank, size, root, element) = (team.rank, team.size, run.root, run.element);
    let bytes = run.count * element;
    let folding = Folding::new(Rc::new(run.operator));
    let counts: Vec<usize> =
        (0..size).map(|other| if run.unequal { part(run.count, other) } else { run.count }).collect();
    let sizes: Vec<usize> = counts.iter().map(|count| count * element).collect();
    let at = buffers::offsets(&sizes);
    let all: usize = sizes.iter().sum();
    let everything = || (0..size).map(|other| data(other, sizes[other])).collect::<Vec<_>>().concat();
    let check = |right: bool| if right { Ok(()) } else { Err(format!("rank {rank} of {size}: {run:?}")) };
    Ok(match run.name.as_str() {
        "barrier" => {
            barrier::barrier(&team)?;
            Ok(())
        }
        "bcast" => {
            let mut buffer = if rank == root { data(root, bytes) } else { vec![0; bytes] };
            bcast::bcast(&team, &mut buffer, element, root)?;
            check(buffer == data(root, bytes))
        }
        "reduce" => {
            let mut buffer = data(rank, bytes);
            reduce::reduce(&team, &folding, &mut buffer, root)?;
            check(rank != root || buffer == expected(me, run.operator, 0..size, bytes))
        }
        "allreduce" => {
            let mut buffer = data(rank, bytes);
            allreduce::allreduce(&team, &folding, &mut buffer)?;
            check(buffer == expected(me, run.operator, 0..size, bytes))
        }
        "scan" | "exscan" => {
            let own = if run.name == "scan" { Own::In } else { Own::Out };
            let mut buffer = data(rank, bytes);
            scan::scan(&team, &folding, &mut buffer, own)?;
            let end = rank + usize::from(own == Own::In);
            check(end == 0 || buffer == expected(me, run.operator, 0..end, bytes))
        }
        "reduce_scatter" | "reduce_scatter_block" => {
            let mut buffer = data(rank, all);
            reduce_scatter::reduce_scatter(&team, &folding, &mut buffer, &sizes)?;
            let own = at[rank]..at[rank + 1];
            check(buffer[own.clone()] == expected(me, run.operator, 0..size, all)[own])
        }
        "gather" => {
            let (mine, mut place) = (data(rank, bytes), vec![0; if rank == root { all } else { 0 }]);
            let all = (rank == root).then_some(&mut place[..]);
            gather::gather(&team, &mut Harvest { mine: Some(&mine), all, block: bytes, element, root })?;
            check(rank != root || place == everything())
        }
        "gatherv" => {
            let mut place = vec![0; all];
            place[at[rank]..at[rank + 1]].copy_from_slice(&data(rank, sizes[rank]));
            gather::linear_to(&team, root, &data(rank, sizes[rank]), |other, content| {
                team::land(content, &mut place[at[other]..at[other + 1]])
            })?;
            check(rank != root || place == everything())
        }
        "scatter" => {
            let whole = data(root, all);
            let mut mine = vec![0; bytes];
            let all = (rank == root).then_some(&whole[..]);
            scatter::scatter(&team, &mut Deal { all, mine: Some(&mut mine), block: bytes, root })?;
            check(mine == whole[at[rank]..at[rank + 1]])
        }
        "scatterv" => {
            let whole = data(root, all);
            let content = scatter::linear_from(&team, root, |other| &whole[at[other]..at[other + 1]])?;
            check(content.is_none_or(|content| content.data[..] == whole[at[rank]..at[rank + 1]]))
        }
        "allgather" => {
            let mut place = vec![0; all];
            place[at[rank]..at[rank + 1]].copy_from_slice(&data(rank, bytes));
            allgather::allgather(&team, bytes, &mut place)?;
            check(place == everything())
        }
        "allgatherv" => {
            let mut place = vec![0; all];
            place[at[rank]..at[rank + 1]].copy_from_slice(&data(rank, sizes[rank]));
            allgatherv::allgatherv(&team, &sizes, element, &mut place)?;
            check(place == everything())
        }
        "alltoall" => {
            let mut place = vec![0; all];
            alltoall::alltoall(&team, bytes, &data(rank, all), &mut place)?;
            check(
                (0..size)
                    .all(|other| place[at[other]..at[other + 1]] == data(other, all)[at[rank]..at[rank + 1]]),
            )
        }
        "alltoallv" => {
            let of = |from: usize, to: usize| part(run.count, from + to) * element;
            let starts =
                |from: usize| buffers::offsets(&(0..size).map(|to| of(from, to)).collect::<Vec<_>>());
            let (mine, mut whole) = (starts(rank), data(rank, starts(rank)[size]));
            let mut place = vec![0_u8; mine[size]];
            let byte = me.datatype(crate::abi::BYTE)?;
            let blocks = |first: *mut u8| {
                let piece = |other: usize| buffers::Piece {
                    buffer: first.wrapping_add(mine[other]).cast(),
                    count: mine[other + 1] - mine[other],
                    datatype: Rc::clone(&byte),
                };
                buffers::Blocks::Listed((0..size).map(piece).collect())
            };
            let (out, into) = (blocks(whole.as_mut_ptr()), blocks(place.as_mut_ptr()));
            alltoallv::alltoallv(&team, &out, &into)?;
            check((0..size).all(|other| {
                let theirs = starts(other);
                place[mine[other]..mine[other + 1]]
                    == data(other, theirs[size])[theirs[rank]..theirs[rank + 1]]
            }))
        }
        other => Err(format!("no collective {other}")),
    })
}

/// Runs collectives one after the other on these hosts; gives the dates at which ranks leave the last.
fn simulate(
    platform: &Arc<Platform>,
    hosts: &[HostId],
    keys: &[(String, String)],
    runs: Vec<Run>,
) -> std::result::Result<Vec<f64>, String> {
    let (keys, all) = (keys.to_vec(), hosts.to_vec());
    let dates = testing::run(platform, hosts, move |process| {
        let pairs = keys.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut costs = Costs::default();
        for (key, value) in &keys {
            let overhead = Overhead::parse(value);
            match key.as_str() {
                "smpi/os" => costs.send = overhead.expect("well written"),
                "smpi/ois" => costs.immediate_send = overhead.expect("well written"),
                "smpi/or" => costs.receive = overhead.expect("well written"),
                _ => {}
            }
        }
        let me = Rank::new(process, testing::world(&all, costs, Selection::parse(pairs)?));
        for run in &runs {
            play(&me, run).map_err(|error| error.to_string())??;
        }
        Ok::<f64, String>(testing::now())
    })?;
    dates.into_iter().collect()
}

/// All algorithms of all collectives, as keys.
fn algorithms() -> Vec<(&'static str, &'static str)> {
    macro_rules! of {
        ($($kind:ident, $name:literal;)*) => {{
            let mut all = Vec::new();
            $(all.extend($kind::ALL.iter().map(|(algorithm, _)| ($name, *algorithm)));)*
            all
        }};
    }
    of! {
        Barrier, "barrier"; Bcast, "bcast"; Reduce, "reduce"; Allreduce, "allreduce"; Gather, "gather";
        Scatter, "scatter"; Allgather, "allgather"; Allgatherv, "allgatherv"; Alltoall, "alltoall";
        Alltoallv, "alltoallv"; ReduceScatter, "reduce_scatter";
    }
}

/// Every algorithm with so many ranks, on so many hosts in turn.
fn every_algorithm(ranks: usize, hosts: usize) {
    let platform = testing::cluster(hosts);
    let places: Vec<HostId> = (0..ranks).map(|rank| HostId((rank % hosts) as u32)).collect();
    let counts: &[usize] = if ranks > 9 { &[3, 700] } else { &[0, 1, 40, 1000, 20000] };
    for (name, algorithm) in algorithms() {
        let keys = [(format!("smpi/{name}"), algorithm.to_owned())];
        let mut runs = Vec::new();
        for (index, count) in counts.iter().enumerate() {
            let root = (index * 5 + 1) % ranks;
            // Elements of one byte take their own ways of segments.
            for operator in [Operator::Sum(4), Operator::Affine, Operator::Sum(1)] {
                if *count > 1000 && !operator.is_commutative() {
                    continue;
                }
                for unequal in [false, true] {
                    let (name, element) = (name.to_owned(), operator.element());
                    let unequal_too = name.ends_with('v') || name == "reduce_scatter";
                    if unequal_too || !unequal {
                        runs.push(Run { name, operator, element, unequal, count: *count, root });
                    }
                }
            }
        }
        let result = simulate(&platform, &places, &keys, runs);
        assert!(result.is_ok(), "{name} by {algorithm}, {ranks} ranks: {}", result.unwrap_err());
    }
}

#[test]
fn every_algorithm_is_right_with_up_to_nine_ranks() {
    [1, 2, 3, 4, 5, 7, 8, 9].into_iter().for_each(|ranks| every_algorithm(ranks, ranks));
}

#[test]
#[ignore = "threads of 17 ranks are slow"]
fn every_algorithm_is_right_with_more_ranks() {
    [6, 10, 11, 12, 13, 14, 15, 16, 17].into_iter().for_each(|ranks| every_algorithm(ranks, ranks));
}

#[test]
#[ignore = "threads of 32 ranks are slow"]
fn every_algorithm_is_right_with_32_ranks() {
    every_algorithm(32, 32);
}

#[test]
fn every_algorithm_is_right_with_several_ranks_a_host() {
    for (ranks, hosts) in [(4, 1), (6, 2), (6, 3), (7, 3)] {
        every_algorithm(ranks, hosts);
    }
}

#[test]
fn scans_are_right() {
    for ranks in [1, 2, 5, 8] {
        let platform = testing::cluster(ranks);
        let places: Vec<HostId> = (0..ranks).map(|rank| HostId(rank as u32)).collect();
        for operator in [Operator::Sum(4), Operator::Affine] {
            let run = |name: &str| Run {
                name: name.to_owned(),
                operator,
                element: operator.element(),
                unequal: false,
                count: 30,
                root: 0,
            };
            assert!(simulate(&platform, &places, &[], vec![run("scan"), run("exscan")]).is_ok());
        }
    }
}

/// A row of recorded runs.
fn recorded(row: &str, directory: &Path, platform: &Arc<Platform>) -> std::result::Result<(), String> {
    let words: Vec<&str> = row.split('\t').collect();
    let [keys, names, ranks, size, root, hosts, dates] = words[..] else {
        return Err("seven columns".into());
    };
    let mut settings = vec![("smpi/coll-selector".to_owned(), "default".to_owned())];
    for key in keys.split(',').filter(|key| *key != "-") {
        let (key, value) = key.split_once(':').ok_or("a key has a value")?;
        settings.push((key.to_owned(), value.to_owned()));
    }
    let number = |word: &str| word.parse::<usize>().map_err(|error| error.to_string());
    let (ranks, size, root) = (number(ranks)?, number(size)?, number(root)?);
    let hosts = std::fs::read_to_string(directory.join(hosts)).map_err(|error| error.to_string())?;
    let hosts: Vec<HostId> = hosts.lines().filter_map(|name| platform.host_named(name)).collect();
    let places: Vec<HostId> = (0..ranks).map(|rank| hosts[rank % hosts.len()]).collect();
    let run = |name: &str| {
        let reduction = name.contains("reduce") || name.contains("scan");
        let flag = |flag: &str| name.split('_').any(|word| word == flag);
        let element = if flag("d") {
            8
        } else if reduction {
            4
        } else {
            1
        };
        let operator = if flag("nc") { Operator::Left(element) } else { Operator::Sum(element) };
        let plain =
            name.trim_end_matches("_d").trim_end_matches("_v").trim_end_matches("_nc").trim_end_matches("_v");
        let unequal = flag("v") || ["gatherv", "allgatherv", "scatterv"].contains(&plain);
        Run { name: plain.to_owned(), operator, element, unequal, count: size / element, root }
    };
    let found = simulate(platform, &places, &settings, names.split('+').map(run).collect())?;
    for (rank, (found, date)) in found.iter().zip(dates.split(' ')).enumerate() {
        let date: f64 = date.parse().map_err(|_| "a date is a number")?;
        if (found - date).abs() > 2e-9 && (found - date).abs() > 1e-6 * date {
            return Err(format!("rank {rank} leaves at {found:.9}, not at {date:.9}"));
        }
    }
    Ok(())
}

/// The dates of runs that were recorded with SMPI; `SIMURGH_RECORDED_COLLECTIVES` is the folder with them.
#[test]
#[ignore = "needs a folder of recorded runs"]
fn dates_are_those_of_recorded_runs() {
    let directory = std::env::var("SIMURGH_RECORDED_COLLECTIVES").expect("a folder of recorded runs");
    let directory = Path::new(&directory);
    let text = std::fs::read_to_string(directory.join("platform.xml")).expect("a platform");
    let platform =
        Arc::new(Platform::from_xml(&text, "platform.xml", directory).expect("it is well written"));
    let rows = std::fs::read_to_string(directory.join("expected.tsv")).expect("recorded runs");
    let mut wrong = Vec::new();
    for row in rows.lines().skip(1) {
        if let Err(error) = recorded(row, directory, &platform) {
            let head: Vec<&str> = row.split('\t').take(6).collect();
            wrong.push(format!("{}: {error}", head.join(" ")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        rows.lines().count() - 1,
        wrong.join("\n")
    );
}
