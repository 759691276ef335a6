//! The parameters of the rules: how long a hop may take, and all that follows from it.
//!
//! All that a member waits for grows with the ring: a lap of n hops takes n times as long as a message,
//! and a dead member costs one hop wherever it is met.

use std::time::Duration;

use bully_core::parts::detector_of;
use bully_core::protocol::{Detector, Timings};

/// What a ring election needs to know beside its members; the same at each of them. An agent with a
/// configuration that does not pass the [check](Self::check) does not start.
///
/// ```
/// use actix_bully::{elections::ring::RingConfig, protocol::Timings};
/// use std::time::Duration;
/// let config = RingConfig::new(Timings::lan());
/// assert_eq!(config.hop(), Duration::from_millis(45));
/// assert_eq!(config.worst_case_messages(5, 1), 30); // acknowledgements included
/// let wrong = RingConfig { hop: Some(Duration::from_millis(18)), ..config };
/// assert!(wrong.check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingConfig {
    /// How long to wait for what. Default: [`Timings::default`]; they need a failure detector.
    pub timings: Timings,
    /// Silence of this length, and the next member is tried (`skip-the-silent`); more than two delay
    /// bounds for each of the [`sends`](Self::sends). Default: one delay bound more than that.
    pub hop: Option<Duration>,
    /// How often a message is sent to one member within one hop; 1 to 8. Default: 2, so that one lost
    /// message is not taken for a death.
    pub sends: u32,
    /// How often the members that are skipped are probed (`probe-the-skipped`); more than zero.
    /// Default: every second heartbeat.
    pub probe: Option<Duration>,
    /// For how long a member that outranks its leader leaves it alone; it must outrank it all that
    /// time. Default: zero, the highest in rank leads at once.
    pub challenge_after: Duration,
    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub drain: Duration,
    /// For how long an agent that stepped down lets others go first, unless its score is set, it is
    /// told to campaign, or no other agent is there. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, eight slots after the others, and is chosen
    /// if all that are left cool down. So a cool-down delays the next leader by at most eight
    /// steps, whichever agents are left.
    pub cooldown: Duration,
}

impl Default for RingConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl RingConfig {
    /// The defaults, for these timings.
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

    /// Checks every relation.
    ///
    /// # Errors
    /// [`RingError`] with the values that do not fit.
    pub fn check(&self) -> Result<(), RingError> {
        let (sends, delay_bound) = (self.sends, self.timings.delay_bound());
        if self.timings.detector().is_none() {
            return Err(RingError::NoDetector);
        }
        if !(1..=MOST_SENDS).contains(&sends) {
            return Err(RingError::Sends { sends });
        }
        if let Some(hop) = self.hop.filter(|hop| *hop <= self.least_hop()) {
            return Err(RingError::Hop {
                hop,
                sends,
                delay_bound,
            });
        }
        if self.probe.is_some_and(|probe| probe.is_zero()) {
            return Err(RingError::ZeroProbe);
        }
        Ok(())
    }

    /// How often a leader is heard, and which silence means that it is gone.
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
    }

    /// How long a member may take to acknowledge, with all copies of a message.
    pub fn hop(&self) -> Duration {
        let longer = || self.least_hop().saturating_add(self.timings.delay_bound());
        self.hop.unwrap_or_else(longer)
    }

    /// An answer to each copy needs more than this.
    fn least_hop(&self) -> Duration {
        let answers = self.sends.saturating_mul(2);
        self.timings.delay_bound().saturating_mul(answers)
    }

    /// How often the members that are skipped are probed.
    pub fn probe(&self) -> Duration {
        let second_heartbeat = || self.detector().heartbeat.saturating_mul(2);
        self.probe.unwrap_or_else(second_heartbeat)
    }

    /// How long after one copy of a message the next follows, while no member acknowledges.
    pub(super) fn resend(&self) -> Duration {
        self.hop() / self.sends.max(1)
    }

    /// How long a ring of `n` waits for the outcome of an election (`restart-lost-election`): for
    /// each member three delay bounds, one for each lap, and a hop in which it is found dead; or two
    /// hops if that is longer.
    pub fn token(&self, n: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        let hop = self.hop();
        let each = hop.saturating_mul(2).max(hop.saturating_add(laps));
        each.saturating_mul(count(n))
    }

    /// Silence of this length means that the leader of a ring of `n` is gone
    /// (`miss-a-silent-leader`): the detection time and a [hop](Self::hop) for each member, each of
    /// which may hold a heartbeat up.
    pub fn silence(&self, n: usize) -> Duration {
        let laps = self.hop().saturating_mul(count(n));
        self.detector().detection.saturating_add(laps)
    }

    /// The longest that an election among `n` takes, `dead` of which are dead without any other
    /// member knowing, when one member begins it: three delay bounds for each member, and a hop for
    /// each dead one.
    pub fn worst_case_election(&self, n: usize, dead: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        laps.saturating_mul(count(n))
            .saturating_add(self.hop().saturating_mul(count(dead)))
    }

    /// The longest from the silent death of a leader until all others of a ring of `n` know the
    /// next, when `dead` members are dead, the leader among them, and each of these may outrank
    /// the winner.
    ///
    /// That is one lap for the last heartbeat, the silence and a jitter, at most
    /// eight slots of a step and a jitter, and the [election](Self::worst_case_election). Where an
    /// agent [cools down](Self::cooldown), later by at most what is stated there.
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

    /// The most messages of an election among `n`, all of them alive, that `initiators` begin at
    /// once; acknowledgements included, heartbeats not.
    ///
    /// The k-th strongest token goes k - 1 hops less than round (Chang and Roberts: n (n + 1) / 2
    /// if all begin), then n for the nomination and n for the announcement; as much again
    /// in acknowledgements.
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

/// Which value, or relation between two, does not make a ring.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The timings have no failure detector.
    #[error("a ring needs heartbeats: choose timings with a failure detector")]
    NoDetector,
    /// A message is sent at least once, and not for ever.
    #[error("a message cannot be sent {sends} times within one hop: choose 1 to {MOST_SENDS}")]
    Sends {
        /// How often.
        sends: u32,
    },
    /// The hop has no room for an answer to each copy.
    #[error(
        "a hop of {hop:?} must be longer than {sends} times twice the delay bound of {delay_bound:?}: raise the hop"
    )]
    Hop {
        /// The hop that was asked for.
        hop: Duration,
        /// How often a message is sent within one.
        sends: u32,
        /// The delay bound of the timings.
        delay_bound: Duration,
    },
    /// The members that are skipped would be probed without a pause.
    #[error("the probe interval is zero: state how often to ask, such as 500ms")]
    ZeroProbe,
}

debug_is_text!(RingError);

const MOST_SENDS: u32 = 8;

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
