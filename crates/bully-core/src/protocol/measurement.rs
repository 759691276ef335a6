//! A pure function that makes timings from the measurements of a group.
//!
//! Decided here: the formula, and which measurements are refused. Not here: how the delays are measured, and the
//! relations that all timings keep. `timings_builder.rs` checks these relations for the result as well.

use std::time::Duration;

use super::{Detector, SettingError, Timings};

/// The longest delays of a group's network, disks and hosts under its usual load. [`Timings::measured`] makes timings
/// from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Measurement {
    /// Time from a question between two hosts to its answer, there and back; more than zero.
    pub echo: Duration,
    /// Time to write one record to the store, until it is durable; zero where agents have no store.
    pub write: Duration,
    /// Time for which a process or its host may stand still, so that a timer is late; zero if this never happens.
    pub stall: Duration,
}

impl Measurement {
    /// Returns whether these timings fit the measurements: messages come within the delay bound, answers come within a
    /// round, and a leader outlives the stalls. Otherwise elections may not end, or leaders may lose their leadership
    /// without need.
    pub fn fits(&self, timings: &Timings) -> bool {
        let is_bound = timings.delay_bound() >= self.echo / 2;
        let is_tolerated = self
            .tolerated_stall(timings)
            .is_none_or(|tolerated| tolerated >= self.stall);
        is_bound && is_tolerated && self.is_answered_within(timings.round())
    }

    /// Returns the longest stall that these timings tolerate: a leader and then a voter may each stand still for this
    /// time. The leader keeps its lease, and its followers do not count it as gone. `None` without a failure detector.
    pub fn tolerated_stall(&self, timings: &Timings) -> Option<Duration> {
        let detector = timings.detector()?;
        let shortest = timings.lease().min(detector.detection);
        // A lease counts from a heartbeat, and must last until the next heartbeat is answered.
        let used = detector.heartbeat.saturating_add(self.echo);
        Some(shortest.saturating_sub(used) / 2)
    }

    /// Returns whether one round has enough time for a claim, the write of a vote, and the answer. `round` is its
    /// length.
    pub fn is_answered_within(&self, round: Duration) -> bool {
        round > self.echo.saturating_add(self.write)
    }
}

impl Timings {
    /// Returns timings that fit the measurements.
    ///
    /// With e, w and s for [`echo`](Measurement::echo), [`write`](Measurement::write) and
    /// [`stall`](Measurement::stall): d = e + 2 s (at least 2 ms), T = 20 d + 2 w, H = 4 d, L = 16 d + 2 w, S = 2 d,
    /// J = d, E = 2 d + 2 w + 2 ms, D = 15 d + 2 w, and P is the shortest that D allows.
    ///
    /// Each host may use its own measurements: members of the quorum mode may have different timings. If a network,
    /// disk or host becomes slower than the measurements, leaders may lose their leases, or elections may not end. But
    /// two agents never consider themselves leader at once, because the relation between lease and promise does not
    /// depend on the measurements.
    ///
    /// ```
    /// # use bully_core::protocol::{Measurement, Timings};
    /// use std::time::Duration;
    /// let ms = Duration::from_millis;
    /// let timings = Timings::measured(Measurement { echo: ms(40), write: ms(100), stall: ms(5) })?;
    /// assert_eq!(timings.delay_bound(), ms(50));
    /// assert!(timings.worst_case_quorum_failover(0) < Duration::from_secs(2));
    /// # Ok::<(), bully_core::protocol::SettingError>(())
    /// ```
    ///
    /// # Errors
    /// [`SettingError`] if the echo is zero, which shows that nothing was measured, and if the delay bound d or the
    /// write w is more than a second: such a measurement shows a fault. With timings that tolerate this fault, the
    /// failure of a leader would be noticed only after minutes.
    pub fn measured(measured: Measurement) -> Result<Self, SettingError> {
        let Measurement { echo, write, stall } = measured;
        if echo.is_zero() {
            let reason = "the `echo` of the measurement is zero: set it to the time from a question between two hosts to its answer under their usual load, as `ping` shows it";
            return Err(SettingError::new("echo", reason));
        }
        // A message takes half an echo, so the other half is left for variation. The stall counts
        // twice, because both ends may stand still.
        let delay = echo.saturating_add(stall.saturating_mul(2)).max(LEAST);
        if delay > SLOWEST || write > SLOWEST {
            let slow = if delay > SLOWEST { "echo" } else { "write" };
            return Err(SettingError::new(
                slow,
                format_args!(
                    "an echo of {echo:?} with stalls of {stall:?} and writes of {write:?} is too slow for measured timings: echo + 2 stalls and a write may each take 1s at most; find what is slow, or use Timings::wan().to_builder()"
                ),
            ));
        }
        // Writes count twice, because the candidate writes its record and the voters write theirs. A leader is silent
        // while it writes.
        let writes = write.saturating_mul(2);
        // H = 4 d and L = 4 H as in `Timings::fast`. D must be at least 3 H + 2 d, which is 14 d. T is chosen: more
        // than 2 d, and long enough for a round to double.
        let lease = delay.saturating_mul(15).saturating_add(writes);
        let timings = Self {
            delay_bound: delay,
            deadline: delay.saturating_mul(20).saturating_add(writes),
            detector: Some(Detector {
                heartbeat: delay.saturating_mul(4),
                detection: delay.saturating_mul(16).saturating_add(writes),
            }),
            step: delay.saturating_mul(2),
            jitter: delay,
            round: delay
                .saturating_mul(2)
                .saturating_add(writes)
                .saturating_add(TIMER),
            lease,
            promise: Self::least_promise(lease),
        };
        timings.to_builder().build()
    }
}

/// Shortest delay bound, because the timers at both ends have a resolution of a millisecond.
const LEAST: Duration = Duration::from_millis(2);

/// Delay that the timers of both ends add to a round: a millisecond each.
const TIMER: Duration = Duration::from_millis(2);

/// Longest delay bound, and longest write. A longer delay or write shows a fault (see [`Timings::measured`]). Chosen:
/// with 1 s for both, the group has another leader after about half a minute.
const SLOWEST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// Values from far below the resolution of a timer to far above the bound, with their neighbours.
    const GRID: [u64; 14] = [
        0, 1, 50, 999, 1_000, 7_001, 20_000, 100_000, 333_333, 499_999, 500_000, 1_000_000,
        1_000_001, 9_000_000,
    ];

    fn grid() -> impl Iterator<Item = Measurement> {
        let pairs = GRID.iter().flat_map(|e| GRID.iter().map(move |w| (e, w)));
        pairs.flat_map(|(e, w)| {
            GRID.iter().map(|s| Measurement {
                echo: us(*e),
                write: us(*w),
                stall: us(*s),
            })
        })
    }

    #[test]
    fn timings_made_of_any_measurement_keep_all_rules_and_fit_it() {
        let mut made = 0;
        for measured in grid() {
            let is_slow = measured.echo + measured.stall * 2 > SLOWEST || measured.write > SLOWEST;
            match Timings::measured(measured) {
                Ok(timings) => {
                    made += 1;
                    assert!(!is_slow && !measured.echo.is_zero(), "{measured:?}");
                    assert_eq!(timings.clone().to_builder().build(), Ok(timings.clone()));
                    assert!(measured.fits(&timings), "{measured:?}");
                    assert!(Timings::lease_within(timings.promise()) + us(1) >= timings.lease());
                    // If stalls of both hosts delay a leader, it still renews in time.
                    let three = timings.detector().unwrap().heartbeat * 3;
                    assert!(timings.lease() >= three + measured.echo + measured.stall * 2);
                }
                Err(refused) if measured.echo.is_zero() => {
                    assert!(refused.to_string().contains("is zero"), "{refused}");
                }
                Err(refused) => {
                    assert!(is_slow && is_too_slow(&refused), "{measured:?}: {refused}");
                }
            }
        }
        assert!(made > 500, "only {made} measurements became timings");
    }

    fn is_too_slow(refused: &SettingError) -> bool {
        refused
            .to_string()
            .contains("is too slow for measured timings")
    }

    #[test]
    fn a_duration_longer_than_any_clock_is_refused_and_does_not_wrap() {
        let (echo, longest) = (us(9), Duration::MAX);
        for measured in [
            Measurement {
                echo: longest,
                ..Measurement::default()
            },
            Measurement {
                echo,
                write: longest,
                stall: us(0),
            },
            Measurement {
                echo,
                write: us(0),
                stall: longest,
            },
        ] {
            let refused = Timings::measured(measured).unwrap_err();
            assert!(is_too_slow(&refused), "{refused}");
            let writes = measured.write == longest;
            assert_eq!(refused.setting(), if writes { "write" } else { "echo" });
        }
    }

    #[test]
    fn a_round_is_longer_than_an_echo_and_a_write() {
        let measured = Measurement {
            echo: us(20),
            write: us(5),
            stall: us(0),
        };
        assert!(measured.is_answered_within(us(26)) && !measured.is_answered_within(us(25)));
    }

    #[test]
    fn a_slow_disk_needs_a_longer_round_than_the_presets_of_one_place_have() {
        let shared_disk = Measurement {
            echo: us(600),
            write: us(100_000),
            stall: us(0),
        };
        for (preset, fits) in [
            (Timings::fast(), false),
            (Timings::lan(), false),
            (Timings::default(), false),
            (Timings::wan(), true),
        ] {
            assert_eq!(shared_disk.fits(&preset), fits, "{preset:?}");
        }
        let far = Measurement {
            echo: us(40_000),
            ..Measurement::default()
        };
        assert!(!far.fits(&Timings::lan()) && far.fits(&Timings::default()));
    }

    #[test]
    fn a_lease_bears_a_beat_an_echo_and_two_tolerated_stalls() {
        for timings in [Timings::fast(), Timings::lan(), Timings::wan()] {
            let measured = Measurement {
                echo: us(500),
                ..Measurement::default()
            };
            let stall = measured.tolerated_stall(&timings).unwrap();
            let detector = timings.detector().unwrap();
            let borne = detector.heartbeat + us(500) + stall * 2;
            let shortest = timings.lease().min(detector.detection);
            assert!(borne <= shortest && shortest <= borne + Duration::from_nanos(1));
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        assert_eq!(
            Timings::measured(Measurement::default())
                .unwrap_err()
                .to_string(),
            "the `echo` of the measurement is zero: set it to the time from a question between two hosts to its answer under their usual load, as `ping` shows it"
        );
        let measured = Measurement {
            echo: us(10_000),
            write: us(2_000_000),
            stall: us(0),
        };
        assert_eq!(
            Timings::measured(measured).unwrap_err().to_string(),
            "an echo of 10ms with stalls of 0ns and writes of 2s is too slow for measured timings: echo + 2 stalls and a write may each take 1s at most; find what is slow, or use Timings::wan().to_builder()"
        );
    }
}
