//! Keeps, for each piece of work, the stretches of time with one rate and one cause.

use std::collections::BTreeMap;

use crate::seeing::{Explanation, Limit, Segment, What};
use crate::time::SimTime;
use crate::work::{ActionId, Token};

/// The explanations being written, and those not taken yet.
#[derive(Default, Debug)]
pub(crate) struct Explainer {
    records: BTreeMap<ActionId, Record>,
}

#[derive(Debug)]
struct Record {
    explanation: Explanation,
    /// The stretch under way; its `to` is not known yet.
    open: Option<Segment>,
}

impl Explainer {
    pub fn begin(&mut self, id: ActionId, now: f64, what: What) {
        let date = SimTime::new(now);
        let explanation =
            Explanation { started: date, ended: date, what, latency_until: None, segments: Vec::new() };
        self.records.insert(id, Record { explanation, open: None });
    }

    /// From now on, this rate for this reason.
    pub fn observe(&mut self, id: ActionId, now: f64, rate: f64, limit: Limit, sharers: Vec<Token>) {
        let Some(record) = self.records.get_mut(&id) else { return };
        if let Some(open) = &record.open
            && is_same(open, rate, limit, &sharers)
        {
            return;
        }
        record.close(now);
        let date = SimTime::new(now);
        record.open = Some(Segment { from: date, to: date, rate, limit, sharers });
    }

    /// The wait of a flow is over.
    pub fn wait_over(&mut self, id: ActionId, now: f64) {
        if let Some(record) = self.records.get_mut(&id) {
            record.explanation.latency_until = Some(SimTime::new(now));
        }
    }

    pub fn end(&mut self, id: ActionId, now: f64) {
        if let Some(record) = self.records.get_mut(&id) {
            record.close(now);
            record.explanation.ended = SimTime::new(now);
        }
    }

    /// The explanation of an action, up to now if it is not over.
    pub fn take(&mut self, id: ActionId, now: f64, is_over: bool) -> Option<Explanation> {
        if is_over {
            return self.records.remove(&id).map(|record| record.explanation);
        }
        let record = self.records.get_mut(&id)?;
        let open = record.open.clone();
        record.close(now);
        record.open = open.map(|open| Segment { from: SimTime::new(now), ..open });
        record.explanation.ended = SimTime::new(now);
        Some(record.explanation.clone())
    }
}

impl Record {
    fn close(&mut self, now: f64) {
        let Some(mut open) = self.open.take() else { return };
        open.to = SimTime::new(now);
        if open.to <= open.from {
            return;
        }
        match self.explanation.segments.last_mut() {
            Some(last) if is_same(last, open.rate, open.limit, &open.sharers) => last.to = open.to,
            _ => self.explanation.segments.push(open),
        }
    }
}

/// Rates that differ by a rounding are the same.
fn is_same(segment: &Segment, rate: f64, limit: Limit, sharers: &[Token]) -> bool {
    let close = (segment.rate - rate).abs() <= 1e-12 * segment.rate.abs();
    close && segment.limit == limit && segment.sharers == sharers
}
