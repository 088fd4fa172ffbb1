//! Hosts on rings with chords, the rings on a ring with chords: Dijkstra inside Dijkstra. Everybody sends to hosts all over the place.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use crate::{Line, Threads};

const ROUNDS: u32 = 20;

/// The members of a ring that are joined: neighbours, and each with the one seven further on.
fn pairs(width: u32) -> impl Iterator<Item = (usize, usize)> {
    let joined = move |from: u32, step: u32| (from as usize, ((from + step) % width) as usize);
    let chords = if width > 14 { width } else { 0 };
    (0..width).map(move |from| joined(from, 1)).chain((0..chords).map(move |from| joined(from, 7)))
}

pub fn run(width: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let outer = builder.zone("world", Routing::Dijkstra);
    let (mut hosts, mut zones) = (Vec::new(), Vec::new());
    for z in 0..width {
        let zone = builder.zone_in(outer, &format!("z{z}"), Routing::Dijkstra);
        let members: Vec<_> =
            (0..width).map(|h| builder.host(zone, &format!("z{z}h{h}"), 1e9).id()).collect();
        for (from, to) in pairs(width) {
            let link = builder.link(zone, &format!("z{z}l{from}-{to}"), 125e6, 20e-6).id();
            builder.route(zone, members[from], members[to], [link]);
        }
        zones.push((zone, members[0]));
        hosts.extend(members);
    }
    for (from, to) in pairs(width) {
        let link = builder.link(outer, &format!("l{from}-{to}"), 1.25e9, 200e-6).id();
        let ((a, leave), (b, enter)) = (zones[from], zones[to]);
        builder.route(outer, a, b, [link]).gateways(leave, enter);
    }
    let mut program = Program::new(builder.build()?);
    let count = width * width;
    let boxes = program.mailboxes::<()>("", count);
    for (me, &host) in (0..count).zip(&hosts) {
        let boxes = boxes.clone();
        program.spawn("a", host, move |_| async move {
            for k in 0..ROUNDS {
                let to = (me + 1 + k * 7919 % (count - 1)) % count;
                let send = boxes.at(to).send((), 1000.0).start().await;
                boxes.at(me).recv().await?;
                send.wait().await?;
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
