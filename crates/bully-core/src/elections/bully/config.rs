//! The rules' parameters: how long to wait, when a leader gives way.

use std::time::Duration;

use crate::elections::policy::{NegativeMargin, Preemption};
use crate::protocol::{Score, Timings};

/// What a bully election needs to know beside who takes part; the same at every member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BullyConfig {
    /// How long to wait for what.
    pub timings: Timings,
    /// When a leader gives way to an agent of a higher rank. Default: [`Preemption::Immediately`].
    pub preemption: Preemption,
    /// By how much a challenger's score must exceed the leader's. Default: by anything at all,
    /// the name deciding between equals. No part may be negative.
    pub margin: Option<Score>,
    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub drain: Duration,
    /// For how long an agent that stepped down lets others go first, unless its score is set or it
    /// is told to campaign. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, eight slots further back, and asks first: no
    /// other agent may be there, or all that are may cool down. So a cool-down delays the next leader by
    /// at most 8 S + T + 2 d, whichever agents are left; see
    /// [`worst_case_failover`](Timings::worst_case_failover) for what it delays.
    pub cooldown: Duration,
}

impl BullyConfig {
    /// Checks what can be wrong; an agent whose configuration does not pass does not start.
    ///
    /// # Errors
    /// [`NegativeMargin`] where a part of the margin is negative.
    pub fn check(&self) -> Result<(), NegativeMargin> {
        NegativeMargin::check(self.margin)
    }
}

impl Default for BullyConfig {
    fn default() -> Self {
        Self {
            timings: Timings::default(),
            preemption: Preemption::Immediately,
            margin: None,
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }
}
