//! The parameters: every relation is checked, and every error is named.

use super::*;

fn of(names: &[&str]) -> QuorumConfig {
    QuorumConfig {
        timings: Timings::lan(),
        ..QuorumConfig::new(names.iter().map(|name| id(name)))
    }
}

#[test]
fn each_broken_relation_is_named() {
    type Change = fn(&mut QuorumConfig);
    let check = |change: Change| {
        let mut config = of(&["a", "b", "c"]);
        change(&mut config);
        config.check()
    };
    let cases: [(Change, &str); 11] = [
        (|c| c.voters.clear(), "there are no voters"),
        (|c| c.voters.push(id("a")), "is listed twice"),
        (
            |c| c.epoch = 1 << 24,
            "`epoch` is 16777216, which is out of range",
        ),
        (
            |c| (c.voters, c.vote_quorum) = (["a", "b", "c", "d"].map(id).into(), Some(2)),
            "`vote_quorum` is 2, which is out of range, because both sides of a partition of 4 voters could elect, or no side could: choose 3 to 4",
        ),
        (|c| c.vote_quorum = Some(4), "`vote_quorum` is 4"),
        (|c| c.lease_quorum = Some(1), "`lease_quorum` is 1"),
        (|c| c.lease_quorum = Some(4), "`lease_quorum` is 4"),
        (|c| c.timings = Timings::astra(), "have no failure detector"),
        (
            |c| c.wait = Some(LEAST_WAIT / 2),
            "of higher rank is too short",
        ),
        (
            |c| c.preemption = Preemption::Immediately,
            "must come after the end of the promise",
        ),
        (
            |c| c.preemption = Preemption::After(Duration::from_millis(300)),
            "must come after the end of the promise",
        ),
    ];
    for (change, expected) in cases {
        let refused = check(change).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    let sound: [Change; 5] = [
        |c| c.epoch = (1 << 24) - 1,
        |c| c.wait = Some(LEAST_WAIT),
        |c| c.preemption = Preemption::After(Duration::from_millis(301)),
        |c| c.preemption = Preemption::Never,
        |c| (c.vote_quorum, c.lease_quorum) = (Some(3), Some(1)),
    ];
    for change in sound {
        assert_eq!(check(change), Ok(()));
    }
    for timings in [Timings::default(), Timings::wan(), Timings::in_process()] {
        let config = QuorumConfig {
            timings,
            ..of(&["a"])
        };
        assert_eq!(config.check(), Ok(()));
    }
}

/// Two rounds and four delay bounds of the preset for local networks.
const LEAST_WAIT: Duration = Duration::from_millis(2 * 20 + 4 * 9);
