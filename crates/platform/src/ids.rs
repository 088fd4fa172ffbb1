//! Identities: one small type for each kind of thing, so that a link is never taken for a host.

use std::fmt;

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the platform's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The identity of what stands at a position of the platform's table.
            ///
            /// # Panics
            /// If the position does not fit in 32 bits; the builder never makes tables that long.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("tables of a platform are shorter than 2^32"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

identity!(
    /// A computer.
    HostId
);
identity!(
    /// A network link; one direction of it if it was declared SPLITDUPLEX.
    LinkId
);
identity!(
    /// A disk of a host.
    DiskId
);
identity!(
    /// A point that routes pass through and where nothing runs.
    RouterId
);
identity!(
    /// A part of the platform that routes in one way.
    ZoneId
);

/// What a zone consists of, and what a route may start from, pass by or end at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Point {
    /// A host.
    Host(HostId),
    /// A router.
    Router(RouterId),
    /// A zone inside another.
    Zone(ZoneId),
}

impl From<HostId> for Point {
    fn from(id: HostId) -> Self {
        Point::Host(id)
    }
}

impl From<RouterId> for Point {
    fn from(id: RouterId) -> Self {
        Point::Router(id)
    }
}

impl From<ZoneId> for Point {
    fn from(id: ZoneId) -> Self {
        Point::Zone(id)
    }
}
