//! The ASTRA agent's rules exactly as the seed has them, with their faults: A1 to A5.
//!
//! The tests show each fault beside its repair (`tests/elections/programs/`). No user of the crate can reach this code,
//! which is not a part of it.

use std::{collections::BTreeSet, convert::Infallible, fmt, sync::Arc, time::Duration};

use actix_bully::protocol::{
    AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Role, Score, Term, Time,
};
use bully_core::protocol::{
    EffectsOf, Election, Identity, Input, InputOf, Members, MembershipError, MinimumRole,
    PeerMessage, Requirements, Rules, View,
};

/// The term of every leader; the seed has no terms.
const TERM: Term = Term(1);

/// The messages `elect(name, score)`, `result("ok")` and `elected(name)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Astra {
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

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }
}

/// The agents in the belief `participants`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Participants {
    /// Every agent, itself included.
    All,
    /// Every other agent.
    Others,
}

/// The agent's beliefs. `leaders` is a set, because beliefs accumulate in ASTRA.
#[derive(Debug)]
pub(crate) struct AsWritten {
    me: Identity,
    participants: Arc<Members>,
    includes_me: bool,
    holding: bool,
    leaders: BTreeSet<AgentId>,
    failed: BTreeSet<AgentId>,
    /// Number of runs of the goal. Each of them sleeps on its own.
    intentions: u32,
}

impl AsWritten {
    /// Returns all agents that this agent believes to lead.
    pub(crate) fn leaders(&self) -> String {
        let names: Vec<&str> = self.leaders.iter().map(AgentId::as_str).collect();
        format!("{{{}}}", names.join(", "))
    }

    fn me_as_leader(&self) -> Leader {
        let (id, incarnation) = (self.me.id.clone(), self.me.incarnation);
        Leader {
            id,
            incarnation,
            term: TERM,
        }
    }

    /// A1: `+!bully_election()`.
    fn hold(&mut self, out: &mut EffectsOf<Self>) {
        let Some(score) = self.me.score else { return };
        self.holding = true;
        let dropped = self.leaders.pop_first(); // `if (leader(string X)) -leader(X)`: one binding
        if dropped.is_some_and(|id| id == self.me.id) {
            out.notify(Event::Lost {
                term: TERM,
                reason: LostReason::Outranked,
            });
        }
        for receiver in self.participants.iter() {
            // `receiver ~= system.name() | failed_election(receiver)`: true for every other agent
            if receiver.id != self.me.id || self.failed.contains(&receiver.id) {
                out.send(&receiver.id, Astra::Elect(score));
            }
        }
        self.intentions += 1;
        out.set_timer(self.intentions, Duration::from_secs(2));
    }

    /// A2: the goal's plan wakes from `system.sleep(2000)`.
    fn wake(&mut self, out: &mut EffectsOf<Self>) {
        if self.holding {
            out.send_all(Astra::Elected);
            if self.includes_me {
                let me = self.me.id.clone();
                self.believe(&me, self.me.incarnation, out); // the agent is a participant itself
            }
        }
        self.failed.clear();
    }

    /// A5: `+leader(N)`.
    fn believe(&mut self, leader: &AgentId, incarnation: Incarnation, out: &mut EffectsOf<Self>) {
        let leads = self.leaders.contains(&self.me.id);
        self.leaders.insert(leader.clone());
        // Sends an event only for a change that events can express: they know one leader at a time.
        if *leader == self.me.id && !leads {
            out.notify(Event::Acquired { term: TERM });
        } else if !leads {
            out.notify(Event::NewLeader(Leader {
                id: leader.clone(),
                incarnation,
                term: TERM,
            }));
        }
    }
}

impl Election for AsWritten {
    type Message = Astra;
    type Timer = u32;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = ();
    type Config = Participants;

    fn new(me: Identity, config: &Participants, _durable: Option<()>) -> Self {
        let (leaders, failed) = (BTreeSet::new(), BTreeSet::new());
        let participants = Arc::new(Members::default());
        Self {
            me,
            participants,
            includes_me: *config == Participants::All,
            holding: false,
            leaders,
            failed,
            intentions: 0,
        }
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements::new(Rules::new("ASTRA as written")))
    }

    fn handle(&mut self, _now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match input {
            Input::Start(members) | Input::Members(members) => self.participants = members,
            Input::Campaign => self.hold(out),
            Input::TimedOut(_) => self.wake(out),
            Input::Received {
                from,
                message: Astra::Elect(score),
                ..
            } => {
                if self.me.score.is_some_and(|mine| score < mine) {
                    self.failed.insert(from.clone());
                    out.send(&from, Astra::Ok);
                    if !self.holding {
                        self.hold(out);
                    }
                }
            }
            Input::Received {
                message: Astra::Ok, ..
            } => self.holding = false,
            Input::Received {
                from,
                incarnation,
                message: Astra::Elected,
            } => {
                self.believe(&from, incarnation, out);
            }
            Input::SetScore(score) => self.me.score = score,
            Input::StepDown { .. } | Input::Drained | Input::ChangeVoters(_) => {}
        }
    }

    fn view(&self, _now: Time) -> View {
        let me = self.leaders.contains(&self.me.id);
        let role = match (me, self.holding) {
            (true, _) => Role::Leader,
            (false, true) => Role::Candidate,
            (false, false) => Role::Follower,
        };
        let leading = me.then_some(TERM);
        let leader = me.then(|| self.me_as_leader());
        View {
            about: None,
            role,
            term: TERM,
            leader,
            leading,
            valid_until: Time::MAX,
        }
    }
}
