//! Durations as text: a whole number and its unit, such as `40ms` or `2s`.
//!
//! Decided here: which units exist. A number without a unit is refused, because some people would read it as seconds
//! and others as milliseconds.

use std::time::Duration;

/// The units with their lengths in nanoseconds, the largest unit first.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Returns the duration in the text, or `None` for any other text.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let (_, nanos) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let nanos = number.parse::<u64>().ok()?.checked_mul(nanos)?;
    Some(Duration::from_nanos(nanos))
}

/// Returns the text that [`parse`] reads as this duration, in the largest unit that gives a whole number. A duration of
/// more than 584 years becomes 584 years.
pub(super) fn show(duration: Duration) -> String {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let whole = |(_, size): &(&str, u64)| nanos >= *size && nanos.is_multiple_of(*size);
    match UNITS.into_iter().find(whole) {
        Some((unit, size)) => format!("{}{unit}", nanos / size),
        None => String::from("0s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_its_unit_is_a_duration() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("40ms", ms(40)),
            ("2s", ms(2_000)),
            ("0s", ms(0)),
            ("090s", ms(90_000)),
            ("5min", ms(300_000)),
            ("24h", ms(86_400_000)),
            ("250us", Duration::from_micros(250)),
            ("7ns", Duration::from_nanos(7)),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn any_other_text_is_not_a_duration() {
        for text in [
            "",
            "2",
            "s",
            "2 s",
            " 2s",
            "2s ",
            "-2s",
            "+2s",
            "1.5s",
            "2S",
            "2m",
            "2sec",
            "1min30s",
            "2µs",
            "٢s",
            "18446744073710s",
            "99999999999999999999ns",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        fastrand::seed(7);
        for _ in 0..10_000 {
            let nanos = fastrand::u64(..) >> fastrand::u32(0..64);
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse(&show(duration)), Some(duration), "{nanos}");
        }
        assert_eq!(show(Duration::from_millis(1_500)), "1500ms");
        assert_eq!(show(Duration::from_secs(120)), "2min");
        assert_eq!(
            parse(&show(Duration::MAX)),
            Some(Duration::from_nanos(u64::MAX))
        );
    }
}
