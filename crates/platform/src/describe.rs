//! Platforms and routes in words, for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::error::RouteError;
use crate::ids::{HostId, Point, ZoneId};
use crate::inventory::Sharing;
use crate::platform::Platform;
use crate::profile::ProfileTarget;
use crate::units::{show_bandwidth, show_count, show_speed, show_time};

/// Zones listed altogether, if the outermost ones are not more.
const LINES_MAX: usize = 24;
/// Zones listed below one zone before the others are summed up.
const ZONES_SHOWN: usize = 12;
/// Settings listed.
const SETTINGS_SHOWN: usize = 12;

/// A platform in a few lines: how much there is of what, and its zones as a tree.
pub fn summary(platform: &Platform) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", platform.name());
    let cores: u64 = platform.hosts().map(|host| u64::from(platform.host(host).cores)).sum();
    let speed: f64 = platform
        .hosts()
        .map(|host| platform.host(host))
        .map(|host| host.speed() * f64::from(host.cores))
        .fold(0.0, |sum, speed| sum + speed);
    let hosts = platform.host_count();
    let _ = writeln!(
        text,
        "  hosts     {}, {}, {}",
        show_count(hosts as u64),
        many(cores, "core"),
        show_speed(speed)
    );
    let _ = writeln!(text, "  links     {}", link_counts(platform));
    if platform.disk_count() > 0 {
        let _ = writeln!(text, "  disks     {}", show_count(platform.disk_count() as u64));
    }
    if platform.router_count() > 0 {
        let _ = writeln!(text, "  routers   {}", show_count(platform.router_count() as u64));
    }
    if !platform.profiles().is_empty() {
        let _ = writeln!(text, "  profiles  {}", profile_counts(platform));
    }
    if !platform.deployment().is_empty() {
        let _ = writeln!(text, "  actors    {}", show_count(platform.deployment().len() as u64));
    }
    let _ = writeln!(text, "  zones     {}", show_count(platform.zone_count() as u64));
    let depths: Vec<usize> = platform.zones.iter().map(|zone| zone.depth as usize).collect();
    let deepest = depths.iter().copied().max().unwrap_or(0);
    let fits = |depth: &usize| depths.iter().filter(|at| *at <= depth).count() <= LINES_MAX;
    let depth = (2..=deepest).take_while(fits).last().unwrap_or(1);
    describe_zone(platform, platform.root(), depth, ["    ", "    "], &mut text);
    for (number, (key, value)) in platform.config().iter().enumerate() {
        if number == SETTINGS_SHOWN {
            let _ = writeln!(text, "            and {} more", platform.config().len() - SETTINGS_SHOWN);
            break;
        }
        let title = if number == 0 { "config" } else { "" };
        let _ = writeln!(text, "  {title:<9} {key} = {value}");
    }
    text
}

/// A route link by link, with its latency and what limits it.
pub fn describe_route(platform: &Platform, src: HostId, dst: HostId) -> Result<String, RouteError> {
    let route = platform.route(src, dst)?;
    let rows: Vec<[String; 4]> = route
        .links
        .iter()
        .map(|&link| platform.link(link))
        .map(|link| {
            let sharing = match link.sharing {
                Sharing::Shared => "",
                Sharing::FatPipe => "fatpipe",
                Sharing::Wifi => "wifi",
            };
            [
                link.name.to_owned(),
                show_bandwidth(link.bandwidth),
                show_time(link.latency),
                sharing.to_owned(),
            ]
        })
        .collect();
    let widths =
        [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    let names = (platform.host(src).name, platform.host(dst).name);
    let _ = writeln!(text, "{} to {}: {}", names.0, names.1, many(route.links.len() as u64, "link"));
    for [name, bandwidth, latency, sharing] in &rows {
        let line = format!(
            "  {name:<0$}  {bandwidth:>1$}  {latency:>2$}  {sharing}",
            widths[0], widths[1], widths[2]
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "latency     {}", show_time(route.latency));
    let links = route.links.iter().map(|&link| platform.link(link));
    if let Some(slowest) = links.min_by(|a, b| a.bandwidth.total_cmp(&b.bandwidth)) {
        let _ = writeln!(text, "bottleneck  {}, link {}", show_bandwidth(slowest.bandwidth), slowest.name);
    }
    Ok(text)
}

/// A line for the zone, and one for each zone in it down to a depth. The line starts with the first text, those below
/// with the second.
fn describe_zone(platform: &Platform, id: ZoneId, depth: usize, starts: [&str; 2], text: &mut String) {
    let [first, rest] = starts;
    let zone = platform.zone(id);
    let mut parts = Vec::new();
    if let Some(hosts) = describe_hosts(platform, zone.members) {
        parts.push(hosts);
    }
    let routers = zone.members.iter().filter(|point| matches!(point, Point::Router(_))).count();
    if routers > 0 {
        parts.push(many(routers as u64, "router"));
    }
    let zones = inner_zones(zone.members);
    if !zones.is_empty() {
        let hosts: usize = zones.iter().map(|&zone| hosts_inside(platform, zone)).sum();
        parts.push(match depth {
            0 => format!("{} with {}", many(zones.len() as u64, "zone"), many(hosts as u64, "host")),
            _ => many(zones.len() as u64, "zone"),
        });
    }
    if parts.is_empty() {
        parts.push("empty".to_owned());
    }
    let _ = writeln!(text, "{first}{} ({}): {}", zone.name, zone.routing, parts.join(", "));
    if depth == 0 {
        return;
    }
    let shown = if zones.len() <= ZONES_SHOWN { zones.len() } else { ZONES_SHOWN - 2 };
    for (number, &inner) in zones[..shown].iter().enumerate() {
        let last = number + 1 == zones.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let starts = [format!("{rest}{branch}"), format!("{rest}{below}")];
        describe_zone(platform, inner, depth - 1, [&starts[0], &starts[1]], text);
    }
    if shown < zones.len() {
        let hosts: usize = zones[shown..].iter().map(|&zone| hosts_inside(platform, zone)).sum();
        let _ = writeln!(
            text,
            "{rest}└─ and {} more zones with {}",
            show_count((zones.len() - shown) as u64),
            many(hosts as u64, "host")
        );
    }
}

/// The hosts among the members of a zone, by their kinds if these are few.
fn describe_hosts(platform: &Platform, members: &[Point]) -> Option<String> {
    let mut kinds: BTreeMap<(u64, u32), u64> = BTreeMap::new();
    let mut total = 0;
    for point in members {
        if let Point::Host(host) = point {
            let host = platform.host(*host);
            *kinds.entry((host.speed().to_bits(), host.cores)).or_default() += 1;
            total += 1;
        }
    }
    if total == 0 {
        return None;
    }
    let hosts = many(total, "host");
    let mut list: Vec<(u64, f64, u32)> =
        kinds.into_iter().map(|((bits, cores), count)| (count, f64::from_bits(bits), cores)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let kind = |speed: f64, cores: u32| match cores {
        1 => show_speed(speed),
        _ => format!("{} x {}", show_count(cores.into()), show_speed(speed)),
    };
    Some(match list[..] {
        [(_, speed, cores)] => format!("{hosts} of {}", kind(speed, cores)),
        _ if list.len() <= 3 => {
            let kinds: Vec<String> = list
                .iter()
                .map(|&(count, speed, cores)| format!("{} of {}", show_count(count), kind(speed, cores)))
                .collect();
            format!("{hosts} ({})", kinds.join(", "))
        }
        _ => {
            let speeds = || list.iter().map(|kind| kind.1);
            let (low, high) = (speeds().fold(f64::INFINITY, f64::min), speeds().fold(0.0, f64::max));
            format!("{hosts} of {} to {}", show_speed(low), show_speed(high))
        }
    })
}

fn inner_zones(members: &[Point]) -> Vec<ZoneId> {
    let zones =
        members.iter().filter_map(|point| if let Point::Zone(zone) = point { Some(*zone) } else { None });
    zones.collect()
}

/// Hosts of a zone and of all zones in it.
pub(crate) fn hosts_inside(platform: &Platform, zone: ZoneId) -> usize {
    let members = platform.zone(zone).members;
    let own = members.iter().filter(|point| matches!(point, Point::Host(_))).count();
    own + inner_zones(members).into_iter().map(|zone| hosts_inside(platform, zone)).sum::<usize>()
}

fn link_counts(platform: &Platform) -> String {
    let mut counts = [0_u64; 3];
    for link in platform.links().filter(|&link| link != platform.loopback()) {
        counts[match platform.link(link).sharing {
            Sharing::Shared => 0,
            Sharing::FatPipe => 1,
            Sharing::Wifi => 2,
        }] += 1;
    }
    let total: u64 = counts.iter().sum();
    let kinds: Vec<String> = counts
        .iter()
        .zip(["shared", "fatpipe", "wifi"])
        .filter(|(count, _)| **count > 0)
        .map(|(count, kind)| format!("{} {kind}", show_count(*count)))
        .collect();
    match kinds.len() {
        0 | 1 => show_count(total),
        _ => format!("{} ({})", show_count(total), kinds.join(", ")),
    }
}

fn profile_counts(platform: &Platform) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for binding in platform.profiles() {
        let kind = match binding.target {
            ProfileTarget::HostSpeed(_) => "host speed",
            ProfileTarget::HostState(_) => "host state",
            ProfileTarget::LinkBandwidth(_) => "link bandwidth",
            ProfileTarget::LinkLatency(_) => "link latency",
            ProfileTarget::LinkState(_) => "link state",
        };
        *counts.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> =
        counts.iter().map(|(kind, count)| format!("{} {kind}", show_count(*count))).collect();
    kinds.join(", ")
}

/// `1 host`, `2 hosts`.
pub(crate) fn many(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", show_count(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterSpec, Routing};

    fn platform() -> Platform {
        let mut b = Platform::builder();
        let world = b.zone("world", Routing::Full);
        let grid = b.cluster(world, ClusterSpec { cores: 4, ..ClusterSpec::new("grid", 1000) });
        let home = b.zone_in(world, "home", Routing::Full);
        let laptop = b.host(home, "laptop", 2.5e9).id();
        let phone = b.host(home, "phone", 5e8).id();
        let air = b.link(home, "air", 54e6 / 8.0, 2e-3).id();
        b.route(home, laptop, phone, [air]);
        let internet = b.link(world, "internet", 1.25e9, 0.01).sharing(Sharing::FatPipe).id();
        let gate = b.host_named("grid-0").unwrap();
        b.route(world, grid, home, [internet]).gateways(gate, laptop);
        b.config("network/model", "CM02");
        b.build().unwrap()
    }

    #[test]
    fn a_platform_in_a_few_lines() {
        assert_eq!(
            summary(&platform()),
            "platform
  hosts     1,002, 4,002 cores, 4.003 Tf
  links     2,002 (2,001 shared, 1 fatpipe)
  routers   1
  zones     3
    world (full): 2 zones
    ├─ grid (flat cluster): 1,000 hosts of 4 x 1 Gf, 1 router
    └─ home (full): 2 hosts (1 of 2.5 Gf, 1 of 500 Mf)
  config    network/model = CM02
"
        );
    }

    #[test]
    fn a_route_link_by_link() {
        let platform = platform();
        let (node, phone) = (platform.host_named("grid-7").unwrap(), platform.host_named("phone").unwrap());
        assert_eq!(
            describe_route(&platform, node, phone).unwrap(),
            "grid-7 to phone: 4 links
  grid_link_7_UP     125 MBps  50 us
  grid_link_0_DOWN   125 MBps  50 us
  internet          1.25 GBps  10 ms  fatpipe
  air               6.75 MBps   2 ms
latency     12.1 ms
bottleneck  6.75 MBps, link air
"
        );
    }
}
