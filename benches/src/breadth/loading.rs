//! A platform of many hosts is made or read, and one message sent from one of its hosts to another.

use std::path::Path;

use simurgh::platform::HostId;
use simurgh::prelude::*;

use crate::{Line, Threads};

fn send(platform: Platform, first: HostId, last: HostId, threads: Threads) -> simurgh::Result<Line> {
    let mut program = Program::new(platform);
    let (to, from) = (program.mailbox("m"), program.mailbox::<()>("m"));
    program.spawn("s", first, move |_| async move { to.send((), 1e6).await })?;
    program.spawn("r", last, move |_| async move { from.recv().await })?;
    crate::simulate(program, threads)
}

pub fn star(hosts: u32, threads: Threads) -> simurgh::Result<Line> {
    let (platform, all) = crate::star::star("h", hosts, |_| 125e6)?;
    send(platform, all[0], all[all.len() - 1], threads)
}

/// Its hosts `first` and `last` are the ones.
pub fn file(file: &Path, threads: Threads) -> simurgh::Result<Line> {
    let platform = Platform::from_file(file)?;
    let named = |name: &str| {
        let host = platform.host_named(name);
        host.ok_or_else(|| simurgh::Error::input(format!("{}: there is no host {name:?}", file.display())))
    };
    let (first, last) = (named("first")?, named("last")?);
    send(platform, first, last, threads)
}
