//! The voters of a configuration and their quorums, as a small value that hosts can compare.
//!
//! Decided here: the values that must be equal at all members of a group. Two lists of voters in one epoch may elect
//! two leaders in one term, so these values are compared, within a process and between hosts. Timings may differ,
//! because a lease is never longer than its voters' promises allow.

use std::{fmt, time::Duration};

use super::AgentId;

/// A short form of the voters of a configuration and their quorums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Electorate {
    /// Number of voters.
    pub voters: u32,
    /// Number of votes that elect a leader.
    pub vote_quorum: u32,
    /// Number of acknowledgements that keep a leadership.
    pub lease_quorum: u32,
    /// A digest of the voters' names: FNV-1a, 64 bits, over the sorted names, each followed by a zero byte, which no
    /// name contains. For voters without disks, the digest also covers the durations on which they must agree. The
    /// digest finds mistakes, but does not protect against malice.
    pub list: u64,
    /// The promise P and the round E of voters without disks (see [`Timings`](super::Timings)), on which such voters
    /// must agree; `None` with disks. In whole microseconds, for people; the digest compares the exact durations.
    pub spans: Option<(Duration, Duration)>,
}

impl Electorate {
    /// Makes the electorate of the given voters. Their order does not matter.
    pub fn new(voters: &[AgentId], vote_quorum: usize, lease_quorum: usize) -> Self {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut names: Vec<&str> = voters.iter().map(AgentId::as_str).collect();
        // The names are sorted, because two members may list the same voters in different orders.
        names.sort_unstable();
        let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
        let list = mix(OFFSET, bytes);
        Self {
            voters: count(voters.len()),
            vote_quorum: count(vote_quorum),
            lease_quorum: count(lease_quorum),
            list,
            spans: None,
        }
    }

    /// Returns the same electorate for voters without a disk. Voters without a disk must also agree on their promise
    /// and their round, because an incarnation does not know the promises of the incarnation before it.
    #[must_use]
    pub fn without_disks(mut self, promise: Duration, round: Duration) -> Self {
        for span in [promise, round] {
            self.list = mix(self.list, span.as_nanos().to_be_bytes());
        }
        let whole = |span: Duration| {
            let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
            Duration::from_micros(micros)
        };
        self.spans = Some((whole(promise), whole(round)));
        self
    }
}

fn mix(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

impl fmt::Display for Electorate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            voters,
            vote_quorum,
            lease_quorum,
            list,
            spans,
        } = self;
        write!(
            f,
            "{voters} voters (list {list:016x}), {vote_quorum} to elect and {lease_quorum} for a lease"
        )?;
        match spans {
            Some((promise, round)) => write!(
                f,
                ", without disks, with a promise of {promise:?} and a round of {round:?}"
            ),
            None => Ok(()),
        }
    }
}

/// The constants of FNV-1a with 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(names: &[&str]) -> Electorate {
        let names: Vec<_> = names
            .iter()
            .map(|name| AgentId::new(name).unwrap())
            .collect();
        Electorate::new(&names, 2, 2)
    }

    #[test]
    fn the_order_of_the_voters_does_not_matter_and_every_name_does() {
        assert_eq!(of(&["a", "b", "c"]), of(&["c", "a", "b"]));
        for other in [
            &["a", "b", "d"][..],
            &["a", "bc", "d"],
            &["ab", "c"],
            &["a", "b"],
        ] {
            assert_ne!(of(other).list, of(&["a", "b", "c"]).list, "{other:?}");
        }
        assert_ne!(of(&["a", "bc"]).list, of(&["ab", "c"]).list);
    }

    #[test]
    fn voters_without_disks_agree_on_their_promise_and_their_round() {
        let (one, two) = (Duration::from_millis(1), Duration::from_millis(2));
        let all = [
            of(&["a"]),
            of(&["a"]).without_disks(one, one),
            of(&["a"]).without_disks(one, two),
            of(&["a"]).without_disks(two, one),
        ];
        let lists: BTreeSet<_> = all.iter().map(|e| e.list).collect();
        assert_eq!(lists.len(), all.len());
    }

    #[test]
    fn the_timings_that_voters_without_disks_agree_on_are_named() {
        let ms = Duration::from_millis;
        let text = of(&["a"]).without_disks(ms(900), ms(100)).to_string();
        let end = ", without disks, with a promise of 900ms and a round of 100ms";
        assert!(text.ends_with(end), "{text}");
    }

    /// Hosts of different releases compare this digest, so its value must never change.
    #[test]
    fn the_digest_of_a_list_is_the_same_for_ever() {
        let text = "3 voters (list cec64e155111225d), 2 to elect and 2 for a lease";
        assert_eq!(of(&["a", "b", "c"]).to_string(), text);
    }
}
