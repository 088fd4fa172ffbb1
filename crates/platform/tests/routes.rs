//! Routes of each kind of zone against cases worked out by hand.

use simurgh_platform::{ClusterSpec, LoopbackSpec, Platform, PrivateLinks, Routing, Topology};

/// The links of a route by name, as words.
fn links(platform: &Platform, src: &str, dst: &str) -> String {
    let route = platform.route(platform.host_named(src).unwrap(), platform.host_named(dst).unwrap());
    let route = route.unwrap_or_else(|error| panic!("{error}"));
    let sum: f64 = route.links.iter().map(|&link| platform.link(link).latency).sum();
    assert!(route.latency >= sum, "coordinates only add");
    let names: Vec<&str> = route.links.iter().map(|&link| platform.link(link).name).collect();
    names.join(" ")
}

fn latency(platform: &Platform, src: &str, dst: &str) -> f64 {
    platform.route(platform.host_named(src).unwrap(), platform.host_named(dst).unwrap()).unwrap().latency
}

fn read(body: &str) -> Platform {
    let text = format!("<platform version=\"4.1\">{body}</platform>");
    Platform::from_xml(&text, "test.xml", ".".as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

fn check(platform: &Platform, table: &[(&str, &str, &str)]) {
    for (src, dst, expected) in table {
        assert_eq!(links(platform, src, dst), *expected, "{src} to {dst}");
    }
}

/// The short way to a route, where a host says by which link it reaches the centre of its star, is the route.
#[test]
fn legs_of_a_star_are_its_routes() {
    let mut builder = Platform::builder();
    let zone = builder.zone("star", Routing::Star);
    let mut hosts = Vec::new();
    for number in 0..6 {
        let host = builder.host(zone, &format!("h{number}"), 1e9).id();
        let links: Vec<_> =
            (0..=number % 2).map(|k| builder.link(zone, &format!("l{number}-{k}"), 1e9, 1e-3).id()).collect();
        builder.star(zone, host, &links);
        hosts.push(host);
    }
    let platform = builder.build().unwrap();
    let mut compared = 0;
    for &src in &hosts {
        for &dst in hosts.iter().filter(|&&dst| dst != src) {
            if let (Some(from), Some(to)) = (platform.star_leg(src), platform.star_leg(dst)) {
                assert_eq!(platform.route(src, dst).unwrap().links, [from.up, to.down]);
                assert_eq!(from.zone, to.zone);
                compared += 1;
            }
        }
    }
    // Those with two links have no leg.
    assert_eq!(compared, 6);
}

/// Plain hosts and links, for graphs.
fn things(hosts: &str, links: &str) -> String {
    let hosts: String =
        hosts.split_whitespace().map(|name| format!("<host id=\"{name}\" speed=\"1Gf\"/>")).collect();
    let links: String = links
        .split_whitespace()
        .map(|name| format!("<link id=\"{name}\" bandwidth=\"1MBps\" latency=\"1ms\"/>"))
        .collect();
    hosts + &links
}

fn route(src: &str, dst: &str, links: &str) -> String {
    let links: String = links.split_whitespace().map(|name| format!("<link_ctn id=\"{name}\"/>")).collect();
    format!("<route src=\"{src}\" dst=\"{dst}\">{links}</route>")
}

#[test]
fn the_way_back_takes_the_links_in_reverse_with_the_other_halves() {
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Full\">{}<link id=\"d\" bandwidth=\"1MBps\" sharing_policy=\"SPLITDUPLEX\"/>
         <route src=\"a\" dst=\"b\"><link_ctn id=\"x\"/><link_ctn id=\"d\" direction=\"UP\"/></route>
         <route src=\"b\" dst=\"c\" symmetrical=\"NO\"><link_ctn id=\"d_DOWN\"/></route>
         <route src=\"c\" dst=\"c\"><link_ctn id=\"y\"/></route></zone>",
        things("a b c", "x y")
    ));
    check(
        &platform,
        &[
            ("a", "b", "x d_UP"),
            ("b", "a", "d_DOWN x"),
            ("b", "c", "d_DOWN"),
            ("c", "c", "y"),
            ("a", "a", "__loopback__"),
        ],
    );
    let error =
        platform.route(platform.host_named("c").unwrap(), platform.host_named("b").unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no route from host \"c\" to host \"b\": zone \"w\" (full) has no way from \"c\" to \"b\"; declare a route between them in that zone"
    );
}

#[test]
fn floyd_prefers_fewer_links_and_the_first_middle_point() {
    // a to d: by b or by c, two links each; e is one long route away from a, and two short ones by d.
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Floyd\">{}{}{}{}{}{}{}</zone>",
        things("a b c d e", "ab bd ac cd e1 e2 e3 e4 de"),
        route("a", "b", "ab"),
        route("b", "d", "bd"),
        route("a", "c", "ac"),
        route("c", "d", "cd"),
        route("a", "e", "e1 e2 e3 e4"),
        route("d", "e", "de"),
    ));
    check(
        &platform,
        &[
            ("a", "d", "ab bd"),
            ("d", "a", "bd ab"),
            ("a", "e", "ab bd de"),
            ("b", "c", "ab ac"),
            ("e", "e", "__loopback__"),
        ],
    );
}

#[test]
fn dijkstra_breaks_ties_by_first_appearance_in_the_routes() {
    // Routes name c before b, so c leaves the queue first, although b is declared first.
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Dijkstra\">{}{}{}{}{}</zone>",
        things("a b c d", "ab bd ac cd"),
        route("a", "c", "ac"),
        route("a", "b", "ab"),
        route("b", "d", "bd"),
        route("c", "d", "cd"),
    ));
    check(
        &platform,
        &[("a", "d", "ac cd"), ("d", "a", "cd ac"), ("a", "b", "ab"), ("a", "a", "__loopback__")],
    );
}

#[test]
fn zones_are_crossed_through_their_gateways() {
    for routing in ["Full", "Floyd", "Dijkstra"] {
        let platform = read(&format!(
            "<zone id=\"w\" routing=\"{routing}\">
               <zone id=\"A\" routing=\"Full\">{}<router id=\"ga\"/>{}</zone>
               <zone id=\"B\" routing=\"Full\">{}<router id=\"gb\"/>{}</zone>
               <link id=\"ab\" bandwidth=\"1MBps\"/>
               <zoneRoute src=\"A\" dst=\"B\" gw_src=\"ga\" gw_dst=\"gb\"><link_ctn id=\"ab\"/></zoneRoute></zone>",
            things("a", "la"),
            route("a", "ga", "la"),
            things("b c", "lb lc"),
            route("b", "gb", "lb") + &route("b", "c", "lc"),
        ));
        check(&platform, &[("a", "b", "la ab lb"), ("b", "a", "lb ab la"), ("b", "c", "lc")]);
    }
}

#[test]
fn between_two_gateways_of_a_zone_passed_through_comes_the_way_inside_it() {
    for routing in ["Floyd", "Dijkstra"] {
        let platform = read(&format!(
            "<zone id=\"w\" routing=\"{routing}\">
               <zone id=\"A\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/></zone>
               <zone id=\"M\" routing=\"Full\"><router id=\"m1\"/><router id=\"m2\"/>{}{}</zone>
               <zone id=\"B\" routing=\"Full\"><host id=\"b\" speed=\"1Gf\"/></zone>{}
               <zoneRoute src=\"A\" dst=\"M\" gw_src=\"a\" gw_dst=\"m1\"><link_ctn id=\"am\"/></zoneRoute>
               <zoneRoute src=\"M\" dst=\"B\" gw_src=\"m2\" gw_dst=\"b\"><link_ctn id=\"mb\"/></zoneRoute></zone>",
            things("", "inside1 inside2"),
            route("m1", "m2", "inside1 inside2"),
            things("", "am mb"),
        ));
        check(&platform, &[("a", "b", "am inside1 inside2 mb"), ("b", "a", "mb inside2 inside1 am")]);
    }
}

#[test]
fn a_host_and_a_zone_may_be_members_of_one_zone() {
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Full\">{}
           <zone id=\"Z\" routing=\"Full\">{}<router id=\"g\"/>{}</zone>
           <zoneRoute src=\"a\" dst=\"Z\" gw_dst=\"g\"><link_ctn id=\"x\"/></zoneRoute></zone>",
        things("a", "x"),
        things("z", "y"),
        route("g", "z", "y"),
    ));
    check(&platform, &[("a", "z", "x y"), ("z", "a", "y x"), ("z", "z", "__loopback__")]);
    let a = platform.host_named("a").unwrap();
    assert_eq!(
        platform.route(a, a).unwrap_err().to_string(),
        "no route from host \"a\" to host \"a\": zone \"w\" (full) has no route from \"a\" to itself; declare one: only zones without zones inside have a loopback of their own"
    );
}

#[test]
fn bypasses_go_before_routes_one_way_and_the_nearest_zones_first() {
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Full\">
           <zone id=\"A\" routing=\"Full\">
             <zone id=\"A1\" routing=\"Full\">{}{}
               <bypassRoute src=\"a\" dst=\"a2\"><link_ctn id=\"short\"/></bypassRoute></zone>
             <zone id=\"A2\" routing=\"Full\"><host id=\"far\" speed=\"1Gf\"/></zone>
             <zoneRoute src=\"A1\" dst=\"A2\" gw_src=\"a\" gw_dst=\"far\"><link_ctn id=\"inner\"/></zoneRoute>
             <link id=\"inner\" bandwidth=\"1MBps\"/>
           </zone>
           <zone id=\"B\" routing=\"Full\"><host id=\"b\" speed=\"1Gf\"/></zone>{}
           <zoneRoute src=\"A\" dst=\"B\" gw_src=\"far\" gw_dst=\"b\"><link_ctn id=\"plain\"/></zoneRoute>
           <bypassZoneRoute src=\"A1\" dst=\"B\" gw_src=\"a\" gw_dst=\"b\"><link_ctn id=\"near\"/></bypassZoneRoute>
           <bypassZoneRoute src=\"A\" dst=\"B\" gw_src=\"far\" gw_dst=\"b\"><link_ctn id=\"wide\"/></bypassZoneRoute>
         </zone>",
        things("a a2", "slow short"),
        route("a", "a2", "slow"),
        things("", "plain near wide"),
    ));
    check(
        &platform,
        &[
            ("a", "a2", "short"),
            ("a2", "a", "slow"),
            // An end that is the gateway goes to itself first, which takes the loopback here.
            ("a", "b", "__loopback__ near __loopback__"),
            ("a2", "b", "slow near __loopback__"),
            ("far", "b", "__loopback__ wide __loopback__"),
            ("b", "a", "plain inner"),
        ],
    );
}

#[test]
fn flat_clusters_cross_limiter_private_link_and_backbone() {
    let cluster = |id: &str, more: &str| {
        format!(
            "<cluster id=\"{id}\" prefix=\"{id}\" suffix=\"\" radical=\"0-1,7\" speed=\"1Gf\" bw=\"1MBps\" lat=\"1ms\" {more}/>"
        )
    };
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Full\">{}{}{}{}<link id=\"out\" bandwidth=\"1MBps\"/>
         <zoneRoute src=\"b\" dst=\"s\" gw_src=\"bb_router\" gw_dst=\"r\"><link_ctn id=\"out\"/></zoneRoute></zone>",
        cluster("p", ""),
        cluster("b", "bb_bw=\"9MBps\" bb_lat=\"5ms\""),
        cluster("s", "sharing_policy=\"SHARED\" bb_bw=\"9MBps\" bb_lat=\"5ms\" router_id=\"r\""),
        cluster("f", "loopback_bw=\"1GBps\" limiter_link=\"2MBps\""),
    ));
    check(
        &platform,
        &[
            ("p0", "p7", "p_link_0_UP p_link_7_DOWN"),
            ("p0", "p0", "p_link_0_UP p_link_0_DOWN"),
            ("b0", "b1", "b_link_0_UP b_backbone b_link_1_DOWN"),
            ("b0", "b0", "b_link_0_UP b_backbone b_link_0_DOWN"),
            ("s0", "s1", "s_link_0 s_backbone s_link_1"),
            ("s0", "s0", "s_link_0 s_backbone"),
            ("b0", "s7", "b_link_0_UP b_backbone out s_backbone s_link_7"),
            ("s7", "b0", "s_link_7 s_backbone out b_backbone b_link_0_DOWN"),
            ("f0", "f0", "f_link_0_loopback"),
            ("f0", "f1", "f_link_0_limiter f_link_0_UP f_link_1_DOWN f_link_1_limiter"),
        ],
    );
    assert!((latency(&platform, "b0", "b1") - 7e-3).abs() < 1e-15);
}

#[test]
fn cluster_zones_take_host_links_cabinets_and_a_backbone() {
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Cluster\">{}<host_link id=\"a\" up=\"a_up\" down=\"a_down\"/>
         <host_link id=\"b\" up=\"b1\" down=\"b1\"/><router id=\"r\"/><backbone id=\"bb\" bandwidth=\"1GBps\" latency=\"1us\"/>
         <cabinet id=\"cab\" prefix=\"c\" suffix=\"\" radical=\"1-2\" speed=\"1Gf\" bw=\"1MBps\" lat=\"1ms\"/></zone>",
        things("a b lone", "a_up a_down b1"),
    ));
    check(
        &platform,
        &[
            ("a", "b", "a_up bb b1"),
            ("b", "a", "b1 bb a_down"),
            ("b", "b", "b1 bb"),
            ("c1", "c2", "link_c1_UP bb link_c2_DOWN"),
            ("a", "lone", "a_up bb"),
            ("lone", "a", "bb a_down"),
        ],
    );
}

#[test]
fn star_zones_give_each_member_its_own_links() {
    let platform = read(&format!(
        "<zone id=\"w\" routing=\"Star\">{}<link id=\"s\" bandwidth=\"1MBps\" sharing_policy=\"SPLITDUPLEX\"/>
           <route src=\"a\" dst=\"*\"><link_ctn id=\"s\" direction=\"UP\"/><link_ctn id=\"core\"/></route>
           <route src=\"b\" dst=\"\" symmetrical=\"NO\"><link_ctn id=\"b1\"/></route>
           <route src=\"*\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"core\"/><link_ctn id=\"b2\"/></route>
           <route src=\"b\" dst=\"b\"><link_ctn id=\"self\"/></route></zone>",
        things("a b lone", "core b1 b2 self")
    ));
    check(
        &platform,
        &[
            ("a", "b", "s_UP core b2"),
            ("b", "a", "b1 core s_DOWN"),
            ("b", "b", "self"),
            ("a", "a", "s_UP core s_DOWN"),
        ],
    );
    let (a, lone) = (platform.host_named("a").unwrap(), platform.host_named("lone").unwrap());
    assert_eq!(
        platform.route(a, lone).unwrap_err().to_string(),
        "no route from host \"a\" to host \"lone\": \"lone\" has no links in the star zone \"w\"; declare its route with an empty other end"
    );
}

#[test]
fn the_builder_makes_stars_of_zones() {
    let mut b = Platform::builder();
    let world = b.zone("world", Routing::Star);
    let mut hosts = Vec::new();
    for name in ["x", "y"] {
        let zone = b.zone_in(world, name, Routing::Full);
        let host = b.host(zone, &format!("{name}-host"), 1e9).id();
        let gateway = b.router(zone, &format!("{name}-gate"));
        let inside = b.link(zone, &format!("{name}-inside"), 1e6, 0.0).id();
        b.route(zone, host, gateway, [inside]);
        let outside = b.split_link(world, &format!("{name}-outside"), 1e6, 0.0);
        b.star(world, zone, &[outside.up]);
        b.star_gateway(world, zone, gateway);
        hosts.push(host);
    }
    let platform = b.build().unwrap();
    check(&platform, &[("x-host", "y-host", "x-inside x-outside_UP y-outside_DOWN y-inside")]);
}

#[test]
fn vivaldi_adds_the_distance_of_coordinates() {
    let platform = read(
        "<zone id=\"w\" routing=\"Vivaldi\">
           <peer id=\"p\" speed=\"1Gf\" bw_in=\"1MBps\" bw_out=\"2MBps\" coordinates=\"0 0 1\"/>
           <peer id=\"q\" speed=\"1Gf\" bw_in=\"1MBps\" bw_out=\"2MBps\" coordinates=\"3 4 -2\"/>
           <host id=\"h\" speed=\"1Gf\" coordinates=\"0 0 0.5\"/>
           <zone id=\"Z\" routing=\"Full\"><router id=\"router_Z\" coordinates=\"0 12 0\"/><host id=\"z\" speed=\"1Gf\"/>
             <link id=\"l\" bandwidth=\"1MBps\" latency=\"1s\"/><route src=\"z\" dst=\"router_Z\"><link_ctn id=\"l\"/></route></zone>
         </zone>",
    );
    check(
        &platform,
        &[
            ("p", "q", "link_p_UP link_q_DOWN"),
            ("h", "h", ""),
            ("h", "q", "link_q_DOWN"),
            ("z", "p", "l link_p_DOWN"),
        ],
    );
    for (src, dst, milliseconds) in [
        ("p", "q", 8.0),
        ("p", "p", 2.0),
        ("h", "h", 1.0),
        ("h", "q", 7.5),
        ("z", "p", 1013.0),
        ("p", "z", 1013.0),
    ] {
        assert!((latency(&platform, src, dst) - milliseconds / 1e3).abs() < 1e-12, "{src} to {dst}");
    }
    assert_eq!(platform.link(platform.link_named("link_p_UP").unwrap()).bandwidth, 2e6);
}

#[test]
fn stations_cross_the_medium_and_the_access_point_does_not() {
    let platform = read(
        "<zone id=\"w\" routing=\"WIFI\"><prop id=\"access_point\" value=\"ap\"/>
           <host id=\"s\" speed=\"1Gf\"/><host id=\"t\" speed=\"1Gf\"/><host id=\"ap\" speed=\"1Gf\"/>
           <link id=\"air\" sharing_policy=\"WIFI\" bandwidth=\"54Mbps,36Mbps\" latency=\"1ms\"/></zone>",
    );
    check(&platform, &[("s", "t", "air air"), ("s", "ap", "air"), ("ap", "t", "air")]);
    let air = platform.link(platform.link_named("air").unwrap());
    assert_eq!(air.bandwidths, [6.75e6, 4.5e6]);
    assert_eq!(latency(&platform, "s", "t"), 2e-3);
}

fn cluster(hosts: u32, topology: Topology) -> ClusterSpec {
    ClusterSpec { prefix: String::new(), topology, ..ClusterSpec::new("c", hosts) }
}

fn built(spec: ClusterSpec) -> Platform {
    let mut b = Platform::builder();
    b.cluster(None, spec);
    b.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_torus_is_walked_dimension_by_dimension() {
    let platform = built(cluster(12, Topology::Torus(vec![3, 2, 2])));
    check(
        &platform,
        &[
            ("0", "11", "c_link_from_2_to_0_DOWN c_link_from_2_to_5_UP c_link_from_5_to_11_UP"),
            ("0", "1", "c_link_from_0_to_1_UP"),
            ("1", "0", "c_link_from_0_to_1_DOWN"),
            ("3", "0", "c_link_from_0_to_3_DOWN"),
        ],
    );
    let ring = built(cluster(4, Topology::Torus(vec![4])));
    check(
        &ring,
        &[
            ("0", "2", "c_link_from_0_to_1_UP c_link_from_1_to_2_UP"),
            ("2", "0", "c_link_from_1_to_2_DOWN c_link_from_0_to_1_DOWN"),
            ("3", "1", "c_link_from_3_to_0_UP c_link_from_0_to_1_UP"),
        ],
    );
    let host = ring.host_named("0").unwrap();
    assert_eq!(
        ring.route(host, host).unwrap_err().to_string(),
        "no route from host \"0\" to host \"0\": zone \"c\" (torus) has no route from \"0\" to itself; give the cluster a loopback_bw"
    );
    let limited = built(ClusterSpec {
        limiter: Some(1e6),
        loopback: Some(LoopbackSpec { bandwidth: 1e9, latency: 0.0 }),
        private: PrivateLinks::Shared,
        ..cluster(4, Topology::Torus(vec![4]))
    });
    check(
        &limited,
        &[
            (
                "0",
                "2",
                "c_link_0_limiter c_link_from_0_to_1 c_link_1_limiter c_link_from_1_to_2 c_link_2_limiter",
            ),
            ("3", "3", "c_link_3_loopback"),
        ],
    );
}

#[test]
fn a_fat_tree_goes_up_by_the_destination_and_down_by_digits() {
    // Two leaf switches of two hosts, two core switches: hosts 0 1 | 2 3.
    let tree = || Topology::FatTree { down: vec![2, 2], up: vec![1, 2], count: vec![1, 1] };
    let platform = built(cluster(4, tree()));
    check(
        &platform,
        &[
            ("0", "1", "c_link_from_0.0_to_1.0_0_UP c_link_from_0.1_to_1.0_0_DOWN"),
            ("0", "0", "c_link_from_0.0_to_1.0_0_UP c_link_from_0.0_to_1.0_0_DOWN"),
            (
                "0",
                "2",
                "c_link_from_0.0_to_1.0_0_UP c_link_from_1.0_to_2.0_0_UP c_link_from_1.1_to_2.0_0_DOWN c_link_from_0.2_to_1.1_0_DOWN",
            ),
            (
                "0",
                "3",
                "c_link_from_0.0_to_1.0_0_UP c_link_from_1.0_to_2.1_0_UP c_link_from_1.1_to_2.1_0_DOWN c_link_from_0.3_to_1.1_0_DOWN",
            ),
        ],
    );
    // Limiters: those of the two hosts, and of the switches met, once each.
    let limited =
        built(ClusterSpec { limiter: Some(1e6), private: PrivateLinks::Shared, ..cluster(4, tree()) });
    check(
        &limited,
        &[
            (
                "0",
                "1",
                "c_link_0_limiter c_link_from_0.0_to_1.0_0 c_switch_1.0_limiter c_link_from_0.1_to_1.0_0 c_link_1_limiter",
            ),
            (
                "0",
                "0",
                "c_link_0_limiter c_link_from_0.0_to_1.0_0 c_switch_1.0_limiter c_link_from_0.0_to_1.0_0 c_link_0_limiter",
            ),
        ],
    );
}

#[test]
fn hosts_are_counted_on_over_the_fat_trees_of_a_platform() {
    let mut b = Platform::builder();
    let world = b.zone("world", Routing::Full);
    for name in ["c", "d"] {
        let topology = Topology::FatTree { down: vec![1, 3], up: vec![1, 2], count: vec![1, 1] };
        b.cluster(world, ClusterSpec { topology, ..ClusterSpec::new(name, 3) });
    }
    let platform = b.build().unwrap();
    // Host 2 of the first tree is at position 2 and goes by core 0; that of the second is at 5 and goes by core 1.
    let up = |name: &str, core: u32| {
        format!(
            "{name}_link_from_0.0_to_1.0_0_UP {name}_link_from_1.0_to_2.{core}_0_UP {name}_link_from_1.2_to_2.{core}_0_DOWN {name}_link_from_0.2_to_1.2_0_DOWN"
        )
    };
    check(&platform, &[("c-0", "c-2", &up("c", 0)), ("d-0", "d-2", &up("d", 1))]);
}

#[test]
fn parallel_cables_of_a_fat_tree_are_chosen_by_both_ends() {
    // One switch above two hosts, two cables each: up by the destination, down by the source.
    let platform = built(cluster(2, Topology::FatTree { down: vec![2], up: vec![1], count: vec![2] }));
    check(
        &platform,
        &[
            ("0", "1", "c_link_from_0.0_to_1.0_1_UP c_link_from_0.1_to_1.0_0_DOWN"),
            ("1", "0", "c_link_from_0.1_to_1.0_0_UP c_link_from_0.0_to_1.0_1_DOWN"),
        ],
    );
}

#[test]
fn a_dragonfly_goes_green_black_blue_and_takes_the_chassis_to_be_the_first() {
    let topology = || Topology::Dragonfly { groups: (2, 4), chassis: (3, 3), blades: (2, 2), nodes: 1 };
    let platform = built(ClusterSpec { private: PrivateLinks::Shared, ..cluster(12, topology()) });
    // Rank = blade + 2 * chassis + 6 * group.
    check(
        &platform,
        &[
            ("0", "1", "c_link_0 c_link_green_0.0_0_1 c_link_1"),
            ("0", "4", "c_link_0 c_link_black_0.0_0_2 c_link_4"),
            ("0", "3", "c_link_0 c_link_green_0.0_0_1 c_link_black_0.1_0_1 c_link_3"),
            // From chassis 1 to another blade of the same chassis: the black link of chassis 0 and 1 is crossed.
            ("2", "3", "c_link_2 c_link_green_0.1_0_1 c_link_black_0.1_0_1 c_link_3"),
            // From chassis 1 to chassis 0, other blade: no black link at all.
            ("2", "1", "c_link_2 c_link_green_0.1_0_1 c_link_1"),
            ("0", "0", "c_link_0 c_link_0"),
            (
                "2",
                "9",
                "c_link_2 c_link_green_0.1_0_1 c_link_black_0.1_0_1 c_link_blue_0_1 c_link_green_1.0_0_1 c_link_black_1.1_0_1 c_link_9",
            ),
            ("1", "6", "c_link_1 c_link_blue_0_1 c_link_6"),
        ],
    );
    assert_eq!(platform.link(platform.link_named("c_link_blue_0_1").unwrap()).bandwidth, 4.0 * 125e6);
    let limited = built(ClusterSpec { limiter: Some(1e6), ..cluster(12, topology()) });
    check(
        &limited,
        &[
            (
                "0",
                "1",
                "c_link_0_limiter c_link_0_UP c_router_0_limiter c_link_green_0.0_0_1_UP c_router_1_limiter c_link_1_DOWN c_link_1_limiter",
            ),
            (
                "3",
                "2",
                "c_link_3_limiter c_link_3_UP c_router_3_limiter c_link_green_0.1_0_1_DOWN c_router_0_limiter c_link_black_0.0_0_1_UP c_router_2_limiter c_link_2_DOWN c_link_2_limiter",
            ),
            ("0", "0", "c_link_0_limiter c_link_0_UP c_router_0_limiter c_link_0_DOWN c_link_0_limiter"),
        ],
    );
}

#[test]
fn clusters_give_their_properties_to_their_hosts() {
    let platform = read(
        "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-1\" speed=\"2Gf,1Gf\" core=\"3\" bw=\"1MBps\" lat=\"0\"><prop id=\"watts\" value=\"9\"/></cluster>",
    );
    let host = platform.host(platform.host_named("n1").unwrap());
    assert_eq!((host.property("watts"), host.cores, host.speeds), (Some("9"), 3, &[2e9, 1e9][..]));
    assert_eq!(platform.zone(platform.root()).property("watts"), Some("9"));
}

#[test]
fn platforms_are_shared_between_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    check(&Platform::builtin());
}
