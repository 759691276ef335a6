//! Relations between the parameters.

use super::*;

#[test]
fn every_preset_with_a_detector_fits() {
    let presets = [
        Timings::default(),
        Timings::lan(),
        Timings::fast(),
        Timings::wan(),
        Timings::in_process(),
    ];
    for timings in presets {
        let config = LeaseConfig {
            timings,
            ..config()
        };
        assert_eq!(config.check(), Ok(()));
    }
    let config = LeaseConfig {
        timings: Timings::astra(),
        ..config()
    };
    assert_eq!(config.check().unwrap_err().setting(), "timings");
}

#[test]
fn a_configuration_that_does_not_fit_is_refused_with_both_values() {
    let margin = LeaseConfig {
        margin: Some(Score::from(-1)),
        ..config()
    };
    assert_eq!(margin.check().unwrap_err().setting(), "margin");
    let least = Duration::from_millis(POLL);
    let poll = Duration::from_millis(POLL - 1);
    let early = LeaseConfig {
        poll: Some(poll),
        ..config()
    };
    let refused = early.check().unwrap_err();
    let values = [poll, least].map(|value| format!("{value:?}"));
    assert!(
        values
            .iter()
            .all(|value| refused.to_string().contains(value)),
        "{refused}"
    );
    assert_eq!(refused.setting(), "poll");
    let fits = LeaseConfig {
        poll: Some(least),
        ..config()
    };
    assert_eq!(fits.check(), Ok(()));
}

/// Defaults of `lan` in milliseconds: H 60, d 9, J 10, S 18, D 240.
#[test]
fn the_longest_failover_counts_the_reads_the_wait_and_the_slots() {
    let longest = |ahead| config().worst_case_failover(ahead).as_millis();
    assert_eq!(longest(0), u128::from(2 * POLL + PATIENCE - 1 + J + 6 * D));
    assert_eq!(longest(2) - longest(0), u128::from(2 * SLOT));
    assert_eq!(longest(99), longest(8));
}

#[test]
fn the_wall_clock_is_counted_from_2024() {
    let began = 1_704_067_200_000;
    let config = Lease::on_host(Arc::new(config()), began + 7);
    assert_eq!(config.wall_at_zero, Some(7));
}
