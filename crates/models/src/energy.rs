//! Joules: what hosts and links draw, by their load.

use std::num::NonZeroU32;

use simurgh_platform::{Host, Link, Platform};

use crate::error::Error;

/// The meters of the hosts and links whose properties say what they draw.
#[derive(Default, Debug)]
pub(crate) struct Energy {
    pub hosts: Meters<HostPower>,
    pub links: Meters<LinkPower>,
}

/// The meters of some of many things that have numbers. A meter is read and set with each change of load, so it is found without a
/// search.
#[derive(Debug)]
pub(crate) struct Meters<P> {
    /// Where that of each thing is; nothing where no thing has one.
    places: Vec<Option<NonZeroU32>>,
    meters: Vec<(P, Meter)>,
}

impl<P> Default for Meters<P> {
    fn default() -> Meters<P> {
        Meters { places: Vec::new(), meters: Vec::new() }
    }
}

impl<P> Meters<P> {
    /// Whether no thing has one.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    fn insert(&mut self, thing: usize, power: P, meter: Meter) {
        self.meters.push((power, meter));
        if self.places.len() <= thing {
            self.places.resize(thing + 1, None);
        }
        self.places[thing] = u32::try_from(self.meters.len()).ok().and_then(NonZeroU32::new);
    }

    fn place(&self, thing: usize) -> Option<usize> {
        let after = (*self.places.get(thing)?)?;
        Some(after.get() as usize - 1)
    }

    /// That of a thing, if it has one, and what it draws.
    #[inline]
    pub fn get(&self, thing: usize) -> Option<&(P, Meter)> {
        self.place(thing).map(|place| &self.meters[place])
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, thing: usize) -> Option<&mut (P, Meter)> {
        self.place(thing).map(|place| &mut self.meters[place])
    }
}

/// Energy drawn so far.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Meter {
    joules: f64,
    pub watts: f64,
    since: f64,
}

/// `wattage_per_state`: for each power state, the watts when idle, at a load just above 0, and with all cores
/// busy; `wattage_off`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HostPower {
    states: Vec<[f64; 3]>,
    off: f64,
}

/// `wattage_range`: the watts when idle and when full. A link that is off draws its idle watts, unless
/// `wattage_off` says otherwise.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LinkPower {
    idle: f64,
    busy: f64,
    off: f64,
}

impl Meter {
    fn new(watts: f64) -> Meter {
        Meter { joules: 0.0, watts, since: 0.0 }
    }

    /// Joules up to a date not before the last change.
    pub fn joules_at(&self, now: f64) -> f64 {
        self.joules + self.watts * (now - self.since)
    }

    /// Counts up to now, and goes on at another power.
    pub fn set_watts(&mut self, watts: f64, now: f64) {
        if watts != self.watts {
            self.joules = self.joules_at(now);
            self.since = now;
            self.watts = watts;
        }
    }
}

impl HostPower {
    /// Watts in a power state; `busy` is the number of busy cores out of `cores`.
    pub fn watts(&self, on: bool, pstate: usize, busy: f64, cores: f64) -> f64 {
        if !on {
            return self.off;
        }
        let [idle, epsilon, full] = self.states[pstate];
        if busy <= 0.0 { idle } else { epsilon + (full - epsilon) * (busy / cores).min(1.0) }
    }
}

impl LinkPower {
    /// Watts at a load between 0 and 1.
    pub fn watts(&self, on: bool, load: f64) -> f64 {
        if on { self.idle + (self.busy - self.idle) * load } else { self.off }
    }
}

impl Energy {
    /// Reads the properties of a platform.
    pub fn new(platform: &Platform) -> Result<Energy, Error> {
        let mut energy = Energy::default();
        for id in platform.hosts() {
            let host = platform.host(id);
            if let Some(power) = host_power(&host)? {
                let watts = power.watts(true, host.pstate, 0.0, 1.0);
                energy.hosts.insert(id.index(), power, Meter::new(watts));
            }
        }
        for id in platform.links() {
            if let Some(power) = link_power(&platform.link(id))? {
                let watts = power.watts(true, 0.0);
                energy.links.insert(id.index(), power, Meter::new(watts));
            }
        }
        Ok(energy)
    }
}

fn host_power(host: &Host<'_>) -> Result<Option<HostPower>, Error> {
    let given =
        |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, host.property(name)?)));
    let Some((name, text)) = given(["wattage_per_state", "watt_per_state"]) else {
        return Ok(None);
    };
    let bad = |property: &str, value: &str, expected: &str| Error::BadProperty {
        owner: format!("{}: host \"{}\"", host.property_place(property), host.name),
        property: property.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    };
    let mut states = Vec::new();
    for state in text.split(',') {
        states.push(match numbers(state).as_deref() {
            Some(&[idle, epsilon, full]) => [idle, epsilon, full],
            Some(&[idle, full]) => [idle, idle, full],
            _ => {
                let expected = "idle:epsilon:all_cores in watts is expected for each power state";
                return Err(bad(name, text, expected));
            }
        });
    }
    if states.len() != host.speeds.len() {
        let power_states = match host.speeds.len() {
            1 => "one power state".to_owned(),
            count => format!("{count} power states"),
        };
        let expected = format!("the host has {power_states}, and as many wattages are expected");
        return Err(bad(name, text, &expected));
    }
    let (name, off) = given(["wattage_off", "watt_off"]).unwrap_or(("wattage_off", "0"));
    let off = watts(off).ok_or_else(|| bad(name, off, "a number of watts is expected"))?;
    Ok(Some(HostPower { states, off }))
}

fn link_power(link: &Link<'_>) -> Result<Option<LinkPower>, Error> {
    let given = ["wattage_range", "watt_range"];
    let Some((name, text)) = given.into_iter().find_map(|name| Some((name, link.property(name)?))) else {
        return Ok(None);
    };
    let bad = |property: &str, value: &str, expected: &str| Error::BadProperty {
        owner: format!("{}: link \"{}\"", link.property_place(property), link.name),
        property: property.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    };
    let Some(&[idle, busy]) = numbers(text).as_deref() else {
        return Err(bad(name, text, "idle:busy in watts is expected"));
    };
    let off = match link.property("wattage_off") {
        Some(off) => watts(off).ok_or_else(|| bad("wattage_off", off, "a number of watts is expected"))?,
        None => idle,
    };
    Ok(Some(LinkPower { idle, busy, off }))
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(':').map(watts).collect()
}

/// A number of watts: finite, and not negative.
fn watts(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|watts| (0.0..f64::INFINITY).contains(watts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_are_found_by_number() {
        let mut meters = Meters::default();
        assert!(meters.is_empty() && meters.get(0).is_none());
        for thing in [3, 7] {
            meters.insert(thing, thing, Meter::new(10.0));
        }
        for thing in 0..10 {
            let found = meters.get_mut(thing).map(|(power, meter)| {
                meter.set_watts(20.0, 1.0);
                (*power, meter.joules_at(2.0))
            });
            assert_eq!(found, [3, 7].contains(&thing).then_some((thing, 30.0)));
        }
    }
}
