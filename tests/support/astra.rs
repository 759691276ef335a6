//! The ASTRA agent's rules exactly as the seed has them, faults and all: A1 to A5.
//!
//! It exists so that each fault can be seen beside its repair (`tests/traces.rs`). It cannot reach
//! a user of the crate: it is not in it.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use actix_bully::protocol::{
    AgentId, Effects, Election, Event, Identity, Incarnation, Input, Leader, Members, PeerMessage,
    Role, Score, Term, Time, View,
};

/// `elect(name, score)`, `result("ok")`, `elected(name)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Astra {
    Elect(Score),
    Ok,
    Elected,
}

impl fmt::Display for Astra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elect(score) => write!(f, "elect score {score}"),
            Self::Ok => f.write_str("ok"),
            Self::Elected => f.write_str("elected"),
        }
    }
}

impl PeerMessage for Astra {
    fn kind(&self) -> &'static str {
        match self {
            Self::Elect(_) => "elect",
            Self::Ok => "ok",
            Self::Elected => "elected",
        }
    }
}

/// The agent's beliefs. `leaders` is a set: in ASTRA, beliefs accumulate.
#[derive(Debug)]
pub struct AsWritten {
    me: Identity,
    participants: Arc<Members>,
    holding: bool,
    leaders: BTreeSet<AgentId>,
    failed: BTreeSet<AgentId>,
    /// Each run of the goal sleeps on its own.
    intentions: u32,
}

impl AsWritten {
    /// Everybody this agent believes to lead.
    pub fn leaders(&self) -> String {
        let names: Vec<&str> = self.leaders.iter().map(AgentId::as_str).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// A1: `+!bully_election()`.
    fn hold(&mut self, out: &mut Effects<Self>) {
        let Some(score) = self.me.score else { return };
        self.holding = true;
        self.leaders.pop_first(); // `if (leader(string X)) -leader(X)` drops one binding
        for receiver in self.participants.iter() {
            // `receiver ~= system.name() | failed_election(receiver)`: true for everybody else
            if receiver.id != self.me.id || self.failed.contains(&receiver.id) {
                out.send(&receiver.id, Astra::Elect(score));
            }
        }
        self.intentions += 1;
        out.set_timer(self.intentions, Duration::from_secs(2));
    }

    /// A2: the goal's plan wakes from `system.sleep(2000)`.
    fn wake(&mut self, out: &mut Effects<Self>) {
        if self.holding {
            out.send_all(Astra::Elected);
            let me = self.me.id.clone();
            self.believe(&me, self.me.incarnation, out); // it is a participant itself
        }
        self.failed.clear();
    }

    /// A5: `+leader(N)`.
    fn believe(&mut self, leader: &AgentId, incarnation: Incarnation, out: &mut Effects<Self>) {
        self.leaders.insert(leader.clone());
        let term = Term(1);
        out.notify(if *leader == self.me.id {
            Event::Acquired { term }
        } else {
            Event::NewLeader(Leader { id: leader.clone(), incarnation, term })
        });
    }
}

impl Election for AsWritten {
    type Message = Astra;
    type Timer = u32;
    type Durable = ();
    type Config = ();

    fn new(me: Identity, (): &(), _durable: Option<()>) -> Self {
        let (leaders, failed) = (BTreeSet::new(), BTreeSet::new());
        let participants = Arc::new(Members::default());
        Self { me, participants, holding: false, leaders, failed, intentions: 0 }
    }

    fn handle(&mut self, _now: Time, input: Input<Self>, out: &mut Effects<Self>) {
        match input {
            Input::Start(members) | Input::Members(members) => self.participants = members,
            Input::Campaign => self.hold(out),
            Input::TimedOut(_) => self.wake(out),
            Input::Received { from, message: Astra::Elect(score), .. } => {
                if self.me.score.is_some_and(|mine| score < mine) {
                    self.failed.insert(from.clone());
                    out.send(&from, Astra::Ok);
                    if !self.holding {
                        self.hold(out);
                    }
                }
            }
            Input::Received { message: Astra::Ok, .. } => self.holding = false,
            Input::Received { from, incarnation, message: Astra::Elected } => {
                self.believe(&from, incarnation, out);
            }
            Input::SetScore(score) => self.me.score = score,
            Input::StepDown { .. } | Input::Drained => {}
        }
    }

    fn view(&self, _now: Time) -> View {
        let me = self.leaders.contains(&self.me.id);
        let role = if self.holding { Role::Candidate } else { Role::Follower };
        let leading = me.then_some(Term(1));
        View { role, term: Term(1), leader: None, leading, valid_until: Time::MAX }
    }
}
