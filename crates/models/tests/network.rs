//! Messages: the reference's own timings, then what must hold of any flows.

use crate::support::*;
use proptest::prelude::*;
use simurgh_models::*;
use simurgh_platform::{ClusterSpec, HostId, LinkId, Platform, Profile, ProfileTarget, Routing, Sharing};
use std::sync::Arc;

/// Tremblay and Jupiter of SimGrid's small platform, and their link.
fn tremblay_jupiter() -> Pair {
    Pair::new(7.20975e6, 1.461517e-3)
}

#[test]
fn one_flow_there_and_back() {
    for (settings, expected) in [
        (&[][..], [0.019014, 150.178356]),
        (&[("network/model", "CM02")], [0.001462, 145.639041]),
        (&[("network/model", "Raw")], [0.001462, 138.703988]),
    ] {
        let pair = tremblay_jupiter();
        let (a, b) = (pair.a, pair.b);
        let mut models = models(pair.build(), &config(settings));
        let ends = play(&mut models, &[(0.0, send(a, b, 1.0)), (-1.0, send(b, a, 1e9))]);
        assert_dates(&ends, &expected);
    }
}

#[test]
fn a_flow_suspended_and_resumed_at_once_loses_nothing() {
    let pair = tremblay_jupiter();
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &Config::default());
    let mut step = Step::default();
    models.timer(1.0, 0);
    models.step(None, &mut step);
    let flow = models.transfer(Transfer::new(a, b, 13194230.0), 1).unwrap();
    models.timer(1.0, 2);
    while models.now().seconds() < 2.0 {
        models.step(None, &mut step);
    }
    assert_eq!(models.remaining(flow).unwrap().round(), 6660438.0);
    models.suspend(flow);
    models.resume(flow);
    models.step(None, &mut step);
    assert_dates(&[models.now().seconds()], &[3.0]);
    assert_eq!(step.ended[0].token, 1);
}

#[test]
fn a_suspended_flow_stands_still() {
    let pair = Pair::new(1e6, 0.0);
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    let mut step = Step::default();
    let flow = models.transfer(Transfer::new(a, b, 1e6), 0).unwrap();
    models.suspend(flow);
    models.timer(5.0, 1);
    models.step(None, &mut step);
    assert_eq!((models.now().seconds(), step.ended[0].token), (5.0, 1));
    assert_eq!(models.step(None, &mut step), Progress::Idle);
    models.resume(flow);
    models.step(None, &mut step);
    assert_eq!((models.now().seconds(), step.ended[0].token), (6.0, 0));
}

#[test]
fn flows_of_the_small_platform() {
    let Some(platform) = reference_platform("small_platform.xml") else { return };
    let platform = Arc::new(platform);
    let [t, j, f, g] = hosts(&platform, ["Tremblay", "Jupiter", "Fafard", "Ginette"]);
    for (plan, expected) in [
        (
            vec![
                (0.0, send(t, j, 1.5e7)),
                (0.0, send(t, j, 1e4)),
                (1.0, send(f, g, 1e7)),
                (-1.0, send(t, g, 100.0)),
            ],
            vec![2.272621, f64::NAN, 2.343278, 2.359841],
        ),
        (vec![(0.0, send(f, t, 1e6))], vec![0.158397]),
        (vec![(0.0, send(f, t, 1e6)), (0.0, send(f, t, 1e6))], vec![0.291085, 0.291085]),
        (vec![(0.0, send(f, f, 1e6))], vec![0.002265]),
        (
            vec![(0.0, send(f, t, 2e8)), (0.0, send(f, j, 1e8)), (50.026511, send(t, j, 5e8))],
            vec![39.832311, 33.394394, 125.115689],
        ),
    ] {
        let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
        let mut ends = play(&mut models, &plan);
        for (end, expected) in ends.iter_mut().zip(&expected) {
            if expected.is_nan() {
                *end = 0.0;
            }
        }
        let expected: Vec<f64> =
            expected.iter().map(|date| if date.is_nan() { 0.0 } else { *date }).collect();
        assert_dates(&ends, &expected);
    }
}

#[test]
fn a_cluster_with_a_backbone_and_rates() {
    let mut builder = Platform::builder();
    let mut spec = ClusterSpec::new("cluster", 4);
    spec.bandwidth = 125e6;
    spec.latency = 50e-6;
    spec.backbone =
        Some(simurgh_platform::BackboneSpec { bandwidth: 2.25e9, latency: 500e-6, sharing: Sharing::Shared });
    builder.cluster(None, spec);
    let platform = builder.build().unwrap();
    let (a, b) = (simurgh_platform::HostId(0), simurgh_platform::HostId(1));
    let slow = Work::Transfer(Transfer { rate: Some(6.25e7), ..Transfer::new(a, b, 2.5e8) });
    let mut models = models(platform, &Config::default());
    assert_dates(&play(&mut models, &[(0.0, send(a, b, 2.5e8)), (-1.0, slow)]), &[2.069662, 6.077468]);
}

#[test]
fn a_token_round_a_ring() {
    let Some(platform) = reference_platform("routing_cluster.xml") else { return };
    let ring = hosts(&platform, ["host1", "host2", "host3", "host4", "host5", "host6"]);
    let mut models = models(platform, &Config::default());
    let plan: Vec<(f64, Work)> = (0..6)
        .map(|place| (if place == 0 { 0.0 } else { -1.0 }, send(ring[place], ring[(place + 1) % 6], 1e6)))
        .collect();
    assert_dates(&play(&mut models, &plan), &[0.017354, 0.035121, 0.065898, 0.083252, 0.101019, 0.131796]);
}

#[test]
fn files_of_the_reference() {
    if let Some(platform) = reference_platform("hosts_with_disks.xml") {
        let [alice, bob] = hosts(&platform, ["alice", "bob"]);
        let mut models = models(platform, &Config::default());
        assert_dates(&play(&mut models, &[(0.0, send(alice, bob, 6e8))]), &[5.197828]);
    }
    if let Some(platform) = reference_platform("two_hosts.xml") {
        let [t, j] = hosts(&platform, ["Tremblay", "Jupiter"]);
        let mut models = models(platform, &Config::default());
        let plan = [(0.0, compute(t, 25e6)), (-1.0, send(t, j, 125e6)), (-1.0, compute(j, 25e6))];
        assert_dates(&play(&mut models, &plan), &[1.0, 2.083775, 3.083775]);
    }
}

#[test]
fn the_tcp_window_bounds_long_fat_links() {
    for (latency, expected) in [(0.0, 1.0), (1e-5, 1.00001), (1e-3, 4.769372), (0.1, 476.937158)] {
        let pair = Pair::new(1e10, latency);
        let (a, b) = (pair.a, pair.b);
        let config = config(&[("network/model", "CM02"), ("network/crosstraffic", "0")]);
        let mut models = models(pair.build(), &config);
        assert_dates(&play(&mut models, &[(0.0, send(a, b, 1e10))]), &[expected]);
    }
}

#[test]
fn a_limited_link_takes_flows_two_by_two() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let a = platform.host(zone, "a", 1e9).id();
    let b = platform.host(zone, "b", 1e9).id();
    let link = platform.split_link(zone, "link", 1e10, 10e-6);
    platform.link_concurrency(link.up, 2);
    platform.link_concurrency(link.down, 2);
    platform.route(zone, a, b, [link.up]);
    let mut models = models(platform.build().unwrap(), &Config::default());
    let ends = play(&mut models, &vec![(0.0, send(a, b, 1e6)); 10]);
    let pairs = [0.000336, 0.000542, 0.000749, 0.000955, 0.001161];
    let expected: Vec<f64> = pairs.iter().flat_map(|&date| [date, date]).collect();
    assert_dates(&ends, &expected);
}

#[test]
fn acknowledgements_wait_for_a_slot_but_take_none() {
    // Two messages one way each: the second waits for the first to end, unless there is no latency.
    for (latency, expected) in [(1e-3, [1.043938, 2.074866]), (0.0, [1.077474, 1.177474])] {
        let mut platform = Platform::builder();
        let zone = platform.zone("world", Routing::Full);
        let [a, b] = ["a", "b"].map(|name| platform.host(zone, name, 1e9).id());
        let link = platform.split_link(zone, "link", 1e6, latency);
        platform.route(zone, a, b, [link.up]);
        let mut models = models(platform.build().unwrap(), &config(&[("maxmin/concurrency-limit", "1")]));
        assert_dates(&play(&mut models, &[(0.0, send(a, b, 1e6)), (0.1, send(b, a, 1e6))]), &expected);
    }
}

#[test]
fn slots_are_freed_link_by_link() {
    // Over both links, then, in this order, back over both and over the second alone: the last passes the other,
    // as the second link is freed before the first is looked at again.
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let [a, b, c] = ["a", "b", "c"].map(|name| platform.host(zone, name, 1e9).id());
    let near = platform.link(zone, "near", 1e6, 1e-3).id();
    let far = platform.link(zone, "far", 1e6, 1e-3).id();
    platform.route(zone, a, c, [near, far]);
    platform.route(zone, a, b, [near]);
    let settings =
        [("maxmin/concurrency-limit", "1"), ("network/model", "CM02"), ("network/crosstraffic", "0")];
    let mut models = models(platform.build().unwrap(), &config(&settings));
    let plan = [(0.0, send(a, c, 1e6)), (0.1, send(c, a, 1e6)), (0.2, send(a, b, 1e6))];
    assert_dates(&play(&mut models, &plan), &[1.002, 3.002, 2.002]);
}

#[test]
fn the_oldest_flow_gets_the_slot_even_if_its_latency_ended_last() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let [a, b, c] = ["a", "b", "c"].map(|name| platform.host(zone, name, 1e9).id());
    let shared = platform.link(zone, "shared", 1e6, 1e-3).id();
    let far = platform.link(zone, "far", 1e8, 30e-3).id();
    platform.route(zone, a, b, [shared]);
    platform.route(zone, c, b, [far, shared]);
    let mut models = models(platform.build().unwrap(), &config(&[("maxmin/concurrency-limit", "1")]));
    let plan = [(0.0, send(a, b, 1e6)), (0.05, send(c, b, 1e5)), (0.1, send(a, b, 1e5))];
    assert_dates(&play(&mut models, &plan), &[1.095484, 1.203732, 1.311979]);
}

#[test]
fn stations_of_a_wifi_cell_share_its_time() {
    let Some(platform) = reference_platform("wifi.xml") else { return };
    let [one, two] = hosts(&platform, ["Station 1", "Station 2"]);
    let cell = platform.link_named("AP1").unwrap();
    let mut models = models(platform, &config(&[("network/model", "CM02")]));
    models.set_station_rate(cell, one, 1).unwrap();
    models.set_station_rate(cell, two, 0).unwrap();
    assert_dates(&play(&mut models, &[(0.0, send(one, two, 1e7))]), &[3.888889]);
    let error = models.set_station_rate(cell, one, 7).unwrap_err();
    assert_eq!(error.to_string(), "link \"AP1\" has no wifi rate number 7: it has 3, numbered from 0");
}

#[test]
fn smpi_factors_go_by_size() {
    let pair = tremblay_jupiter();
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "SMPI")]));
    let (latency, bandwidth) = (1.461517e-3, 7.20975e6);
    let ends = play(&mut models, &[(0.0, send(a, b, 1000016.0)), (-1.0, send(a, b, 500.0))]);
    let long = 11.6436 * latency + 1.05 * 1000016.0 / (0.940694 * bandwidth);
    let short = 1.95341 * latency + 1.05 * 500.0 / (0.338112 * bandwidth);
    assert_dates(&ends, &[long, long + short]);
    // A million bytes and a header: the first step of the time-independent replay.
    assert_dates(&ends[..1], &[0.171838]);
}

#[test]
fn a_latency_that_changes_keeps_the_wait_and_moves_the_window() {
    let mut pair = Pair::new(1e9, 0.1);
    let profile = Profile::parse("0.05 0.2\n", "link.profile").unwrap();
    pair.platform.profile(ProfileTarget::LinkLatency(pair.link), Arc::new(profile));
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    let expected = 0.1 + 1e8 / (4194304.0 / 0.4);
    assert_dates(&play(&mut models, &[(0.0, send(a, b, 1e8))]), &[expected]);
}

/// Two stations, at 54, 36 or 24 Mbps, an access point, and a host behind a wire of 100 Mbps.
fn cell() -> (Arc<Platform>, LinkId, [HostId; 3]) {
    let mut platform = Platform::builder();
    let zone = platform.zone("cell", Routing::Full);
    let [one, two, node] = ["one", "two", "node"].map(|name| platform.host(zone, name, 1e8).id());
    let air = platform.wifi_link(zone, "air", &[54e6 / 8.0, 36e6 / 8.0, 24e6 / 8.0], 0.0);
    let wire = platform.link(zone, "wire", 100e6 / 8.0, 0.0).id();
    // A message between stations goes up to the access point and down again.
    for (from, to) in [(one, one), (one, two), (two, two)] {
        platform.route(zone, from, to, [air, air]);
    }
    platform.route(zone, one, node, [air, wire]);
    platform.route(zone, two, node, [air, wire]);
    (Arc::new(platform.build().unwrap()), air, [one, two, node])
}

#[test]
fn stations_share_the_air() {
    let (platform, air, [one, two, node]) = cell();
    // The rates of both, what is sent, and when it ends: CM02, without cross-traffic, and LV08.
    type Row<'a> = ([usize; 2], &'a [(HostId, HostId, f64)], [&'a [f64]; 3]);
    let rows: [Row<'_>; 14] = [
        ([0, 0], &[(one, two, 1e7)], [&[3.111111], &[2.962963], &[3.207331]]),
        ([0, 0], &[(one, node, 1e7)], [&[1.555556], &[1.481481], &[1.603666]]),
        ([0, 0], &[(node, one, 1e7)], [&[1.555556], &[1.481481], &[1.603666]]),
        (
            [0, 0],
            &[(one, node, 1e7), (two, node, 1e7)],
            [&[3.111111, 3.111111], &[2.962963, 2.962963], &[3.207331, 3.207331]],
        ),
        (
            [0, 0],
            &[(one, node, 1e7), (node, two, 1e7)],
            [&[3.111111, 3.111111], &[2.962963, 2.962963], &[3.207331, 3.207331]],
        ),
        (
            [0, 0],
            &[(one, two, 1e7), (two, one, 1e7)],
            [&[6.222222, 6.222222], &[5.925926, 5.925926], &[6.414662, 6.414662]],
        ),
        ([1, 0], &[(one, two, 1e7)], [&[3.888889], &[3.703704], &[4.009164]]),
        ([1, 0], &[(two, one, 1e7)], [&[3.888889], &[3.703704], &[4.009164]]),
        ([1, 0], &[(one, node, 1e7)], [&[2.333333], &[2.222222], &[2.405498]]),
        (
            [1, 0],
            &[(one, node, 1e7), (two, node, 1e7)],
            [&[3.888889, 3.888889], &[3.703704, 3.703704], &[4.009164, 4.009164]],
        ),
        (
            [1, 0],
            &[(one, node, 5e6), (two, node, 1e7)],
            [&[1.944444, 2.722222], &[1.851852, 2.592593], &[2.004582, 2.806415]],
        ),
        (
            [1, 0],
            &[(one, two, 1e7), (one, node, 1e7)],
            [&[6.222222, 6.222222], &[5.925926, 5.925926], &[6.414662, 6.414662]],
        ),
        ([1, 2], &[(one, two, 1e7)], [&[5.833333], &[5.555556], &[6.013746]]),
        // To itself: up to the access point and down again.
        ([0, 2], &[(one, one, 1e6)], [&[0.311111], &[0.296296], &[0.320733]]),
    ];
    let settings: [&[(&str, &str)]; 3] =
        [&[("network/model", "CM02")], &[("network/model", "CM02"), ("network/crosstraffic", "0")], &[]];
    for (rates, messages, expected) in rows {
        for (settings, expected) in settings.iter().zip(expected) {
            let mut models = Models::new(platform.clone(), &config(settings)).unwrap();
            models.set_station_rate(air, one, rates[0]).unwrap();
            models.set_station_rate(air, two, rates[1]).unwrap();
            let plan: Vec<(f64, Work)> =
                messages.iter().map(|&(from, to, bytes)| (0.0, send(from, to, bytes))).collect();
            assert_dates(&play(&mut models, &plan), expected);
        }
    }
}

#[test]
fn another_wifi_rate_does_not_touch_a_flow_under_way() {
    let (platform, air, [one, _, node]) = cell();
    let mut models = Models::new(platform, &config(&[("network/model", "CM02")])).unwrap();
    models.set_station_rate(air, one, 1).unwrap();
    let id = models.transfer(Transfer::new(one, node, 1e7), 0).unwrap();
    let mut step = Step::default();
    models.step(Some(SimTime::new(1.0)), &mut step);
    assert_eq!(models.remaining(id).map(f64::round), Some(5714286.0));
    models.set_station_rate(air, one, 0).unwrap();
    models.step(None, &mut step);
    assert_dates(&[models.now().seconds()], &[2.333333]);
}

#[test]
fn a_cell_built_in_rust() {
    let mut platform = Platform::builder();
    let zone = platform.zone("cell", Routing::Full);
    let [one, two, three] = ["one", "two", "three"].map(|name| platform.host(zone, name, 1e9).id());
    let cell = platform.wifi_link(zone, "cell link", &[54e6 / 8.0, 36e6 / 8.0], 0.0);
    let wire = platform.link(zone, "wire", 1e9, 0.0).id();
    platform.route(zone, one, two, [cell]);
    platform.route(zone, one, three, [cell, wire]);
    platform.route(zone, two, three, [cell, wire]);
    let mut models = models(platform.build().unwrap(), &config(&[("network/model", "Raw")]));
    models.set_station_rate(cell, one, 1).unwrap();
    // Both stations take their part of the air; a host behind the wire takes none.
    let plan = [(0.0, send(one, two, 1e7)), (-1.0, send(one, three, 1e7)), (-1.0, send(three, two, 1e7))];
    let (slow, fast) = (8e7 / 36e6, 8e7 / 54e6);
    assert_dates(&play(&mut models, &plan), &[slow + fast, 2.0 * slow + fast, 2.0 * (slow + fast)]);
}

#[test]
fn failed_flows_come_before_finished_ones() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let [a, b, c] = ["a", "b", "c"].map(|name| platform.host(zone, name, 1e9).id());
    let good = platform.link(zone, "good", 1e6, 0.0).id();
    let bad = platform.link(zone, "bad", 1e6, 0.0).id();
    platform.route(zone, a, b, [good]);
    platform.route(zone, a, c, [bad]);
    platform.route(zone, b, c, [bad]);
    platform
        .profile(ProfileTarget::LinkState(bad), Arc::new(Profile::parse("1 0\n", "bad.profile").unwrap()));
    let mut models = models(platform.build().unwrap(), &config(&[("network/model", "Raw")]));
    models.transfer(Transfer::new(a, b, 1e6), 0).unwrap();
    models.transfer(Transfer::new(a, c, 1e6), 1).unwrap();
    models.timer(1.0, 2);
    let mut step = Step::default();
    models.step(None, &mut step);
    let ended: Vec<(Token, Outcome)> = step.ended.iter().map(|ended| (ended.token, ended.outcome)).collect();
    assert_eq!(ended, [(2, Outcome::Done), (1, Outcome::Failed(Resource::Link(bad))), (0, Outcome::Done)]);
}

/// The solver leaves out links that cannot be full: their load must be recorded all the same.
#[test]
fn the_load_of_an_ample_link_is_recorded() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let [a, b] = ["a", "b"].map(|name| platform.host(zone, name, 1e9).id());
    let narrow = platform.link(zone, "narrow", 1e6, 0.0).id();
    let ample = platform.link(zone, "ample", 1e9, 0.0).property("wattage_range", "0:1000").id();
    platform.route(zone, a, b, [narrow, ample]);
    let mut models = models(platform.build().unwrap(), &config(&[("network/model", "Raw")]));
    models.record_usage(true);
    play(&mut models, &[(0.0, send(a, b, 2e6)), (-1.0, Work::Sleep(1.0))]);
    let loads: Vec<(f64, f64)> = models
        .take_usage()
        .iter()
        .filter(|usage| usage.resource == Resource::Link(ample))
        .map(|usage| (usage.at.seconds(), usage.used))
        .collect();
    assert_eq!(loads, [(0.0, 1e6), (2.0, 0.0)]);
    assert_dates(&[models.link_energy(ample).unwrap()], &[2.0]);
}

#[test]
fn an_explanation_names_the_bottleneck_and_who_shares_it() {
    let pair = Pair::new(1e6, 0.01);
    let (a, b, link) = (pair.a, pair.b, pair.link);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    models.record_explanations(true);
    let long = models.transfer(Transfer::new(a, b, 2e6), 10).unwrap();
    models.transfer(Transfer::new(b, a, 5e5), 11).unwrap();
    let mut step = Step::default();
    while models.step(None, &mut step) != Progress::Idle {}
    let explanation = models.take_explanation(long).unwrap();
    assert_eq!(explanation.latency_until, Some(SimTime::new(0.01)));
    let story: Vec<(f64, Limit, Vec<Token>)> = explanation
        .segments
        .iter()
        .map(|part| (part.rate.round(), part.limit, part.sharers.clone()))
        .collect();
    let full = Limit::Resource(Resource::Link(link));
    assert_eq!(story, [(0.0, Limit::Latency, vec![]), (5e5, full, vec![11]), (1e6, full, vec![])]);
}

#[test]
fn empty_messages_and_messages_to_oneself() {
    let pair = Pair::new(1e6, 1e-3);
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &Config::default());
    let plan = [(0.0, send(a, b, 0.0)), (-1.0, send(a, b, 0.9)), (0.0, send(a, a, 1e10))];
    assert_dates(&play(&mut models, &plan), &[0.013010, 0.026020, 1.030928]);
}

#[test]
fn constant_messages_last_a_second_each_or_their_latency_factor() {
    let rows = [
        (None, [1.0, 2.0]),
        (Some(("network/latency-factor", "2.5")), [2.5, 5.0]),
        (Some(("network/constant-latency", "0.5")), [0.5, 1.0]),
    ];
    for (setting, expected) in rows {
        let pair = Pair::new(1e6, 1e-3);
        let (a, b) = (pair.a, pair.b);
        let mut config = config(setting.as_slice());
        config.network = NetworkKind::Constant;
        let mut models = models(pair.build(), &config);
        assert_dates(&play(&mut models, &[(0.0, send(a, b, 1e9)), (-1.0, send(b, a, 0.0))]), &expected);
    }
}

#[test]
fn a_bandwidth_of_nothing_is_waited_out() {
    let mut pair = Pair::new(1e6, 0.0);
    let profile = Profile::parse("1 0\n5 1e6\n", "link.profile").unwrap();
    pair.platform.profile(ProfileTarget::LinkBandwidth(pair.link), Arc::new(profile));
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    assert_dates(&play(&mut models, &[(0.0, send(a, b, 2e6))]), &[6.0]);
}

#[test]
fn a_concurrency_limit_is_for_links_not_for_hosts() {
    let pair = Pair::new(1e6, 1e-3);
    let a = pair.a;
    let mut models = models(pair.build(), &config(&[("maxmin/concurrency-limit", "1")]));
    let plan = [(0.0, compute(a, 1e9)), (0.0, Work::Sleep(5.0)), (0.0, compute(a, 1e9))];
    assert_dates(&play(&mut models, &plan), &[2.0, 5.0, 2.0]);
}

#[test]
fn a_link_off_fails_its_flows_and_refuses_others() {
    let mut pair = Pair::new(1e6, 1e-3);
    let profile = Profile::parse("0.005 0\n0.1 1\n", "link.profile").unwrap();
    pair.platform.profile(ProfileTarget::LinkState(pair.link), Arc::new(profile));
    let (a, b, link) = (pair.a, pair.b, pair.link);
    let mut models = models(pair.build(), &Config::default());
    let mut step = Step::default();
    models.transfer(Transfer::new(a, b, 5e6), 1).unwrap();
    models.step(None, &mut step);
    assert_eq!(step.changes, [Change::LinkOff(link)]);
    assert_eq!(step.ended[0].outcome, Outcome::Failed(Resource::Link(link)));
    assert_eq!(models.now().seconds(), 0.005);
    let refused = models.transfer(Transfer::new(b, a, 10.0), 2).unwrap_err();
    assert_eq!(refused, Refused::Off(Resource::Link(link)));
    models.timer(0.2, 3);
    models.step(None, &mut step);
    assert_eq!(step.ended[0].token, 3, "a link that nobody uses stops no clock");
    assert_dates(&[models.now().seconds()], &[0.205]);
    models.transfer(Transfer::new(a, b, 10.0), 4).unwrap();
    while models.step(None, &mut step) != Progress::Idle {}
    assert_dates(&[models.now().seconds()], &[0.218021]);
}

/// From a over A (100 MBps) then B or C (1 MBps), 1 ms each: the reference forgets a link here.
#[test]
fn two_flows_whose_waits_end_together_use_all_their_links() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let [a, b, c] = ["a", "b", "c"].map(|name| platform.host(zone, name, 1e9).id());
    let first = platform.link(zone, "A", 1e8, 1e-3).id();
    let [to_b, to_c] = ["B", "C"].map(|name| platform.link(zone, name, 1e6, 1e-3).id());
    platform.route(zone, a, b, [first, to_b]);
    platform.route(zone, a, c, [first, to_c]);
    let mut models = models(platform.build().unwrap(), &Config::default());
    assert_dates(
        &play(&mut models, &[(0.0, send(a, b, 1e6)), (0.0, send(a, c, 1e6))]),
        &[1.108494, 1.108494],
    );
}

#[test]
fn a_bandwidth_that_changes_in_the_wait_and_later() {
    let mut pair = Pair::new(1e6, 0.1);
    let profile = Profile::parse("0.05 500000\n1.1 0\n2.1 250000\n", "link.profile").unwrap();
    pair.platform.profile(ProfileTarget::LinkBandwidth(pair.link), Arc::new(profile));
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    // The wait ends at 0.1; half a megabyte by 1.1; nothing until 2.1; a quarter of a megabyte by 3.1.
    assert_dates(&play(&mut models, &[(0.0, send(a, b, 750e3))]), &[3.1]);
}

#[test]
fn a_bandwidth_that_grows_is_kept_from_a_flow_under_way() {
    let mut pair = Pair::new(1e6, 0.0);
    let profile = Profile::parse("1 2000000\n", "link.profile").unwrap();
    pair.platform.profile(ProfileTarget::LinkBandwidth(pair.link), Arc::new(profile));
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    let plan = [(0.0, send(a, b, 3e6)), (-1.0, send(a, b, 2e6))];
    assert_dates(&play(&mut models, &plan), &[3.0, 4.0]);
}

#[test]
fn one_infiniband_card_slows_its_messages_down() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Star);
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        let host = platform.host(zone, name, 1e9).id();
        let link = platform.split_link(zone, &format!("link {name}"), 1e9, 0.0);
        platform.star(zone, host, &[link.up]);
        host
    });
    let mut models = models(platform.build().unwrap(), &config(&[("network/model", "IB")]));
    let alone = play(&mut models, &[(0.0, send(a, b, 1e9))])[0];
    let start = models.now().seconds();
    let both = play(&mut models, &[(0.0, send(a, b, 1e9)), (0.0, send(a, c, 1e9))]);
    assert!((alone - 1.0 / 0.940694).abs() < 1e-3, "{alone}");
    assert!(
        ((both[0] - start) / alone - 2.0).abs() < 1e-6,
        "two fill the link before the card's 1.85: {both:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(300)))]

    /// No link carries more than it can, and nobody could go faster: a full link or a bound says why.
    #[test]
    fn every_flow_is_limited_by_something_full(
        flows in prop::collection::vec((0..8u32, 0..8u32, 1..1000u32, prop::option::of(1..100u32)), 1..30),
        bandwidths in prop::collection::vec(1..100u32, 8),
    ) {
        let mut platform = Platform::builder();
        let zone = platform.zone("world", Routing::Star);
        for (number, &bandwidth) in bandwidths.iter().enumerate() {
            let host = platform.host(zone, &format!("h{number}"), 1e9).id();
            let link = platform.link(zone, &format!("l{number}"), f64::from(bandwidth) * 1e6, 1e-4).id();
            platform.star(zone, host, &[link]);
        }
        let mut models = models(platform.build().unwrap(), &Config::default());
        models.record_explanations(true);
        let mut running: Vec<ActionId> = Vec::new();
        for (number, &(src, dst, size, rate)) in flows.iter().enumerate() {
            let ends = [src, dst].map(simurgh_platform::HostId);
            let what = Transfer {
                rate: rate.map(|rate| f64::from(rate) * 1e5),
                ..Transfer::new(ends[0], ends[1], f64::from(size) * 1e4)
            };
            running.push(models.transfer(what, number as u64).unwrap());
        }
        let mut step = Step::default();
        loop {
            let progress = models.step(None, &mut step);
            for link in models.platform().clone().links() {
                prop_assert!(models.link_load(link) <= models.link_bandwidth(link) * (1.0 + 2e-5));
            }
            for ended in &step.ended {
                running.retain(|&id| id != ended.action);
                let explanation = models.take_explanation(ended.action).unwrap();
                let total: f64 = explanation.segments.iter().map(|part| part.rate * (part.to - part.from)).sum();
                let What::Transfer(facts) = &explanation.what else { panic!("a transfer") };
                prop_assert!((total - facts.bytes).abs() < 1e-3 * facts.bytes, "{total} of {}", facts.bytes);
                for segment in &explanation.segments {
                    prop_assert!(segment.limit != Limit::Nothing, "{segment:?}");
                }
            }
            if progress == Progress::Idle {
                break;
            }
        }
        prop_assert!(running.is_empty());
    }
}
