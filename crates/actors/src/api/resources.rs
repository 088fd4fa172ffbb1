//! Hosts, links and disks, as an actor sees and changes them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use simurgh_kernel::context::{Call, call, violate};
use simurgh_kernel::simcall::{Answer, Follow, PlatformAnswer, PlatformRequest, Simcall};
use simurgh_models::{Direction, DiskAccess};
use simurgh_platform::{DiskId, HostId, LinkId};

use super::activity::Start;
use super::quantity::{Seconds, amount, patience};
use super::shared::Shared;
use super::{Ask, completed, unexpected};
use crate::error::{Error, Result};

/// A host, by name or by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostRef {
    /// By its name.
    Name(String),
    /// By its identity.
    Id(HostId),
}

impl HostRef {
    #[track_caller]
    pub(crate) fn find(&self, shared: &Shared) -> Result<HostId> {
        match self {
            HostRef::Name(name) => shared.host(name),
            HostRef::Id(id) if id.index() < shared.platform.host_count() => Ok(*id),
            HostRef::Id(id) => Err(Error::input(format!("host number {} is of another program", id.index()))),
        }
    }
}

impl From<&str> for HostRef {
    fn from(name: &str) -> Self {
        HostRef::Name(name.to_owned())
    }
}

impl From<String> for HostRef {
    fn from(name: String) -> Self {
        HostRef::Name(name)
    }
}

impl From<&String> for HostRef {
    fn from(name: &String) -> Self {
        HostRef::Name(name.clone())
    }
}

impl From<HostId> for HostRef {
    fn from(id: HostId) -> Self {
        HostRef::Id(id)
    }
}

impl From<&Host> for HostRef {
    fn from(host: &Host) -> Self {
        HostRef::Id(host.id)
    }
}

impl From<Host> for HostRef {
    fn from(host: Host) -> Self {
        HostRef::Id(host.id)
    }
}

#[track_caller]
fn ask<T>(request: PlatformRequest, read: fn(Answer) -> T) -> Ask<T> {
    Ask::new(Simcall::Platform(request), read)
}

/// What the platform said.
fn said(answer: Answer) -> PlatformAnswer {
    match answer {
        Answer::Platform(answer) => answer,
        other => unexpected(&other),
    }
}

fn quantity(answer: Answer) -> f64 {
    match said(answer) {
        PlatformAnswer::Number(number) => number,
        PlatformAnswer::Refused(why) => violate(*why),
        other => unexpected(&Answer::Platform(other)),
    }
}

fn quantity_or_error(answer: Answer) -> Result<f64> {
    match said(answer) {
        PlatformAnswer::Number(number) => Ok(number),
        PlatformAnswer::Refused(why) => Err(Error::Refused(*why)),
        other => unexpected(&Answer::Platform(other)),
    }
}

fn yes(answer: Answer) -> bool {
    match said(answer) {
        PlatformAnswer::Flag(flag) => flag,
        PlatformAnswer::Refused(why) => violate(*why),
        other => unexpected(&Answer::Platform(other)),
    }
}

pub(super) fn done(answer: Answer) -> Result<()> {
    match said(answer) {
        PlatformAnswer::Done => Ok(()),
        PlatformAnswer::Refused(why) => Err(Error::Refused(*why)),
        other => unexpected(&Answer::Platform(other)),
    }
}

/// A host of the platform.
#[derive(Clone, Debug)]
pub struct Host {
    id: HostId,
    shared: Arc<Shared>,
}

impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Host {}

impl Host {
    pub(crate) fn new(shared: &Arc<Shared>, id: HostId) -> Self {
        Self { id, shared: Arc::clone(shared) }
    }

    /// Its number.
    pub fn id(&self) -> HostId {
        self.id
    }

    /// Ends the actor that runs, if this is a host of another program.
    #[track_caller]
    pub(super) fn check(&self) {
        self.shared.tag().check("host");
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.platform.host(self.id).name
    }

    /// How many cores it has.
    pub fn cores(&self) -> u32 {
        self.shared.platform.host(self.id).cores
    }

    /// The speed of a core in each power state, as the platform says.
    pub fn speeds(&self) -> &[f64] {
        self.shared.platform.host(self.id).speeds
    }

    /// A property that the platform gives it.
    pub fn property(&self, key: &str) -> Option<String> {
        self.shared.platform.host(self.id).property(key).map(str::to_owned)
    }

    /// One of its disks.
    ///
    /// # Errors
    /// If it has none of this name.
    pub fn disk(&self, name: &str) -> Result<Disk> {
        let id = self.shared.platform.disk_named(self.id, name).ok_or_else(|| {
            let there: Vec<_> = self.disks().iter().map(|disk| format!("{:?}", disk.name())).collect();
            Error::Unknown {
                kind: "disk",
                name: name.to_owned(),
                hint: match there.as_slice() {
                    [] => format!("; host {:?} has no disk", self.name()),
                    names => format!("; host {:?} has {}", self.name(), names.join(", ")),
                },
            }
        })?;
        Ok(Disk { id, shared: Arc::clone(&self.shared) })
    }

    /// Its disks.
    pub fn disks(&self) -> Vec<Disk> {
        let disks = self.shared.platform.disks_of(self.id);
        disks.into_iter().map(|id| Disk { id, shared: Arc::clone(&self.shared) }).collect()
    }

    /// The speed of a core now, flop/s.
    #[track_caller]
    pub fn speed(&self) -> Ask<f64> {
        ask(PlatformRequest::HostSpeed(self.id), quantity)
    }

    /// The flop/s in use now.
    #[track_caller]
    pub fn load(&self) -> Ask<f64> {
        ask(PlatformRequest::HostLoad(self.id), quantity)
    }

    /// Whether it is on.
    #[track_caller]
    pub fn is_on(&self) -> Ask<bool> {
        ask(PlatformRequest::HostIsOn(self.id), yes)
    }

    /// Turns it on; actors that restart with it come back.
    #[track_caller]
    pub fn turn_on(&self) -> Ask<Result<()>> {
        ask(PlatformRequest::SetHostState(self.id, true), done)
    }

    /// Turns it off; its actors die.
    #[track_caller]
    pub fn turn_off(&self) -> Ask<Result<()>> {
        ask(PlatformRequest::SetHostState(self.id, false), done)
    }

    /// Its power state.
    #[track_caller]
    pub fn pstate(&self) -> Ask<usize> {
        ask(PlatformRequest::Pstate(self.id), |answer| quantity(answer) as usize)
    }

    /// Changes its power state, and with it its speed.
    #[track_caller]
    pub fn set_pstate(&self, pstate: usize) -> Ask<Result<()>> {
        ask(PlatformRequest::SetPstate(self.id, pstate), done)
    }

    /// The joules that it has used until now.
    #[track_caller]
    pub fn energy(&self) -> Ask<Result<f64>> {
        ask(PlatformRequest::HostEnergy(self.id), quantity_or_error)
    }

    /// The watts that it draws now.
    #[track_caller]
    pub fn power(&self) -> Ask<Result<f64>> {
        ask(PlatformRequest::HostPower(self.id), quantity_or_error)
    }
}

/// A link of the platform.
#[derive(Clone, Debug)]
pub struct Link {
    id: LinkId,
    shared: Arc<Shared>,
}

impl Link {
    #[track_caller]
    pub(crate) fn named(shared: &Arc<Shared>, name: &str) -> Result<Self> {
        let platform = &shared.platform;
        let Some(id) = platform.link_named(name) else {
            let names = platform.links().map(|id| platform.link(id).name);
            return Err(Error::unknown("link", name, simurgh_platform::suggest::nearest(name, names)));
        };
        Ok(Self { id, shared: Arc::clone(shared) })
    }

    /// Its number.
    pub fn id(&self) -> LinkId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.platform.link(self.id).name
    }

    /// Its bandwidth now, B/s.
    #[track_caller]
    pub fn bandwidth(&self) -> Ask<f64> {
        ask(PlatformRequest::LinkBandwidth(self.id), quantity)
    }

    /// Its latency now, s.
    #[track_caller]
    pub fn latency(&self) -> Ask<f64> {
        ask(PlatformRequest::LinkLatency(self.id), quantity)
    }

    /// The B/s in use now.
    #[track_caller]
    pub fn load(&self) -> Ask<f64> {
        ask(PlatformRequest::LinkLoad(self.id), quantity)
    }

    /// Whether it is on.
    #[track_caller]
    pub fn is_on(&self) -> Ask<bool> {
        ask(PlatformRequest::LinkIsOn(self.id), yes)
    }

    /// Turns it on.
    #[track_caller]
    pub fn turn_on(&self) -> Ask<Result<()>> {
        ask(PlatformRequest::SetLinkState(self.id, true), done)
    }

    /// Turns it off; the messages on it are lost.
    #[track_caller]
    pub fn turn_off(&self) -> Ask<Result<()>> {
        ask(PlatformRequest::SetLinkState(self.id, false), done)
    }

    /// Changes its bandwidth.
    #[track_caller]
    pub fn set_bandwidth(&self, bytes_per_second: f64) -> Ask<Result<()>> {
        ask(PlatformRequest::SetLinkBandwidth(self.id, bytes_per_second), done)
    }

    /// Changes its latency.
    #[track_caller]
    pub fn set_latency(&self, seconds: f64) -> Ask<Result<()>> {
        ask(PlatformRequest::SetLinkLatency(self.id, seconds), done)
    }

    /// Sets the rate of a station to one of the levels of this wifi link.
    #[track_caller]
    pub fn set_station_rate(&self, station: &Host, level: usize) -> Ask<Result<()>> {
        ask(PlatformRequest::SetStationRate(self.id, station.id(), level), done)
    }

    /// The joules that it has used until now.
    #[track_caller]
    pub fn energy(&self) -> Ask<Result<f64>> {
        ask(PlatformRequest::LinkEnergy(self.id), quantity_or_error)
    }
}

/// A disk of a host.
#[derive(Clone, Debug)]
pub struct Disk {
    id: DiskId,
    shared: Arc<Shared>,
}

impl Disk {
    /// Its number.
    pub fn id(&self) -> DiskId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.platform.disk(self.id).name
    }

    /// Reads so many bytes.
    #[track_caller]
    pub fn read(&self, bytes: f64) -> Access {
        self.access(Direction::Read, bytes)
    }

    /// Writes so many bytes.
    #[track_caller]
    pub fn write(&self, bytes: f64) -> Access {
        self.access(Direction::Write, bytes)
    }

    #[track_caller]
    fn access(&self, direction: Direction, bytes: f64) -> Access {
        let bytes = amount(bytes, "bytes to read or write");
        let what = DiskAccess { disk: self.id, direction, bytes, priority: 1.0 };
        Access { call: call(Simcall::Access(what, Follow::Wait(None))) }
    }
}

/// A disk access about to be done.
#[derive(Debug)]
#[must_use = "nothing is read or written until it is awaited"]
pub struct Access {
    call: Call,
}

impl Access {
    fn with(mut self, change: impl FnOnce(&mut DiskAccess, &mut Follow)) -> Self {
        if let Some(Simcall::Access(what, follow)) = self.call.simcall_mut() {
            change(what, follow);
        }
        self
    }

    /// Its share against others on the same disk.
    #[track_caller]
    pub fn priority(self, priority: f64) -> Self {
        let priority = amount(priority, "a priority");
        self.with(|what, _| what.priority = priority)
    }

    /// Stops waiting after so many seconds; the access goes on in the background.
    #[track_caller]
    pub fn timeout(self, span: impl Into<Seconds>) -> Self {
        let seconds = patience(span);
        self.with(|_, follow| *follow = Follow::Wait(Some(seconds)))
    }

    /// Reads or writes in the background: gives an activity that can be waited for.
    pub fn start(self) -> Start<()> {
        Start::new(self.with(|_, follow| *follow = Follow::Return).call, |_, _| Ok(()))
    }
}

impl Future for Access {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = completed(ready!(Pin::new(&mut self.call).poll(cx)));
        Poll::Ready(result.map(drop).map_err(Error::from))
    }
}
