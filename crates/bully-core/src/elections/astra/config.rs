//! The parameters of the ASTRA rules.

use std::time::Duration;

use crate::protocol::Timings;

/// The parameters of an ASTRA election; the same at every member.
///
/// A leader always leaves the leadership to a higher-ranked agent: these rules have neither a
/// [`Preemption`](crate::elections::policy::Preemption) nor a margin. The leader continues to lead until the
/// higher-ranked agent announces itself, after the deadline. No setting gives the original rules of ASTRA. By those
/// rules a group may have no leader for the deadline after each change of a score ([`astra`](super)).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AstraConfig {
    /// Waits and deadlines. Default: [`Timings::astra`], whose deadline is ASTRA's 2 seconds.
    ///
    /// The failure detector of these timings is not used: agents with these rules send no heartbeats.
    pub timings: Timings,
    /// Longest time between the step-down of a leader and the end of its work. Default: 5 s.
    pub drain: Duration,
    /// Time after a step-down in which the agent ranks below all other agents, because it would otherwise be elected
    /// again at once. This time ends early if the agent's score is set or the agent gets the command to campaign.
    /// Default: 60 s.
    pub cooldown: Duration,
}

impl Default for AstraConfig {
    fn default() -> Self {
        Self {
            timings: Timings::astra(),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }
}
