//! Gossip leader election exactly as the pseudo-code has it, with its faults: lines 1 to 37.
//!
//! The tests show each fault beside its repair (`tests/elections/programs/`). No user of the
//! crate can reach this code, which is not a part of it.

use std::{collections::BTreeSet, convert::Infallible, fmt, sync::Arc, time::Duration};

use actix_bully::protocol::{
    AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Role, Term, Time,
};
use bully_core::protocol::{
    EffectsOf, Election, Identity, Input, InputOf, Members, MembershipError, MinimumRole,
    PeerMessage, Requirements, Rules, View,
};

/// A ballot (n, pid).
type Number = (u64, AgentId);

/// The messages HEARTBEATREQUEST and HEARTBEATREPLY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ble {
    Request { round: u64, max: Number },
    Reply { round: u64, ballot: Number },
}

impl fmt::Display for Ble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { round, max } => {
                write!(f, "heartbeat_request {round} max {}.{}", max.0, max.1)
            }
            Self::Reply { round, ballot } => {
                write!(f, "heartbeat_reply {round}, {}.{}", ballot.0, ballot.1)
            }
        }
    }
}

impl PeerMessage for Ble {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request { .. } => "heartbeat_request",
            Self::Reply { .. } => "heartbeat_reply",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }

    fn is_repeated(&self) -> bool {
        true
    }
}

/// The variables of the pseudo-code, and the number of times that it triggered *Leader*.
#[derive(Debug)]
pub(crate) struct AsWritten {
    me: Identity,
    all: Arc<Members>,
    round: u64,
    ballots: BTreeSet<(AgentId, Number)>,
    ballot: Number,
    leader: Option<Number>,
    max: Number,
    delta: Duration,
    delay: Duration,
    triggered: u64,
}

impl AsWritten {
    /// Returns how often the agent triggered *Leader*.
    pub(crate) const fn triggered(&self) -> u64 {
        self.triggered
    }

    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    fn leader(&self) -> Option<Leader> {
        let (n, id) = self.leader.clone()?;
        let incarnation = self.all.get(&id).and_then(|m| m.incarnation);
        Some(Leader {
            id,
            incarnation: incarnation.unwrap_or(Incarnation(1)),
            term: Term(n),
        })
    }

    fn leads(&self) -> Option<Term> {
        let mine = self.leader.as_ref().filter(|(_, id)| *id == self.me.id);
        mine.map(|(n, _)| Term(*n))
    }

    /// 9 to 19: CHECKLEADER.
    fn check_leader(&mut self, out: &mut EffectsOf<Self>) {
        let mut ballots = self.ballots.clone();
        ballots.insert((self.me.id.clone(), self.ballot.clone()));
        let Some((_, top)) = ballots.into_iter().max_by(|a, b| a.1.cmp(&b.1)) else {
            return;
        };
        if top < self.max {
            while self.ballot <= self.max {
                self.ballot.0 += 1;
            }
            self.follow(None, out);
        } else {
            if self.leader.as_ref() != Some(&top) {
                self.max = top.clone();
                self.follow(Some(top), out);
            }
            self.triggered += 1; // outside of the inner `if`
        }
    }

    /// Sends an event if the leader changes: events express only changes.
    fn follow(&mut self, leader: Option<Number>, out: &mut EffectsOf<Self>) {
        let (led, before) = (self.leads(), self.leader());
        self.leader = leader;
        if let Some(term) = led {
            let reason = LostReason::Superseded;
            out.notify(Event::Lost { term, reason });
        }
        match (self.leads(), self.leader(), before) {
            (Some(term), _, _) => out.notify(Event::Acquired { term }),
            (None, Some(leader), _) => out.notify(Event::NewLeader(leader)),
            (None, None, Some(before)) if led.is_none() => {
                out.notify(Event::NoLeader { term: before.term });
            }
            (None, None, _) => {}
        }
    }
}

impl Election for AsWritten {
    type Message = Ble;
    type Timer = ();
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = ();
    /// The delay Δ.
    type Config = Duration;

    /// Lines 1 to 7. The agent remembers nothing.
    fn new(me: Identity, delta: &Duration, _durable: Option<()>) -> Self {
        let ballot = (0, me.id.clone());
        Self {
            all: Arc::default(),
            round: 0,
            ballots: BTreeSet::new(),
            max: ballot.clone(),
            ballot,
            leader: None,
            delta: *delta,
            delay: *delta,
            triggered: 0,
            me,
        }
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements::new(Rules::new("BLE as written")))
    }

    fn handle(&mut self, _now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match input {
            Input::Start(all) => {
                self.all = all;
                out.set_timer((), self.delay); // line 8
            }
            // Lines 20 to 28.
            Input::TimedOut(()) => {
                if self.ballots.len() + 1 >= self.all.len().div_ceil(2) {
                    self.check_leader(out);
                }
                self.ballots.clear();
                self.round += 1;
                let (round, max) = (self.round, self.max.clone());
                out.send_all(Ble::Request { round, max });
                out.set_timer((), self.delay);
            }
            // Lines 29 to 32.
            Input::Received {
                from,
                message: Ble::Request { round, max },
                ..
            } => {
                if max > self.max {
                    self.max = max;
                }
                let ballot = self.ballot.clone();
                out.send(&from, Ble::Reply { round, ballot });
            }
            // Lines 33 to 37.
            Input::Received {
                from,
                message: Ble::Reply { round, ballot },
                ..
            } => {
                if round == self.round {
                    self.ballots.insert((from, ballot));
                } else {
                    self.delay += self.delta;
                }
            }
            Input::Members(all) => self.all = all,
            Input::Campaign
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => {}
        }
    }

    fn view(&self, _now: Time) -> View {
        let leading = self.leads();
        let role = match leading {
            Some(_) => Role::Leader,
            None => Role::Follower,
        };
        View {
            about: None,
            role,
            term: Term(self.max.0),
            leader: self.leader(),
            leading,
            valid_until: Time::MAX,
        }
    }
}
