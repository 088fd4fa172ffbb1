//! Which ranks of a communicator share a host. The first collective that goes by it finds that out by messages, as SMPI does.

use std::sync::Arc;

use super::team::Team;
use super::{allreduce, bcast, in_step};
use crate::error::Result;

/// Who shares a host with whom.
#[derive(Debug)]
pub struct Hosts {
    /// The ranks of each host, in the order of their processes, as SMPI has them: that of ranks may be another.
    pub hosts: Vec<Vec<usize>>,
    /// The number of each rank's host.
    pub of: Vec<usize>,
    /// Whether each has as many.
    pub uniform: bool,
    /// The first of each, in the order of their processes.
    pub leaders: Vec<usize>,
}

impl Hosts {
    fn among(team: &Team<'_>) -> Self {
        let world = &team.me.world;
        let process = |rank| team.comm.group.process(team.in_comm(rank));
        let mut places = std::collections::BTreeMap::new();
        let (mut hosts, mut of) = (Vec::<Vec<usize>>::new(), Vec::new());
        for rank in 0..team.size {
            let host = world.host(process(rank));
            let place = *places.entry(host).or_insert(hosts.len());
            if place == hosts.len() {
                hosts.push(Vec::new());
            }
            hosts[place].push(rank);
            of.push(place);
        }
        hosts.iter_mut().for_each(|ranks| ranks.sort_unstable_by_key(|rank| process(*rank)));
        let uniform = hosts.iter().all(|ranks| ranks.len() == hosts[0].len());
        let mut leaders: Vec<usize> = hosts.iter().map(|ranks| ranks[0]).collect();
        leaders.sort_unstable_by_key(|leader| process(*leader));
        Self { hosts, of, uniform, leaders }
    }

    /// The same, kept once for all processes where it is the same for all.
    fn known_among(team: &Team<'_>) -> Arc<Self> {
        let known = || team.me.for_others(|| Arc::new(Self::among(team)));
        match team.stride() {
            Some(_) => Arc::clone(team.me.world.even.hosts.get_or_init(known)),
            None => Arc::new(Self::among(team)),
        }
    }
}

/// Who shares a host; the first time, all ranks of the communicator tell one another.
///
/// # Errors
/// If a message is lost.
pub fn hosts(team: &Team<'_>) -> Result<Arc<Hosts>> {
    let Some(known) = team.known_hosts() else { return Ok(Arc::new(Hosts::among(team))) };
    if let Some(hosts) = known.borrow().clone() {
        return Ok(hosts);
    }
    let hosts = Hosts::known_among(team);
    // Its own use of collectives must not begin it again.
    *known.borrow_mut() = Some(Arc::clone(&hosts));
    in_step::tell_all(team, 4, 0)?;
    if let Some(leaders) = team.part(&hosts.leaders) {
        in_step::tell_all(&leaders, 4, 1)?;
    }
    if let Some(host) = team.part(&hosts.hosts[hosts.of[team.rank]]) {
        bcast::scatter_ring(&host, &mut [0; 4], 0)?;
    }
    allreduce::of_nothing(team)?;
    Ok(hosts)
}
