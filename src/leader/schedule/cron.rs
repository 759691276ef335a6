//! Cron expressions, by the crate `croner`.
//!
//! Decided here: the settings of `croner`, and when a time of day is due on a day that does not have this time (the
//! clock is put forward). Not here: the meaning of an expression.

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, TimeDelta, TimeZone, Utc};
use croner::parser::{CronParser, Seconds, Year};

use crate::clock::WallTime;

use super::{DueTimes, ScheduleError};

/// Due times by a cron expression, in UTC or in a time zone.
///
/// An expression has five fields: minute, hour, day of the month, month and day of the week. With six fields, the
/// second comes first. Both kinds of days count as in POSIX: if both are given, a day of either kind is enough. Names
/// (`MON`, `JAN`), ranges, lists, steps, `L`, `W`, `#`, and `@daily` and similar names are supported.
///
/// In a time zone with summer time, a time of day that does not exist is due when the clock is put forward. This holds
/// for a time in a list, for a step, and for a day that the zone leaves out. An expression of every hour (`30 * * * *`)
/// simply continues when a clock is put forward by whole hours, since it is due in the next hour as well. For a time of
/// day that a day has twice, see the documentation of `croner`.
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
    pattern: croner::Cron,
    zone: Z,
    /// Whether the expression names hours. An expression without hours is due in the hour after a change of the clocks,
    /// too.
    names_hours: bool,
}

impl Cron {
    /// Parses an expression; its times are in UTC.
    ///
    /// # Errors
    /// [`ScheduleError::Cron`] if the expression is invalid.
    pub fn new(expression: &str) -> Result<Self, ScheduleError> {
        let parser = CronParser::builder().seconds(Seconds::Optional);
        let parser = parser.year(Year::Disallowed).build();
        let cron = parser.parse(expression);
        let cron = cron.map_err(|reason| ScheduleError::Cron {
            expression: expression.to_owned(),
            reason: reason.to_string(),
        })?;
        let is_every_hour = (0..24).all(|hour| cron.pattern.hour_match(hour).unwrap_or(false));
        Ok(Self {
            pattern: cron,
            zone: Utc,
            names_hours: !is_every_hour,
        })
    }

    /// Returns the same times of day in the zone `zone`, such as `chrono_tz::Europe::Berlin`.
    pub fn in_zone<Z: TimeZone>(self, zone: Z) -> Cron<Z> {
        Cron {
            pattern: self.pattern,
            zone,
            names_hours: self.names_hours,
        }
    }
}

impl<Z: TimeZone + Send + 'static> DueTimes for Cron<Z> {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        let millis = i64::try_from(time.as_millis()).ok()?;
        let time = DateTime::<Utc>::from_timestamp_millis(millis)?;
        let time = time.with_timezone(&self.zone);
        // `croner` returns an error if there is no next time, and gives up at a gap of more than two hours.
        let next = self.pattern.find_next_occurrence(&time, false).ok();
        let next = next.map(|next| next.timestamp_millis());
        let next = next.into_iter().chain(self.next_left_out(&time)).min()?;
        Some(WallTime::from_millis(u64::try_from(next).ok()?))
    }
}

impl<Z: TimeZone> Cron<Z> {
    /// Returns the time when the clock is put forward, in milliseconds, if the next time of day does not exist in the
    /// zone.
    ///
    /// `croner` moves a single time of day past the change, but skips times of lists and steps.
    fn next_left_out(&self, time: &DateTime<Z>) -> Option<i64> {
        // The time is computed as if the zone were UTC, where every time of day exists.
        let local = time.naive_local().and_utc();
        let next = self.pattern.find_next_occurrence(&local, false).ok()?;
        let next = next.naive_utc();
        let is_left_out = matches!(
            self.zone.offset_from_local_datetime(&next),
            MappedLocalTime::None
        );
        let due = is_left_out.then(|| self.put_forward(next))??;
        if !self.names_hours && self.change(due)?.checked_rem(HOUR)? == 0 {
            return None;
        }
        (due > time.timestamp()).then(|| due.checked_mul(1_000))?
    }

    /// Returns the number of seconds by which the clocks of the zone are put forward in the second `second`.
    fn change(&self, second: i64) -> Option<i64> {
        let offset = |second: i64| {
            let time = DateTime::<Utc>::from_timestamp(second, 0)?;
            let shown = time.with_timezone(&self.zone).naive_local();
            shown.and_utc().timestamp().checked_sub(second)
        };
        offset(second)?.checked_sub(offset(second.checked_sub(1)?)?)
    }

    /// Returns the first second at which the clocks of the zone show a time after the time that they leave out.
    fn put_forward(&self, left_out: NaiveDateTime) -> Option<i64> {
        let shown = |second| {
            let time = DateTime::<Utc>::from_timestamp(second, 0)?;
            Some(time.with_timezone(&self.zone).naive_local())
        };
        let within = left_out.and_utc().timestamp();
        let (mut before, mut after) = (within.checked_sub(FAR)?, within.checked_add(FAR)?);
        while after.checked_sub(before)? > 1 {
            let middle = before.midpoint(after);
            if shown(middle)? > left_out {
                after = middle;
            } else {
                before = middle;
            }
        }
        Some(after)
    }
}

/// Largest difference, in seconds, between the moment of a clock change and its local time read as UTC. The longest
/// known change is a day, and no zone is further from UTC.
const FAR: i64 = TimeDelta::days(2).num_seconds();

const HOUR: i64 = TimeDelta::hours(1).num_seconds();

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
            // A due time is later than the time before it.
            ("5 4 3 * * *", "2026-01-03 03:04:05"),
        ];
        for (expression, due) in cases {
            let next = next(expression, "2026-01-02 03:04:05");
            assert_eq!(next, Some(at(due)), "{expression}");
        }
    }

    #[test]
    fn an_invalid_expression_or_one_without_a_due_time_is_refused() {
        for wrong in [
            "",
            "* * * *",
            "61 * * * *",
            "x",
            "* * * * * * *",
            "0 0 12 * * * 2030",
        ] {
            let refused = Cron::new(wrong).unwrap_err();
            assert!(matches!(refused, ScheduleError::Cron { .. }), "{wrong}");
        }
        assert_eq!(next("0 0 30 2 *", "2026-01-02 03:04:05"), None);
        let far = WallTime::from_millis(u64::MAX);
        assert_eq!(Cron::new("* * * * *").unwrap().next_after(far), None);
    }

    /// A time zone whose clock is put forward once.
    #[derive(Clone, Copy, Debug)]
    struct Forward {
        /// Time of the change, in seconds since 1970.
        at: i64,
        /// Offsets before and after the change, in seconds.
        from: i32,
        to: i32,
    }

    impl Forward {
        fn fixed(seconds: i32) -> chrono::FixedOffset {
            chrono::FixedOffset::east_opt(seconds).unwrap()
        }
    }

    impl TimeZone for Forward {
        type Offset = ForwardOffset;

        fn from_offset(offset: &ForwardOffset) -> Self {
            offset.zone
        }

        fn offset_from_local_date(
            &self,
            local: &chrono::NaiveDate,
        ) -> MappedLocalTime<ForwardOffset> {
            self.offset_from_local_datetime(&local.and_time(chrono::NaiveTime::MIN))
        }

        fn offset_from_local_datetime(
            &self,
            local: &NaiveDateTime,
        ) -> MappedLocalTime<ForwardOffset> {
            let shown = |offset| local.and_utc().timestamp() - i64::from(offset);
            let offset = |seconds| ForwardOffset {
                zone: *self,
                seconds,
            };
            if shown(self.to) >= self.at {
                MappedLocalTime::Single(offset(self.to))
            } else if shown(self.from) < self.at {
                MappedLocalTime::Single(offset(self.from))
            } else {
                MappedLocalTime::None
            }
        }

        fn offset_from_utc_date(&self, utc: &chrono::NaiveDate) -> ForwardOffset {
            self.offset_from_utc_datetime(&utc.and_time(chrono::NaiveTime::MIN))
        }

        fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ForwardOffset {
            let is_after = utc.and_utc().timestamp() >= self.at;
            ForwardOffset {
                zone: *self,
                seconds: if is_after { self.to } else { self.from },
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    struct ForwardOffset {
        zone: Forward,
        seconds: i32,
    }

    impl Offset for ForwardOffset {
        fn fix(&self) -> chrono::FixedOffset {
            Forward::fixed(self.seconds)
        }
    }

    #[test]
    fn a_time_of_day_that_does_not_exist_is_due_when_the_clock_is_put_forward() {
        // The time at which the clock of a zone is put forward, and its offsets in seconds before and after.
        let change = |time: &str, from, to| {
            let at = i64::try_from(at(time).as_millis() / 1_000).unwrap();
            Forward { at, from, to }
        };
        // In Berlin, 02:00 on 29 March 2026 is 03:00.
        let berlin = change("2026-03-29 01:00:00", 3_600, 7_200);
        // On Lord Howe Island, 02:00 on 4 October 2026 is 02:30.
        let lord_howe = change("2026-10-03 15:30:00", 37_800, 39_600);
        // Apia had no 30 December 2011.
        let apia = change("2011-12-30 10:00:00", -36_000, 50_400);
        for row in [
            "Berlin | 0 1 * * * | 2026-01-02 03:04:05 | 2026-01-03 00:00:00",
            "Berlin | 30 2 * * * | 2026-03-28 22:30:00 | 2026-03-29 01:00:00",
            "Berlin | 15,45 2 * * * | 2026-03-28 22:30:00 | 2026-03-29 01:00:00",
            "Berlin | */20 2 * * * | 2026-03-28 22:30:00 | 2026-03-29 01:00:00",
            "Berlin | 30 1,2 * * * | 2026-03-28 22:30:00 | 2026-03-29 00:30:00",
            "Berlin | 30 1,2 * * * | 2026-03-29 00:30:00 | 2026-03-29 01:00:00",
            // The other times of day in the hour that does not exist are due once.
            "Berlin | */20 2 * * * | 2026-03-29 01:00:00 | 2026-03-30 00:00:00",
            "Berlin | 30 2,3 * * * | 2026-03-29 01:00:00 | 2026-03-29 01:30:00",
            "Berlin | 30 2 28 * * | 2026-03-28 22:30:00 | 2026-04-28 00:30:00",
            // An expression of every hour is not due twice.
            "Berlin | 30 * * * * | 2026-03-29 00:30:00 | 2026-03-29 01:30:00",
            // It loses nothing to a change by half an hour.
            "Lord Howe | 15 * * * * | 2026-10-03 14:45:00 | 2026-10-03 15:30:00",
            "Lord Howe | 15 * * * * | 2026-10-03 15:30:00 | 2026-10-03 16:15:00",
            "Lord Howe | 45 * * * * | 2026-10-03 15:15:00 | 2026-10-03 15:45:00",
            // Due once, although both 02:00 and 02:30 are due then.
            "Lord Howe | */30 * * * * | 2026-10-03 15:00:00 | 2026-10-03 15:30:00",
            "Lord Howe | */30 * * * * | 2026-10-03 15:30:00 | 2026-10-03 16:00:00",
            // A schedule goes on after a day that its zone leaves out.
            "Apia | 0 12 * * * | 2011-12-29 23:00:00 | 2011-12-30 10:00:00",
            "Apia | 0 12 30 * * | 2011-12-29 23:00:00 | 2011-12-30 10:00:00",
            "Apia | 0 12 * * * | 2011-12-30 10:00:00 | 2011-12-30 22:00:00",
        ] {
            let [zone, expression, time, due] = &row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let zone = match *zone {
                "Berlin" => berlin,
                "Apia" => apia,
                _ => lord_howe,
            };
            let cron = Cron::new(expression).unwrap().in_zone(zone);
            assert_eq!(cron.next_after(at(time)), Some(at(due)), "{row}");
        }
    }
}
