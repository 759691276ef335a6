//! Limits how often refused connections are reported, in the log and as events.
//!
//! Decided here: a stranger that finds the port cannot fill the log and the queues of events. Log and events have the
//! same limits, for each address and for all addresses together. Reports over the limits are counted, and the next
//! report contains their number. Not here: the counters, which count everything.

use std::{collections::BTreeMap, time::Duration};

use crate::protocol::Time;

/// The reports so far about each address.
#[derive(Debug, Default)]
pub(crate) struct Noise {
    addresses: BTreeMap<String, Spent>,
    all: Spent,
    left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct Frequency {
    /// Time in which one report is allowed in the long run.
    every: Duration,
    /// Largest number of reports that may be made at once.
    burst: u32,
}

/// The allowance that reports have used up, as a time: the time at which all reports so far would have been made if
/// each took the time `every`.
#[derive(Clone, Copy, Debug, Default)]
struct Spent(Time);

impl Noise {
    /// Returns the number of reports left out before, if a report about this address may be made now; otherwise `None`.
    pub(crate) fn may_tell(&mut self, now: Time, from: &str) -> Option<u64> {
        self.addresses.retain(|_, spent| spent.0 > now);
        let known = self.addresses.get(from).copied().unwrap_or_default();
        let has_place = known.0 > now || self.addresses.len() < MOST_ADDRESSES;
        let (one, all) = (known.next(now, PER_ADDRESS), self.all.next(now, IN_ALL));
        // A report is counted only if all three limits allow it: an address over its own limit must not use up the
        // share of other addresses.
        let (Some(one), Some(all), true) = (one, all, has_place) else {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        };
        self.addresses.insert(from.to_owned(), one);
        self.all = all;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl Spent {
    fn next(self, now: Time, frequency: Frequency) -> Option<Self> {
        let due = self.0.max(now).after(frequency.every);
        let ahead = frequency.every.saturating_mul(frequency.burst);
        (due.since(now) <= ahead).then_some(Self(due))
    }
}

/// The numbers here and in [`IN_ALL`] are chosen: a person sees the first reports of a fault at once. Ten reports a
/// second in all are 36,000 lines an hour. Far more reports would fill the log; far fewer would hide the reports about
/// other addresses.
const PER_ADDRESS: Frequency = Frequency {
    every: Duration::from_secs(1),
    burst: 8,
};
const IN_ALL: Frequency = Frequency {
    every: Duration::from_millis(100),
    burst: 64,
};
/// Largest number of addresses that are remembered: a stranger may come from any number of addresses.
const MOST_ADDRESSES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_told_of_a_few_times_at_once_and_then_once_a_second() {
        let mut noise = Noise::default();
        let mut tell = |millis| noise.may_tell(Time::from_millis(millis), "a");
        let told = (0..1_000).filter_map(|_| tell(0)).collect::<Vec<_>>();
        assert_eq!(told, [0; 8]);
        assert_eq!(tell(999), None);
        assert_eq!(tell(1_000), Some(993), "what was left out is told");
        assert_eq!(tell(1_000), None);
        assert_eq!(tell(60_000), Some(1));
        let told = (0..1_000).filter_map(|_| tell(60_000)).count();
        assert_eq!(told, 7, "a long silence saves up no more than that");
    }

    #[test]
    fn many_addresses_are_told_of_no_oftener_than_the_limit_in_all() {
        let mut noise = Noise::default();
        let (mut told, mut left_out) = (0, 0);
        for number in 0..11_000_u64 {
            let now = Time::from_millis(number);
            if let Some(before) = noise.may_tell(now, &format!("a{number}")) {
                (told, left_out) = (told + 1, left_out + before);
            }
            assert!(noise.addresses.len() <= MOST_ADDRESSES);
        }
        assert!((110..=64 + 110).contains(&told), "{told} in 11 s");
        assert_eq!(told + left_out + noise.left_out, 11_000);
    }
}
