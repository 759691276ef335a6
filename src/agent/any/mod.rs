//! One type for all bully elections: the configuration decides which election runs.
//!
//! Decided here: a message of another election is refused. [`bully`](bully_core::elections::bully),
//! [`astra`](bully_core::elections::astra), [`quorum`](bully_core::elections::quorum) and [`lease`](bully_core::elections::lease)
//! document the guarantees of each.

use std::{
    cell::Cell,
    convert::{Infallible, identity},
    sync::Arc,
    thread::LocalKey,
    time::Duration,
};

use bully_core::elections::{
    astra::{Astra, AstraConfig},
    bully::{Bully, BullyConfig},
    lease::{Lease, LeaseConfig, RegisterQuestion, RegisterShown},
    message::{BullyMessage, QuorumMessage},
    quorum::{QuorumBully, QuorumConfig},
    timer::BullyTimer,
    vote::Vote,
};
use tracing::debug;

use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, InputOf, Leader, LeaderEnd, MemberKind,
    MembershipError, PeerMessage, Prospects, Requirements, SettingError, Time, Timings, View,
};

/// One agent's state machine of a bully election, with the rules that its configuration chose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnyBully {
    /// The highest-ranked agent that can be reached leads.
    Available(Bully),
    /// Like `Available`, with the plain ASTRA rules, which have no failure detector.
    Astra(Astra),
    /// At most one agent considers itself leader.
    Quorum(Box<QuorumBully>),
    /// At most one agent considers itself leader, by a lease in a store.
    Lease(Box<Lease>),
}

/// The messages of all bully elections. The message type of the quorum election has a variant for each message of the
/// other elections.
pub type AnyMessage = QuorumMessage;

/// The configuration of an [`AnyBully`], which decides its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnyConfig {
    /// See [`BullyConfig`].
    Available(Arc<BullyConfig>),
    /// See [`AstraConfig`].
    Astra(Arc<AstraConfig>),
    /// See [`QuorumConfig`].
    Quorum(Arc<QuorumConfig>),
    /// See [`LeaseConfig`].
    Lease(Arc<LeaseConfig>),
}

impl AnyConfig {
    /// Checks the settings of the election.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        match self {
            Self::Available(config) => config.check(),
            Self::Astra(_) => Ok(()),
            Self::Quorum(config) => config.check(),
            Self::Lease(config) => config.check(),
        }
    }

    /// Returns the longest time of an election; `None` if the timings alone decide it.
    pub(super) fn worst_case(&self) -> Option<Duration> {
        match self {
            Self::Available(config) => Some(config.worst_case_failover()),
            Self::Astra(_) | Self::Quorum(_) => None,
            Self::Lease(config) => Some(config.worst_case_failover(u32::MAX)),
        }
    }
}

impl Default for AnyConfig {
    fn default() -> Self {
        Self::Available(Arc::default())
    }
}

/// Evaluates the expression with the machine of the present variant.
macro_rules! each {
    ($any:ident, $machine:ident => $done:expr) => {
        match $any {
            Self::Available($machine) => $done,
            Self::Astra($machine) => $done,
            Self::Quorum($machine) => $done,
            Self::Lease($machine) => $done,
        }
    };
}

impl Election for AnyBully {
    type Message = AnyMessage;
    type Timer = BullyTimer;
    type Ask = RegisterQuestion;
    type Told = Box<RegisterShown>;
    type Durable = Vote;
    type Config = AnyConfig;

    fn new(identity: Identity, config: &AnyConfig, durable: Option<Vote>) -> Self {
        match config {
            AnyConfig::Available(config) => Self::Available(Bully::new(identity, config, durable)),
            AnyConfig::Astra(config) => Self::Astra(Astra::new(identity, config, durable)),
            AnyConfig::Quorum(config) => {
                Self::Quorum(Box::new(QuorumBully::new(identity, config, durable)))
            }
            AnyConfig::Lease(config) => {
                Self::Lease(Box::new(Lease::new(identity, config, durable)))
            }
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match self {
            Self::Available(machine) => handle_bully(machine, now, input, out),
            Self::Astra(machine) => handle_bully(machine, now, input, out),
            Self::Quorum(machine) => {
                let input = input.translate(Some, |_| None);
                handle_own(
                    &mut **machine,
                    now,
                    input,
                    (identity, never),
                    &OF_QUORUM,
                    out,
                );
            }
            Self::Lease(machine) => {
                let input = input.translate(
                    |said| refuse(&said, "agents of a lease say nothing to each other"),
                    Some,
                );
                handle_own(
                    &mut **machine,
                    now,
                    input,
                    (never, identity),
                    &OF_LEASE,
                    out,
                );
            }
        }
    }

    fn hold_back(&mut self, span: Duration) {
        each!(self, machine => machine.hold_back(span));
    }

    fn note_write(&mut self, took: Duration) {
        match self {
            Self::Quorum(machine) => machine.note_write(took),
            Self::Available(_) | Self::Astra(_) | Self::Lease(_) => {} // they write no votes
        }
    }

    fn requirements(
        config: &AnyConfig,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        match config {
            AnyConfig::Available(config) => Bully::requirements(config, agent, kind),
            AnyConfig::Astra(config) => Astra::requirements(config, agent, kind),
            AnyConfig::Quorum(config) => QuorumBully::requirements(config, agent, kind),
            AnyConfig::Lease(config) => Lease::requirements(config, agent, kind),
        }
    }

    fn on_host(config: AnyConfig, wall_at_zero: i64) -> AnyConfig {
        match config {
            config @ (AnyConfig::Available(_) | AnyConfig::Astra(_)) => config,
            AnyConfig::Quorum(config) => {
                AnyConfig::Quorum(QuorumBully::on_host(config, wall_at_zero))
            }
            AnyConfig::Lease(config) => AnyConfig::Lease(Lease::on_host(config, wall_at_zero)),
        }
    }

    fn admits(
        config: &AnyConfig,
        agent: &AgentId,
        vote: Option<&Vote>,
    ) -> Result<(), MembershipError> {
        match config {
            AnyConfig::Available(config) => Bully::admits(config, agent, vote),
            AnyConfig::Astra(config) => Astra::admits(config, agent, vote),
            AnyConfig::Quorum(config) => QuorumBully::admits(config, agent, vote),
            AnyConfig::Lease(config) => Lease::admits(config, agent, vote),
        }
    }

    fn prospects(&self) -> Prospects {
        each!(self, machine => machine.prospects())
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        each!(self, machine => machine.last_end())
    }

    fn is_releasing(&self) -> bool {
        each!(self, machine => machine.is_releasing())
    }

    fn timings(config: &AnyConfig) -> Option<&Timings> {
        match config {
            AnyConfig::Available(config) => Bully::timings(config),
            AnyConfig::Astra(config) => Astra::timings(config),
            AnyConfig::Quorum(config) => QuorumBully::timings(config),
            AnyConfig::Lease(config) => Lease::timings(config),
        }
    }

    fn view(&self, now: Time) -> View {
        each!(self, machine => machine.view(now))
    }
}

/// Passes an input to a machine with the messages of the bully.
fn handle_bully<E>(
    machine: &mut E,
    now: Time,
    input: InputOf<AnyBully>,
    out: &mut EffectsOf<AnyBully>,
) where
    E: Election<
            Message = BullyMessage,
            Timer = BullyTimer,
            Ask = Infallible,
            Told = Infallible,
            Durable = Vote,
        >,
{
    let input = input.translate(of_bully, |_| None);
    let out_of_it = (AnyMessage::from, never);
    handle_own(machine, now, input, out_of_it, &OF_BULLY, out);
}

/// Passes an input to a machine whose messages and requests have their own types, unless the input belongs to another
/// election. `buffer` is the thread's list for the effects of such machines.
fn handle_own<E>(
    machine: &mut E,
    now: Time,
    input: Option<InputOf<E>>,
    (say, ask): (
        impl Fn(E::Message) -> AnyMessage,
        impl Fn(E::Ask) -> RegisterQuestion,
    ),
    buffer: &'static LocalKey<Cell<EffectsOf<E>>>,
    out: &mut EffectsOf<AnyBully>,
) where
    E: Election<Timer = BullyTimer, Durable = Vote>,
{
    let Some(input) = input else {
        return;
    };
    // A thread takes one step of a machine at a time. While the thread ends it has no buffer, so the step makes a new
    // list.
    let mut own = buffer.try_with(Cell::take).unwrap_or_default();
    machine.handle(now, input, &mut own);
    out.append(&mut own, say, ask);
    buffer.try_with(|kept| kept.set(own)).unwrap_or_default();
}

thread_local! {
    static OF_BULLY: Cell<EffectsOf<Bully>> = const { Cell::new(EffectsOf::<Bully>::new()) };
    static OF_QUORUM: Cell<EffectsOf<QuorumBully>> =
        const { Cell::new(EffectsOf::<QuorumBully>::new()) };
    static OF_LEASE: Cell<EffectsOf<Lease>> = const { Cell::new(EffectsOf::<Lease>::new()) };
}

fn of_bully(message: AnyMessage) -> Option<BullyMessage> {
    match BullyMessage::try_from(message) {
        Ok(message) => Some(message),
        Err(message) => refuse(&message, "a message of the quorum mode"),
    }
}

fn never<T>(never: Infallible) -> T {
    match never {}
}

/// Ignores a message that no agent of this group's election sends.
fn refuse<M>(message: &AnyMessage, reason: &'static str) -> Option<M> {
    debug!(kind = message.kind(), reason, "input ignored");
    None
}

#[cfg(test)]
mod tests;
