//! The parameters of the rules: how long a hop may take, and all that follows from it.
//!
//! A configuration that exists is valid. All that a member waits for grows with the ring: a lap of n
//! hops takes n times as long as a message, and a dead member costs one hop wherever it is met.

use std::time::Duration;

use super::Defect;
use crate::protocol::{Detector, Timings};

/// What a ring election needs to know beside its members; the same at each of them.
///
/// ```
/// use actix_bully::{elections::ring::RingConfig, protocol::Timings};
/// use std::time::Duration;
/// let config = RingConfig::builder().timings(Timings::lan()).build()?;
/// assert_eq!(config.hop(), Duration::from_millis(45));
/// assert_eq!(config.worst_case_messages(5, 1), 30); // acknowledgements included
/// let wrong = RingConfig::builder().timings(Timings::lan()).hop(Duration::from_millis(18)).build();
/// assert!(wrong.is_err());
/// # Ok::<(), actix_bully::elections::ring::RingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingConfig {
    timings: Timings,
    detector: Detector,
    hop: Duration,
    sends: u32,
    probe: Duration,
    challenge_after: Duration,
    drain: Duration,
    cooldown: Duration,
    defect: Option<Defect>,
}

impl Default for RingConfig {
    fn default() -> Self {
        let timings = Timings::default();
        let detector = timings.detector().unwrap_or(DETECTOR);
        Self::from_parts(&RingConfigBuilder::default(), timings, detector)
    }
}

impl RingConfig {
    /// Starts with the defaults.
    pub fn builder() -> RingConfigBuilder {
        RingConfigBuilder::default()
    }

    fn from_parts(asked: &RingConfigBuilder, timings: Timings, detector: Detector) -> Self {
        let d = timings.delay_bound();
        let least = d.saturating_mul(asked.sends.saturating_mul(2));
        Self {
            hop: asked.hop.unwrap_or_else(|| least.saturating_add(d)),
            sends: asked.sends,
            probe: asked
                .probe
                .unwrap_or_else(|| detector.heartbeat.saturating_mul(2)),
            challenge_after: asked.challenge_after,
            drain: asked.drain,
            cooldown: asked.cooldown,
            defect: None,
            timings,
            detector,
        }
    }

    /// How long to wait for what.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// How often a leader is heard, and which silence means that it is gone.
    pub const fn detector(&self) -> Detector {
        self.detector
    }

    /// Silence of this length, and the next member is tried (`skip-the-silent`).
    pub const fn hop(&self) -> Duration {
        self.hop
    }

    /// How often a message is sent to one member within one hop.
    pub const fn sends(&self) -> u32 {
        self.sends
    }

    /// How often the members that are skipped are probed (`probe-the-skipped`).
    pub const fn probe(&self) -> Duration {
        self.probe
    }

    /// For how long a member that outranks its leader leaves it alone.
    pub const fn challenge_after(&self) -> Duration {
        self.challenge_after
    }

    /// The longest that the work of a leader that steps down may take to end.
    pub const fn drain(&self) -> Duration {
        self.drain
    }

    /// For how long an agent that stepped down lets others go first.
    pub const fn cooldown(&self) -> Duration {
        self.cooldown
    }

    /// How long after one copy of a message the next follows, while nobody acknowledges.
    pub(super) fn resend(&self) -> Duration {
        self.hop / self.sends.max(1)
    }

    /// How long a ring of `n` waits for the outcome of an election (`restart-lost-election`): for
    /// each member three delay bounds, one for each lap, and a hop in which it is found dead; or two
    /// hops if that is longer.
    pub fn token(&self, n: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        let each = self
            .hop
            .saturating_mul(2)
            .max(self.hop.saturating_add(laps));
        each.saturating_mul(count(n))
    }

    /// Silence of this length means that the leader of a ring of `n` is gone
    /// (`miss-a-silent-leader`): the detection time and a [hop](Self::hop) for each member, each of
    /// which may hold a heartbeat up.
    pub fn silence(&self, n: usize) -> Duration {
        let laps = self.hop.saturating_mul(count(n));
        self.detector.detection.saturating_add(laps)
    }

    /// The longest that an election among `n` takes, `dead` of which are dead without any other
    /// member knowing, when one member begins it: three delay bounds for each member, and a hop for
    /// each dead one.
    pub fn worst_case_election(&self, n: usize, dead: usize) -> Duration {
        let laps = self.timings.delay_bound().saturating_mul(3);
        laps.saturating_mul(count(n))
            .saturating_add(self.hop.saturating_mul(count(dead)))
    }

    /// The longest from the silent death of a leader until all others of a ring of `n` know the
    /// next, when `dead` members are dead, the leader among them, and each of these may outrank
    /// the winner.
    ///
    /// That is one lap for the last heartbeat, the [silence](Self::silence) and a jitter, at most
    /// eight slots of a step and a jitter, and the [election](Self::worst_case_election). Where an
    /// agent [cools down](RingConfigBuilder::cooldown), later by at most what is stated there.
    pub fn worst_case_failover(&self, n: usize, dead: usize) -> Duration {
        let t = &self.timings;
        let lap = t
            .delay_bound()
            .saturating_mul(count(n))
            .saturating_add(self.hop.saturating_mul(count(dead)));
        let turns = t
            .step()
            .saturating_add(t.jitter())
            .saturating_mul(count(dead.saturating_sub(1).min(8)));
        lap.saturating_add(self.silence(n))
            .saturating_add(t.jitter())
            .saturating_add(turns)
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

    /// The same rules with one of them broken.
    #[cfg(any(test, feature = "planted"))]
    #[doc(hidden)]
    #[must_use]
    pub const fn planted(mut self, defect: Defect) -> Self {
        self.defect = Some(defect);
        self
    }

    /// Whether that rule is broken on purpose: never, but in tests of the tests.
    pub(super) fn has(&self, defect: Defect) -> bool {
        cfg!(any(test, feature = "planted")) && self.defect == Some(defect)
    }
}

/// Makes a [`RingConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RingConfigBuilder {
    timings: Timings,
    hop: Option<Duration>,
    sends: u32,
    probe: Option<Duration>,
    challenge_after: Duration,
    drain: Duration,
    cooldown: Duration,
}

impl Default for RingConfigBuilder {
    fn default() -> Self {
        Self {
            timings: Timings::default(),
            hop: None,
            sends: 2,
            probe: None,
            challenge_after: Duration::ZERO,
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }
}

impl RingConfigBuilder {
    /// How long to wait for what. Default: [`Timings::default`]; they need a failure detector.
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Silence of this length, and the next member is tried; more than two delay bounds for each of
    /// the [`sends`](Self::sends). Default: one delay bound more than that.
    pub const fn hop(mut self, hop: Duration) -> Self {
        self.hop = Some(hop);
        self
    }

    /// How often a message is sent to one member within one [hop](Self::hop); 1 to 8. Default: 2, so
    /// that one lost message is not taken for a death.
    pub const fn sends(mut self, sends: u32) -> Self {
        self.sends = sends;
        self
    }

    /// How often the members that are skipped are probed; more than zero. Default: every second
    /// heartbeat.
    pub const fn probe(mut self, probe: Duration) -> Self {
        self.probe = Some(probe);
        self
    }

    /// For how long a member that outranks its leader leaves it alone; it must outrank it all that
    /// time. Default: zero, the highest in rank leads at once.
    pub const fn challenge_after(mut self, after: Duration) -> Self {
        self.challenge_after = after;
        self
    }

    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// For how long an agent that stepped down lets others go first, unless its score is set, it
    /// is told to campaign, or no other agent is there. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, eight slots after the others, and is chosen
    /// if all that are left cool down. So a cool-down delays the next leader by at most eight
    /// [steps](Timings::step), whoever is left.
    pub const fn cooldown(mut self, cooldown: Duration) -> Self {
        self.cooldown = cooldown;
        self
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`RingError`] with the values that do not fit.
    pub fn build(self) -> Result<RingConfig, RingError> {
        let timings = self.timings.clone();
        let Some(detector) = timings.detector() else {
            return Err(RingError::NoDetector);
        };
        if !(1..=MOST_SENDS).contains(&self.sends) {
            return Err(RingError::Sends { sends: self.sends });
        }
        let (hop, sends, delay_bound) = (self.hop, self.sends, timings.delay_bound());
        let least = delay_bound.saturating_mul(sends.saturating_mul(2));
        if let Some(hop) = hop.filter(|hop| *hop <= least) {
            return Err(RingError::Hop {
                hop,
                sends,
                delay_bound,
            });
        }
        if self.probe.is_some_and(|probe| probe.is_zero()) {
            return Err(RingError::ZeroProbe);
        }
        Ok(RingConfig::from_parts(&self, timings, detector))
    }
}

/// Which value, or relation between two, does not make a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

const MOST_SENDS: u32 = 8;

/// What the default timings have.
const DETECTOR: Detector = Detector {
    heartbeat: Duration::from_millis(180),
    detection: Duration::from_millis(900),
};

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
