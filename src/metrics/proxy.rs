//! The metrics of one `LeaderProxy`, which passes messages to the leader.

use ::metrics::{Counter, Gauge, counter, gauge};

use super::{PROXY_MESSAGES, PROXY_WAITING};

/// The instruments of one proxy.
pub(crate) struct ProxyMeter {
    waiting: Gauge,
    outcomes: [Counter; OUTCOMES.len()],
}

/// The labels of the counts that [`ProxyMeter::show`] gets, in their order.
const OUTCOMES: [&str; 4] = ["delivered", "refused", "unknown", "undeliverable"];

impl ProxyMeter {
    pub(crate) fn new(group: &str, node: &str, proxy: &str) -> Self {
        let labels = || {
            [
                ("group", group.to_owned()),
                ("node", node.to_owned()),
                ("proxy", proxy.to_owned()),
            ]
        };
        let outcome = |name: &str| {
            let [group, node, proxy] = labels();
            counter!(
                PROXY_MESSAGES,
                &[group, node, proxy, ("outcome", name.to_owned())]
            )
        };
        Self {
            waiting: gauge!(PROXY_WAITING, &labels()),
            outcomes: OUTCOMES.map(outcome),
        }
    }

    /// Shows the number of messages that wait, and the numbers of messages so far by their outcome: delivered, refused,
    /// unknown, undeliverable.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "a gauge is a float; a buffer holds far fewer than 2^53"
    )]
    pub(crate) fn show(&self, waiting: u64, outcomes: [u64; OUTCOMES.len()]) {
        self.waiting.set(waiting as f64);
        for (counter, count) in self.outcomes.iter().zip(outcomes) {
            counter.absolute(count);
        }
    }
}
