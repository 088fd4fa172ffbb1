//! Communicators, within a group and between two (MPI 5.0, 7.4 to 7.6).

use std::ffi::c_char;
use std::rc::Rc;

use super::{check_place, give, taken};
use crate::abi::{self, Comm, Errhandler, Group, Info, Request, text_of};
use crate::communicator::channel::{Channel, tags};
use crate::communicator::making::{ranks_in, tag_of};
use crate::communicator::split::Choice;
use crate::communicator::{Communicator, keep_known};
use crate::errhandler::Sort;
use crate::error::{On, Result, fail};
use crate::group;
use crate::p2p::check_tag;
use crate::rank::Rank;
use crate::request::Pending;

pub fn comm_size(me: &Rank, comm: Comm, size: *mut i32) -> Result {
    give(size, me.comm(comm)?.size() as i32)
}

pub fn comm_rank(me: &Rank, comm: Comm, rank: *mut i32) -> Result {
    give(rank, me.comm(comm)?.rank as i32)
}

pub fn comm_remote_size(me: &Rank, comm: Comm, size: *mut i32) -> Result {
    give(size, inter(me, comm)?.peers().size() as i32)
}

pub fn comm_test_inter(me: &Rank, comm: Comm, flag: *mut i32) -> Result {
    give(flag, i32::from(me.comm(comm)?.is_inter()))
}

fn inter(me: &Rank, comm: Comm) -> Result<Rc<Communicator>> {
    let found = me.comm(comm)?;
    if found.is_inter() {
        return Ok(found);
    }
    fail(abi::ERR_COMM, "the communicator connects no two groups: an intercommunicator is wanted")
}

fn intra(me: &Rank, comm: Comm) -> Result<Rc<Communicator>> {
    let found = me.comm(comm)?;
    if !found.is_inter() {
        return Ok(found);
    }
    fail(abi::ERR_COMM, "the communicator connects two groups: an intracommunicator is wanted")
}

pub fn comm_compare(me: &Rank, comm1: Comm, comm2: Comm, result: *mut i32) -> Result {
    let (first, second) = (me.comm(comm1)?, me.comm(comm2)?);
    let compared = |one: &group::Group, other: &group::Group| match one {
        _ if one == other => abi::CONGRUENT,
        _ if one.is_similar(other) => abi::SIMILAR,
        _ => abi::UNEQUAL,
    };
    let answer = if Rc::ptr_eq(&first, &second) {
        abi::IDENT
    } else if first.is_inter() != second.is_inter() {
        abi::UNEQUAL
    } else {
        // The constants rise from congruent to unequal.
        compared(&first.group, &second.group).max(compared(first.peers(), second.peers()))
    };
    give(result, answer)
}

/// Copies what hangs on a communicator to a copy of it, which is kept then.
fn finish_copy(
    me: &Rank,
    comm: Comm,
    old: &Communicator,
    copy: Communicator,
    info: Info,
) -> Result<Communicator> {
    copy.topology.borrow_mut().clone_from(&old.topology.borrow());
    *copy.info.borrow_mut() = keep_known(&me.hints(info)?);
    if let Err(error) = me.copy_attributes(old, comm.0, &copy) {
        me.release_errhandler(copy.errhandler.get());
        return Err(error);
    }
    Ok(copy)
}

pub fn comm_dup(me: &Rank, comm: Comm, newcomm: *mut Comm) -> Result {
    comm_dup_with_info(me, comm, abi::INFO_NULL, newcomm)
}

pub fn comm_dup_with_info(me: &Rank, comm: Comm, info: Info, newcomm: *mut Comm) -> Result {
    let old = me.comm(comm)?;
    check_place(newcomm)?;
    me.hints(info)?;
    give(newcomm, abi::COMM_NULL)?;
    let copy = me.duplicate(&old)?;
    let copy = finish_copy(me, comm, &old, copy, info)?;
    give(newcomm, me.keep_comm(copy))
}

pub fn comm_idup(me: &Rank, comm: Comm, newcomm: *mut Comm, request: *mut Request) -> Result {
    comm_idup_with_info(me, comm, abi::INFO_NULL, newcomm, request)
}

pub fn comm_idup_with_info(
    me: &Rank,
    comm: Comm,
    info: Info,
    newcomm: *mut Comm,
    request: *mut Request,
) -> Result {
    let old = me.comm(comm)?;
    check_place(newcomm)?;
    check_place(request)?;
    give(newcomm, abi::COMM_NULL)?;
    let copy = old.shallow();
    me.inherit(&copy, &old);
    let copy = finish_copy(me, comm, &old, copy, info)?;
    let (handle, pending) = me.begin_copy(&old, copy)?;
    give(newcomm, handle)?;
    give(request, pending)
}

/// Gives the handle of a communicator that was made, or `MPI_COMM_NULL`.
fn give_made(me: &Rank, place: *mut Comm, made: Option<Communicator>) -> Result {
    give(place, made.map_or(abi::COMM_NULL, |made| me.keep_comm(made)))
}

pub fn comm_create(me: &Rank, comm: Comm, group: Group, newcomm: *mut Comm) -> Result {
    let (old, group) = (me.comm(comm)?, me.group(group)?);
    check_place(newcomm)?;
    ranks_in(&old, &group)?;
    me.check_grouped(&old, &group);
    let made = if old.is_inter() {
        me.make_inter_of_group(&old, &group)?
    } else {
        me.make_of_group(&old, &group, tags::CONTEXT)?
    };
    give_made(me, newcomm, made)
}

pub fn comm_create_group(me: &Rank, comm: Comm, group: Group, tag: i32, newcomm: *mut Comm) -> Result {
    let (old, group) = (intra(me, comm)?, me.group(group)?);
    check_place(newcomm)?;
    check_tag(tag)?;
    let made = me.make_of_group(&old, &group, tag)?;
    give_made(me, newcomm, made)
}

/// Says that errors go to the error handler that the call was given.
fn told_to<T>(errhandler: Errhandler, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.on(On::Given(errhandler)))
}

pub fn comm_create_from_group(
    me: &Rank,
    group: Group,
    stringtag: *const c_char,
    info: Info,
    errhandler: Errhandler,
    newcomm: *mut Comm,
) -> Result {
    me.check_errhandler(Sort::Comm, errhandler)?;
    told_to(errhandler, create_from_group(me, group, stringtag, info, errhandler, newcomm))
}

fn create_from_group(
    me: &Rank,
    group: Group,
    stringtag: *const c_char,
    info: Info,
    errhandler: Errhandler,
    newcomm: *mut Comm,
) -> Result {
    let session = me.sessions_of_groups.borrow().get(&group.0).cloned();
    let (group, tag) = (me.group(group)?, string_tag(stringtag)?);
    check_place(newcomm)?;
    if group.size() == 0 {
        return give(newcomm, abi::COMM_NULL);
    }
    check_member(me, &group)?;
    let made = me.make_intra(&me.boot(), &group, tag)?;
    session.iter().for_each(|session| made.comes_from(session));
    me.set_errhandler(Sort::Comm, &made.errhandler, errhandler)?;
    *made.info.borrow_mut() = keep_known(&me.hints(info)?);
    give_made(me, newcomm, Some(made))
}

fn check_member(me: &Rank, group: &group::Group) -> Result {
    if group.rank_of(me.process).is_none() {
        return fail(abi::ERR_GROUP, "the process is not in the group: only its members make a communicator");
    }
    Ok(())
}

fn string_tag(text: *const c_char) -> Result<i32> {
    // SAFETY: the program gives a text that ends with a zero.
    let text = unsafe { text_of(text) };
    if text.len() >= abi::MAX_STRINGTAG_LEN as usize {
        return fail(
            abi::ERR_ARG,
            format!("the tag has {} letters: {} at most", text.len(), abi::MAX_STRINGTAG_LEN - 1),
        );
    }
    Ok(tag_of(&text))
}

fn choice(color: i32, key: i32) -> Result<Choice> {
    if color < 0 && color != abi::UNDEFINED {
        return fail(
            abi::ERR_ARG,
            format!("the colour is {color}: it must not be negative, or be MPI_UNDEFINED"),
        );
    }
    Ok(Choice { color: (color != abi::UNDEFINED).then_some(color), key })
}

pub fn comm_split(me: &Rank, comm: Comm, color: i32, key: i32, newcomm: *mut Comm) -> Result {
    let (old, mine) = (me.comm(comm)?, choice(color, key)?);
    check_place(newcomm)?;
    let made = if old.is_inter() {
        me.split_inter(&old, mine)?
    } else {
        me.split(&old, &group::Group::all(old.size()), mine)?
    };
    give_made(me, newcomm, made)
}

/// The key under which a resource is named, and the one resource that there is: the memory of a host.
const RESOURCE: &str = "mpi_hw_resource_type";
const SHARED_MEMORY: &str = "mpi_shared_memory";
/// The same, as what the library itself calls it (11.2.2).
pub(super) const HOST: &str = "simurgh://host";

pub fn comm_split_type(
    me: &Rank,
    comm: Comm,
    split_type: i32,
    key: i32,
    info: Info,
    newcomm: *mut Comm,
) -> Result {
    let (old, hints) = (intra(me, comm)?, me.hints(info)?);
    check_place(newcomm)?;
    me.check_split(&old, split_type);
    let everybody = group::Group::all(old.size());
    let here = me.on_this_host(&old);
    let names_memory = hints.get(RESOURCE).is_some_and(|name| [SHARED_MEMORY, HOST].contains(&name));
    // Who must be asked, and what is asked for. Those who ask for nothing answer with the others, since some of them may ask.
    let (members, color) = match split_type {
        abi::COMM_TYPE_SHARED => (here, Some(0)),
        abi::COMM_TYPE_HW_GUIDED => (here, names_memory.then_some(0)),
        abi::COMM_TYPE_HW_UNGUIDED => {
            let smaller = here.size() < old.size();
            if smaller && info != abi::INFO_NULL {
                me.info(info)?.borrow_mut().set(RESOURCE, SHARED_MEMORY)?;
            }
            (here, smaller.then_some(0))
        }
        abi::COMM_TYPE_RESOURCE_GUIDED => {
            match hints.get("mpi_pset_name").and_then(|name| me.process_set(name).ok()) {
                Some(set) if set.size() > 1 => (everybody, Some(0)),
                Some(_) => (here, Some(old.rank as i32 + 1)),
                None => (here, names_memory.then_some(0)),
            }
        }
        // It may be that others on this host do not say so.
        abi::UNDEFINED => (here, None),
        other => return fail(abi::ERR_ARG, format!("{other} is no type of a split")),
    };
    let made = me.split(&old, &members, Choice { color, key })?;
    if let Some(made) = &made {
        *made.info.borrow_mut() = keep_known(&hints);
    }
    give_made(me, newcomm, made)
}

pub fn comm_free(me: &Rank, comm: *mut Comm) -> Result {
    let handle = taken(comm)?;
    if [abi::COMM_WORLD, abi::COMM_SELF].contains(&handle) {
        return fail(abi::ERR_COMM, "a predefined communicator cannot be freed")
            .map_err(|error| error.on(On::Comm(handle)));
    }
    free(me, handle).map_err(|error| error.on(On::Comm(handle)))?;
    give(comm, abi::COMM_NULL)
}

fn free(me: &Rank, handle: Comm) -> Result {
    let found = me.comm(handle)?;
    me.delete_attributes(&*found, handle.0)?;
    found.freed.set(true);
    me.release_errhandler(found.errhandler.get());
    me.comms.borrow_mut().remove(handle.0);
    Ok(())
}

pub fn comm_disconnect(me: &Rank, comm: *mut Comm) -> Result {
    let handle = taken(comm)?;
    // All that is under way on it is completed first (11.10.4).
    if let Ok(found) = me.comm(handle) {
        let on_it = |request: &&Rc<Pending>| {
            request.active.get() && request.comm.as_ref().is_some_and(|comm| Rc::ptr_eq(comm, &found))
        };
        let requests: Vec<_> = me.requests.borrow().iter().filter(on_it).cloned().collect();
        let orphans: Vec<_> = me.orphans.borrow().iter().filter(on_it).cloned().collect();
        for request in requests.iter().chain(&orphans) {
            me.wait_for(request);
        }
        me.flush_buffer(&found.buffered)?;
    }
    comm_free(me, comm)
}

pub fn comm_set_info(me: &Rank, comm: Comm, info: Info) -> Result {
    let (found, hints) = (me.comm(comm)?, keep_known(&me.info(info)?.borrow()));
    found.info.borrow_mut().extend(hints);
    Ok(())
}

pub fn comm_get_info(me: &Rank, comm: Comm, info_used: *mut Info) -> Result {
    let found = me.comm(comm)?;
    check_place(info_used)?;
    let entries = found.info.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    give(info_used, me.keep_info(crate::info::Info { entries }))
}

/// Checks the rank of a leader.
fn leader(rank: i32, size: usize, what: &str) -> Result<usize> {
    match usize::try_from(rank) {
        Ok(rank) if rank < size => Ok(rank),
        _ => fail(abi::ERR_RANK, format!("the {what} leader is rank {rank}, and there are {size} processes")),
    }
}

pub fn intercomm_create(
    me: &Rank,
    local_comm: Comm,
    local_leader: i32,
    peer_comm: Comm,
    remote_leader: i32,
    tag: i32,
    newintercomm: *mut Comm,
) -> Result {
    let local = intra(me, local_comm)?;
    check_place(newintercomm)?;
    let leads = leader(local_leader, local.size(), "local")?;
    // What concerns the leaders alone means nothing elsewhere.
    let peer = if local.rank == leads { Some(me.comm(peer_comm)?) } else { None };
    let peer = match &peer {
        Some(peer) => {
            check_tag(tag)?;
            let remote = leader(remote_leader, peer.peers().size(), "remote")?;
            if !peer.is_inter() && remote == peer.rank {
                return fail(abi::ERR_RANK, "the remote leader is the local leader itself");
            }
            Some((Channel { me, comm: peer, tag }, remote))
        }
        None => None,
    };
    let within = Channel { me, comm: &local, tag: tags::LEADERS };
    let made = me.make_inter(within, &group::Group::all(local.size()), leads, peer)?;
    give_made(me, newintercomm, Some(made))
}

pub fn intercomm_create_from_groups(
    me: &Rank,
    local_group: Group,
    local_leader: i32,
    remote_group: Group,
    remote_leader: i32,
    stringtag: *const c_char,
    info: Info,
    errhandler: Errhandler,
    newintercomm: *mut Comm,
) -> Result {
    me.check_errhandler(Sort::Comm, errhandler)?;
    let made = told_to(errhandler, {
        inter_from_groups(me, local_group, local_leader, (remote_group, remote_leader), stringtag)
    })?;
    me.set_errhandler(Sort::Comm, &made.errhandler, errhandler)?;
    *made.info.borrow_mut() = keep_known(&me.hints(info)?);
    give_made(me, newintercomm, Some(made))
}

fn inter_from_groups(
    me: &Rank,
    local_group: Group,
    local_leader: i32,
    (remote_group, remote_leader): (Group, i32),
    stringtag: *const c_char,
) -> Result<Communicator> {
    let (local, tag) = (me.group(local_group)?, string_tag(stringtag)?);
    check_member(me, &local)?;
    let leads = leader(local_leader, local.size(), "local")?;
    let boot = me.boot();
    let channel = Channel { me, comm: &boot, tag };
    let peer = if local.process(leads) == me.process {
        let remote = me.group(remote_group)?;
        let there = leader(remote_leader, remote.size(), "remote")?;
        Some((channel, remote.process(there) as usize))
    } else {
        None
    };
    let made = me.make_inter(channel, &local, leads, peer)?;
    me.sessions_of_groups.borrow().get(&local_group.0).iter().for_each(|session| made.comes_from(session));
    Ok(made)
}

pub fn intercomm_merge(me: &Rank, intercomm: Comm, high: i32, newintracomm: *mut Comm) -> Result {
    let old = inter(me, intercomm)?;
    check_place(newintracomm)?;
    me.check_merged(&old, high != 0);
    let made = me.merge(&old, high != 0)?;
    give_made(me, newintracomm, Some(made))
}
