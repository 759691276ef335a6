//! How a run ends, and which leader gets the next run.
//!
//! Decided here: a redirect (the successor that a former leader names) is followed only once, until this agent sees
//! another leader; the pause before a refused message is sent again; and a run without an answer is given up.

use std::time::Duration;

use crate::protocol::Time;

use super::{
    super::exchange::{Settled, Target},
    Redirect, Run, Sender,
};

impl<P> Sender<P> {
    pub(super) fn follow(&mut self, now: Time, redirect: Option<Target>, was: Option<&Target>) {
        let is_new = redirect.as_ref() != was && redirect.as_ref() != self.view.as_ref();
        match redirect {
            // A redirect is followed only once: two agents that report each other as leader would pass the messages to
            // and fro.
            Some(to) if is_new && self.redirect == Redirect::None => {
                self.redirect = Redirect::Followed(to);
            }
            Some(_) | None => {
                if self.redirect != Redirect::None {
                    self.redirect = Redirect::Spent;
                }
                self.pause(now);
            }
        }
    }

    /// Pauses the sending. The pause grows with each attempt that achieves nothing.
    pub(super) fn pause(&mut self, now: Time) {
        let longer = 1_u32.checked_shl(self.pauses.min(MOST_DOUBLED));
        self.pauses = self.pauses.saturating_add(1);
        self.paused_until = now.after(PAUSE.saturating_mul(longer.unwrap_or(1)));
    }

    pub(in crate::leader::proxy) fn resume(&mut self, now: Time) {
        (self.pauses, self.paused_until) = (0, now);
    }

    /// Counts the messages before the number `next` as delivered.
    pub(super) fn land(&mut self, next: u64) -> u64 {
        let Some(run) = &mut self.run else { return 0 };
        let mut landed: u64 = 0;
        while run.first < next
            && let Some(item) = self.flight.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(item.size);
            self.flying = self.flying.saturating_sub(item.size);
            run.first = run.first.saturating_add(1);
            landed = landed.saturating_add(1);
        }
        landed
    }

    /// Ends a run whose leader does not lead any more, once no message of the run is in flight. Until then the leader
    /// of the run is asked about the run.
    pub(super) fn turn_over(&mut self, now: Time) {
        let wanted = self.wanted();
        let is_over = |run: &Run| wanted != Some(&run.to);
        if !self.run.as_ref().is_some_and(is_over) {
            return;
        }
        if self.flight.is_empty() {
            self.run = None;
        } else if let Some(run) = &mut self.run {
            run.asked = now;
        }
    }

    pub(super) fn out_of_patience(&mut self, now: Time) -> Settled<P> {
        let patience = self.bounds.patience;
        let is_over = |run: &Run| now >= run.heard.after(patience);
        if !self.flight.is_empty() && self.run.as_ref().is_some_and(is_over) {
            return self.give_up_run();
        }
        Settled::default()
    }

    /// Gives the messages in flight up: their outcome is unknown.
    pub(super) fn give_up_run(&mut self) -> Settled<P> {
        self.run = None;
        self.flying = 0;
        let unknown: Vec<_> = self.flight.drain(..).collect();
        let bytes = unknown.iter().map(|item| item.size).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        Settled {
            unknown,
            ..Settled::default()
        }
    }
}

/// The first pause before a refused message is sent again.
const PAUSE: Duration = Duration::from_millis(10);
/// Largest number of times that [`PAUSE`] is doubled.
const MOST_DOUBLED: u32 = 5;
