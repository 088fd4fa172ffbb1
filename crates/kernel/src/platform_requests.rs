//! Requests about the platform, answered by the models.

use simurgh_models::{ActionId, Models};
use simurgh_platform::HostId;

use crate::ids::ActivityId;
use crate::simcall::{PlatformAnswer, PlatformRequest};

/// Answers a request. `action` finds the work that the models do for an activity.
pub(crate) fn answer(
    models: &mut Models,
    request: &PlatformRequest,
    action: &dyn Fn(ActivityId) -> Option<ActionId>,
) -> PlatformAnswer {
    use PlatformAnswer::{Done, Flag, Number, Refused};
    match *request {
        PlatformRequest::HostSpeed(host) => Number(models.host_speed(host)),
        PlatformRequest::HostLoad(host) => Number(models.host_load(host)),
        PlatformRequest::HostIsOn(host) => Flag(models.host_is_on(host)),
        PlatformRequest::SetHostState(host, on) => {
            models.set_host_state(host, on);
            Done
        }
        PlatformRequest::Pstate(host) => Number(models.host_pstate(host) as f64),
        PlatformRequest::SetPstate(host, pstate) => match models.set_host_pstate(host, pstate) {
            Ok(()) => Done,
            Err(error) => Refused(Box::new(error.to_string())),
        },
        PlatformRequest::HostEnergy(host) => watts_of_host(models, host, models.host_energy(host)),
        PlatformRequest::HostPower(host) => watts_of_host(models, host, models.host_power(host)),
        PlatformRequest::LinkBandwidth(link) => Number(models.link_bandwidth(link)),
        PlatformRequest::LinkLatency(link) => Number(models.link_latency(link)),
        PlatformRequest::LinkLoad(link) => Number(models.link_load(link)),
        PlatformRequest::LinkIsOn(link) => Flag(models.link_is_on(link)),
        PlatformRequest::SetLinkState(link, on) => {
            models.set_link_state(link, on);
            Done
        }
        PlatformRequest::SetLinkBandwidth(link, bandwidth) => {
            if !(0.0..=1e100).contains(&bandwidth) {
                return Refused(Box::new(format!(
                    "a bandwidth cannot be {bandwidth:e}; give a number that is not negative"
                )));
            }
            models.set_link_bandwidth(link, bandwidth);
            Done
        }
        PlatformRequest::SetLinkLatency(link, latency) => {
            if !(0.0..=1e100).contains(&latency) {
                return Refused(Box::new(format!(
                    "a latency cannot be {latency:e}; give a number that is not negative"
                )));
            }
            models.set_link_latency(link, latency);
            Done
        }
        PlatformRequest::LinkEnergy(link) => {
            let unknown = || {
                let name = models.platform().link(link).name;
                Refused(Box::new(format!("link {name:?} has no wattage_range: its energy is not known")))
            };
            models.link_energy(link).map_or_else(unknown, Number)
        }
        PlatformRequest::SetStationRate(link, host, level) => {
            match models.set_station_rate(link, host, level) {
                Ok(()) => Done,
                Err(error) => Refused(Box::new(error.to_string())),
            }
        }
        PlatformRequest::SetPriority(activity, priority) => {
            if let Err(error) = simurgh_models::Refused::unless_sensible("a priority", priority) {
                return Refused(Box::new(error.to_string()));
            }
            if let Some(action) = action(activity) {
                models.set_priority(action, priority);
            }
            Done
        }
        PlatformRequest::SetBound(activity, bound) => {
            let sensible = bound.map(|bound| simurgh_models::Refused::unless_sensible("a bound", bound));
            if let Some(Err(error)) = sensible {
                return Refused(Box::new(error.to_string()));
            }
            if let Some(action) = action(activity) {
                models.set_bound(action, bound);
            }
            Done
        }
    }
}

/// What is known of the energy of a host, if its platform says what it draws.
fn watts_of_host(models: &Models, host: HostId, known: Option<f64>) -> PlatformAnswer {
    known.map_or_else(
        || {
            let name = models.platform().host(host).name;
            let why = format!("host {name:?} has no wattage_per_state: its energy is not known");
            PlatformAnswer::Refused(Box::new(why))
        },
        PlatformAnswer::Number,
    )
}
