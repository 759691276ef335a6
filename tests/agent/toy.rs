//! A machine that carries out the acts of a test, so that the test sees how its driver treats the effects.

use std::{convert::Infallible, fmt, time::Duration};

use actix_bully::{
    agent::{Agent, AgentBuilder},
    protocol::{AgentId, Event, Leader, LostReason, MemberKind, Role, Term, Time},
    store::MemoryStore,
};
use bully_core::protocol::{
    After, EffectsOf, Election, Identity, Input, InputOf, MembershipError, MinimumRole,
    PeerMessage, Requirements, Rules, Storage, To, View,
};

use crate::stage::{Log, Stage, id};

/// An act of a toy: one effect, or a change of its view.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Act {
    /// Sends this text to all.
    Say(&'static str),
    /// Sends this text to all, as a message that is repeated anyway.
    Repeat(&'static str),
    Save(u32),
    Set(char, Duration),
    Cancel(char),
    /// Leads in this term from now on.
    Acquire(u64),
    Renew(u64),
    Lose,
    /// Limits the leadership to this time after each step.
    Limit(Duration),
    Drain,
    Follow(&'static str, u64),
}

#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Said {
    Do(Vec<Act>),
    Text(&'static str),
    Again(&'static str),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Do(_) => f.write_str("do"),
            Self::Text(text) | Self::Again(text) => f.write_str(text),
        }
    }
}

impl PeerMessage for Said {
    fn kind(&self) -> &'static str {
        "said"
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }
    fn is_repeated(&self) -> bool {
        matches!(self, Self::Again(_))
    }
}

/// The log of a toy's inputs, and its acts at certain moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) inputs: Log,
    pub(crate) at_start: Vec<Act>,
    /// The acts of the toy each time that a timer is due.
    pub(crate) at_timer: Vec<(char, Act)>,
    /// Whether the toy gives the leadership up when its work is drained.
    pub(crate) yields: bool,
}

#[derive(Debug)]
pub(crate) struct Toy {
    me: Identity,
    script: Script,
    leading: Option<Term>,
    leader: Option<Leader>,
    limit: Option<Duration>,
    stepped: Time,
}

impl Toy {
    pub(crate) fn builder(name: &str, stage: &Stage) -> AgentBuilder<Self> {
        Self::scripted(name, stage, |_| {})
    }

    pub(crate) fn scripted(
        name: &str,
        stage: &Stage,
        script: impl FnOnce(&mut Script),
    ) -> AgentBuilder<Self> {
        let mut scripted = Script {
            inputs: stage.inputs.clone(),
            yields: true,
            ..Script::default()
        };
        script(&mut scripted);
        Agent::with_config(name, scripted)
            .store(MemoryStore::new())
            .join(&stage.group)
    }

    fn act(&mut self, act: &Act, out: &mut EffectsOf<Self>) {
        match *act {
            Act::Say(text) => out.send_to(To::All, Said::Text(text)),
            Act::Repeat(text) => out.send_to(To::All, Said::Again(text)),
            Act::Save(record) => out.persist(record),
            Act::Set(timer, after) => out.set_timer(timer, After::from(after)),
            Act::Cancel(timer) => out.cancel_timer(timer),
            Act::Acquire(term) => {
                self.leading = Some(Term(term));
                out.notify(Event::Acquired { term: Term(term) });
            }
            Act::Renew(term) => {
                self.leading = Some(Term(term));
                out.notify(Event::Renewed { term: Term(term) });
            }
            Act::Lose => {
                let term = self.leading.take().unwrap();
                let reason = LostReason::Resigned;
                out.notify(Event::Lost { term, reason });
            }
            Act::Limit(limit) => self.limit = Some(limit),
            Act::Drain => {
                let (term, to) = (self.leading.unwrap(), None);
                out.notify(Event::Draining { term, to });
            }
            Act::Follow(name, term) => {
                let leader = Leader {
                    id: id(name),
                    incarnation: self.me.incarnation,
                    term: Term(term),
                };
                self.leader = Some(leader.clone());
                out.notify(Event::NewLeader(leader));
            }
        }
    }

    fn note(&self, what: impl fmt::Display) {
        self.script.inputs.add(format_args!(
            "{}.{} {what}",
            self.me.id, self.me.incarnation
        ));
    }
}

/// Returns the requirements of a toy: it keeps a record, and promises nothing.
pub(crate) fn requirements() -> Requirements {
    Requirements {
        storage: Storage::Record,
        ..Requirements::new(Rules::new("toy"))
    }
}

impl Election for Toy {
    type Message = Said;
    type Timer = char;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = u32;
    type Config = Script;

    fn new(identity: Identity, script: &Script, durable: Option<u32>) -> Self {
        let toy = Self {
            me: identity,
            script: script.clone(),
            leading: None,
            leader: None,
            limit: None,
            stepped: Time::ZERO,
        };
        let Identity { birth, score, .. } = &toy.me;
        let score = score.map_or("none".to_owned(), |score| score.to_string());
        toy.note(format_args!("born {birth:?}, score {score}, {durable:?}"));
        toy
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        self.stepped = now;
        match input {
            Input::Start(members) => {
                self.note(format_args!("start among {}", members.len()));
                for act in self.script.at_start.clone() {
                    self.act(&act, out);
                }
            }
            Input::Received {
                message: Said::Do(acts),
                ..
            } => {
                for act in acts {
                    self.act(&act, out);
                }
            }
            Input::Received { from, message, .. } => {
                self.note(format_args!("{from} says {message}"));
            }
            Input::TimedOut(timer) => {
                self.note(format_args!("timer {timer} at {now}"));
                for (of, act) in self.script.at_timer.clone() {
                    if of == timer {
                        self.act(&act, out);
                    }
                }
            }
            Input::Members(members) => {
                let up = members.iter().filter(|m| m.is_up()).count();
                self.note(format_args!("{up} of {} up", members.len()));
            }
            Input::Campaign => self.note("campaign"),
            Input::ChangeVoters(change) => self.note(format_args!("voters: {change}")),
            Input::SetScore(score) => self.note(format_args!("score {}", score.is_some())),
            Input::StepDown { .. } => {
                self.note("step down");
                self.act(&Act::Drain, out);
            }
            Input::Drained => {
                self.note("drained");
                if self.script.yields {
                    self.act(&Act::Lose, out);
                }
            }
        }
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(requirements())
    }

    fn view(&self, _: Time) -> View {
        let leader = match self.leading {
            Some(term) => Some(Leader {
                id: self.me.id.clone(),
                incarnation: self.me.incarnation,
                term,
            }),
            None => self.leader.clone(),
        };
        View {
            about: None,
            role: self.leading.map_or(Role::Follower, |_| Role::Leader),
            term: leader.as_ref().map_or(Term::ZERO, |l| l.term),
            leader,
            leading: self.leading,
            valid_until: self.limit.map_or(Time::MAX, |l| self.stepped.after(l)),
        }
    }
}
