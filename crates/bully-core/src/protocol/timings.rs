//! The durations of an election: validated, with presets for different places.
//!
//! The [builder](TimingsBuilder) checks every relation that a promise depends on, so a value of type [`Timings`] is
//! always valid. Relations have the names of their sources: T > 2 d is the condition of every election by time-out
//! (Garcia-Molina 1982); the relations of the lease belong to the quorum mode (`elections::quorum::proof`).

use std::time::Duration;

use super::TimingsBuilder;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The fastest and slowest rate of a clock, in per cent: the error of the rate is r = 11 %. A promise P of 1.25 leases
/// D tolerates this error.
const FASTEST: u32 = 111;
const SLOWEST: u32 = 89;

/// Resolution of the agents' clocks.
const GRANULE: Duration = Duration::from_nanos(1);

/// The durations of one election; the same at every member, except in the quorum mode, where members may have different
/// durations.
///
/// | preset | d | T | H | L | S, J | E | D | P | for |
/// |---|---|---|---|---|---|---|---|---|---|
/// | [`astra`](Self::astra) | 900 | 2,000 | – | – | – | – | – | – | the plain ASTRA rules: no failure detector, an agent starts an election only on command |
/// | [`default`](Self::default) | 40 | 2,000 | 180 | 900 | 80, 50 | 100 | 720 | 900 | most |
/// | [`lan`](Self::lan) | 9 | 200 | 60 | 250 | 18, 10 | 20 | 240 | 300 | one data centre |
/// | [`fast`](Self::fast) | 4 | 100 | 16 | 64 | 8, 4 | 10 | 60 | 75 | one rack, hosts that stand still for no more than 30 ms |
/// | [`wan`](Self::wan) | 300 | 2,000 | 1,000 | 4,000 | 600, 300 | 700 | 4,000 | 5,000 | across regions |
/// | [`in_process`](Self::in_process) | 2 | 50 | 25 | 100 | 4, 2 | 5 | 100 | 125 | one process, tests |
///
/// (In milliseconds. The methods below explain the letters.)
///
/// d, T and H are chosen, not measured. S = 2 d, J is about d, E is 2 d and a margin, P = 1.25 D; D and L are about 4 H
/// or more, so two heartbeats in a row may be lost.
///
/// [`measured`](Self::measured) makes timings from the echoes, writes and stalls of a group. An agent's `diagnosis()`
/// shows its own measurements, and the preset that would fit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timings {
    pub(super) delay_bound: Duration,
    pub(super) deadline: Duration,
    pub(super) detector: Option<Detector>,
    pub(super) step: Duration,
    pub(super) jitter: Duration,
    pub(super) round: Duration,
    pub(super) lease: Duration,
    pub(super) promise: Duration,
}

/// The way in which a silent leader is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detector {
    /// H: time between two heartbeats of a leader.
    pub heartbeat: Duration,
    /// L: length of a silence after which the leader counts as gone.
    pub detection: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self::preset([40, 2_000, 180, 900, 80, 50, 100, 720, 900])
    }
}

impl Timings {
    /// Timings for the ASTRA rules: a deadline of 2 s, and no failure detector.
    pub const fn astra() -> Self {
        let mut timings = Self::preset([900, 2_000, 0, 0, 900, 0, 2_000, 8_000, 10_000]);
        timings.detector = None;
        timings
    }

    /// Timings for one data centre.
    pub const fn lan() -> Self {
        Self::preset([9, 200, 60, 250, 18, 10, 20, 240, 300])
    }

    /// Timings for one rack: after the silent end of a leader, another agent leads within 120 ms
    /// ([`worst_case_quorum_failover`](Self::worst_case_quorum_failover)).
    ///
    /// The price is false elections: a leader whose process or host stands still for 30 ms loses its lease, and after
    /// 75 ms its leadership. Stores have to write within 2 ms. Use this preset on hosts that have a core to spare and a
    /// fast disk; on other hosts use [`lan`](Self::lan).
    pub const fn fast() -> Self {
        Self::preset([4, 100, 16, 64, 8, 4, 10, 60, 75])
    }

    /// Timings for a group across regions.
    pub const fn wan() -> Self {
        Self::preset([300, 2_000, 1_000, 4_000, 600, 300, 700, 4_000, 5_000])
    }

    /// Timings for one process, and for tests.
    pub const fn in_process() -> Self {
        Self::preset([2, 50, 25, 100, 4, 2, 5, 100, 125])
    }

    /// Makes timings of these milliseconds, in the order d, T, H, L, S, J, E, D, P.
    const fn preset(millis: [u64; 9]) -> Self {
        let [
            delay,
            deadline,
            heartbeat,
            detection,
            step,
            jitter,
            round,
            lease,
            promise,
        ] = millis;
        Self {
            delay_bound: ms(delay),
            deadline: ms(deadline),
            detector: Some(Detector {
                heartbeat: ms(heartbeat),
                detection: ms(detection),
            }),
            step: ms(step),
            jitter: ms(jitter),
            round: ms(round),
            lease: ms(lease),
            promise: ms(promise),
        }
    }

    /// Makes a builder that begins with these timings.
    pub const fn to_builder(self) -> TimingsBuilder {
        TimingsBuilder::new(self)
    }

    /// Returns d: the longest time that a message and its handling may take, one way.
    pub const fn delay_bound(&self) -> Duration {
        self.delay_bound
    }

    /// Returns T: the time for which a candidate waits for members that do not answer; more than 2 d.
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Returns H and L, the failure detector; `None` for the plain ASTRA rules.
    pub const fn detector(&self) -> Option<Detector> {
        self.detector
    }

    /// Returns S: the additional time that each lower rank waits before it starts an election; at least d.
    pub fn step(&self) -> Duration {
        self.step
    }

    /// Returns J: the random part of a wait that several agents begin at the same moment.
    pub fn jitter(&self) -> Duration {
        self.jitter
    }

    /// Returns E: the length of one round of questions in quorum mode; more than 2 d (rule `answers-within-round`).
    pub fn round(&self) -> Duration {
        self.round
    }

    /// Returns D: the time for which an acknowledged heartbeat lets a leader consider itself leader, counted from the
    /// time at which the heartbeat was sent (quorum mode); at least 3 H + 2 d (rule `heartbeats-within-lease`).
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// Returns P: the time for which a voter that acknowledged a heartbeat supports no other agent, counted from its
    /// acknowledgement (quorum mode); at least D (1 + r) / (1 - r) for the clock-rate error r = 11 % (rule
    /// `promise-outlasts-lease`).
    pub fn promise(&self) -> Duration {
        self.promise
    }

    /// Returns the longest lease that a promise of this length covers: at most (P - 1 ns) (1 - r) / (1 + r) for a
    /// promise P and the clock-rate error r = 11 %. This is the rule `promise-outlasts-lease`, solved for the lease. A
    /// leader of the quorum mode assumes that a voter's promise covers no longer lease than this, so that members may
    /// have different timings.
    pub fn lease_within(promise: Duration) -> Duration {
        promise.saturating_sub(GRANULE).saturating_mul(SLOWEST) / FASTEST
    }

    /// Returns the shortest promise that covers a lease D of this length: D (1 + r) / (1 - r) and a nanosecond, for the
    /// clock-rate error r = 11 % (rule `promise-outlasts-lease`).
    pub fn least_promise(lease: Duration) -> Duration {
        lease.saturating_mul(FASTEST) / SLOWEST + GRANULE
    }

    /// Returns the time for which a candidate that got an `Ok` waits for the announcement: 2.5 deadlines T. The agent
    /// that sent the `Ok` may take T and two delay bounds, less than 2 T; T / 2 is a chosen margin. If it ends after
    /// its `Ok`, the wait is in vain.
    pub fn victory_wait(&self) -> Duration {
        self.deadline.saturating_mul(5) / 2
    }

    /// Returns the longest time from the silent death of a leader until all members that can be reached know the next
    /// leader, in the available mode. `silent` is the number of other dead agents that outrank the winner and whose
    /// death no member knows.
    ///
    /// d + L + J + min(silent, 8) (S + J) + d while fewer than 8 are silent. With 8 or more, or if no member had
    /// followed the dead leader, an election with its deadline is added: T + 2 d. Returns `None` without a failure
    /// detector, because no member notices the death.
    pub fn worst_case_failover(&self, silent: u32) -> Option<Duration> {
        let detection = self.detector?.detection;
        let staggered = self
            .step
            .saturating_add(self.jitter)
            .saturating_mul(silent.min(8));
        let announced = detection
            .saturating_add(self.jitter)
            .saturating_add(staggered)
            .saturating_add(self.delay_bound.saturating_mul(2));
        let election = self
            .deadline
            .saturating_add(self.delay_bound.saturating_mul(2));
        // An agent in the last slot does not announce itself: it asks all agents first, which may take a deadline more.
        Some(if silent < 8 {
            announced
        } else {
            announced.saturating_add(election)
        })
    }

    /// Returns the time for which a promise binds a voter with the slowest clock: P / (1 - r).
    pub(crate) fn longest_promise(&self) -> Duration {
        self.promise.saturating_mul(100) / SLOWEST
    }

    /// Returns the longest time in quorum mode from the moment at which a leader becomes silent (it died, or it cannot
    /// be heard) until another agent considers itself leader, while a majority of the voters is well. `above` is the
    /// number of voters that outrank the winner and are dead, or not known to be alive.
    ///
    /// d + P / (1 - r) + S × `above` + J + E + 4 d for the clock-rate error r = 11 %. If voters answer later than these
    /// timings assume, rounds are longer ([`deadline`](Self::deadline) at most): then add T. The result is valid while
    /// a quorum writes within T / 4.
    pub fn worst_case_quorum_failover(&self, above: u32) -> Duration {
        self.longest_promise()
            .saturating_add(self.step.saturating_mul(above))
            .saturating_add(self.jitter)
            .saturating_add(self.round)
            .saturating_add(self.delay_bound.saturating_mul(5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_keeps_its_own_rules() {
        for preset in [
            Timings::default(),
            Timings::lan(),
            Timings::fast(),
            Timings::wan(),
            Timings::in_process(),
            Timings::astra(),
        ] {
            assert_eq!(preset.clone().to_builder().build(), Ok(preset));
        }
    }

    #[test]
    fn fast_promises_another_leader_within_120_ms() {
        let fast = Timings::fast();
        assert!(fast.worst_case_quorum_failover(0) <= ms(120));
        assert!(
            fast.worst_case_failover(0)
                .is_some_and(|worst| worst <= ms(120))
        );
    }

    #[test]
    fn failover_has_a_formula() {
        assert_eq!(Timings::astra().worst_case_failover(0), None);
        assert_eq!(
            Timings::lan().worst_case_failover(0),
            Some(ms(250 + 10 + 18))
        );
        assert_eq!(
            Timings::lan().worst_case_failover(2),
            Some(ms(250 + 10 + 18 + 2 * 28))
        );
        assert_eq!(
            Timings::lan().worst_case_failover(7),
            Some(ms(250 + 10 + 18 + 7 * 28))
        );
        assert_eq!(
            Timings::lan().worst_case_failover(8),
            Timings::lan().worst_case_failover(99)
        );
        assert_eq!(
            Timings::lan().worst_case_failover(99),
            Some(ms(250 + 10 + 18 + 8 * 28 + 218))
        );
        let promised = ms(300) * 100 / 89;
        assert_eq!(
            Timings::lan().worst_case_quorum_failover(2),
            promised + ms(2 * 18 + 10 + 20 + 5 * 9)
        );
    }
}
