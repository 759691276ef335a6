//! A toy election for the world's own tests: the highest rank among the agents that are up leads.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use bully_core::protocol::{
    AgentId, Birth, ChangeError, EffectsOf, Election, Event, Identity, Input, InputOf, Leader,
    LostReason, MemberKind, Members, MembershipError, MinimumRole, PeerMessage, Requirements, Role,
    Rules, Storage, Term, Time, View, VotersEvent,
};

pub(super) const BEAT: Duration = Duration::from_millis(10);

#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Say {
    Elected(Term),
    Beat(Term),
}

impl fmt::Display for Say {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elected(term) => write!(f, "elected term {term}"),
            Self::Beat(term) => write!(f, "beat term {term}"),
        }
    }
}

impl PeerMessage for Say {
    fn kind(&self) -> &'static str {
        match self {
            Self::Elected(_) => "elected",
            Self::Beat(_) => "beat",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }
    fn is_repeated(&self) -> bool {
        matches!(self, Self::Beat(_))
    }
}

#[derive(Debug)]
pub(super) struct Toy {
    pub(super) identity: Identity,
    pub(super) members: Arc<Members>,
    pub(super) term: Term,
    leads: bool,
    leader: Option<Leader>,
    /// Inputs with the time of the agent's clock, newest last.
    pub(super) inputs: Vec<(String, Time)>,
    pub(super) faulty: bool,
    /// Number of writes whose time the world reported.
    pub(super) measured: u32,
}

impl Election for Toy {
    type Message = Say;
    type Timer = char;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Term;
    /// Whether the machine breaks its promises.
    type Config = bool;

    fn new(identity: Identity, faulty: &bool, durable: Option<Term>) -> Self {
        Self {
            identity,
            members: Arc::default(),
            term: durable.unwrap_or_default(),
            leads: false,
            leader: None,
            inputs: Vec::new(),
            faulty: *faulty,
            measured: 0,
        }
    }

    fn note_write(&mut self, _: Duration) {
        self.measured += 1;
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        let mut needs = Requirements::new(Rules::new("toy"));
        needs.storage = Storage::Record;
        Ok(needs)
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let name = match &input {
            Input::Received { from, message, .. } => format!("{message} from {from}"),
            Input::Start(_) => String::from("start"),
            Input::Members(_) => String::from("members"),
            Input::TimedOut(_)
            | Input::Campaign
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained
            | Input::Told(_)
            | Input::ChangeVoters(_) => format!("{input:?}"),
        };
        self.inputs.push((name, now));
        match input {
            Input::Start(members) | Input::Members(members) => {
                self.members = members;
                self.look(out);
            }
            Input::Received {
                from,
                incarnation,
                message: Say::Elected(term) | Say::Beat(term),
            } if !self.leads && term >= self.term => {
                let leader = Leader {
                    id: from,
                    incarnation,
                    term,
                };
                self.term = term;
                if self.leader.as_ref() != Some(&leader) {
                    out.notify(Event::NewLeader(leader.clone()));
                }
                self.leader = Some(leader);
            }
            Input::TimedOut(_) if self.leads => {
                out.send_all(Say::Beat(self.term));
                out.set_timer('b', BEAT);
            }
            Input::StepDown { to } if self.leads => {
                let term = self.term;
                out.notify(Event::Draining { term, to });
            }
            Input::Drained => self.lose(out),
            Input::ChangeVoters(change) if self.leads => {
                out.notify(Event::Voters(Box::new(VotersEvent::Answered {
                    change: *change,
                    outcome: Err(ChangeError::LastVoter),
                })));
            }
            Input::Received { .. }
            | Input::TimedOut(_)
            | Input::Campaign
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::ChangeVoters(_) => {}
        }
    }

    fn view(&self, _now: Time) -> View {
        View {
            about: None,
            role: if self.leads {
                Role::Leader
            } else {
                Role::Follower
            },
            term: self.term,
            leader: self.leader.clone(),
            leading: self.leads.then_some(self.term),
            valid_until: Time::MAX,
        }
    }
}

impl Toy {
    fn look(&mut self, out: &mut EffectsOf<Self>) {
        let best = self.members.by_rank().find(|m| m.is_up());
        let mine = best.is_some_and(|m| m.id == self.identity.id);
        let gone = |leader: &Leader| {
            let member = self.members.get(&leader.id);
            member.is_none_or(|m| m.is_gone(leader.incarnation))
        };
        if mine && !self.leads {
            self.term = Term(self.term.0 + 1 + u64::from(self.identity.birth == Birth::Restarted));
            self.leads = true;
            self.leader = Some(Leader {
                id: self.identity.id.clone(),
                incarnation: self.identity.incarnation,
                term: self.term,
            });
            out.persist(self.term);
            out.send_all(Say::Elected(self.term));
            out.set_timer('b', BEAT);
            if !self.faulty {
                out.notify(Event::Acquired { term: self.term });
            }
        } else if !mine && self.leads {
            self.lose(out);
        } else if let Some(old) = self.leader.take_if(|l| !self.leads && gone(l)) {
            out.notify(Event::NoLeader { term: old.term });
        }
    }

    fn lose(&mut self, out: &mut EffectsOf<Self>) {
        self.leads = false;
        self.leader = None;
        let (term, reason) = (self.term, LostReason::Outranked);
        out.notify(Event::Lost { term, reason });
        out.cancel_timer('b');
    }
}
