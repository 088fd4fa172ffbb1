//! Which ranks of a communicator share a host. The first collective that goes by it finds that out by messages, as SMPI does.

use std::rc::Rc;

use super::team::Team;
use super::{allgather, allreduce, bcast};
use crate::error::Result;

/// Who shares a host with whom.
#[derive(Debug)]
pub struct Hosts {
    /// The ranks of each host, in order; hosts by their lowest rank.
    pub hosts: Vec<Vec<usize>>,
    /// The number of each rank's host.
    pub of: Vec<usize>,
    /// Whether each has as many.
    pub uniform: bool,
}

impl Hosts {
    /// The lowest rank of each.
    pub fn leaders(&self) -> Vec<usize> {
        self.hosts.iter().map(|ranks| ranks[0]).collect()
    }

    fn among(team: &Team<'_>) -> Self {
        let world = &team.me.world;
        let mut places = std::collections::BTreeMap::new();
        let (mut hosts, mut of) = (Vec::<Vec<usize>>::new(), Vec::new());
        for rank in 0..team.size {
            let host = world.host(team.comm.group.process(team.in_comm(rank)));
            let place = *places.entry(host).or_insert(hosts.len());
            if place == hosts.len() {
                hosts.push(Vec::new());
            }
            hosts[place].push(rank);
            of.push(place);
        }
        let uniform = hosts.iter().all(|ranks| ranks.len() == hosts[0].len());
        Self { hosts, of, uniform }
    }
}

/// Who shares a host; the first time, all ranks of the communicator tell one another.
///
/// # Errors
/// If a message is lost.
pub fn hosts(team: &Team<'_>) -> Result<Rc<Hosts>> {
    if !team.is_whole() {
        return Ok(Rc::new(Hosts::among(team)));
    }
    let known = team.comm.hosts.borrow().clone();
    if let Some(hosts) = known {
        return Ok(hosts);
    }
    let hosts = Rc::new(Hosts::among(team));
    // Its own use of collectives must not begin it again.
    *team.comm.hosts.borrow_mut() = Some(Rc::clone(&hosts));
    allgather::ring(team, 4, &mut vec![0; 4 * team.size])?;
    if let Some(leaders) = team.part(&hosts.leaders()) {
        allgather::ring(&leaders, 4, &mut vec![0; 4 * leaders.size])?;
    }
    if let Some(host) = team.part(&hosts.hosts[hosts.of[team.rank]]) {
        bcast::scatter_ring(&host, &mut [0; 4], 0)?;
    }
    allreduce::of_nothing(team)?;
    Ok(hosts)
}
