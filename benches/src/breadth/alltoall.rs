//! Every host of a fat tree sends to every other, one soon after the other; sizes differ. What SimGrid makes of flows that begin at
//! one instant on one link is in docs/models.md.

use simurgh::platform::{ClusterSpec, Topology};
use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

const HOSTS_OF_SWITCH: u32 = 16;
/// Before each message, in seconds.
const PAUSE: f64 = 2e-5;

pub fn run(switches: u32, threads: Threads) -> simurgh::Result<Line> {
    let hosts = HOSTS_OF_SWITCH * switches;
    let mut builder = Platform::builder();
    let mut tree = ClusterSpec::new("c", hosts);
    tree.topology =
        Topology::FatTree { down: vec![HOSTS_OF_SWITCH, switches], up: vec![1, 4], count: vec![1, 1] };
    builder.cluster(None, tree);
    let mut program = Program::new(builder.build()?);
    let boxes = program.mailboxes("", hosts * hosts);
    for me in 0..hosts {
        let name = format!("c-{me}");
        let to = boxes.clone();
        program.spawn("s", name.as_str(), move |ctx| async move {
            let mut sends = ActivitySet::new();
            for k in 1..hosts {
                ctx.sleep(PAUSE + 1e-11 * scatter(k, me)).await;
                let bytes = 100_000.0 + scatter(me, k);
                sends.push(to.at(me * hosts + (me + k) % hosts).send((), bytes).start().await);
            }
            sends.wait_all().await?;
            Ok(())
        })?;
        let from = boxes.clone();
        program.spawn("r", name.as_str(), move |_| async move {
            let mut receives = ActivitySet::<()>::new();
            for k in 1..hosts {
                receives.push(from.at((me + k) % hosts * hosts + me).recv().start().await);
            }
            receives.wait_all().await?;
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
