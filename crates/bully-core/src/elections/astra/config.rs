//! The parameters of the ASTRA rules: how long to wait for what.

use std::time::Duration;

use crate::protocol::Timings;

/// What an ASTRA election needs to know beside who takes part; the same at every member.
///
/// A leader always gives way to any agent that is higher in rank: these rules know neither a
/// [`Preemption`](crate::elections::policy::Preemption) nor a margin. It leads on until that agent announces itself, after
/// the deadline. No setting gives the rules as they were written, by which a group may have no leader for the deadline after
/// each change of a score ([`astra`](super)).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AstraConfig {
    /// How long to wait for what. Default: [`Timings::astra`], whose deadline is ASTRA's 2 seconds.
    ///
    /// A failure detector among them is not used: no heartbeats are sent here.
    pub timings: Timings,
    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub drain: Duration,
    /// For how long an agent that stepped down lets the others go first, unless its score is set or
    /// it is told to campaign. Default: 60 s.
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
