//! Decides which message a proxy sends next, and keeps the state of sent messages: a state machine without an actor, a
//! clock or random numbers.
//!
//! ```text
//!   push ─▶ buffer ── next ──▶ in flight ── acknowledged ──▶ delivered
//!             ▲                   │   │
//!             └──── refused ──────┘   └── no answer, or the leader is gone ──▶ unknown, never sent again
//! ```
//!
//! Messages are sent in *runs*. The messages of one run have numbers from 0, and go to one leader in one term. The next
//! run begins only when each message of the present run is delivered, refused or unknown. This is enough to keep the
//! order: a leader that refuses one message of a run refuses all later messages of the run, and never takes a refused
//! message afterwards. So refused messages may be sent again, in their order, to the same leader or to another leader.
//!
//! Decided here: which messages are buffered and how many fit, how many messages of a run may be in flight, when a
//! redirect is followed, and when an outcome counts as unknown. Not here: which messages a leader takes
//! (`receiver.rs`), and how messages travel.

use std::{collections::VecDeque, time::Duration};

use crate::protocol::{AgentId, Time};

use super::exchange::{Answerer, KeptMessage, Life, Next, ProxyBounds, Refusal, Settled, Target};

mod runs;

/// The sending side of one proxy; `P` is the type of its messages.
#[derive(Debug)]
pub(super) struct Sender<P> {
    bounds: ProxyBounds,
    buffer: VecDeque<KeptMessage<P>>,
    /// Messages of the present run, in order.
    flight: VecDeque<KeptMessage<P>>,
    bytes: usize,
    /// Bytes of the messages in flight.
    flying: usize,
    /// Largest number of messages in flight. It shrinks when a leader's actor has no room, and grows with deliveries.
    window: usize,
    ids: u64,
    runs: u64,
    run: Option<Run>,
    /// The leader, as this agent sees it.
    view: Option<Target>,
    redirect: Redirect,
    /// No message is sent before this time, because messages were refused.
    paused_until: Time,
    pauses: u32,
    /// Number of runs (messages to one leader in one term) in a row without a message that arrived.
    lost_runs: u32,
}

/// One run: messages to one leader in one term. The first message in flight has the number `first`.
#[derive(Debug)]
struct Run {
    number: u64,
    to: Target,
    first: u64,
    /// Time of the last answer, or of sending the first message in flight.
    heard: Time,
    asked: Time,
}

/// The successor that a former leader has reported.
#[derive(Debug, PartialEq, Eq)]
enum Redirect {
    /// No redirect was received since this agent's view of the leader changed.
    None,
    Followed(Target),
    /// A redirect was followed before, and no further redirect is followed.
    Spent,
}

impl<P> Sender<P> {
    pub(super) fn new(bounds: ProxyBounds) -> Self {
        Self {
            bounds,
            buffer: VecDeque::new(),
            flight: VecDeque::new(),
            bytes: 0,
            flying: 0,
            window: bounds.messages,
            ids: 0,
            runs: 0,
            run: None,
            view: None,
            redirect: Redirect::None,
            paused_until: Time::ZERO,
            pauses: 0,
            lost_runs: 0,
        }
    }

    /// Takes a message.
    ///
    /// # Errors
    /// The message itself, if the buffer is full.
    pub(super) fn push(&mut self, size: usize, payload: P) -> Result<u64, P> {
        let has_room = self.len() < self.bounds.messages
            && self.bytes.saturating_add(size) <= self.bounds.bytes;
        if !has_room {
            return Err(payload);
        }
        let id = self.next_id();
        self.bytes = self.bytes.saturating_add(size);
        self.buffer.push_back(KeptMessage { id, size, payload });
        Ok(id)
    }

    /// Returns a number for a message that takes no room in the buffer.
    pub(super) fn next_id(&mut self) -> u64 {
        self.ids = self.ids.saturating_add(1);
        self.ids
    }

    /// Notes the leader that this agent sees now.
    pub(super) fn see(&mut self, now: Time, view: Option<Target>) {
        if self.view != view {
            self.view = view;
            self.redirect = Redirect::None;
            self.resume(now);
            self.turn_over(now);
        }
    }

    /// Gives up the messages that were sent to an endpoint that has ended, or whose agent has moved: no answer comes
    /// any more. `present` returns the present endpoint of an agent.
    pub(super) fn see_ends(&mut self, present: impl Fn(&AgentId) -> Option<Life>) -> Settled<P> {
        let has_ended = |to: &Target| {
            present(&to.id).is_none_or(|life| {
                life.incarnation != to.life.incarnation || life.node != to.life.node
            })
        };
        if matches!(&self.redirect, Redirect::Followed(to) if has_ended(to)) {
            self.redirect = Redirect::Spent;
        }
        if self.run.as_ref().is_some_and(|run| has_ended(&run.to)) {
            return self.give_up_run();
        }
        Settled::default()
    }

    /// Notes that the messages of a run before the number `next` were delivered.
    pub(super) fn acknowledged(&mut self, now: Time, from: &Answerer<'_>, next: u64) -> Settled<P> {
        let mut settled = Settled::default();
        if !self.is_present(from) {
            return settled;
        }
        self.resume(now);
        self.lost_runs = 0;
        settled.delivered = self.land(next);
        if settled.delivered > 0 {
            let wider = self.window.saturating_add(WIDER);
            self.window = wider.min(self.bounds.messages);
        }
        if let Some(run) = &mut self.run {
            run.heard = now;
        }
        self.turn_over(now);
        settled
    }

    /// Notes that the leader takes no more messages of a run. The leader has delivered the messages before `next`;
    /// `None` if the leader does not know the number.
    pub(super) fn refused(
        &mut self,
        now: Time,
        from: &Answerer<'_>,
        next: Option<u64>,
        why: Refusal,
        redirect: Option<Target>,
    ) -> Settled<P> {
        if !self.is_present(from) {
            return Settled::default();
        }
        // The leader does not know how many messages it delivered, so no message in flight may be sent again.
        let Some(next) = next else {
            self.pause(now);
            return self.give_up_run();
        };
        let mut settled = Settled {
            delivered: self.land(next),
            ..Settled::default()
        };
        let is_progress = settled.delivered > 0;
        if why == Refusal::Busy {
            let narrower = self.window.min(self.flight.len()) / 2;
            self.window = narrower.max(NARROWEST).min(self.bounds.messages);
        }
        while let Some(item) = self.flight.pop_back() {
            self.buffer.push_front(item);
        }
        self.flying = 0;
        let was = self.run.take().map(|run| run.to);
        if is_progress {
            self.resume(now);
        }
        match why {
            Refusal::NotLeader => self.follow(now, redirect, was.as_ref()),
            Refusal::NotReady | Refusal::Unregistered | Refusal::Busy => self.pause(now),
            Refusal::Gap => {
                self.lost_runs = if is_progress {
                    0
                } else {
                    self.lost_runs.saturating_add(1)
                };
                self.pause(now);
                // The first message was lost in each of the last runs. It is given up: otherwise all other messages
                // wait for ever.
                if self.lost_runs >= LOST_RUNS
                    && let Some(item) = self.buffer.pop_front()
                {
                    self.lost_runs = 0;
                    self.bytes = self.bytes.saturating_sub(item.size);
                    settled.undeliverable.push(item);
                }
            }
        }
        settled
    }

    /// Returns the next frame to send, if a frame can be sent now. Call this until it returns `None`;
    /// [`wakes_at`](Self::wakes_at) then returns the time of the next call.
    pub(super) fn next(
        &mut self,
        now: Time,
        most: usize,
        bytes: usize,
    ) -> (Option<Next>, Settled<P>) {
        let settled = self.out_of_patience(now);
        if let Some(run) = &mut self.run
            && !self.flight.is_empty()
            && now >= run.asked
        {
            run.asked = now.after(ASK_AFTER);
            let question = Next {
                to: run.to.clone(),
                run: run.number,
                first: run.first.saturating_add(count(self.flight.len())),
                count: 0,
            };
            return (Some(question), settled);
        }
        (self.batch(now, most, bytes), settled)
    }

    fn batch(&mut self, now: Time, most: usize, bytes: usize) -> Option<Next> {
        let wanted = self.wanted()?.clone();
        if self.buffer.is_empty() || now < self.paused_until || self.flight.len() >= self.window {
            return None;
        }
        match &self.run {
            // While messages to a former leader are in flight, nothing is sent to the next leader: it could overtake
            // them.
            Some(run) if run.to != wanted => return None,
            Some(_) => {}
            None => {
                self.runs = self.runs.saturating_add(1);
                self.run = Some(Run {
                    number: self.runs,
                    to: wanted.clone(),
                    first: 0,
                    heard: now,
                    asked: now.after(ASK_AFTER),
                });
            }
        }
        let (mut taken, mut size) = (0_usize, 0_usize);
        let was_quiet = self.flight.is_empty();
        while taken < most && self.flight.len() < self.window {
            let Some(item) = self.buffer.front() else {
                break;
            };
            size = size.saturating_add(item.size);
            if taken > 0 && size > bytes {
                break;
            }
            let Some(item) = self.buffer.pop_front() else {
                break;
            };
            self.flying = self.flying.saturating_add(item.size);
            self.flight.push_back(item);
            taken = taken.saturating_add(1);
        }
        let run = self.run.as_mut()?;
        if was_quiet {
            run.heard = now;
        }
        run.asked = now.after(ASK_AFTER);
        let ahead = count(self.flight.len().saturating_sub(taken));
        Some(Next {
            to: wanted,
            run: run.number,
            first: run.first.saturating_add(ahead),
            count: taken,
        })
    }

    /// Returns the latest time at which [`next`](Self::next) must be called again.
    pub(super) fn wakes_at(&self) -> Option<Time> {
        let run = self.run.as_ref().filter(|_| !self.flight.is_empty());
        let answer = run.map(|run| run.asked.min(run.heard.after(self.bounds.patience)));
        let is_waiting = !self.buffer.is_empty() && self.wanted().is_some() && run.is_none();
        let pause = is_waiting.then_some(self.paused_until);
        answer.into_iter().chain(pause).min()
    }

    /// Gives a message up. Returns whether the message was still in the buffer: then it is never sent.
    pub(super) fn cancel(&mut self, id: u64) -> bool {
        let at = self.buffer.iter().position(|item| item.id == id);
        let unsent = at.and_then(|at| self.buffer.remove(at));
        let size = unsent.as_ref().map_or(0, |item| item.size);
        self.bytes = self.bytes.saturating_sub(size);
        unsent.is_some()
    }

    /// Returns the messages of a [`Next`].
    pub(super) fn in_flight(&self, last: usize) -> impl Iterator<Item = &KeptMessage<P>> {
        let before = self.flight.len().saturating_sub(last);
        self.flight.iter().skip(before)
    }

    /// Returns whether no message waits and none is in flight, so that a message may be delivered at once.
    pub(super) fn is_clear(&self) -> bool {
        self.buffer.is_empty() && self.flight.is_empty()
    }

    /// Returns whether the next messages go to the agent `id`.
    pub(super) fn wants(&self, id: &AgentId) -> bool {
        self.wanted().is_some_and(|to| to.id == *id)
    }

    /// Returns whether this agent already sees the leader `view`.
    pub(super) fn sees(&self, view: Option<&Target>) -> bool {
        self.view.as_ref() == view
    }

    /// Returns whether a leader is known, also by a redirect.
    pub(super) fn has_leader(&self) -> bool {
        self.wanted().is_some()
    }

    /// Returns the number of messages that are kept.
    pub(super) fn len(&self) -> usize {
        self.buffer.len().saturating_add(self.flight.len())
    }

    /// Removes all messages when the agent ends. Returns the messages of the buffer, then the messages in flight.
    pub(super) fn drain(&mut self) -> (Vec<KeptMessage<P>>, Vec<KeptMessage<P>>) {
        self.run = None;
        (self.bytes, self.flying) = (0, 0);
        (
            self.buffer.drain(..).collect(),
            self.flight.drain(..).collect(),
        )
    }

    fn wanted(&self) -> Option<&Target> {
        match &self.redirect {
            Redirect::Followed(to) => Some(to),
            Redirect::None | Redirect::Spent => self.view.as_ref(),
        }
    }

    fn is_present(&self, from: &Answerer<'_>) -> bool {
        self.run.as_ref().is_some_and(|run| {
            run.number == from.run && run.to.id == *from.id && run.to.life == from.life
        })
    }
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

/// Time without an answer after which a leader is asked about a run. Chosen: far longer than the 10 ms after which a
/// leader acknowledges, and a tenth of the default patience of 2 s.
const ASK_AFTER: Duration = Duration::from_millis(200);
/// Smallest value of `window`, even if the leader's actor has no room. With 1, each message would cost a round trip.
const NARROWEST: usize = 16;
/// Number of messages by which `window` grows at each acknowledgement. Chosen: it grows more slowly than it shrinks.
const WIDER: usize = 16;
/// Number of runs in a row without any arrival after which the first message is given up. Chosen: with 1, a message
/// that was lost once on the way is given up; a larger number makes all other messages wait for more pauses.
const LOST_RUNS: u32 = 4;
