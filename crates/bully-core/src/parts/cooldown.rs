//! The time after a step-down in which an agent does not compete with the other agents.
//!
//! Decided here: the cool-down ends by itself. Without a cool-down, a hand-over would at once bring the leadership back
//! to the agent that has just stepped down, which often ranks highest. Not here: the agent's behaviour during the
//! cool-down, and the events that end the cool-down early; each election decides both.

use std::time::Duration;

use super::handover::Due;
use crate::protocol::{Effects, Time};

/// The time until which an agent does not compete. The default is a cool-down that has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cooldown {
    /// [`Time::MAX`]: no cool-down has begun. An `Option` would make each agent 128 bytes larger, because a task grows
    /// in steps of 128 bytes (bench `memory`).
    until: Time,
    /// Shortest length of the next cool-down, in seconds.
    least: u16,
}

impl Default for Cooldown {
    fn default() -> Self {
        Self {
            until: Time::MAX,
            least: 0,
        }
    }
}

impl Cooldown {
    /// Begins the cool-down, and sets `timer` to its end. Only an agent that has given up its own leadership calls
    /// this, because the call uses up the time that [`hold_back`](Self::hold_back) has set.
    pub fn begin<M, T, D, A>(
        &mut self,
        now: Time,
        span: Duration,
        timer: T,
        out: &mut Effects<M, T, D, A>,
    ) {
        let least = Duration::from_secs(std::mem::take(&mut self.least).into());
        let span = span.max(least);
        self.until = now.after(span);
        out.set_timer(timer, span);
    }

    /// Makes the next cool-down last at least `span`, in whole seconds and up to 18 hours.
    pub fn hold_back(&mut self, span: Duration) {
        self.least = u16::try_from(span.as_secs()).unwrap_or(u16::MAX);
    }

    /// Ends the cool-down early. Returns whether a cool-down had begun.
    pub fn end<M, T, D, A>(&mut self, timer: T, out: &mut Effects<M, T, D, A>) -> bool {
        let has_begun = self.has_begun();
        self.until = Time::MAX;
        if has_begun {
            out.cancel_timer(timer);
        }
        has_begun
    }

    /// Returns whether the agent cools down at `now`.
    pub fn is_active(&self, now: Time) -> bool {
        self.until().is_some_and(|until| now < until)
    }

    /// Returns the time at which the cool-down ends by itself, even if this time has passed.
    pub fn until(&self) -> Option<Time> {
        self.has_begun().then_some(self.until)
    }

    /// Returns whether a cool-down has begun and was not ended, even if its time has passed.
    pub fn has_begun(&self) -> bool {
        self.until < Time::MAX
    }

    /// Handles the timer. Returns `None` if no cool-down has begun. If the time of the cool-down has passed, the
    /// cool-down ends; otherwise `timer` is set to the remaining time.
    pub fn on_due<M, T, D, A>(
        &mut self,
        now: Time,
        timer: T,
        out: &mut Effects<M, T, D, A>,
    ) -> Option<Due> {
        let due = Due::check(now, self.until()?, timer, out);
        if due == Due::Now {
            self.until = Time::MAX;
        }
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{After, Effect};

    #[test]
    fn it_ends_by_its_timer_and_no_earlier() {
        let mut out = Effects::<(), u8, ()>::default();
        let mut cooldown = Cooldown::default();
        let at = Time::from_millis;
        assert_eq!(cooldown.on_due(at(0), 1, &mut out), None);
        cooldown.begin(at(10), Duration::from_millis(5), 1, &mut out);
        assert!(cooldown.is_active(at(14)) && !cooldown.is_active(at(15)));
        let early = Effect::SetTimer {
            timer: 1,
            after: After::from(Duration::from_millis(1)),
        };
        assert_eq!(cooldown.on_due(at(14), 1, &mut out), Some(Due::Later));
        assert_eq!(out.drain().last(), Some(early));
        assert!(cooldown.has_begun());
        assert_eq!(cooldown.on_due(at(15), 1, &mut out), Some(Due::Now));
        assert_eq!(out.drain().last(), None);
        assert!(!cooldown.has_begun());
    }

    #[test]
    fn an_early_end_takes_the_timer_back_once() {
        let mut out = Effects::<(), u8, ()>::default();
        let mut cooldown = Cooldown::default();
        assert!(!cooldown.end(1, &mut out));
        cooldown.begin(Time::ZERO, Duration::from_secs(1), 1, &mut out);
        assert!(cooldown.end(1, &mut out) && !cooldown.end(1, &mut out));
        assert_eq!(out.drain().last(), Some(Effect::CancelTimer(1)));
    }
}
