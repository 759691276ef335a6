//! The parameters of the rules: the length of a hop, and all durations that follow from it.
//!
//! A *hop* is the step of a message from one member to the next. A lap of n members takes n message delays, and a whole
//! hop more for each dead member on the way. So waiting times grow with the ring.

use std::time::Duration;

use bully_core::{
    parts::{check_detector, check_range, detector_of},
    protocol::{Detector, SettingError, Timings},
};

/// The parameters of a ring election. They must be the same at every member. An agent with a configuration that fails
/// the [check](Self::check) does not start.
///
/// ```
/// # use bully_classics::ring::RingConfig;
/// # use bully_core::protocol::Timings;
/// use std::time::Duration;
/// let config = RingConfig::new(Timings::lan());
/// assert_eq!(config.hop(), Duration::from_millis(45));
/// assert_eq!(config.worst_case_messages(5, 1), 30); // acknowledgements included
/// let wrong = RingConfig { hop: Some(Duration::from_millis(18)), ..config };
/// assert!(wrong.check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingConfig {
    /// The waiting times. Default: [`Timings::default`]. They need a failure detector.
    pub timings: Timings,
    /// Time without an acknowledgement after which the sender tries the next member (rule `skip-the-silent`). This time
    /// must exceed two delay bounds for each of the [`sends`](Self::sends). Default: one delay bound more than this
    /// minimum.
    pub hop: Option<Duration>,
    /// Number of times that a message is sent to a member in one hop; 1 to 8. Default: 2, so that one lost message
    /// does not count as a death.
    pub sends: u32,
    /// Interval of the probes to skipped members (rule `probe-the-skipped`); more than zero. Default: two heartbeats.
    /// With far less, many messages go to dead members; with far more, two sides of a partition join later.
    pub probe: Option<Duration>,
    /// Time for which a member must outrank its leader before it challenges the leader. Default: zero, so that the
    /// highest-ranked member leads at once.
    pub challenge_after: Duration,
    /// Longest time between the step-down of a leader and the end of its work. Default: 5 s. With far less, work is cut
    /// off; with far more, work that hangs delays the hand-over.
    pub drain: Duration,
    /// Time after a step-down in which the agent lets other agents lead first. This time ends early if the agent's
    /// score is set, if the agent gets the command to campaign, or if no other agent is up. Default: 60 s, which is
    /// enough to stop the process.
    ///
    /// Agents begin elections in order of rank, in slots of one step. An agent that cools down has its slot eight slots
    /// after the other agents, and it is elected if all remaining agents cool down. So a cool-down delays the next
    /// leader by at most eight steps.
    pub cooldown: Duration,
}

impl Default for RingConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl RingConfig {
    /// Returns the defaults for these timings.
    pub const fn new(timings: Timings) -> Self {
        Self {
            timings,
            hop: None,
            sends: 2,
            probe: None,
            challenge_after: Duration::ZERO,
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks every relation between the parameters.
    ///
    /// # Errors
    /// [`SettingError`] with the values that do not fit together.
    pub fn check(&self) -> Result<(), SettingError> {
        let (sends, delay_bound) = (self.sends, self.timings.delay_bound());
        check_detector(&self.timings, "a ring")?;
        let reason = "a message is sent within each hop, and each copy of it takes time";
        check_range("sends", sends, 1..=MOST_SENDS, reason)?;
        if let Some(hop) = self.hop.filter(|hop| *hop <= self.least_hop()) {
            let reason = format_args!(
                "a hop of {hop:?} must be longer than 2 * {sends} (the sends) times the delay bound of {delay_bound:?}: raise the hop"
            );
            return Err(SettingError::new("hop", reason));
        }
        if self.probe.is_some_and(|probe| probe.is_zero()) {
            let reason = "the probe interval is zero: set `probe` to the time between two questions to a skipped member, such as 500ms";
            return Err(SettingError::new("probe", reason));
        }
        Ok(())
    }

    /// Interval of a leader's heartbeats, and the detection time, a part of the [silence](Self::silence).
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
    }

    /// Time that a member has to acknowledge a message, for all copies of the message together.
    pub fn hop(&self) -> Duration {
        let longer = || self.least_hop().saturating_add(self.timings.delay_bound());
        self.hop.unwrap_or_else(longer)
    }

    /// Two delay bounds for each copy of a message, enough for its acknowledgement. A hop must be longer than this sum.
    fn least_hop(&self) -> Duration {
        let answers = self.sends.saturating_mul(2);
        self.timings.delay_bound().saturating_mul(answers)
    }

    /// Interval of the probes to skipped members.
    pub fn probe(&self) -> Duration {
        let second_heartbeat = || self.detector().heartbeat.saturating_mul(2);
        self.probe.unwrap_or_else(second_heartbeat)
    }

    /// Time between two copies of a message, while no member acknowledges.
    pub(super) fn resend(&self) -> Duration {
        self.hop() / self.sends.max(1)
    }

    /// Time for which a ring of `n` members waits for the outcome of an election (rule `restart-lost-election`). For
    /// each member it is three delay bounds (one for each lap) and a hop (in case the member is dead); or two hops, if
    /// they are longer.
    pub fn token(&self, n: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        let hop = self.hop();
        let each = hop.saturating_mul(2).max(hop.saturating_add(laps));
        each.saturating_mul(count(n))
    }

    /// Silence after which the leader of a ring of `n` members counts as gone (rule `miss-a-silent-leader`): the
    /// detection time and a [hop](Self::hop) for each member, because each member may delay a heartbeat.
    pub fn silence(&self, n: usize) -> Duration {
        let laps = self.hop().saturating_mul(count(n));
        self.detector().detection.saturating_add(laps)
    }

    /// Longest time of an election that one of `n` members begins, if `dead` of them are dead and no other member knows
    /// it: three delay bounds for each member, and a hop for each dead member.
    pub fn worst_case_election(&self, n: usize, dead: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        laps.saturating_mul(count(n))
            .saturating_add(self.hop().saturating_mul(count(dead)))
    }

    /// Longest time from the silent death of a leader until all other members of a ring of `n` members know the next
    /// leader. `dead` members are dead, including the leader, and each of them may outrank the winner.
    ///
    /// The parts are: one lap for the last heartbeat, the silence and a jitter, at most eight slots of a step and a
    /// jitter, and the [election](Self::worst_case_election). If an agent [cools down](Self::cooldown), the time grows
    /// by at most the delay that the description of this field states.
    pub fn worst_case_failover(&self, n: usize, dead: usize) -> Duration {
        let t = &self.timings;
        let lap = t
            .delay_bound()
            .saturating_mul(count(n))
            .saturating_add(self.hop().saturating_mul(count(dead)));
        let slots = t
            .step()
            .saturating_add(t.jitter())
            .saturating_mul(count(dead.saturating_sub(1).min(8)));
        lap.saturating_add(self.silence(n))
            .saturating_add(t.jitter())
            .saturating_add(slots)
            .saturating_add(self.worst_case_election(n, dead))
    }

    /// Largest number of messages of an election that `initiators` of `n` living members begin at once.
    /// Acknowledgements count, heartbeats do not.
    ///
    /// The k-th strongest token makes k - 1 hops fewer than a full lap (Chang and Roberts: n (n + 1) / 2 hops if all
    /// begin). The nomination takes n hops, and the announcement n hops. The acknowledgements double the sum.
    pub fn worst_case_messages(&self, n: usize, initiators: usize) -> u64 {
        if n < 2 {
            return 0;
        }
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let (n, k) = (wide(n), wide(initiators.min(n)));
        let shorter = k.saturating_mul(k.saturating_sub(1)) / 2;
        let collects = k.saturating_mul(n).saturating_sub(shorter);
        collects
            .saturating_add(n.saturating_mul(2))
            .saturating_mul(2)
    }
}

/// Largest `sends`. Chosen: eight copies are rarely all lost, and each copy makes the wait for a dead member 2 delay
/// bounds longer.
const MOST_SENDS: u32 = 8;

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
