//! Cron expressions, by the crate `croner`.
//!
//! Decided here: which of its settings count. Not here: what an expression means.

use chrono::{DateTime, TimeZone, Utc};
use croner::parser::{CronParser, Seconds};

use crate::clock::WallTime;

use super::{DueTimes, ScheduleError};

/// Due times by a cron expression, in UTC or in a time zone.
///
/// Five fields, minute, hour, day of the month, month and day of the week, or six with the second first. Both days
/// count as in POSIX: where both are named, either will do. Names (`MON`, `JAN`), ranges, lists, steps, `L`, `W`, `#`
/// and `@daily` and its like are understood.
///
/// In a time zone with summer time, a time of day that a day does not have is due when the clock has been put
/// forward, and one that a day has twice as the crate `croner` documents it.
///
/// ```
/// use actix_bully::{clock::WallTime, leader::schedule::{Cron, DueTimes}};
/// let nightly = Cron::new("30 3 * * *")?;
/// let due = nightly.next_after(WallTime::from_millis(1_767_323_045_000)).unwrap();
/// assert_eq!(due.to_string(), "2026-01-02T03:30:00Z");
/// let east = nightly.in_zone(chrono::FixedOffset::east_opt(3_600).unwrap());
/// let due = east.next_after(due).unwrap();
/// assert_eq!(due.to_string(), "2026-01-03T02:30:00Z");
/// # Ok::<(), actix_bully::leader::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cron<Z: TimeZone = Utc> {
    cron: croner::Cron,
    zone: Z,
}

impl Cron {
    /// Reads an expression; its times are in UTC.
    ///
    /// # Errors
    /// [`ScheduleError::Cron`] when it is none.
    pub fn new(expression: &str) -> Result<Self, ScheduleError> {
        let parser = CronParser::builder().seconds(Seconds::Optional).build();
        let cron = parser.parse(expression);
        let cron = cron.map_err(|reason| ScheduleError::Cron {
            expression: expression.to_owned(),
            reason: reason.to_string(),
        })?;
        Ok(Self { cron, zone: Utc })
    }

    /// The same times of day in a zone, such as `chrono_tz::Europe::Berlin`.
    pub fn in_zone<Z: TimeZone>(self, zone: Z) -> Cron<Z> {
        Cron {
            cron: self.cron,
            zone,
        }
    }
}

impl<Z: TimeZone + Send + 'static> DueTimes for Cron<Z> {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        let millis = i64::try_from(time.as_millis()).ok()?;
        let time = DateTime::<Utc>::from_timestamp_millis(millis)?;
        let time = time.with_timezone(&self.zone);
        // It says that there is none by an error, too.
        let next = self.cron.find_next_occurrence(&time, false).ok()?;
        let millis = u64::try_from(next.timestamp_millis()).ok()?;
        Some(WallTime::from_millis(millis))
    }
}

#[cfg(test)]
mod tests {
    use chrono::{NaiveDateTime, Offset};

    use super::*;

    fn at(text: &str) -> WallTime {
        let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap();
        WallTime::from_millis(time.and_utc().timestamp_millis().unsigned_abs())
    }

    fn next(expression: &str, time: &str) -> Option<WallTime> {
        Cron::new(expression).unwrap().next_after(at(time))
    }

    #[test]
    fn an_expression_has_five_or_six_fields() {
        let cases = [
            ("30 3 * * *", "2026-01-02 03:30:00"),
            ("*/20 * * * * *", "2026-01-02 03:04:20"),
            ("0 0 1 * MON", "2026-01-05 00:00:00"),
            ("0 0 29 2 *", "2028-02-29 00:00:00"),
            ("@hourly", "2026-01-02 04:00:00"),
        ];
        for (expression, due) in cases {
            let next = next(expression, "2026-01-02 03:04:05");
            assert_eq!(next, Some(at(due)), "{expression}");
        }
    }

    #[test]
    fn a_due_time_is_later_than_the_one_before() {
        assert_eq!(
            next("30 3 * * *", "2026-01-02 03:30:00"),
            Some(at("2026-01-03 03:30:00"))
        );
    }

    #[test]
    fn what_is_no_expression_or_never_comes_is_told() {
        for wrong in ["", "* * * *", "61 * * * *", "x", "* * * * * * * *"] {
            let refused = Cron::new(wrong).unwrap_err();
            assert!(matches!(refused, ScheduleError::Cron { .. }), "{wrong}");
        }
        assert_eq!(next("0 0 30 2 *", "2026-01-02 03:04:05"), None);
        let far = WallTime::from_millis(u64::MAX);
        assert_eq!(Cron::new("* * * * *").unwrap().next_after(far), None);
    }

    #[test]
    fn a_zone_moves_the_hours() {
        let zone = chrono::FixedOffset::east_opt(7_200).unwrap();
        assert_eq!(zone.fix().local_minus_utc(), 7_200);
        let cron = Cron::new("0 1 * * *").unwrap().in_zone(zone);
        let due = cron.next_after(at("2026-01-02 03:04:05"));
        assert_eq!(due, Some(at("2026-01-02 23:00:00")));
    }
}
