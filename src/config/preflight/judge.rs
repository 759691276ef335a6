//! Compares measurements with the timings of a configuration, by pure functions.
//!
//! Decided here: which of several times counts, the bound of each measurement (the diagnosis of a running agent uses the
//! same bounds), and the preset of timings that fits.

use std::time::Duration;

use crate::{
    leader::schedule::AHEAD,
    protocol::{Measurement, Timings},
};

use super::{Preflight, PreflightCheck, PreflightFinding, PreflightPart};

/// The measurement of one part.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) part: PreflightPart,
    pub(super) node: Option<String>,
    /// A bound that does not depend on timings.
    pub(super) bound: Option<Duration>,
    pub(super) found: Result<Duration, PreflightFinding>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Figures(pub(super) Vec<Figure>);

impl Figure {
    pub(super) fn of(part: PreflightPart, found: Result<Duration, PreflightFinding>) -> Self {
        Self {
            part,
            node: None,
            bound: None,
            found,
        }
    }

    /// Returns the figure of a part that was measured several times: of a disk the longest time, of any other part the
    /// median.
    pub(super) fn measured(
        part: PreflightPart,
        took: Result<Vec<Duration>, PreflightFinding>,
    ) -> Self {
        let found = took.map(|mut took| {
            took.sort_unstable();
            let at = if part == PreflightPart::Disk {
                took.len().saturating_sub(1)
            } else {
                took.len() / 2
            };
            took.get(at).copied().unwrap_or_default()
        });
        Self::of(part, found)
    }
}

/// Compares the measurements with these timings. Returns the results, and the preset that fits.
pub(super) fn judge(figures: &Figures, timings: &Timings) -> Preflight {
    let doubled = figures.doubled();
    let presets = [
        ("lan", Timings::lan()),
        ("default", Timings::default()),
        ("wan", Timings::wan()),
    ];
    // The preset `fast` is not suggested: a short measurement cannot show its cost, which appears only over days.
    let fits = presets.iter().find(|(_, timings)| fits(&doubled, timings));
    Preflight {
        checks: checks(figures, timings),
        fits: fits.map(|(name, _)| *name),
    }
}

/// Returns whether every measurement is below its bound by these timings.
fn fits(figures: &Figures, timings: &Timings) -> bool {
    let is_below = |check: &PreflightCheck| match check.found {
        PreflightFinding::Measured { .. } => check.found.is_ok(),
        // A part that fails or was not measured does not depend on the timings, so it does not count.
        PreflightFinding::Fails { .. } | PreflightFinding::Unknown { .. } => true,
    };
    checks(figures, timings).iter().all(is_below)
}

fn checks(figures: &Figures, timings: &Timings) -> Vec<PreflightCheck> {
    let measured = figures.measurement();
    let check = |figure: &Figure| {
        let found = match &figure.found {
            Ok(took) => PreflightFinding::Measured {
                figure: *took,
                bound: figure
                    .bound
                    .or_else(|| bound(figure.part, &measured, timings))?,
            },
            Err(found) => found.clone(),
        };
        Some(PreflightCheck {
            part: figure.part,
            node: figure.node.clone(),
            found,
        })
    };
    figures.0.iter().filter_map(check).collect()
}

/// Returns the bound of a part by these timings; `None` if they have no bound for it.
fn bound(part: PreflightPart, measured: &Measurement, timings: &Timings) -> Option<Duration> {
    let there_and_back = timings.delay_bound().saturating_mul(2);
    Some(match part {
        PreflightPart::Disk => timings.round().saturating_sub(measured.echo),
        // Three answers of the store must fit into a lease: a renewal, a read of the claims, and the next renewal.
        PreflightPart::StoreReads | PreflightPart::StoreWrites => {
            there_and_back.min(timings.lease() / 3)
        }
        PreflightPart::StoreClock => AHEAD,
        PreflightPart::Peer => there_and_back,
        PreflightPart::Stall => measured.tolerated_stall(timings)?,
        PreflightPart::Clock => return None,
    })
}

impl Figures {
    fn longest(&self, part: PreflightPart) -> Duration {
        let of_it = self.0.iter().filter(|figure| figure.part == part);
        let found = of_it.filter_map(|figure| figure.found.as_ref().ok());
        found.max().copied().unwrap_or_default()
    }

    fn measurement(&self) -> Measurement {
        Measurement {
            echo: self.longest(PreflightPart::Peer),
            write: self.longest(PreflightPart::Disk),
            stall: self.longest(PreflightPart::Stall),
        }
    }

    /// Returns the figures that are expected under load: twice the measured time, for each part whose bound depends on
    /// timings.
    fn doubled(&self) -> Self {
        let mut doubled = self.clone();
        for figure in &mut doubled.0 {
            let is_by_timings = !matches!(
                figure.part,
                PreflightPart::Clock | PreflightPart::StoreClock
            );
            if let (true, Ok(took)) = (is_by_timings, &mut figure.found) {
                *took = took.saturating_mul(2);
            }
        }
        doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn figures(all: &[(PreflightPart, u64)]) -> Figures {
        let figure = |(part, took): &(PreflightPart, u64)| Figure::of(*part, Ok(MS(*took)));
        Figures(all.iter().map(figure).collect())
    }

    use PreflightPart::{Disk, Peer, Stall, StoreClock, StoreReads, StoreWrites};

    #[test]
    fn the_bounds_are_those_of_a_running_agent() {
        let measured = Measurement {
            echo: MS(20),
            write: MS(7),
            stall: MS(30),
        };
        for timings in [Timings::lan(), Timings::default(), Timings::wan()] {
            let all = figures(&[(Disk, 7), (Peer, 20), (Peer, 3), (Stall, 30)]);
            assert_eq!(all.measurement(), measured);
            // The two checks differ only if a figure is exactly at its bound. No figure here is.
            assert_eq!(fits(&all, &timings), measured.fits(&timings), "{timings:?}");
            let of = |part| bound(part, &measured, &timings).unwrap();
            assert_eq!(of(Disk), timings.round().saturating_sub(MS(20)));
            assert_eq!(of(Peer), timings.delay_bound() * 2);
            let lease = timings.lease();
            assert!(of(StoreReads) * 3 <= lease && of(StoreWrites) == of(StoreReads));
            assert_eq!(of(StoreClock), MS(10_000));
            assert_eq!(Some(of(Stall)), measured.tolerated_stall(&timings));
        }
        let short = Timings::lan().to_builder().detector(MS(2), MS(250));
        let short = short.lease(MS(30), MS(100)).build().unwrap();
        assert_eq!(bound(StoreReads, &measured, &short), Some(MS(10)));
    }

    #[test]
    fn of_a_disk_the_longest_time_counts_and_of_another_part_the_median() {
        for (part, counts) in [(Disk, 9), (StoreReads, 3), (StoreWrites, 3), (Peer, 3)] {
            let took = [9, 1, 3, 2, 4].map(MS).to_vec();
            assert_eq!(Figure::measured(part, Ok(took)).found, Ok(MS(counts)));
        }
    }

    /// The preset is too fast for the slow part. The suggested preset allows twice the measured time.
    #[test]
    fn each_slow_part_is_named_and_the_fastest_preset_with_twice_the_room_fits() {
        let lan = Timings::lan();
        for (part, took, is_ok, fits) in [
            (Disk, 1, true, Some("lan")),
            (Disk, 9, true, Some("lan")),
            (Disk, 11, true, Some("default")),
            (Disk, 30, false, Some("default")),
            (Disk, 60, false, Some("wan")),
            (Disk, 400, false, None),
            (Peer, 8, true, Some("lan")),
            (Peer, 10, true, Some("default")),
            (Peer, 30, false, Some("default")),
            (Peer, 50, false, Some("wan")),
            (Peer, 700, false, None),
            (StoreReads, 8, true, Some("lan")),
            (StoreReads, 20, false, Some("default")),
            (StoreWrites, 100, false, Some("wan")),
            (StoreWrites, 700, false, None),
            (Stall, 20, true, Some("lan")),
            (Stall, 100, false, Some("default")),
            (Stall, 400, false, Some("wan")),
            (StoreClock, 6_000, true, Some("lan")),
            (StoreClock, 11_000, false, None),
        ] {
            let found = judge(&figures(&[(part, took)]), &lan);
            assert_eq!(found.is_ok(), is_ok, "{part:?} {took}: {found:?}");
            assert_eq!(found.fits, fits, "{part:?} {took}: {found:?}");
        }
    }

    #[test]
    fn an_echo_takes_its_part_of_the_round_and_of_the_lease() {
        let alone = checks(&figures(&[(Disk, 15)]), &Timings::lan());
        assert!(alone[0].found.is_ok());
        let far = checks(&figures(&[(Disk, 15), (Peer, 10)]), &Timings::lan());
        assert!(!far[0].found.is_ok() && far[1].found.is_ok(), "{far:?}");
    }

    #[test]
    fn a_part_that_fails_speaks_against_an_election_and_one_that_is_unknown_does_not() {
        for (found, is_ok) in [
            (
                PreflightFinding::Fails {
                    reason: "full".to_owned(),
                },
                false,
            ),
            (
                PreflightFinding::Unknown {
                    reason: "off".to_owned(),
                },
                true,
            ),
        ] {
            let all = Figures(vec![Figure::of(Disk, Err(found))]);
            let judged = judge(&all, &Timings::lan());
            assert_eq!(judged.is_ok(), is_ok);
            assert_eq!(judged.fits, Some("lan"), "no other timings help");
        }
    }

    #[test]
    fn timings_without_a_failure_detector_have_no_bound_for_a_standstill() {
        let found = judge(&figures(&[(Stall, 5_000)]), &Timings::astra());
        assert!(found.checks.is_empty());
    }
}
