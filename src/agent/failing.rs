//! The pauses of an agent whose work fails: before it steps down, and before it may be elected again.
//!
//! Decided here, without a clock or a runtime:
//!
//! | rule | |
//! |---|---|
//! | `wait-after-failure` | Work fails when it ends by itself or panics, and its agent was not asked to step down. If that happens within a minute of the leadership's begin, the agent waits before it steps down: 1 s, and twice as long for each short leadership of the group before it, up to a minute. So work that fails on every host moves the leadership once a minute, and not as often as the network allows. |
//! | `held-back-after-failure` | After it stepped down, the agent lets other agents lead first for a minute. This time doubles with each failure, up to an hour. An hour as leader resets it. So work that fails on one host runs on another host. |
//!
//! An agent counts the leaderships of its group since it was given work.
//! Not here: how failures are found (`work.rs`), and the cool-down of each election.

use std::time::Duration;

use crate::protocol::{AgentId, Event, Incarnation, Time};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// Length below which a leadership counts as short. It is more than a minute, because the agent may wait for a minute
/// before it steps down.
const SHORT: Duration = Duration::from_secs(120);

/// The pauses after work that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Consequence {
    /// Time for which the agent waits before it steps down.
    pub(super) wait: Duration,
    /// Shortest time for which the agent lets other agents lead first after it has stepped down.
    pub(super) held_back: Duration,
}

/// The leaderships of a group that this agent has seen since it was given work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FailingWork {
    /// Number of short leaderships in a row.
    row: u32,
    /// The present leadership, or the last leadership; `began` is its start.
    leader: Option<(AgentId, Incarnation)>,
    began: Time,
    is_over: bool,
    /// Number of failures of this agent's work since it last led for an hour.
    failures: u32,
}

impl FailingWork {
    /// Notes that this agent's work failed. The agent has led for `led_for` or longer: if its work stalled, only the
    /// last part of the leadership is known.
    pub(super) fn fail(
        &mut self,
        me: (&AgentId, Incarnation),
        led_for: Duration,
        now: Time,
    ) -> Consequence {
        if self.leader.is_none() {
            self.leader = Some((me.0.clone(), me.1));
            let began = now.as_nanos().saturating_sub(nanos(led_for));
            self.began = Time::from_nanos(began);
        }
        let led_for = if self.is_led_by(me) {
            now.since(self.began).max(led_for)
        } else {
            led_for
        };
        if led_for >= HOUR {
            self.failures = 0;
        }
        let held_back = doubled(MINUTE, self.failures).min(HOUR);
        self.failures = self.failures.saturating_add(1);
        let wait = if led_for < MINUTE {
            doubled(SECOND, self.row).min(MINUTE)
        } else {
            Duration::ZERO
        };
        Consequence { wait, held_back }
    }

    pub(super) fn hear(&mut self, me: (&AgentId, Incarnation), event: &Event, now: Time) {
        match event {
            Event::Acquired { .. } => self.begin(me, true, now),
            Event::NewLeader(leader) => {
                self.begin((&leader.id, leader.incarnation), self.is_over, now);
            }
            Event::Lost { .. } | Event::NoLeader { .. } => self.is_over = true,
            // `_`: a later `bully-core` may have more variants; `tests/layering` reports the variants that are missing
            // here.
            Event::Renewed { .. } | Event::Draining { .. } | Event::Voters(_) | _ => {}
        }
    }

    fn begin(&mut self, leader: (&AgentId, Incarnation), is_new: bool, now: Time) {
        if !is_new && self.is_led_by(leader) {
            return;
        }
        let is_short = self.leader.is_some() && now.since(self.began) < SHORT;
        self.row = if is_short {
            self.row.saturating_add(1)
        } else {
            0
        };
        self.leader = Some((leader.0.clone(), leader.1));
        (self.began, self.is_over) = (now, false);
    }

    fn is_led_by(&self, leader: (&AgentId, Incarnation)) -> bool {
        let known = self.leader.as_ref();
        known.is_some_and(|(id, incarnation)| (id, *incarnation) == leader)
    }
}

fn doubled(span: Duration, times: u32) -> Duration {
    span.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX))
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Leader, LostReason, Term};

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(S(seconds))
    }

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn leads(name: &str) -> Event {
        Event::NewLeader(Leader {
            id: id(name),
            incarnation: Incarnation(1),
            term: Term(1),
        })
    }

    const ACQUIRED: Event = Event::Acquired { term: Term(1) };

    #[test]
    fn each_short_leadership_doubles_the_wait_up_to_a_minute() {
        let (me, mut failing) = (id("a"), FailingWork::default());
        let me = (&me, Incarnation(1));
        let waits = |failing: &mut FailingWork, now| failing.fail(me, S(0), at(now)).wait;
        assert_eq!(waits(&mut failing, 100), S(1));
        for (now, other) in [(101, "b"), (102, "c")] {
            failing.hear(me, &leads(other), at(now));
            failing.hear(me, &leads(other), at(now)); // the same leader with another term
        }
        failing.hear(me, &ACQUIRED, at(103));
        assert_eq!(waits(&mut failing, 103), S(8));
        for _ in 0..40 {
            let lost = Event::Lost {
                term: Term(1),
                reason: LostReason::Resigned,
            };
            failing.hear(me, &lost, at(104));
            failing.hear(me, &ACQUIRED, at(104));
        }
        assert_eq!(waits(&mut failing, 104), MINUTE);
        failing.hear(me, &leads("b"), at(105));
        failing.hear(me, &ACQUIRED, at(226));
        assert_eq!(waits(&mut failing, 226), S(1), "b led for two minutes");
    }

    #[test]
    fn work_that_stalls_after_an_hour_of_leading_fails_for_the_first_time() {
        let (me, mut failing) = (id("a"), FailingWork::default());
        let me = (&me, Incarnation(1));
        let mut stalls = |began, now| {
            failing.hear(me, &ACQUIRED, at(began));
            let next = failing.fail(me, S(30), at(now));
            (next.wait, next.held_back)
        };
        assert_eq!(stalls(0, 30), (S(1), S(60)));
        assert_eq!(stalls(1_000, 1_100), (S(0), S(120)), "not at once");
        assert_eq!(stalls(2_000, 5_600), (S(0), S(60)));
    }

    #[test]
    fn an_agent_that_fails_after_a_minute_does_not_wait_and_is_held_back() {
        let (me, mut failing) = (id("a"), FailingWork::default());
        let mut fails = |led: u64| failing.fail((&me, Incarnation(1)), S(led), at(9_000));
        let waits = Consequence {
            wait: S(1),
            held_back: S(60),
        };
        assert_eq!(fails(59), waits);
        let late = |held_back| Consequence {
            wait: S(0),
            held_back: S(held_back),
        };
        assert_eq!(fails(60), late(120));
        assert_eq!(fails(60), late(240));
        assert_eq!(fails(3_600), late(60), "an hour of leading");
        for _ in 0..40 {
            fails(60);
        }
        assert_eq!(fails(60), late(3_600));
    }
}
