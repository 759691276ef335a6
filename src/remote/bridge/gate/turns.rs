//! The turns of strangers (connections from addresses of no peer): the names of strangers are checked one after the
//! other, at a limited pace.
//!
//! Decided here: the work of a TLS handshake (a key exchange and a signature, some 0.2 ms) begins for one stranger at a
//! time, at most once in [`PACE`]. After each part of this work no stranger gets a turn for [`TIMES`] times as long as
//! the part took. So connections that begin a handshake and end cost other connections almost nothing. Without this
//! pace, such connections kept this thread busy: in a measurement, a cluster that restarted took five times as long to
//! elect a leader. A connection from the address of a peer does not wait for a turn.

use std::{
    collections::BTreeSet,
    future::{Future, poll_fn},
    pin::pin,
    time::Duration,
};

use actix::clock::{Instant, sleep_until};

use crate::remote::bridge::shared::lock;

use super::{Address, Pass};

/// The strangers that wait, and the time at which the next stranger may begin.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: BTreeSet<u64>,
    next: Option<Instant>,
}

impl Turns {
    /// Returns `Ok` if the stranger `number` may begin now, or else the time at which it has to ask again.
    fn ask(&mut self, number: u64, now: Instant) -> Result<(), Instant> {
        self.waiting.insert(number);
        if let Some(next) = self.next.filter(|next| *next > now) {
            return Err(next);
        }
        // The newest stranger begins first: if too many strangers come, the oldest are about to be closed, and a turn
        // would be wasted on each of them.
        if self.waiting.last() != Some(&number) {
            return Err(after(now, PACE));
        }
        self.waiting.remove(&number);
        self.next = Some(after(now, PACE));
        Ok(())
    }

    /// Notes how long a part of the work for a stranger took.
    fn worked(&mut self, took: Duration, now: Instant) {
        let rest = took.saturating_mul(TIMES).min(MOST);
        // The later of the two times counts, because [`PACE`] also applies after a short part.
        self.next = self.next.max(Some(after(now, rest)));
    }
}

impl Pass {
    /// Runs a check of the other end. If the other end is a stranger, the check waits for its turn.
    pub(crate) async fn in_turn<T>(&self, check: impl Future<Output = T>) -> T {
        let mut check = pin!(check);
        let is_strange = {
            let _waiting = WaitingStranger(self);
            loop {
                match self.ask() {
                    Ok(is_strange) => break is_strange,
                    Err(next) => sleep_until(next).await,
                }
            }
        };
        if !is_strange {
            return check.await;
        }
        // Only the time of the polls is counted: to wait for the other end costs this thread nothing.
        poll_fn(|task| {
            let began = Instant::now();
            let polled = check.as_mut().poll(task);
            let now = Instant::now();
            let mut slots = lock(&self.gate.slots);
            slots.turns.worked(now.duration_since(began), now);
            polled
        })
        .await
    }

    /// Returns whether the connection is a stranger whose turn it is; `false` for a connection from a peer's address.
    /// An error is the time at which a stranger has to ask again.
    fn ask(&self) -> Result<bool, Instant> {
        let mut slots = lock(&self.gate.slots);
        let address = slots.addresses.get(&self.from);
        if !address.is_none_or(Address::is_strange) {
            return Ok(false);
        }
        slots.turns.ask(self.number, Instant::now())?;
        Ok(true)
    }
}

/// A stranger that waits. If it loses its slot, the drop of this value removes it from the queue.
struct WaitingStranger<'a>(&'a Pass);

impl Drop for WaitingStranger<'_> {
    fn drop(&mut self) {
        let mut slots = lock(&self.0.gate.slots);
        slots.turns.waiting.remove(&self.0.number);
    }
}

/// Shortest time between two turns: at most 1,000 turns in a second.
const PACE: Duration = Duration::from_millis(1);
/// Factor between the time of a part and the pause after it: strangers get at most a fifth of this thread's time.
const TIMES: u32 = 4;
/// Longest pause, also after a longer part: the measured time may include another process on the CPU.
const MOST: Duration = Duration::from_millis(20);

/// Returns the time that is `span` after `now`. The sum does not overflow, because the spans are short.
fn after(now: Instant, span: Duration) -> Instant {
    now.checked_add(span).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_newest_goes_first_and_one_at_a_time() {
        let mut turns = Turns::default();
        let now = Instant::now();
        assert_eq!(turns.ask(1, now), Ok(()), "no other stranger waits");
        for number in [2, 3, 4] {
            assert_eq!(turns.ask(number, now), Err(now + PACE));
        }
        let now = now + PACE;
        assert_eq!(turns.ask(2, now), Err(now + PACE), "there are newer ones");
        assert_eq!(turns.ask(4, now), Ok(()));
        assert_eq!(turns.ask(3, now), Err(now + PACE));
        turns.waiting.remove(&3); // it lost its slot
        assert_eq!(turns.ask(2, now + PACE), Ok(()));
        assert!(turns.waiting.is_empty());
    }

    #[test]
    fn strangers_have_a_share_of_the_time_and_no_more() {
        let mut turns = Turns::default();
        let now = Instant::now();
        assert_eq!(turns.ask(1, now), Ok(()));
        turns.worked(MS(3), now + MS(3));
        assert_eq!(turns.ask(2, now + MS(14)), Err(now + MS(15)));
        assert_eq!(turns.ask(2, now + MS(15)), Ok(()));
        turns.worked(MS(0), now + MS(15));
        let next = now + MS(15) + PACE;
        assert_eq!(
            turns.ask(3, now + MS(15)),
            Err(next),
            "the pace all the same"
        );
        turns.worked(MS(900), now + MS(915));
        assert_eq!(turns.ask(3, now + MS(915)), Err(now + MS(915) + MOST));
    }
}
