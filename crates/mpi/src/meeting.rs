//! How processes meet that have no communicator in common: at a port, or by a socket (MPI 5.0, 11.9 and 11.10).
//!
//! A port belongs to the process that opened it. Who connects sends its number there; who accepts takes the first that came.
//! Both then speak in the context of those who know each other by number alone, and agree as the leaders of any two groups do.

use std::ffi::c_int;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Failure, Follow, OnTimeout, Simcall};

use crate::abi;
use crate::communicator::Communicator;
use crate::communicator::channel::{Channel, tags};
use crate::error::{Result, fail};
use crate::group::Group;
use crate::message::Data;
use crate::p2p::{Context, Manner, Mode, Posted};
use crate::rank::Rank;
use crate::request::gone;

/// What names of ports begin with.
const PORT: &str = "simurgh:port:";

/// Which side of a connection.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Side {
    /// `MPI_Comm_accept`.
    Accepts,
    /// `MPI_Comm_connect`.
    Connects,
}

/// How long one who connects waits to be accepted, in seconds of the simulation, if nothing else is said.
pub const CONNECTING: f64 = 180.0;

/// How long a process waits for another at the end of a socket, in seconds of the simulation.
const PATIENCE: f64 = 3600.0;

impl Rank {
    /// Opens a port: its name.
    pub fn open_port(&self) -> String {
        let number = self.for_others(|| self.world.started.meeting().open(self.process));
        format!("{PORT}{}:{number}", self.process)
    }

    /// The process and the number of a port that is open.
    fn port(&self, name: &str) -> Result<(u32, u32)> {
        let words = name.strip_prefix(PORT).and_then(|rest| rest.split_once(':'));
        let numbers = words.and_then(|(process, port)| Some((process.parse().ok()?, port.parse().ok()?)));
        let Some((process, port)) = numbers else {
            return fail(abi::ERR_PORT, format!("{name:?} is no name that MPI_Open_port gave"));
        };
        if self.world.started.meeting().ports.get(&port) != Some(&process) {
            return fail(abi::ERR_PORT, format!("the port {name:?} is not open"));
        }
        Ok((process, port))
    }

    /// Closes a port of this process.
    ///
    /// # Errors
    /// If it is not open, or another's.
    pub fn close_port(&self, name: &str) -> Result {
        let port = self.own_port(name)?;
        self.for_others(|| self.world.started.meeting().ports.remove(&port));
        Ok(())
    }

    fn own_port(&self, name: &str) -> Result<u32> {
        match self.port(name)? {
            (process, port) if process == self.process => Ok(port),
            (process, _) => fail(
                abi::ERR_PORT,
                format!("the port {name:?} is one of rank {process}, who alone accepts at it and closes it"),
            ),
        }
    }

    /// Meets others at a port, which all processes of a communicator do together: the communicator between both. The port is
    /// named at the root alone, and how many seconds one who connects waits there.
    ///
    /// # Errors
    /// If the port is not open, or nobody accepts: all are told.
    pub fn meet_at_port(
        &self,
        comm: &Rc<Communicator>,
        root: usize,
        port: Option<Result<(String, f64)>>,
        side: Side,
    ) -> Result<Communicator> {
        let boot = self.boot();
        let mut told = Data::new();
        let mut other = None;
        if let Some(port) = port {
            match port.and_then(|port| self.find_other(&boot, &port, side)) {
                Ok(process) => {
                    other = Some(process);
                    told.extend_from_slice(&abi::SUCCESS.to_le_bytes());
                }
                Err(error) => {
                    told.extend_from_slice(&error.class.to_le_bytes());
                    told.extend_from_slice(error.message.as_bytes());
                }
            }
        }
        let everybody = Group::all(comm.size());
        let within = Channel { me: self, comm, tag: tags::SPAWN };
        within.broadcast(&everybody, root, &mut told, None)?;
        let class = i32::from_le_bytes(told[..4].try_into().expect("four bytes"));
        if class != abi::SUCCESS {
            return fail(class, String::from_utf8_lossy(&told[4..]));
        }
        let peer =
            other.map(|process| (Channel { me: self, comm: &boot, tag: tags::MEET }, process as usize));
        self.make_inter(within, &everybody, root, peer)
    }

    /// The process at the other side.
    fn find_other(&self, boot: &Communicator, (name, patience): &(String, f64), side: Side) -> Result<u32> {
        let patience = *patience;
        match side {
            Side::Accepts => {
                let port = self.own_port(name)?;
                let came = self.receive_content(boot, Context::User, abi::ANY_SOURCE, port as i32)?;
                Ok(came.expect("a receive from anybody is one from somebody").source as u32)
            }
            Side::Connects => {
                let (process, port) = self.port(name)?;
                if process == self.process {
                    return fail(abi::ERR_PORT, "a process cannot connect to a port of its own");
                }
                let (to, tag, mode) = (process as i32, port as i32, Mode::Synchronous);
                let (manner, follow) = (Manner::Immediate, Follow::Return);
                match self.send_data(boot, Context::User, to, tag, Data::new(), mode, manner, follow)? {
                    Posted::Done => Ok(process),
                    Posted::UnderWay(activity) => {
                        self.is_accepted(activity, name, patience).map(|()| process)
                    }
                }
            }
        }
    }

    /// Waits until one who connects is accepted, for so many seconds.
    fn is_accepted(&self, activity: ActivityId, name: &str, patience: f64) -> Result {
        let wait = |timeout| Simcall::WaitAny {
            activities: [activity].into_iter().collect(),
            timeout,
            on_timeout: OnTimeout::Keep,
            release: true,
        };
        match self.ask(wait(patience.is_finite().then_some(patience))) {
            Answer::Failed { failure: Failure::Timeout, .. } => {}
            Answer::Failed { failure, .. } => return Err(gone(failure)),
            _ => return Ok(()),
        }
        if let Answer::Flag(true) = self.ask(Simcall::Withdraw(activity)) {
            return fail(abi::ERR_PORT, format!("nobody accepts at the port {name:?} within {patience} s"));
        }
        // It was accepted at the last moment.
        match self.ask(wait(None)) {
            Answer::Failed { failure, .. } => Err(gone(failure)),
            _ => Ok(()),
        }
    }

    /// Meets the process at the other end of a socket: the communicator between both.
    ///
    /// # Errors
    /// If it is no socket that is connected, or nobody comes.
    pub fn join(&self, socket: c_int) -> Result<Communicator> {
        let wrong = |what: &str| {
            let error = std::io::Error::last_os_error();
            fail(abi::ERR_ARG, format!("descriptor {socket}: {what}: {error}"))
        };
        let (mine, mut theirs) = (self.process.to_le_bytes(), [0_u8; 4]);
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: four bytes are sent from there.
        if unsafe { libc::send(socket, mine.as_ptr().cast(), 4, flags) } != 4 {
            return wrong("nothing can be sent there");
        }
        let (mut came, mut step, mut waited) = (0, self.world.costs.test.max(1e-6), 0.0);
        while came < 4 {
            let room = &mut theirs[came..];
            // SAFETY: there is room for so many bytes.
            let count =
                unsafe { libc::recv(socket, room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT) };
            let kind = std::io::Error::last_os_error().kind();
            match count {
                0 => return fail(abi::ERR_OTHER, "the socket was closed at its other end"),
                1.. => came += count as usize,
                _ if kind != std::io::ErrorKind::WouldBlock => return wrong("nothing can be received there"),
                _ if waited > PATIENCE => {
                    return fail(abi::ERR_OTHER, "nobody calls MPI_Comm_join at the other end of the socket");
                }
                _ => {
                    // The other end is a process of this run, which goes on while this one sleeps.
                    self.sleep(step);
                    waited += step;
                    step = (2.0 * step).min(1.0);
                }
            }
        }
        let other = u32::from_le_bytes(theirs) as usize;
        let boot = self.boot();
        let within = Channel { me: self, comm: &self.comm_self, tag: tags::LEADERS };
        let peer = Some((Channel { me: self, comm: &boot, tag: tags::MEET }, other));
        self.make_inter(within, &Group::all(1), 0, peer)
    }

    /// Publishes a port under a name.
    ///
    /// # Errors
    /// If another has it.
    pub fn publish(&self, service: &str, port: &str) -> Result {
        let mut meeting = self.world.started.meeting();
        if let Some(known) = meeting.services.get(service) {
            return fail(abi::ERR_SERVICE, format!("{service:?} is published already, for {known:?}"));
        }
        self.for_others(|| meeting.services.insert(service.to_owned(), port.to_owned()));
        Ok(())
    }

    /// Takes a name back.
    ///
    /// # Errors
    /// If it is not published.
    pub fn unpublish(&self, service: &str) -> Result {
        match self.for_others(|| self.world.started.meeting().services.remove(service)) {
            Some(_) => Ok(()),
            None => fail(abi::ERR_SERVICE, format!("{service:?} is not published")),
        }
    }

    /// The port that is published under a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn lookup(&self, service: &str) -> Result<String> {
        let found = self.world.started.meeting().services.get(service).cloned();
        match found {
            Some(port) => Ok(port),
            None => {
                // Whoever asks again and again lets others come to publish it.
                self.sleep(self.world.costs.test);
                fail(abi::ERR_NAME, format!("nothing is published under {service:?}"))
            }
        }
    }
}
