//! What users get wrong, and the exact line that they read about it.

use std::path::Path;

use simurgh_platform::{Platform, Routing, read_deployment};

fn message(text: &str) -> String {
    match Platform::from_xml(text, "p.xml", Path::new("/nonexistent")) {
        Ok(platform) => panic!("{platform:?} should have been refused"),
        Err(error) => error.to_string(),
    }
}

/// In a Full zone with hosts a and b and a link l, on line 2.
fn zone(body: &str) -> String {
    format!(
        "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><link id=\"l\" bandwidth=\"1MBps\"/>\n{body}</zone></platform>"
    )
}

fn cluster(more: &str) -> String {
    format!(
        "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" speed=\"1Gf\" bw=\"1MBps\" lat=\"0\" {more}/></platform>"
    )
}

#[test]
fn each_mistake_has_its_line() {
    let table: Vec<(String, &str)> = vec![
        ("".into(), "p.xml: the file is empty; write a <platform version=\"4.1\"> with a zone into it"),
        (
            "<platform version=\"4.1\">\n<zone".into(),
            "p.xml:1: this is not well-formed XML: the root node was opened but never closed; correct it there or just before",
        ),
        (
            "<a>\n</b>".into(),
            "p.xml:2: this is not well-formed XML: expected 'a' tag, not 'b' at 2:1; correct it there or just before",
        ),
        (
            "<html/>".into(),
            "p.xml:1: the file holds a <html>, not a <platform>; give a SimGrid platform file: <platform version=\"4.1\">",
        ),
        (
            "<platform/>".into(),
            "p.xml:1: <platform> has no version; give it the version of the format: version=\"4.1\"",
        ),
        (
            "<platform version=\"3\"/>".into(),
            "p.xml:1: version \"3\" of the format is not supported; convert the file to version 4.1 with simgrid_update_xml",
        ),
        (
            "<platform version=\"5\"/>".into(),
            "p.xml:1: version 5 of the format is newer than 4.1; write it as version 4.1",
        ),
        (
            "<platform version=\"4.1\"/>".into(),
            "p.xml: the platform has no zone; declare a zone or a cluster",
        ),
        (
            "<platform version=\"4.1\"><zone id=\"w\" routing=\"Ful\"/></platform>".into(),
            "p.xml:1: routing=\"Ful\" is not known (did you mean \"Full\"?); use one of Full, Floyd, Dijkstra, DijkstraCache, Star, Cluster, Vivaldi, Wifi, None, Empty",
        ),
        (
            "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\"/>\n<zone id=\"v\" routing=\"Full\"/></platform>".into(),
            "p.xml:2: zone \"v\" is a second root; put all zones and clusters into one zone",
        ),
        (
            zone("<hots id=\"c\"/>"),
            "p.xml:2: <hots> is not known inside <zone> (did you mean \"host\"?); use only host, router, link, zone, cluster, cabinet, peer, backbone, host_link, route, zoneRoute, bypassRoute, bypassZoneRoute, prop, trace, trace_connect, actor",
        ),
        (
            zone("<link id=\"k\" bandwith=\"1MBps\"/>"),
            "p.xml:2: <link> has an unknown attribute \"bandwith\" (did you mean \"bandwidth\"?); use only id, bandwidth, latency, sharing_policy, bandwidth_file, latency_file, state_file, concurrency",
        ),
        (zone("<host id=\"c\"/>"), "p.xml:2: <host> has no speed; give it a speed such as \"1Gf\""),
        (
            zone("<host id=\"c\" speed=\"-1Gf\"/>"),
            "p.xml:2: speed: \"-1Gf\" is negative; correct the speed of this <host>",
        ),
        (
            zone("<link id=\"k\" bandwidth=\"NaN\"/>"),
            "p.xml:2: bandwidth: \"NaN\" is not a bandwidth such as \"125MBps\"; correct the bandwidth of this <link>",
        ),
        (
            zone("<link id=\"k\" bandwidth=\"1e999MBps\"/>"),
            "p.xml:2: bandwidth: \"1e999MBps\" is too large a number; correct the bandwidth of this <link>",
        ),
        (
            zone("<link id=\"k\" bandwidth=\"0\"/>"),
            "p.xml:2: link \"k\" has a bandwidth of 0 Bps; give it one above 0, such as \"125MBps\"",
        ),
        (
            zone("<host id=\"c\" speed=\"1Gf\" core=\"0\"/>"),
            "p.xml:2: core=\"0\" leaves nothing to compute with; give at least 1",
        ),
        (
            zone("<host id=\"c\" speed=\"1Gf\" pstate=\"1\"/>"),
            "p.xml:2: host \"c\" starts in power state 1 of 1; number power states from 0",
        ),
        (
            zone("<host id=\"a\" speed=\"1Gf\"/>"),
            "p.xml:2: host \"a\" has the name of a host declared before; give each host, router and zone its own name",
        ),
        (
            zone("<router id=\"w\"/>"),
            "p.xml:2: router \"w\" has the name of a zone declared before; give each host, router and zone its own name",
        ),
        (
            zone("<link id=\"l\" bandwidth=\"1\"/>"),
            "p.xml:2: link \"l\" is declared twice; give each link its own name",
        ),
        (
            zone("<route src=\"a\" dst=\"c\"><link_ctn id=\"l\"/></route>"),
            "p.xml:2: dst=\"c\" names no host, router or zone; correct the name, or declare it",
        ),
        (
            zone("<route src=\"a\" dst=\"b\">\n<link_ctn id=\"l3\"/></route>"),
            "p.xml:3: link \"l3\" is never defined; declare it, or correct the name",
        ),
        (
            zone("<route src=\"a\" dst=\"b\"/>"),
            "p.xml:2: the route from \"a\" to \"b\" has no links; name at least one link",
        ),
        (
            zone("<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n<route src=\"b\" dst=\"a\"><link_ctn id=\"l\"/></route>"),
            "p.xml:3: the route from \"a\" to \"b\" is declared twice; remove one, or write symmetrical=\"NO\" on both if they differ by direction",
        ),
        (
            zone("<link id=\"d\" bandwidth=\"1\" sharing_policy=\"SPLITDUPLEX\"/><route src=\"a\" dst=\"b\"><link_ctn id=\"d\"/></route>"),
            "p.xml:2: link \"d\" has two directions, and none is given; add direction=\"UP\" or direction=\"DOWN\"",
        ),
        (
            zone("<route src=\"a\" dst=\"b\"><link_ctn id=\"l\" direction=\"UP\"/></route>"),
            "p.xml:2: link \"l\" has no directions; remove the direction, or make it sharing_policy=\"SPLITDUPLEX\"",
        ),
        (
            zone("<route src=\"a\" dst=\"*\"><link_ctn id=\"l\"/></route>"),
            "p.xml:2: a route with one end in a full zone; give it both ends, or make the zone routing=\"Star\"",
        ),
        (
            zone("<zone id=\"z\" routing=\"Full\"><host id=\"c\" speed=\"1Gf\"/></zone><zoneRoute src=\"a\" dst=\"z\"><link_ctn id=\"l\"/></zoneRoute>"),
            "p.xml:2: a route of zone \"z\" has no gw_dst; name the host or router by which the zone is left and entered",
        ),
        (
            // A gateway outside its zone would lead back into the same route.
            zone("<zone id=\"z\" routing=\"Full\"><host id=\"c\" speed=\"1Gf\"/></zone><zoneRoute src=\"a\" dst=\"z\" gw_dst=\"b\"><link_ctn id=\"l\"/></zoneRoute>"),
            "p.xml:2: gateway \"b\" is not a host or router inside zone \"z\"; name a host or router of that zone, or of a zone in it",
        ),
        (
            zone("<zone id=\"z\" routing=\"Full\"><host id=\"c\" speed=\"1Gf\"/></zone><route src=\"a\" dst=\"c\"><link_ctn id=\"l\"/></route>"),
            "p.xml:2: \"c\" is a member of \"z\", not of \"w\", which has a route with it; declare a route between the members of one zone, in that zone",
        ),
        (
            zone("<host id=\"c\" speed=\"1Gf\" speed_file=\"none.txt\"/>"),
            "p.xml:2: speed_file=\"none.txt\" cannot be read: there is no such file; check the path",
        ),
        (
            zone("<trace id=\"t\">1 1\n0 1</trace>"),
            "p.xml:3: date 0 comes after date 1; sort the events by date",
        ),
        (
            zone("<trace_connect kind=\"SPEED\" trace=\"t\" element=\"a\"/>"),
            "p.xml:2: there is no trace \"t\"; declare it, or correct the name",
        ),
        (
            zone("<trace id=\"t\">0 1</trace><trace_connect kind=\"SPED\" trace=\"t\" element=\"a\"/>"),
            "p.xml:2: kind=\"SPED\" is not known (did you mean \"SPEED\"?); use one of SPEED, HOST_AVAIL, BANDWIDTH, LATENCY",
        ),
        (
            zone("<peer id=\"p\" speed=\"1Gf\" bw_in=\"1\" bw_out=\"1\" coordinates=\"0 0\"/>"),
            "p.xml:2: coordinates: \"0 0\" is not three numbers \"x y height\"; correct the coordinates of this <peer>",
        ),
        (
            "<platform version=\"4.1\">\n<zone id=\"v\" routing=\"Vivaldi\"><host id=\"a\" speed=\"1Gf\"/></zone></platform>".into(),
            "p.xml:2: host \"a\" in the Vivaldi zone \"v\" has no coordinates; give it coordinates=\"x y height\"",
        ),
        (
            "<platform version=\"4.1\"><zone id=\"v\" routing=\"None\"><host id=\"a\" speed=\"1Gf\"/><link id=\"l\" bandwidth=\"1\"/>\n<route src=\"a\" dst=\"a\"><link_ctn id=\"l\"/></route></zone></platform>".into(),
            "p.xml:2: a route between \"a\" and \"a\" in a none zone; give the zone another routing, Full for instance",
        ),
        (
            cluster("radical=\"0-4000000000\""),
            "p.xml:1: radical: \"0-4000000000\" is 4000000001 hosts, and 4194304 are the most; correct the radical of this <cluster>",
        ),
        (
            cluster("radical=\"5-3\""),
            "p.xml:1: radical: range \"5-3\" ends before it starts; correct the radical of this <cluster>",
        ),
        (
            cluster("radical=\"a-b\""),
            "p.xml:1: radical: \"a-b\" is not a list of numbers and ranges such as \"0-3,7\"; correct the radical of this <cluster>",
        ),
        (
            cluster("radical=\"0-3,2\""),
            "p.xml:1: host \"n2\" has the name of a host declared before; give each host, router and zone its own name",
        ),
        (
            cluster("radical=\"0-3\" topology=\"TORUS\" topo_parameters=\"3,2\""),
            "p.xml:1: cluster \"c\" has 4 hosts and a torus for 6; make the radical and the topo_parameters agree",
        ),
        (
            cluster("radical=\"0-3\" topology=\"TORUS\" topo_parameters=\"3,x\""),
            "p.xml:1: topo_parameters: \"3,x\" is not the sizes of a torus, such as \"3,2,2\"; correct the topo_parameters of this <cluster>",
        ),
        (
            cluster("radical=\"0-15\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1;1,2\""),
            "p.xml:1: topo_parameters: \"2;4,4;1;1,2\" is not a fat tree, such as \"2;4,4;1,2;1,2\": levels; children; parents; cables; correct the topo_parameters of this <cluster>",
        ),
        (
            cluster("radical=\"0-5\" topology=\"DRAGONFLY\" topo_parameters=\"3,1;1,1;2,1;1\""),
            "p.xml:1: dragonfly \"c\" has 3 groups and only 2 blades in a chassis; a group is reached from the blade of its number: give at least as many blades as groups",
        ),
        (
            cluster("radical=\"0-5\" topology=\"DRAGONFLY\" topo_parameters=\"3;1;2;1\""),
            "p.xml:1: topo_parameters: \"3;1;2;1\" is not a dragonfly, such as \"3,4;4,3;5,1;2\": groups; chassis; blades; nodes; correct the topo_parameters of this <cluster>",
        ),
        (
            cluster("radical=\"0-1\" topology=\"FAT_TREE\" topo_parameters=\"2;2,1;1,4000000000;1,4000000000\""),
            "p.xml:1: fat tree \"c\" has more switches or cables than can be counted; give smaller parameters",
        ),
        (
            cluster("radical=\"0-3\" bb_lat=\"1ms\""),
            "p.xml:1: there is a bb_lat and no bb_bw; give both, or remove bb_lat",
        ),
        (
            cluster("radical=\"0-3\" topology=\"RING\""),
            "p.xml:1: topology=\"RING\" is not known; use one of FLAT, TORUS, FAT_TREE, DRAGONFLY",
        ),
        (
            format!("<platform version=\"4.1\">{}", "<zone id=\"z\" routing=\"Full\">".repeat(100_000)),
            "p.xml:1: the elements are nested too deep; close the elements, or flatten the zones",
        ),
        (
            format!(
                "<platform version=\"4.1\">{}{}</platform>",
                (0..100).map(|i| format!("<zone id=\"z{i}\" routing=\"Full\">\n")).collect::<String>(),
                "</zone>".repeat(100)
            ),
            "p.xml:66: zone \"z65\" is nested more than 64 deep; flatten the zones",
        ),
    ];
    let wrong: Vec<(String, &str)> = table
        .into_iter()
        .map(|(text, expected)| (message(&text), expected))
        .filter(|(message, expected)| message != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_that_are_no_platforms() {
    let directory = std::env::temp_dir().join(format!("simurgh-platform-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let latin = directory.join("latin.xml");
    std::fs::write(&latin, b"<platform version=\"4.1\">\xe9").unwrap();
    let missing = directory.join("missing.xml");
    for (path, end) in [
        (&directory, "this is a directory; name a file in it"),
        (&missing, "there is no such file; check the path"),
        (&latin, "byte 24 is not UTF-8 text; save the file as UTF-8"),
    ] {
        let expected = format!("{}: {end}", path.display());
        assert_eq!(Platform::from_file(path).unwrap_err().to_string(), expected);
        assert_eq!(read_deployment(path).unwrap_err().to_string(), expected);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn deployments_are_read_from_files_of_their_own() {
    let path = std::env::temp_dir().join(format!("simurgh-deployment-{}.xml", std::process::id()));
    std::fs::write(
        &path,
        "<platform version=\"4.1\">\n<actor host=\"a\" function=\"f\" start_time=\"5\" on_failure=\"RESTART\"><argument value=\"1\"/><prop id=\"k\" value=\"v\"/></actor>\n<process host=\"b\" function=\"g\" kill_time=\"2m\"/></platform>",
    )
    .unwrap();
    let actors = read_deployment(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((actors[0].function.as_str(), actors[0].start_time, actors[0].line), ("f", Some(5.0), 2));
    assert_eq!(
        (actors[0].arguments.as_slice(), actors[0].properties["k"].as_str()),
        (&["1".to_owned()][..], "v")
    );
    assert_eq!((actors[1].host.as_str(), actors[1].kill_time, actors[1].line), ("b", Some(120.0), 3));
}

#[test]
fn mistakes_in_rust_are_told_when_the_platform_is_built() {
    let mut b = Platform::builder();
    let world = b.zone("world", Routing::Full);
    b.host(world, "a", f64::NAN);
    assert_eq!(
        b.build().unwrap_err().to_string(),
        "platform: host \"a\" has a speed of NaN flop/s; give it one of at least 0"
    );
    let mut b = Platform::builder();
    let other = Platform::builder().zone("elsewhere", Routing::Full);
    b.host(other, "a", 1.0).cores(2);
    assert_eq!(
        b.build().unwrap_err().to_string(),
        "platform: zone 0 is not a zone of this platform; make a zone first: b.zone(\"world\", Routing::Full)"
    );
}

/// Each tag was looked for an end in all of the text.
#[test]
fn tags_without_an_end_take_no_minutes() {
    let told = message(&"<a </a ".repeat(300_000));
    assert!(told.starts_with("p.xml:1: this is not well-formed XML: "), "{told}");
    let told = message(&format!("<platform version='4.1'>{}", "<a b='>' c='/'>".repeat(300)));
    assert_eq!(told, "p.xml:1: the elements are nested too deep; close the elements, or flatten the zones");
}
