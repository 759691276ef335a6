//! Many measures of one case and one election, as one row.

use std::time::Duration;

use serde::Serialize;

use super::{
    cases::{Case, Look},
    contenders::Entrant,
    watch::Measure,
};

/// One line of the comparison. Times in milliseconds; medians, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) case: &'static str,
    pub(crate) what: &'static str,
    /// Length of the case in seconds. The row then has the measurements during this time, and the agreement after its
    /// end. `None`: the case is over at once.
    pub(crate) lasts_s: Option<u64>,
    pub(crate) protocol: &'static str,
    pub(crate) source: &'static str,
    pub(crate) promise: &'static str,
    /// Number of seeds; the figures are their medians.
    pub(crate) seeds: usize,
    /// Time until all agreed; `None` if they did not agree with any seed.
    pub(crate) agreed_ms: Option<f64>,
    /// The longest time of all seeds.
    pub(crate) agreed_ms_most: Option<f64>,
    /// Percentage of seeds with an agreement.
    pub(crate) agreed_percent: f64,
    /// Percentage of seeds with an agreement on the highest in rank.
    pub(crate) highest_percent: f64,
    /// Messages until the agreement; for a case that lasts, per second.
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
    /// Length of the longest chain of messages that caused each other.
    pub(crate) rounds: f64,
    /// Largest number of leaders at the same time, of all seeds.
    pub(crate) leaders_most: usize,
    pub(crate) contested_ms: f64,
    pub(crate) vacant_ms: f64,
    /// Number of leaderships that began during the case.
    pub(crate) elections: f64,
}

impl Row {
    pub(crate) fn of(case: Case, entrant: &Entrant, measures: &[Measure]) -> Self {
        let median = |of: fn(&Measure) -> f64| middle(measures.iter().map(of).collect());
        let times: Vec<f64> = measures
            .iter()
            .filter_map(|measure| measure.agreed.map(ms))
            .collect();
        let highest = measures.iter().filter(|measure| measure.highest).count();
        let most = times.iter().copied().reduce(f64::max);
        Self {
            case: case.name(),
            what: case.what(),
            lasts_s: match case.look() {
                Look::Agreement => None,
                Look::While(span) => Some(span.as_secs()),
            },
            protocol: entrant.name,
            source: entrant.source,
            promise: entrant.promise,
            seeds: measures.len(),
            agreed_percent: 100.0 * share(times.len(), measures.len()),
            highest_percent: 100.0 * share(highest, measures.len()),
            agreed_ms: most.map(|_| middle(times)),
            agreed_ms_most: most,
            messages: median(|measure| measure.messages),
            bytes: median(|measure| measure.bytes),
            rounds: median(|measure| f64::from(measure.rounds)),
            leaders_most: measures.iter().map(|m| m.leaders).max().unwrap_or(0),
            contested_ms: median(|measure| ms(measure.contested)),
            vacant_ms: median(|measure| ms(measure.vacant)),
            elections: median(|measure| share(measure.elections, 1)),
        }
    }
}

/// The rows as JSON.
pub(crate) fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(rows).map(|text| text + "\n")
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn share(part: usize, of: usize) -> f64 {
    let number = |count| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(of).max(1.0)
}
