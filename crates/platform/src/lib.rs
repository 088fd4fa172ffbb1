//! Hosts, links, disks, zones and routes: a platform, which knows no time.
#![forbid(unsafe_code)]
