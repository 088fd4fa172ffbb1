//! Wifi zones: one medium, crossed once by each station of the route, and not by the access point.

use crate::ids::LinkId;
use crate::routing::Reason;

/// The medium and who needs none of it.
pub(crate) struct Wifi {
    pub(crate) link: Option<LinkId>,
    /// The member that is the access point.
    pub(crate) access_point: Option<u32>,
}

impl Wifi {
    pub(crate) fn route(&self, from: u32, to: u32, route: &mut Vec<LinkId>) -> Result<(), Reason> {
        let link = self.link.ok_or(Reason::NoWifiLink)?;
        for member in [from, to] {
            if self.access_point != Some(member) {
                route.push(link);
            }
        }
        Ok(())
    }
}
