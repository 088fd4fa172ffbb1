//! Single things: a host, a router, a card for many.

use crate::ids::{HostId, LinkId, Point};
use crate::inventory::Sharing;
use crate::platform::Platform;
use crate::svg::scene::{Scene, shorten, text_width};
use crate::units::{show_bandwidth, show_speed, show_time};

/// A host with its name and speed.
pub(super) fn host(platform: &Platform, id: HostId) -> Scene {
    let host = platform.host(id);
    let speed = match host.cores {
        1 => show_speed(host.speed()),
        cores => format!("{cores} x {}", show_speed(host.speed())),
    };
    let disks = platform.disks_of(id).len();
    let speed = match disks {
        0 => speed,
        1 => format!("{speed}, disk"),
        _ => format!("{speed}, {disks} disks"),
    };
    two_lines("host", 6.0, host.name, &speed)
}

/// A router with its name.
pub(super) fn router(name: &str) -> Scene {
    let shown = shorten(name, 22);
    let width = (text_width(&shown, 11.5) + 22.0).max(44.0);
    let mut scene = Scene::new(width, 26.0);
    scene.rect("router", (0.0, 0.0), (width, 26.0), 13.0);
    scene.text("label", "middle", (width / 2.0, 17.0), &shown);
    scene
}

/// A link that joins several nodes, each to each.
pub(super) fn hub(platform: &Platform, link: LinkId) -> Scene {
    let lines = [shorten(platform.link(link).name, 22), figures(platform, link)];
    let width = lines.iter().map(|line| text_width(line, 11.0)).fold(40.0, f64::max) + 20.0;
    let mut scene = Scene::new(width, 36.0);
    scene.rect("bus", (0.0, 0.0), (width, 36.0), 18.0);
    scene.text("label", "middle", (width / 2.0, 16.0), &lines[0]);
    scene.text("tiny", "middle", (width / 2.0, 29.0), &lines[1]);
    scene
}

/// Many things in a few lines, the first being the title.
pub(super) fn card(lines: &[String]) -> Scene {
    let lines: Vec<String> = lines.iter().map(|line| shorten(line, 40)).collect();
    let width = lines.iter().map(|line| text_width(line, 12.0)).fold(70.0, f64::max) + 24.0;
    let height = 16.0 * lines.len() as f64 + 16.0;
    let mut scene = Scene::new(width + 6.0, height + 6.0);
    // Sheets below suggest that there are many.
    scene.rect("card", (6.0, 6.0), (width, height), 8.0);
    scene.rect("card", (3.0, 3.0), (width, height), 8.0);
    scene.rect("card", (0.0, 0.0), (width, height), 8.0);
    for (number, line) in lines.iter().enumerate() {
        let class = if number == 0 { "label" } else { "small" };
        scene.text(class, "middle", (width / 2.0, 21.0 + 16.0 * number as f64), line);
    }
    scene
}

/// A host or a router.
pub(super) fn point(platform: &Platform, point: Point) -> Scene {
    match point {
        Point::Host(id) => host(platform, id),
        Point::Router(_) | Point::Zone(_) => router(platform.point_name(point)),
    }
}

fn two_lines(class: &str, radius: f64, first: &str, second: &str) -> Scene {
    let shown = shorten(first, 22);
    let width = (text_width(&shown, 12.0).max(text_width(second, 10.0)) + 18.0).max(64.0);
    let mut scene = Scene::new(width, 40.0);
    scene.rect(class, (0.0, 0.0), (width, 40.0), radius);
    scene.text("label", "middle", (width / 2.0, 17.0), &shown);
    scene.text("tiny", "middle", (width / 2.0, 32.0), second);
    scene
}

/// How a link is drawn: its class and width. The width tells the order of magnitude.
pub(super) fn stroke(platform: &Platform, link: LinkId) -> (&'static str, f64) {
    let link = platform.link(link);
    let class = if link.sharing == Sharing::FatPipe { "fat" } else { "link" };
    (class, (0.8 * (link.bandwidth.log10() - 5.0)).clamp(1.0, 5.0))
}

/// Bandwidth and latency of a link.
pub(super) fn figures(platform: &Platform, link: LinkId) -> String {
    let link = platform.link(link);
    if link.latency == 0.0 {
        return show_bandwidth(link.bandwidth);
    }
    format!("{}, {}", show_bandwidth(link.bandwidth), show_time(link.latency))
}
