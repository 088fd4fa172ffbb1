//! Which models to use, and their numbers.

mod keys;

use crate::error::Error;
use crate::factors::{Factor, SMPI_BANDWIDTH, SMPI_LATENCY};

/// All that can be chosen about the models. The default is SimGrid's: LV08.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// How messages move.
    pub network: NetworkKind,
    /// Whether acknowledgements take 5 % of the way back.
    pub crosstraffic: bool,
    /// The TCP window, in bytes; 0 or less for none.
    pub tcp_gamma: f64,
    /// Bandwidth of the implicit loopback, instead of the platform's.
    pub loopback_bandwidth: Option<f64>,
    /// Latency of the implicit loopback, instead of the platform's.
    pub loopback_latency: Option<f64>,
    /// Latency factor, instead of the model's.
    pub latency_factor: Option<Factor>,
    /// Bandwidth factor, instead of the model's.
    pub bandwidth_factor: Option<Factor>,
    /// Latency factor of the models SMPI and IB, which look at no other.
    pub smpi_latency_factor: Option<Factor>,
    /// Bandwidth factor of the models SMPI and IB, which look at no other.
    pub smpi_bandwidth_factor: Option<Factor>,
    /// The S of the penalty, instead of the model's.
    pub weight_s: Option<f64>,
    /// How long a message lasts in the constant model, in seconds, where no latency factor is given.
    pub constant_latency: f64,
    /// Whether executions and transfers go through the parallel-task model.
    pub host_model: HostModel,
    /// Dates closer than this are one instant, in seconds.
    pub precision_timing: f64,
    /// The relative amount of a capacity that counts as nothing.
    pub precision_work_amount: f64,
    /// How shares are computed.
    pub solver: Solver,
    /// Whether energy is counted, where the platform says how much is drawn.
    pub energy: bool,
    /// How many flows may use a link at once where the platform does not say; none: any number.
    pub concurrency_limit: Option<u32>,
    /// InfiniBand contention: penalty of receiving, of sending, and of both at once.
    pub infiniband: Infiniband,
    /// Whether disk accesses lose whole bytes at each stop of the clock, as in SimGrid, instead of being fluids.
    pub whole_bytes: bool,
}

/// How messages move.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NetworkKind {
    /// Velho and Legrand 2008: TCP on wide-area networks.
    Lv08,
    /// Casanova and Marchal 2002: no factors.
    Cm02,
    /// No factors and no cross-traffic.
    Raw,
    /// Factors by size, as measured on MPI clusters.
    Smpi,
    /// SMPI's factors and the contention of InfiniBand cards.
    Infiniband,
    /// Every message lasts the same, whatever its size and the network.
    Constant,
}

/// Which model runs executions and transfers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum HostModel {
    /// Processors and network apart.
    Default,
    /// All through the parallel-task model.
    PtaskL07,
}

/// How shares are computed. Both give the same shares.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Solver {
    /// Only what is reachable from a change.
    Incremental,
    /// Everything afresh, each time: slow, and plainly right.
    Obvious,
}

/// The three numbers of the InfiniBand contention model (J. Vienne, PhD thesis, Grenoble 2010).
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Infiniband {
    /// Be: incoming conflicts.
    pub beta_in: f64,
    /// Bs: outgoing conflicts.
    pub beta_out: f64,
    /// ys: outgoing conflicts towards a loaded receiver.
    pub gamma_out: f64,
}

/// What became of a configuration key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// It took effect.
    Used,
    /// SimGrid has it, but it means nothing here.
    Ignored,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            network: NetworkKind::Lv08,
            crosstraffic: true,
            tcp_gamma: 4194304.0,
            loopback_bandwidth: None,
            loopback_latency: None,
            latency_factor: None,
            bandwidth_factor: None,
            smpi_latency_factor: None,
            smpi_bandwidth_factor: None,
            weight_s: None,
            constant_latency: 1.0,
            host_model: HostModel::Default,
            precision_timing: 1e-9,
            precision_work_amount: 1e-5,
            solver: Solver::Incremental,
            energy: true,
            concurrency_limit: None,
            infiniband: Infiniband { beta_in: 0.965, beta_out: 0.925, gamma_out: 1.35 },
            whole_bytes: false,
        }
    }
}

impl Config {
    /// Sets one of SimGrid's keys, such as `network/model` to `CM02`. Keys that SimGrid has but that mean
    /// nothing here are let through; an unknown one is an error that suggests the nearest.
    pub fn set(&mut self, key: &str, value: &str) -> Result<Known, Error> {
        keys::set(self, key, value)
    }

    /// The latency factor in force.
    pub fn latency_factors(&self) -> Factor {
        let given = &self.latency_factor;
        match self.network {
            NetworkKind::Smpi | NetworkKind::Infiniband => {
                self.smpi_latency_factor.clone().unwrap_or_else(|| Factor::by_size(&SMPI_LATENCY))
            }
            NetworkKind::Lv08 => given.clone().unwrap_or_else(|| Factor::constant(13.01)),
            _ => given.clone().unwrap_or_else(|| Factor::constant(1.0)),
        }
    }

    /// How long messages last in the constant model: as many seconds as the latency factor, if one is given.
    pub fn constant_durations(&self) -> Factor {
        self.latency_factor.clone().unwrap_or_else(|| Factor::constant(self.constant_latency))
    }

    /// The bandwidth factor in force.
    pub fn bandwidth_factors(&self) -> Factor {
        let given = &self.bandwidth_factor;
        match self.network {
            NetworkKind::Smpi | NetworkKind::Infiniband => {
                self.smpi_bandwidth_factor.clone().unwrap_or_else(|| Factor::by_size(&SMPI_BANDWIDTH))
            }
            NetworkKind::Lv08 => given.clone().unwrap_or_else(|| Factor::constant(0.97)),
            _ => given.clone().unwrap_or_else(|| Factor::constant(1.0)),
        }
    }

    /// The S of the penalty in force.
    pub fn penalty_weight(&self) -> f64 {
        self.weight_s.unwrap_or(match self.network {
            NetworkKind::Lv08 => 20537.0,
            NetworkKind::Smpi | NetworkKind::Infiniband => 8775.0,
            NetworkKind::Cm02 | NetworkKind::Raw | NetworkKind::Constant => 0.0,
        })
    }

    /// The weight of acknowledgements on the links of the way back; 0 without cross-traffic.
    pub fn reverse_weight(&self) -> f64 {
        match self.network {
            NetworkKind::Raw | NetworkKind::Constant => 0.0,
            _ if self.crosstraffic => 0.05,
            _ => 0.0,
        }
    }
}
