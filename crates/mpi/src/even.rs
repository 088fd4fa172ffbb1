//! Whether all processes of a run are in the same situation, so that what all of them do at the same date takes all of them as long.
//!
//! That is so where process r + n runs on the host of process r, for the n hosts that there are, all hosts stand around one centre
//! with links that are alike, and nothing else goes on. Then the messages from each r to r + d, for any d, which begin at one
//! date, end at one date. A collective of n rounds of n messages need not send all of them: see
//! [`in_step`](crate::collectives::in_step).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use simurgh_platform::{HostId, LinkId, Platform, Routing, Sharing};

use crate::collectives::hosts::Hosts;

/// With fewer processes all messages are sent.
const LEAST: usize = 64;

/// What processes know together of how alike they are.
#[derive(Debug, Default)]
pub struct Even {
    /// After how many processes the hosts begin again, if all processes are in the same situation.
    pub stride: Option<usize>,
    /// Who shares a host, which is the same for all.
    pub hosts: OnceLock<Arc<Hosts>>,
    looks: Mutex<BTreeMap<Place, Look>>,
    skipped: AtomicU64,
}

/// Where in the program processes look whether they are in step: the context and the tag of their messages, and in which round.
pub type Place = (u32, i32, usize);

/// A look of all processes at one another.
#[derive(Debug)]
struct Look {
    date: f64,
    came: usize,
    /// Whether all who came did so at this date, and have nothing else under way.
    even: bool,
    answer: Option<bool>,
    answered: usize,
}

impl Even {
    /// For processes on these hosts, in their order.
    pub fn new(platform: &Platform, hosts: &[HostId]) -> Self {
        Self { stride: stride(platform, hosts).filter(|_| hosts.len() >= LEAST), ..Self::default() }
    }

    fn looks(&self) -> MutexGuard<'_, BTreeMap<Place, Look>> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process comes to a place.
    pub fn comes(&self, place: Place, date: f64, is_free: bool) {
        let first = Look { date, came: 0, even: true, answer: None, answered: 0 };
        let mut looks = self.looks();
        let look = looks.entry(place).or_insert(first);
        look.came += 1;
        look.even &= is_free && look.date.to_bits() == date.to_bits();
    }

    /// Whether all of them, so many, came to it at one date. A process asks once, after others had a chance to come; who asks first
    /// finds it out for all, so that they do the same.
    ///
    /// # Panics
    /// If it has not come.
    pub fn are_in_step(&self, place: Place, all: usize) -> bool {
        let mut looks = self.looks();
        let look = looks.get_mut(&place).expect("who asks has come");
        let answer = *look.answer.get_or_insert(look.even && look.came == all);
        look.answered += 1;
        if look.answered == all {
            looks.remove(&place);
        }
        answer
    }

    /// Messages are accounted for that are not sent.
    pub fn skips(&self, messages: u64) {
        self.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    /// How many messages were not sent.
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}

/// After how many processes the hosts begin again, if they do, and are alike.
fn stride(platform: &Platform, hosts: &[HostId]) -> Option<usize> {
    let again = hosts.iter().skip(1).position(|host| *host == hosts[0]);
    let stride = again.map_or(hosts.len(), |place| place + 1);
    let begins_again = || hosts.iter().zip(hosts.iter().skip(stride)).all(|(host, other)| host == other);
    (hosts.len().is_multiple_of(stride) && begins_again() && are_alike(platform, &hosts[..stride]))
        .then_some(stride)
}

/// What matters of a link to those who use it; nothing if that may be more: properties tell what a link draws by its load.
fn kind(platform: &Platform, link: LinkId) -> Option<(u64, u64, bool, Option<u32>)> {
    let link = platform.link(link);
    let shared = match link.sharing {
        Sharing::Shared => true,
        Sharing::FatPipe => false,
        Sharing::Wifi => return None,
    };
    if link.properties().next().is_some() {
        return None;
    }
    Some((link.bandwidth.to_bits(), link.latency.to_bits(), shared, link.concurrency))
}

/// Whether hosts, all different, are members of one star, have links to its centre and to themselves that are alike, and nothing
/// happens to any of them.
fn are_alike(platform: &Platform, hosts: &[HostId]) -> bool {
    let zone = platform.host(hosts[0]).zone;
    let is_star = matches!(platform.zone(zone).routing, Routing::Star | Routing::Cluster | Routing::Flat);
    let among = hosts.iter().all(|host| platform.host(*host).zone == zone);
    let differ = hosts.iter().collect::<std::collections::BTreeSet<_>>().len() == hosts.len();
    if !(is_star && among && differ && platform.profiles().is_empty()) {
        return false;
    }
    let links = |from: HostId, to: HostId| platform.route(from, to).ok().map(|route| route.links);
    // In a star a route is the way of its beginning to the centre, and the way from there to its end: those of two hosts tell all.
    let ends = || hosts.iter().take(if hosts.len() > 1 { 2 } else { 0 });
    let others = |end: HostId| hosts.iter().filter(move |host| **host != end);
    let within = vec![hosts.iter().map(|host| links(*host, *host)).collect()];
    let there = ends().map(|end| others(*end).map(|host| links(*host, *end)).collect()).collect();
    let back = ends().map(|end| others(*end).map(|host| links(*end, *host)).collect()).collect();
    [within, there, back].into_iter().all(|lists: Vec<Option<Vec<_>>>| {
        let lists: Option<Vec<_>> = lists.into_iter().collect();
        lists.is_some_and(|lists| are_like_one_another(platform, &lists))
    })
}

/// Whether all routes of some lists have links of the same kinds, each of which is in one route of a list only, or is in all.
fn are_like_one_another(platform: &Platform, lists: &[Vec<Vec<LinkId>>]) -> bool {
    let kinds =
        |route: &Vec<LinkId>| -> Option<Vec<_>> { route.iter().map(|link| kind(platform, *link)).collect() };
    let mut all = lists.iter().flatten().map(kinds);
    let first = all.next().flatten();
    if first.is_none() && !lists.is_empty() || !all.all(|kinds| kinds == first) {
        return false;
    }
    lists.iter().all(|routes| {
        let mut uses = BTreeMap::<LinkId, usize>::new();
        routes.iter().flatten().for_each(|link| *uses.entry(*link).or_default() += 1);
        uses.values().all(|count| *count == 1 || count.is_multiple_of(routes.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn platform(inside: &str) -> Platform {
        let text = format!(
            "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\
             <platform version=\"4.1\">{inside}</platform>"
        );
        Platform::from_xml(&text, "hosts", Path::new(".")).expect("it is well written")
    }

    fn stride_of(platform: &Platform, processes: usize) -> Option<usize> {
        let hosts: Vec<HostId> = platform.hosts().collect();
        let hosts: Vec<HostId> = hosts.into_iter().cycle().take(processes).collect();
        stride(platform, &hosts)
    }

    #[test]
    fn hosts_of_a_cluster_are_alike() {
        let cluster = |more: &str| {
            platform(&format!(
                "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" {more}/>"
            ))
        };
        let backbone = "bb_bw=\"2GBps\" bb_lat=\"1us\"";
        let own = "loopback_bw=\"1GBps\" loopback_lat=\"1us\" limiter_link=\"100MBps\"";
        for more in ["", backbone, own, "sharing_policy=\"SHARED\""] {
            let cluster = cluster(more);
            assert_eq!(stride_of(&cluster, 8), Some(8), "{more}");
            assert_eq!(stride_of(&cluster, 24), Some(8), "{more}");
            assert_eq!(stride_of(&cluster, 2), Some(2), "{more}");
            assert_eq!(stride_of(&cluster, 20), None, "{more}");
        }
        let hosts: Vec<HostId> = cluster("").hosts().flat_map(|host| [host, host]).collect();
        assert_eq!(stride(&cluster(""), &hosts), None);
        assert_eq!(stride(&cluster(""), &[hosts[3]; 5]), Some(1));
    }

    #[test]
    fn hosts_with_other_links_are_not_alike() {
        let star = |last: &str, inside: &str, more: &str| {
            let member = |name: &str, bandwidth: &str| {
                format!(
                    "<host id=\"{name}\" speed=\"1Gf\"/>\
                     <link id=\"l{name}\" bandwidth=\"{bandwidth}\" latency=\"1us\">{inside}</link>"
                )
            };
            let route = |name: &str, link: &str| {
                format!("<route src=\"{name}\" symmetrical=\"YES\"><link_ctn id=\"{link}\"/></route>")
            };
            platform(&format!(
                "<zone id=\"z\" routing=\"Star\">{}{}{}{}{}{}{more}</zone>",
                member("a", "1MBps"),
                member("b", "1MBps"),
                member("c", if last.is_empty() { "1MBps" } else { last }),
                route("a", "la"),
                route("b", "lb"),
                route("c", if last.is_empty() { "lb" } else { "lc" }),
            ))
        };
        assert_eq!(stride_of(&star("1MBps", "", ""), 3), Some(3));
        assert_eq!(stride_of(&star("2MBps", "", ""), 3), None);
        assert_eq!(stride_of(&star("", "", ""), 3), None);
        let draws = "<prop id=\"wattage_range\" value=\"1:3\"/>";
        assert_eq!(stride_of(&star("1MBps", draws, ""), 3), None);
        let failing = star(
            "1MBps",
            "",
            "<trace id=\"t\" periodicity=\"-1\">1 0.5</trace><trace_connect trace=\"t\" element=\"la\" kind=\"BANDWIDTH\"/>",
        );
        assert_eq!(stride_of(&failing, 3), None);
    }

    #[test]
    fn who_comes_late_is_told_what_the_first_was_told() {
        let even = Even::default();
        let place = (1, 2, 3);
        even.comes(place, 0.5, true);
        assert!(!even.are_in_step(place, 2));
        even.comes(place, 0.5, true);
        assert!(!even.are_in_step(place, 2));
        for (dates, free, expected) in
            [([0.5, 0.5], true, true), ([0.5, 0.6], true, false), ([0.5, 0.5], false, false)]
        {
            dates.iter().for_each(|date| even.comes(place, *date, free));
            assert_eq!([even.are_in_step(place, 2), even.are_in_step(place, 2)], [expected; 2]);
        }
        assert!(even.looks().is_empty());
    }
}
