//! Timings that SimGrid's documentation and examples publish: what a simulator that claims to agree with it must give.
//! Dates are compared to the last of the six digits that it prints.

use std::sync::{Arc, Mutex};

use crate::support::log::{Log, fine, run};
use crate::support::platforms::{of_the_reference, platform, three_hosts, tremblay_and_others};
use crate::support::scenario::ends;
use simurgh::prelude::*;
use simurgh::replay::{self, Trace};

type Setting = (&'static str, &'static str);

const CM02: Setting = ("network/model", "CM02");
const NO_CROSS_TRAFFIC: Setting = ("network/crosstraffic", "0");

#[track_caller]
fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.6e-6 * expected.max(1.0), "{value} instead of {expected}");
}

// --- messages on the small platform ---------------------------------------------------------------------------

#[test]
fn a_ping_of_a_byte_and_a_pong_of_a_gigabyte() {
    let raw = [CM02, NO_CROSS_TRAFFIC];
    let models: [(&[Setting], f64, f64); 4] = [
        (&[], 0.019014, 150.178356),
        (&[CM02], 0.001462, 145.639041),
        (&raw, 0.001462, 138.703988),
        (&[("network/model", "Raw")], 0.001462, 138.703988),
    ];
    for (config, ping, pong) in models {
        let ends = ends(
            tremblay_and_others(),
            config,
            &[("T", &["send x 1", "recv y"]), ("J", &["recv x", "send y 1e9"])],
        );
        ends.ok("J", 0, ping);
        ends.ok("T", 1, pong);
    }
}

#[test]
fn flows_that_meet_on_the_way() {
    let ends = ends(
        tremblay_and_others(),
        &[],
        &[
            ("T", &["isend long 1.5e7", "isend short 1e4", "waitall", "send last 100"]),
            ("J", &["irecv long", "irecv short", "waitall"]),
            ("F", &["sleep 1", "send other 1e7"]),
            ("G", &["recv other", "recv last"]),
        ],
    );
    ends.ok("J", 2, 2.272621);
    ends.ok("F", 1, 2.343278);
    ends.ok("G", 1, 2.359841);
}

#[test]
fn one_flow_two_flows_and_a_flow_to_itself() {
    let alone = ends(tremblay_and_others(), &[], &[("F", &["send x 1e6"]), ("T", &["recv x"])]);
    alone.ok("T", 0, 0.158397);
    let both = ends(
        tremblay_and_others(),
        &[],
        &[("F", &["send x 1e6"]), ("F2", &["send y 1e6"]), ("T", &["recv x"]), ("T2", &["recv y"])],
    );
    both.ok("T", 0, 0.291085);
    both.ok("T2", 0, 0.291085);
    let itself = ends(tremblay_and_others(), &[], &[("F", &["send x 1e6"]), ("F2", &["recv x"])]);
    itself.ok("F2", 0, 0.002265);
}

#[test]
fn a_message_suspended_and_resumed_at_once_loses_nothing() {
    let mut program = Program::new(tremblay_and_others());
    let log = Log::default();
    let seen = log.clone();
    program
        .spawn("sender", "T", |ctx: Ctx| async move {
            ctx.sleep(1.0).await;
            let message = ctx.mailbox("box").send((), 13194230.0).start().await;
            ctx.sleep(1.0).await;
            seen.at(&ctx, format!("{} left", message.remaining().await.round()));
            message.suspend().await;
            message.resume().await;
            message.wait().await?;
            seen.at(&ctx, "over");
            fine()
        })
        .unwrap();
    program.spawn("receiver", "J", |ctx: Ctx| async move { ctx.mailbox::<()>("box").recv().await }).unwrap();
    run(program);
    assert_eq!(log.lines(), ["2.000000 6660438 left", "3.000000 over"]);
}

#[test]
fn a_flow_that_comes_later_and_shares_with_none() {
    let ends = ends(
        tremblay_and_others(),
        &[],
        &[
            ("F", &["isend x 2e8", "isend y 1e8", "waitall"]),
            ("T", &["recv x"]),
            ("J", &["recv y", "recv z"]),
            ("T2", &["sleep 50.026511", "send z 5e8"]),
        ],
    );
    ends.ok("T", 0, 39.832311);
    ends.ok("J", 0, 33.394394);
    ends.ok("J", 1, 125.115689);
}

// --- other platforms ------------------------------------------------------------------------------------------

#[test]
fn a_cluster_with_a_backbone() {
    let cluster = r#"<cluster id="c" prefix="n" radical="0-3" suffix="" speed="1Gf" bw="125MBps" lat="50us"
        bb_bw="2.25GBps" bb_lat="500us"/>"#;
    let mut program = Program::new(platform(cluster));
    let log = Log::default();
    let seen = log.clone();
    program
        .spawn("sender", "n0", |ctx: Ctx| async move {
            let there = ctx.mailbox("box");
            there.send((), 2.5e8).await?;
            seen.at(&ctx, "unlimited");
            there.send((), 2.5e8).rate(6.25e7).await?;
            seen.at(&ctx, "limited");
            fine()
        })
        .unwrap();
    program
        .spawn("receiver", "n1", |ctx: Ctx| async move {
            ctx.mailbox::<()>("box").recv().await?;
            ctx.mailbox::<()>("box").recv().await
        })
        .unwrap();
    run(program);
    assert_eq!(log.lines(), ["2.069662 unlimited", "6.077468 limited"]);
}

#[test]
fn a_token_round_two_clusters_of_declared_links() {
    let cluster = |number: usize, hosts: [usize; 3]| {
        let [both, split, one] = hosts;
        format!(
            r#"<zone id="cluster{number}" routing="Cluster"><router id="router{number}"/>
            <host id="h{both}" speed="1Gf"/>
            <link id="l{both}_UP" bandwidth="125MBps" latency="100us"/><link id="l{both}_DOWN" bandwidth="125MBps" latency="100us"/>
            <host_link id="h{both}" up="l{both}_UP" down="l{both}_DOWN"/>
            <host id="h{split}" speed="1Gf"/>
            <link id="l{split}" bandwidth="125MBps" latency="100us" sharing_policy="SPLITDUPLEX"/>
            <host_link id="h{split}" up="l{split}_UP" down="l{split}_DOWN"/>
            <host id="h{one}" speed="1Gf"/><link id="l{one}" bandwidth="125MBps" latency="100us"/>
            <host_link id="h{one}" up="l{one}" down="l{one}"/>
            <backbone id="backbone{number}" bandwidth="2.25GBps" latency="500us"/></zone>"#
        )
    };
    let world = format!(
        r#"<zone id="world" routing="Full">{}{}<link id="between" bandwidth="2.25GBps" latency="500us"/>
        <zoneRoute src="cluster1" dst="cluster2" gw_src="router1" gw_dst="router2"><link_ctn id="between"/></zoneRoute></zone>"#,
        cluster(1, [1, 2, 3]),
        cluster(2, [4, 5, 6])
    );
    let mut program = Program::new(platform(&world));
    let log = Log::default();
    for number in 1..=6 {
        let seen = log.clone();
        program
            .spawn(format!("p{number}"), format!("h{number}"), move |ctx: Ctx| async move {
                let mine = ctx.mailbox::<()>(&format!("to {number}"));
                let next = ctx.mailbox(&format!("to {}", number % 6 + 1));
                if number != 1 {
                    mine.recv().await?;
                    seen.at(&ctx, number.to_string());
                }
                next.send((), 1e6).await?;
                if number == 1 {
                    mine.recv().await?;
                    seen.at(&ctx, number.to_string());
                }
                fine()
            })
            .unwrap();
    }
    run(program);
    let expected = ["0.017354 2", "0.035121 3", "0.065898 4", "0.083252 5", "0.101019 6", "0.131796 1"];
    assert_eq!(log.lines(), expected);
}

#[test]
fn work_a_message_and_work() {
    let two = platform(
        r#"<zone id="world" routing="Full"><host id="a" speed="25Mf"/><host id="b" speed="25Mf"/>
        <link id="l" bandwidth="125MBps" latency="100us"/><route src="a" dst="b"><link_ctn id="l"/></route></zone>"#,
    );
    let ends = ends(two, &[], &[("a", &["exec 25e6", "send x 125e6"]), ("b", &["recv x", "exec 25e6"])]);
    ends.ok("a", 0, 1.0);
    ends.ok("b", 0, 2.083775);
    ends.ok("b", 1, 3.083775);
}

#[test]
fn alice_sends_to_bob() {
    let two = platform(
        r#"<zone id="world" routing="Full"><host id="alice" speed="1Gf"/><host id="bob" speed="1Gf"/>
        <link id="l" bandwidth="125MBps" latency="150us"/><route src="alice" dst="bob"><link_ctn id="l"/></route></zone>"#,
    );
    ends(two, &[], &[("alice", &["send x 6e8"]), ("bob", &["recv x"])]).ok("bob", 0, 5.197828);
}

#[test]
fn the_tcp_window_bounds_flows_of_high_latency() {
    for (latency, expected) in [("0", 1.0), ("1e-5", 1.00001), ("1e-3", 4.769372), ("0.1", 476.937158)] {
        let two = platform(&format!(
            r#"<zone id="world" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
            <link id="l" bandwidth="1e10" latency="{latency}"/><route src="a" dst="b"><link_ctn id="l"/></route></zone>"#
        ));
        ends(two, &[CM02, NO_CROSS_TRAFFIC], &[("a", &["send x 1e10"]), ("b", &["recv x"])])
            .ok("b", 0, expected);
    }
}

#[test]
fn a_link_that_takes_two_at_once() {
    let two = platform(
        r#"<zone id="world" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
        <link id="l" bandwidth="1e10" latency="10us" sharing_policy="SPLITDUPLEX" concurrency="2"/>
        <route src="a" dst="b"><link_ctn id="l" direction="UP"/></route></zone>"#,
    );
    let (sends, receives) = (["isend x 1e6"; 10], ["recv x"; 10]);
    let receivers: Vec<_> = (2..12).map(|number| format!("b{number}")).collect();
    let mut actors: Vec<(&str, &[&str])> = vec![("a", &[])];
    let operations: Vec<_> = sends.into_iter().chain(["waitall"]).collect();
    actors[0].1 = &operations;
    actors.extend(receivers.iter().map(|name| (name.as_str(), &receives[..1])));
    let ends = ends(two, &[], &actors);
    let pairs = [0.000336, 0.000542, 0.000749, 0.000955, 0.001161];
    for (number, receiver) in receivers.iter().enumerate() {
        ends.ok(receiver, 0, pairs[number / 2]);
    }
}

#[test]
fn two_stations_of_a_wifi_cell() {
    let cell = platform(
        r#"<zone id="world" routing="Wifi"><prop id="access_point" value="AP"/>
        <host id="one" speed="1Gf"/><host id="two" speed="1Gf"/>
        <link id="cell" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps,24Mbps" latency="0"/><router id="AP"/></zone>"#,
    );
    let mut program = Program::new(cell);
    let cell = program.link("cell").unwrap();
    let end = Arc::new(Mutex::new(0.0));
    let seen = Arc::clone(&end);
    program
        .spawn("one", "one", move |ctx: Ctx| async move {
            cell.set_station_rate(&ctx.host(), 1).await?;
            ctx.mailbox("box").send((), 1e7).await?;
            *seen.lock().unwrap() = ctx.now();
            fine()
        })
        .unwrap();
    program.spawn("two", "two", |ctx: Ctx| async move { ctx.mailbox::<()>("box").recv().await }).unwrap();
    let settings = Settings { config: vec![("network/model".into(), "CM02".into())], ..Settings::default() };
    assert!(program.simulate(settings).unwrap().is_fine());
    close(*end.lock().unwrap(), 3.888889);
}

#[test]
fn a_route_through_a_torus() {
    let torus = platform(
        r#"<cluster id="c" prefix="node-" radical="0-11" suffix="" speed="1Gf" bw="125MBps" lat="50us"
        topology="TORUS" topo_parameters="3,2,2"/>"#,
    );
    let [from, to] = ["node-0", "node-11"].map(|name| torus.host_named(name).unwrap());
    let links = torus.route(from, to).unwrap().links;
    let names: Vec<_> = links.iter().map(|&link| torus.link(link).name).collect();
    assert_eq!(names, ["c_link_from_2_to_0_DOWN", "c_link_from_2_to_5_UP", "c_link_from_5_to_11_UP"]);
}

// --- hosts, disks, energy -------------------------------------------------------------------------------------

fn one_host(attributes: &str) -> Platform {
    platform(&format!(r#"<zone id="world" routing="Full"><host id="h" {attributes}/></zone>"#))
}

#[test]
fn priorities_share_a_core() {
    let ends = ends(
        one_host("speed=\"98.095Mf\""),
        &[],
        &[("h", &["exec 98095"]), ("h2", &["exec 98095 priority 2"])],
    );
    ends.ok("h", 0, 0.002);
    ends.ok("h2", 0, 0.0015);
}

#[test]
fn threads_fill_the_cores() {
    for (threads, expected) in [(2, 10.0), (4, 10.0), (6, 15.0)] {
        let mut program = Program::new(one_host("speed=\"1e8\" core=\"4\""));
        program
            .spawn("it", "h", move |ctx: Ctx| async move { ctx.execute(1e9).threads(threads).await })
            .unwrap();
        close(run(program).clock(), expected);
    }
    let mut program = Program::new(one_host("speed=\"1e8\" core=\"4\""));
    let log = Log::default();
    let seen = log.clone();
    program
        .actor("busy", "h")
        .unwrap()
        .daemon()
        .start(|ctx: Ctx| async move { ctx.execute(1e12).await })
        .unwrap();
    program
        .spawn("it", "h", move |ctx: Ctx| async move {
            ctx.execute(1e9).threads(4).await?;
            seen.at(&ctx, "over");
            fine()
        })
        .unwrap();
    run(program);
    assert_eq!(log.lines(), ["12.500000 over"]);
}

#[test]
fn a_speed_that_follows_a_profile() {
    for (start, flops, expected) in [(10, 40, 15.0), (0, 220, 30.0), (10, 260, 45.0)] {
        let host = platform(
            r#"<zone id="world" routing="Full"><host id="h" speed="10f"/></zone>
            <trace id="t" periodicity="30">0 1
            10 0.8
            20 0.4
            </trace><trace_connect trace="t" element="h" kind="SPEED"/>"#,
        );
        let operations = [format!("sleep {start}"), format!("exec {flops}")];
        ends(host, &[], &[("h", &operations.each_ref().map(String::as_str))]).ok("h", 1, expected);
    }
}

#[test]
fn disks_read_and_write() {
    let disks = || {
        platform(
            r#"<zone id="world" routing="Full"><host id="bob" speed="1Gf">
            <disk id="Disk1" read_bw="100MBps" write_bw="40MBps"/><disk id="Disk2" read_bw="100MBps" write_bw="64MBps"/>
            </host></zone>"#,
        )
    };
    let ends = ends(disks(), &[], &[("bob", &["write Disk1 4e5", "read Disk1 2e5", "write Disk2 8e5"])]);
    ends.ok("bob", 0, 0.01);
    ends.ok("bob", 1, 0.012);
    ends.ok("bob", 2, 0.0245);
    let mut program = Program::new(disks());
    let log = Log::default();
    for priority in [1.0, 2.0] {
        let seen = log.clone();
        program
            .spawn("writer", "bob", move |ctx: Ctx| async move {
                ctx.disk("Disk1")?.write(4e6).priority(priority).await?;
                seen.at(&ctx, priority.to_string());
                fine()
            })
            .unwrap();
    }
    run(program);
    assert_eq!(log.lines(), ["0.150000 2", "0.200000 1"]);
}

#[test]
fn joules_of_three_hosts() {
    const MANY: &str = "100.0:93.33333333333333:200.0, 93.0:90.0:170.0, 90.0:90.0:150.0";
    const ONE: &str = "100.0:200.0:200.0, 93.0:170.0:170.0, 90.0:150.0:150.0";
    let hosts: String = [("one", 4, MANY), ("two", 1, ONE), ("three", 1, ONE)]
        .iter()
        .map(|(name, cores, watts)| {
            format!(
                r#"<host id="{name}" speed="100Mf,50Mf,20Mf" core="{cores}"><prop id="wattage_per_state" value="{watts}"/>
                <prop id="wattage_off" value="10"/></host>"#
            )
        })
        .collect();
    let mut program = Program::new(platform(&format!(r#"<zone id="world" routing="Full">{hosts}</zone>"#)));
    let log = Log::default();
    let seen = log.clone();
    program
        .spawn("it", "one", move |ctx: Ctx| async move {
            let tell = async || {
                let mut joules = Vec::new();
                for host in ctx.hosts() {
                    joules.push(host.energy().await?.round());
                }
                seen.at(&ctx, format!("{joules:?}"));
                fine()
            };
            ctx.sleep(10.0).await;
            tell().await?;
            ctx.execute(1e8).await?;
            tell().await?;
            ctx.host().set_pstate(2).await?;
            ctx.execute(1e8).await?;
            tell().await?;
            ctx.sleep(4.0).await;
            ctx.host_named("two")?.turn_off().await?;
            ctx.sleep(10.0).await;
            tell().await
        })
        .unwrap();
    let outcome = run(program);
    assert_eq!(
        log.lines(),
        [
            "10.000000 [1000.0, 1000.0, 1000.0]",
            "11.000000 [1120.0, 1100.0, 1100.0]",
            "16.000000 [1645.0, 1600.0, 1600.0]",
            "30.000000 [2905.0, 2100.0, 3000.0]"
        ]
    );
    let joules: Vec<_> = outcome.energy().map(|(host, joules)| (host, joules.round())).collect();
    assert_eq!(joules, [("one", 2905.0), ("two", 2100.0), ("three", 3000.0)]);
}

#[test]
fn a_parallel_task_on_three_hosts() {
    for (flops, bytes, expected) in [([1e9; 3], 1e7, 300.0), ([3e8, 6e8, 1e9], 0.0, 10.0)] {
        let bus = platform(
            r#"<zone id="world" routing="Full"><host id="a" speed="1e8"/><host id="b" speed="1e8"/><host id="c" speed="1e8"/>
            <link id="bus" bandwidth="100kBps"/><route src="a" dst="b"><link_ctn id="bus"/></route>
            <route src="a" dst="c"><link_ctn id="bus"/></route><route src="b" dst="c"><link_ctn id="bus"/></route></zone>"#,
        );
        let mut program = Program::new(bus);
        program
            .spawn("it", "a", move |ctx: Ctx| async move {
                let bytes = [0.0, bytes, bytes, 0.0, 0.0, bytes, 0.0, 0.0, 0.0];
                ctx.parallel(&ctx.hosts(), &flops, &bytes).await
            })
            .unwrap();
        let config = vec![("host/model".into(), "ptask_L07".into())];
        close(program.simulate(Settings { config, ..Settings::default() }).unwrap().clock(), expected);
    }
}

#[test]
fn a_trace_of_an_mpi_program_replayed() {
    let steps = [
        "0 send 1 0 1e6\n1 recv 0 0 1e6\n",
        "1 compute 1e9\n",
        "1 send 0 0 1e6\n0 recv 1 0 1e6\n",
        "0 send 1 0 1e6\n1 recv 0 0 1e6\n",
    ];
    for (count, expected) in [(1, 0.171838), (2, 13.278685), (3, 13.450522), (4, 13.622360)] {
        let trace = Trace::parse(&steps[..count].concat(), "trace.txt").unwrap();
        let mut program = Program::new(tremblay_and_others());
        replay::spread(&mut program, &trace).unwrap();
        let config = vec![("network/model".into(), "SMPI".into())];
        close(program.simulate(Settings { config, ..Settings::default() }).unwrap().clock(), expected);
    }
}

// --- one link of 1 MBps and 1 ms ------------------------------------------------------------------------------

#[test]
fn a_send_that_gives_up() {
    let ends = ends(
        three_hosts(),
        &[],
        &[("a", &["send x 5e6 timeout 1", "send x 1e6"]), ("b", &["recv x", "recv x"])],
    );
    ends.assert("a", 0, 1.0, "timeout");
    ends.assert("b", 0, 1.0, "timeout");
    ends.ok("a", 1, 2.095484);
    ends.ok("b", 1, 2.095484);
}

#[test]
fn a_timeout_is_told_to_whoever_comes_to_wait() {
    let ends = ends(
        three_hosts(),
        &[],
        &[("a", &["isend x 5e6", "sleep 3", "waitall"]), ("b", &["recv x timeout 1"])],
    );
    ends.assert("b", 0, 1.0, "timeout");
    ends.assert("a", 2, 3.0, "timeout");
}

#[test]
fn the_end_of_an_actor_fails_its_messages() {
    let ends = ends(three_hosts(), &[], &[("a", &["isend x 5e6", "sleep 1"]), ("b", &["recv x"])]);
    ends.assert("b", 0, 1.0, "failure");
}

#[test]
fn a_detached_message_outlives_its_sender() {
    let ends = ends(three_hosts(), &[], &[("a", &["dsend x 1e6"]), ("b", &["sleep 2", "recv x"])]);
    ends.ok("b", 1, 3.095484);
}

#[test]
fn messages_of_nothing_and_messages_to_oneself() {
    let nothing = ends(three_hosts(), &[], &[("a", &["send x 0", "send x 0"]), ("b", &["recv x", "recv x"])]);
    nothing.ok("b", 0, 0.01301);
    nothing.ok("b", 1, 0.02602);
    ends(three_hosts(), &[], &[("a", &["send x 1e10"]), ("a2", &["recv x"])]).ok("a2", 0, 1.030928);
}

#[test]
fn a_link_that_goes_off_and_comes_back() {
    let failing = platform(
        r#"<zone id="world" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
        <link id="l" bandwidth="1MBps" latency="1ms" state_file="tests/support/link_off.profile"/>
        <route src="a" dst="b"><link_ctn id="l"/></route></zone>"#,
    );
    let ends = ends(
        failing,
        &[],
        &[
            ("a", &["send x 5e6", "send x 10", "sleep 0.2", "send x 10"]),
            ("b", &["recv x", "recv x", "recv x"]),
        ],
    );
    ends.assert("a", 0, 0.005, "failure");
    ends.assert("a", 1, 0.005, "failure");
    ends.ok("a", 2, 0.205);
    ends.ok("a", 3, 0.218021);
}

#[test]
fn an_execution_that_times_out_goes_on() {
    let ends = ends(three_hosts(), &[], &[("a", &["exec 1e9 timeout 0.5", "exec 1e9"])]);
    ends.assert("a", 0, 0.5, "timeout");
    ends.ok("a", 1, 2.0);
}

#[test]
fn bounds_and_priorities_together() {
    let ends = ends(
        three_hosts(),
        &[],
        &[("a", &["exec 1e9 bound 2e8"]), ("a2", &["exec 1e9"]), ("a3", &["exec 1e9 priority 3"])],
    );
    ends.ok("a", 0, 5.0);
    ends.ok("a2", 0, 2.5);
    ends.ok("a3", 0, 1.666667);
}

// --- the reference's own files, where they lie beside the repository --------------------------------------------

#[test]
fn the_same_on_the_files_of_the_reference() {
    let table: [(&str, [&str; 2], &str, f64); 5] = [
        ("small_platform.xml", ["Fafard", "Tremblay"], "1e6", 0.158397),
        ("small_platform.xml", ["Fafard", "Fafard"], "1e6", 0.002265),
        ("cluster_backbone.xml", ["node-0.simgrid.org", "node-1.simgrid.org"], "2.5e8", 2.069662),
        ("two_hosts.xml", ["Tremblay", "Jupiter"], "125e6", 1.083775),
        ("hosts_with_disks.xml", ["alice", "bob"], "6e8", 5.197828),
    ];
    for (file, hosts, bytes, expected) in table {
        let Some(platform) = of_the_reference(file) else { return };
        let mut program = Program::new(platform);
        let bytes: f64 = bytes.parse().unwrap();
        program
            .spawn("from", hosts[0], move |ctx: Ctx| async move { ctx.mailbox("x").send((), bytes).await })
            .unwrap();
        program.spawn("to", hosts[1], |ctx: Ctx| async move { ctx.mailbox::<()>("x").recv().await }).unwrap();
        close(run(program).clock(), expected);
    }
}
