//! A register in memory, as one more member of a simulated group, with the behaviour and the faults of a store.
//!
//! The register is a pure machine, so a program that runs agents of this election in virtual time runs their register
//! too. An agent's `Ask` becomes a message to the register, and the answer becomes the agent's input `Told`. The
//! network of a simulation loses and delays questions and answers. In addition, a register with faults reacts to
//! these inputs:
//!
//! | input | behaviour |
//! |---|---|
//! | every nth question | carries it out, and answers that it failed |
//! | `SetScore` with a score | carries out the next question, and answers that it failed |
//! | `SetScore` without a score | holds the record of another group |
//! | `Campaign` | makes a backup of both records |
//! | `StepDown` | goes back to the backup; without one, to nothing |
//! | `Drained` | deletes both records |
//!
//! Its records survive a crash and a restart, as in a database.

mod message;

use super::{
    Answer, Cell, ClaimRecord, Lease, LeaseConfig, LeaseRecord, Micros, Nonce, RegisterQuestion,
    RegisterShown, SwapRegister, Swapped, Version,
};
use crate::elections::timer::BullyTimer;
use crate::protocol::{
    AgentId, Effect, EffectsOf, Election, Identity, Input, InputOf, Leader, LeaderEnd, MemberKind,
    Members, MembershipError, Prospects, Requirements, Role, Storage, Term, Time, Timings, View,
};
use std::{convert::Infallible, mem, sync::Arc, time::Duration};

pub use message::RegisterMessage;

/// An agent, or the register that all agents ask.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Simulated {
    /// An agent, and the name of the register that it asks.
    Agent(Box<Lease>, AgentId),
    /// The register.
    Register(Box<Register>),
}

/// The parameters of an agent or of the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SimulatedConfig {
    /// Parameters of an agent, and the name of the register that it asks.
    Agent(Arc<LeaseConfig>, AgentId),
    /// Parameters of the register.
    Register(RegisterConfig),
}

/// The behaviour of a simulated register, except its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisterConfig {
    /// Whether the register reports every change without a question.
    pub tells: bool,
    /// A question whose number is a multiple of this field is carried out, but answered as failed; 0: no question.
    pub fails_every: u64,
    /// Time after which no question fails by `fails_every`, by the register's own clock.
    pub fails_until: Time,
    /// Whether commands cause the faults of the register; otherwise it ignores commands.
    pub is_faulty: bool,
}

/// The records of a register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    lease: Option<LeaseRecord>,
    claim: Option<ClaimRecord>,
    backup: Option<Box<Self>>,
}

impl Held {
    /// Returns the lease record.
    pub const fn lease(&self) -> Option<&LeaseRecord> {
        self.lease.as_ref()
    }
}

/// One incarnation of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    id: AgentId,
    config: RegisterConfig,
    held: Held,
    members: Arc<Members>,
    /// Number of questions that count for `fails_every`.
    questions: u64,
    /// Whether the next question fails.
    fails_next: bool,
    highest: Term,
}

impl Register {
    fn handle(&mut self, now: Time, input: InputOf<Simulated>, out: &mut EffectsOf<Simulated>) {
        match input {
            Input::Start(members) | Input::Members(members) => self.members = members,
            Input::Received {
                from,
                message: RegisterMessage::Ask(question),
                ..
            } => self.on_question(now, &from, question, out),
            Input::Campaign | Input::StepDown { .. } | Input::Drained | Input::SetScore(_)
                if !self.config.is_faulty => {}
            Input::SetScore(Some(_)) => self.fails_next = true,
            Input::SetScore(None) => self.holds_foreign(now, out),
            Input::Campaign => {
                let backup = Held {
                    backup: None,
                    ..self.held.clone()
                };
                self.held.backup = Some(Box::new(backup));
                self.keep(out);
            }
            Input::StepDown { .. } => {
                let backup = self.held.backup.take().unwrap_or_default();
                self.held = Held {
                    backup: Some(backup.clone()),
                    ..*backup
                };
                self.keep(out);
            }
            Input::Drained => {
                (self.held.lease, self.held.claim) = (None, None);
                self.keep(out);
            }
            Input::Received { .. } | Input::TimedOut(_) | Input::ChangeVoters(_) => {}
        }
        let shown = self.held.lease.as_ref().map(|record| record.term);
        self.highest = self.highest.max(shown.unwrap_or_default());
    }

    /// Writes the record of another group, as a foreign program would.
    fn holds_foreign(&mut self, now: Time, out: &mut EffectsOf<Simulated>) {
        let Some(record) = &mut self.held.lease else {
            return;
        };
        record.name.group = self.id.clone();
        record.nonce = Nonce {
            id: self.id.clone(),
            incarnation: record.nonce.incarnation,
            attempt: now.as_nanos(),
        };
        self.keep(out);
    }

    /// Returns the records.
    pub const fn held(&self) -> &Held {
        &self.held
    }

    fn on_question(
        &mut self,
        now: Time,
        from: &AgentId,
        question: RegisterQuestion,
        out: &mut EffectsOf<Simulated>,
    ) {
        let (request, answer) = match question {
            RegisterQuestion::Read(read) => (read.request, self.holds()),
            RegisterQuestion::Swap(swap) => (swap.request, self.compare_and_swap(*swap, out)),
        };
        let answer = if self.fails(now) {
            Answer::Failed
        } else {
            answer
        };
        let shown = RegisterShown::to(request, answer);
        out.send(from, RegisterMessage::Told(Box::new(shown)));
    }

    fn fails(&mut self, now: Time) -> bool {
        if mem::take(&mut self.fails_next) {
            return true;
        }
        let counts = now < self.config.fails_until;
        self.questions = self.questions.saturating_add(u64::from(counts));
        counts && self.questions.checked_rem(self.config.fails_every) == Some(0)
    }

    fn compare_and_swap(&mut self, swap: SwapRegister, out: &mut EffectsOf<Simulated>) -> Answer {
        let (held, wanted) = match &swap.record {
            Swapped::Lease(record) => (nonce_of(self.held.lease.as_ref()), &record.nonce),
            Swapped::Claim(record) => (self.held.claim.as_ref().map(|c| &c.nonce), &record.nonce),
        };
        if version(held) != swap.expected {
            return Answer::Changed;
        }
        let version = version(Some(wanted));
        match swap.record {
            Swapped::Lease(record) => self.held.lease = Some(record),
            Swapped::Claim(record) => self.held.claim = Some(record),
        }
        self.keep(out);
        Answer::Applied(version)
    }

    /// Makes the records durable before any message about them, and reports them if this register reports changes.
    fn keep(&self, out: &mut EffectsOf<Simulated>) {
        out.persist(self.held.clone());
        if self.config.tells {
            let shown = RegisterShown::unasked(Micros(0), self.holds());
            out.send_all(RegisterMessage::Told(Box::new(shown)));
        }
    }

    fn holds(&self) -> Answer {
        Answer::Holds {
            lease: Cell {
                version: version(nonce_of(self.held.lease.as_ref())),
                content: Ok(self.held.lease.clone()),
            },
            claim: Cell {
                version: version(self.held.claim.as_ref().map(|claim| &claim.nonce)),
                content: Ok(self.held.claim.clone()),
            },
        }
    }

    /// Returns a view that shows the holder as leader, so that a simulation recognizes when all agents agree.
    fn view(&self) -> View {
        let view = View::new(Role::Follower, self.highest);
        let Some(record) = &self.held.lease else {
            return view;
        };
        let holder = record.holder.as_ref().filter(|holder| {
            let member = self.members.get(&holder.id);
            member.is_some_and(|member| !member.is_stale(holder.incarnation))
        });
        match holder {
            Some(holder) => view.follows(Leader {
                id: holder.id.clone(),
                incarnation: holder.incarnation,
                term: record.term,
            }),
            None => view,
        }
    }
}

impl Election for Simulated {
    type Message = RegisterMessage;
    type Timer = BullyTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Held;
    type Config = SimulatedConfig;

    fn new(identity: Identity, config: &SimulatedConfig, durable: Option<Held>) -> Self {
        match config {
            SimulatedConfig::Agent(config, register) => {
                let agent = Lease::new(identity, config, None);
                Self::Agent(Box::new(agent), register.clone())
            }
            SimulatedConfig::Register(config) => Self::Register(Box::new(Register {
                id: identity.id,
                config: *config,
                held: durable.unwrap_or_default(),
                members: Arc::default(),
                questions: 0,
                fails_next: false,
                highest: Term::ZERO,
            })),
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match self {
            Self::Register(register) => register.handle(now, input, out),
            Self::Agent(agent, register) => {
                let Some(input) = told(input, register) else {
                    return;
                };
                let mut own = EffectsOf::<Lease>::new();
                agent.handle(now, input, &mut own);
                for effect in own.drain() {
                    match effect {
                        Effect::Ask(question) => out.send(register, RegisterMessage::Ask(question)),
                        Effect::Persist(_) => {} // an agent of a lease keeps nothing durable
                        Effect::SetTimer { timer, after } => out.set_timer(timer, after),
                        Effect::CancelTimer(timer) => out.cancel_timer(timer),
                        Effect::Notify(event) => out.notify(event),
                    }
                }
            }
        }
    }

    fn view(&self, now: Time) -> View {
        match self {
            Self::Agent(agent, _) => agent.view(now),
            Self::Register(register) => register.view(),
        }
    }

    fn hold_back(&mut self, span: Duration) {
        if let Self::Agent(agent, _) = self {
            agent.hold_back(span);
        }
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        match self {
            Self::Agent(agent, _) => agent.last_end(),
            Self::Register(_) => None,
        }
    }

    fn is_releasing(&self) -> bool {
        matches!(self, Self::Agent(agent, _) if agent.is_releasing())
    }

    fn prospects(&self) -> Prospects {
        match self {
            Self::Agent(agent, _) => agent.prospects(),
            Self::Register(_) => Prospects::default(),
        }
    }

    fn timings(config: &SimulatedConfig) -> Option<&Timings> {
        match config {
            SimulatedConfig::Agent(config, _) => Lease::timings(config),
            SimulatedConfig::Register(_) => None,
        }
    }

    fn on_host(config: SimulatedConfig, wall_at_zero: i64) -> SimulatedConfig {
        match config {
            SimulatedConfig::Agent(config, register) => {
                SimulatedConfig::Agent(Lease::on_host(config, wall_at_zero), register)
            }
            SimulatedConfig::Register(_) => config,
        }
    }

    fn requirements(
        config: &SimulatedConfig,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        match config {
            SimulatedConfig::Agent(config, _) => Lease::requirements(config, agent, kind),
            SimulatedConfig::Register(_) => Ok(Requirements {
                storage: Storage::Record,
                ..Requirements::new(super::RULES)
            }),
        }
    }
}

/// Returns the input in the agent's form. A message of its register becomes an answer; no other message reaches it.
fn told(input: InputOf<Simulated>, register: &AgentId) -> Option<InputOf<Lease>> {
    let is_of_register = matches!(&input, Input::Received { from, .. } if from == register);
    let mut shown = None;
    let other = input.translate(
        |message| {
            if let RegisterMessage::Told(told) = message
                && is_of_register
            {
                shown = Some(told);
            }
            None
        },
        |never| match never {},
    );
    other.or_else(|| shown.map(Input::Told))
}

fn nonce_of(record: Option<&LeaseRecord>) -> Option<&Nonce> {
    record.map(|record| &record.nonce)
}

/// Returns the version of a record with this nonce. Different contents have different nonces, and so different
/// versions, even after the store went back to a backup, unless an agent used one nonce for two attempts.
fn version(nonce: Option<&Nonce>) -> Version {
    let text = nonce.map_or_else(String::new, ToString::to_string);
    let start = text.len().saturating_sub(Version::MAX_LEN);
    let end = text.as_bytes().get(start..).unwrap_or_default();
    Version::new(end).unwrap_or_default()
}
