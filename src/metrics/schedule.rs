//! The metrics of one schedule of one agent.

use ::metrics::{Counter, counter};

use super::{SCHEDULE_BEGUN, SCHEDULE_FAILED, SCHEDULE_SKIPPED};

/// The instruments of one schedule.
pub(crate) struct ScheduleMeter([Counter; COUNTERS.len()]);

/// The counters of the numbers that [`ScheduleMeter::show`] gets, in their order.
const COUNTERS: [&str; 3] = [SCHEDULE_BEGUN, SCHEDULE_SKIPPED, SCHEDULE_FAILED];

impl ScheduleMeter {
    pub(crate) fn new(group: &str, node: &str, schedule: &str) -> Self {
        let labels = [
            ("group", group.to_owned()),
            ("node", node.to_owned()),
            ("schedule", schedule.to_owned()),
        ];
        Self(COUNTERS.map(|name| {
            let counter = counter!(name, &labels);
            // So that the series exists before the first tick.
            counter.increment(0);
            counter
        }))
    }

    /// Shows the numbers of ticks that this agent has begun, skipped, and begun without success.
    pub(crate) fn show(&self, counts: [u64; COUNTERS.len()]) {
        for (counter, count) in self.0.iter().zip(counts) {
            counter.absolute(count);
        }
    }
}
