//! Hosts, links, disks, zones and routes: a platform, which knows no time.
//!
//! In reading order:
//! - [`HostId`] and the other identities, and the compact tables that they index (`ids`, `names`, `inventory`);
//! - [`Platform`], what its users see (`platform`, `zone`);
//! - [`PlatformBuilder`], platforms from Rust, with [`ClusterSpec`] for many hosts at once (`builder`);
//! - [`Route`]: how the way between two hosts is found, a file for each kind of zone (`routing`);
//! - reading SimGrid's XML, for [`Platform::from_file`] and [`read_deployment`] (`xml`, `deployment`);
//! - [`units`] and [`Profile`]: the small languages inside such files;
//! - [`Error`], [`RouteError`]: one line each, where, what, and what to do (`error`, [`suggest`], [`shown`](fn@shown));
//! - [`summary`], [`describe_route`] and [`svg`]: platforms in words and drawn (`describe`);
//! - [`builtin`]: the platform of those who gave none.
//!
//! ```
//! use simurgh_platform::Platform;
//!
//! let text = r#"<platform version="4.1">
//!   <zone id="world" routing="Full">
//!     <host id="alice" speed="1Gf" core="4"/>
//!     <host id="bob" speed="2Gf"/>
//!     <link id="wire" bandwidth="125MBps" latency="50us"/>
//!     <route src="alice" dst="bob"><link_ctn id="wire"/></route>
//!   </zone>
//! </platform>"#;
//! let platform = Platform::from_xml(text, "example.xml", ".".as_ref()).unwrap();
//! let (alice, bob) = (platform.host_named("alice").unwrap(), platform.host_named("bob").unwrap());
//! let route = platform.route(bob, alice).unwrap();
//! assert_eq!(platform.link(route.links[0]).name, "wire");
//! assert_eq!(route.latency, 50e-6);
//! ```
#![forbid(unsafe_code)]

mod builder;
pub mod builtin;
mod deployment;
mod describe;
mod error;
mod ids;
mod inventory;
mod names;
mod platform;
mod profile;
mod properties;
mod routing;
pub mod suggest;
pub mod svg;
pub mod units;
mod xml;
mod zone;

pub use builder::{
    BackboneSpec, ClusterSpec, DiskBuilder, HostBuilder, LinkBuilder, LoopbackSpec, PlatformBuilder,
    PrivateLinks, RouteBuilder, SplitLink, Topology,
};
pub use deployment::{ActorDeclaration, OnFailure, read_deployment};
pub use describe::{describe_route, summary};
pub use error::{Error, Place, RouteError};
pub use ids::{DiskId, HostId, LinkId, Point, RouterId, ZoneId};
pub use inventory::Sharing;
pub use platform::{Disk, Host, Link, Platform, Zone};
pub use profile::{Profile, ProfileBinding, ProfileIter, ProfilePoint, ProfileTarget, Repeat};
pub use routing::{Route, StarLeg};
pub use simurgh_files::{shortened, shown};
pub use zone::Routing;
