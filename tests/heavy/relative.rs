//! A hash that reads clock readings as spans from now, so that states that differ only in the date are one state.
//!
//! A machine compares readings of its own clock with one another and with spans of time, never with a date. So moving
//! all readings by the same amount changes none of its steps. Every clock here starts at [`EPOCH`], which is larger
//! than any counter: a hashed `u64` of this size is a reading.
//!
//! A reading in the past is *old* if its age makes no difference any more. A **deadline** has passed or it has not. The
//! age of an **event** counts while it is within a span of the rules, the *memory*. The place on the clock tells the
//! two apart: events happen at a tick, and the spans of the rules are not whole numbers of ticks.

use std::{
    hash::{Hash, Hasher},
    time::Duration,
};

use bully_core::protocol::Time;

/// Reading of every clock at the beginning, in nanoseconds.
pub const EPOCH: u64 = 1_000_000_000_000_000_000;

/// Length of a tick of a model, in nanoseconds: a millisecond.
pub const TICK: u64 = 1_000_000;

/// Returns the reading after `ticks` ticks.
pub const fn at(ticks: u16) -> Time {
    Time::from_nanos(EPOCH + (ticks as u64) * TICK)
}

/// Returns the length of `n` ticks, which need not be a whole number.
pub fn ticks(n: f64) -> Duration {
    Duration::from_secs_f64(n / 1_000.0)
}

/// Returns a digest of `what`. Readings count from `now`; readings older than `memory` are equal.
pub fn digest(what: &impl Hash, now: Time, memory: Duration) -> u64 {
    let mut hasher = Relative {
        inner: Mixer::default(),
        now: now.as_nanos(),
        oldest: now.as_nanos().saturating_sub(nanos(memory)),
    };
    what.hash(&mut hasher);
    hasher.finish()
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

struct Relative {
    inner: Mixer,
    now: u64,
    oldest: u64,
}

impl Hasher for Relative {
    fn write(&mut self, bytes: &[u8]) {
        self.inner.write(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        if !(EPOCH / 2..EPOCH * 2).contains(&number) {
            self.inner.write_u64(number);
        } else if number < self.oldest || number < self.now && number % TICK != EPOCH % TICK {
            self.inner.write_u64(EPOCH);
        } else {
            self.inner.write_u64(number.wrapping_sub(self.now));
        }
    }

    fn finish(&self) -> u64 {
        self.inner.finish()
    }
}

/// A fast hash of trusted values: each word is multiplied in, and both halves of the product count.
#[derive(Debug, Default)]
pub struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) {
        let factor = 0x9E37_79B9_7F4A_7C15_u64;
        let product = u128::from(self.0 ^ word ^ 0xD6E8_FEB8_6659_FD93) * u128::from(factor);
        let halves = (product as u64) ^ ((product >> 64) as u64);
        self.0 = halves.wrapping_add(self.0.rotate_left(23)).wrapping_add(1);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn finish(&self) -> u64 {
        let mut last = Self(self.0);
        last.mix(0);
        last.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equally_far_away_is_equal() {
        let memory = ticks(4.0);
        let seen = |reading: u16, now: u16| digest(&(at(reading), 7u64), at(now), memory);
        assert_eq!(seen(5, 3), seen(12, 10), "two ticks ahead");
        assert_ne!(seen(5, 3), seen(5, 4));
        assert_eq!(seen(5, 9), seen(6, 10), "four ticks ago");
        assert_ne!(seen(5, 9), seen(5, 10), "old");
        assert_eq!(seen(5, 10), seen(5, 99), "no older than old");
        let due = |now| digest(&at(5).after(ticks(0.5)), at(now), memory);
        assert_ne!(due(4), due(5));
        assert_eq!(due(6), due(7), "a deadline has passed, or it has not");
        let never = |now| digest(&Time::MAX, at(now), memory);
        assert_eq!(never(1), never(2), "the end of time does not move");
    }
}
