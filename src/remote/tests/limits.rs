//! All limits in one table: defaults and ranges.

use std::time::Duration;

use crate::remote::{Limits, LimitsBuilder, LimitsError};

type Setter = fn(LimitsBuilder, u64) -> LimitsBuilder;
type Getter = fn(&Limits) -> u64;

const KIB: u64 = 1_024;
const MIB: u64 = 1_024 * KIB;

fn ms(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap()
}

fn number(limit: usize) -> u64 {
    u64::try_from(limit).unwrap()
}

macro_rules! rows {
    ($($name:ident: $unit:ident = $default:expr, $min:expr, $max:expr;)*) => {
        vec![$((
            stringify!($name),
            $default, $min, $max,
            { let set: Setter = |builder, value| builder.$name(rows!(@to $unit value)); set },
            { let get: Getter = |limits| rows!(@from $unit limits.$name()); get },
        )),*]
    };
    (@to ms $value:ident) => { Duration::from_millis($value) };
    (@to number $value:ident) => { usize::try_from($value).unwrap() };
    (@to level $value:ident) => { u8::try_from($value).unwrap() };
    (@from ms $value:expr) => { ms($value) };
    (@from number $value:expr) => { number($value) };
    (@from level $value:expr) => { u64::from($value) };
}

/// Returns the promised name, default, smallest and largest value of each limit, with its setter and getter.
fn table() -> Vec<(&'static str, u64, u64, u64, Setter, Getter)> {
    rows! {
        handshake: ms = 3_000, 100, 60_000;
        first_byte: ms = 600, 20, 60_000;
        frame: number = 64 * KIB, 4 * KIB, MIB;
        frame_time: ms = 5_000, 100, 60_000;
        depth: level = 12, 4, 16;
        items: number = 1_024, 64, 16_384;
        text: number = 256, 256, 4 * KIB;
        inbound: number = 256, 1, 65_536;
        unready: number = 32, 1, 65_536;
        unready_per_address: number = 8, 1, 65_536;
        rate: number = 16 * MIB, 64 * KIB, 1_024 * MIB;
        burst: number = 32 * MIB, 128 * KIB, 1_024 * MIB;
        queue: number = MIB, 64 * KIB, 64 * MIB;
        mailbox: number = MIB, 16 * KIB, 64 * MIB;
        write_time: ms = 2_000, 100, 60_000;
        ping_after: ms = 180, 5, 60_000;
        silence: ms = 900, 20, 300_000;
        dial_min: ms = 100, 1, 60_000;
        dial_max: ms = 10_000, 10, 600_000;
        unknown: number = 100, 1, 100_000;
        groups: number = 1_024, 1, 65_536;
        agents: number = 16_384, 1, 1_048_576;
    }
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let limits = Limits::default();
    assert_eq!(Limits::builder().build(), Ok(limits));
    for (name, default, _, _, _, limit) in table() {
        assert_eq!(limit(&limits), default, "{name}");
    }
    assert_eq!(number(Limits::READ_AHEAD), 8 * KIB);
}

#[test]
fn every_limit_has_its_range() {
    for (name, _, min, max, set, _) in table() {
        for value in [min, max] {
            let built = set(Limits::builder(), value).build();
            let is_in_range = !matches!(built, Err(LimitsError::Range { .. }));
            assert!(is_in_range, "{name} = {value}: {built:?}");
        }
        let below = (min > 0).then(|| min - 1);
        for value in below.into_iter().chain([max + 1]) {
            let refused = set(Limits::builder(), value).build().unwrap_err();
            let told = refused.to_string();
            assert!(told.contains(name), "{told}");
            assert!(matches!(refused, LimitsError::Range { limit, .. } if limit == name));
        }
    }
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    let millis = Duration::from_millis;
    let new = Limits::builder;
    for (builder, pair) in [
        (new().frame(1 << 20).burst(1 << 20), ("burst", "frame")),
        (new().frame(1 << 20).queue(64 << 10), ("queue", "frame")),
        (new().inbound(31), ("unready", "inbound")),
        (new().unready(7), ("unready_per_address", "unready")),
        (new().silence(millis(359)), ("silence", "ping_after")),
        (new().dial_max(millis(99)), ("dial_min", "dial_max")),
    ] {
        let (limit, other) = pair;
        let refused = Err(LimitsError::Relation { limit, other });
        assert_eq!(builder.build(), refused);
    }
}

#[test]
fn a_wrong_limit_is_named_with_its_range_or_with_the_limit_that_it_contradicts() {
    let refused = Limits::builder().handshake(Duration::ZERO).build();
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the limit `handshake` is 0ns: choose from 100ms to 60s"
    );
    for (limit, relation) in [
        ("burst", "at least twice"),
        ("dial_min", "at most"),
        ("queue", "at least"),
        ("silence", "at least twice"),
    ] {
        let other = "frame";
        let told = LimitsError::Relation { limit, other }.to_string();
        let advice = format!("make `{limit}` {relation} `frame`");
        assert!(told.ends_with(&advice), "{told}");
    }
}
