//! A lease in a store, for groups that are too large for messages between all agents.
//!
//! The participants send each other no messages for the election. All of them share one *register*: a record with
//! compare-and-swap in a store that the application runs anyway, such as a database. The record names an agent as its
//! holder. The holder leads, and renews the record. The other agents read the record. If the record is not renewed for
//! long enough, another agent takes it over.
//!
//! **What you can rely on.** At most one agent considers itself leader at any instant, if the store's compare-and-swap
//! is linearizable and the rate of each clock errs by at most r = 11 %. The term increases with each leadership, so it
//! is a fencing token. The term still increases if the record is deleted, or if the store goes back to a backup. The
//! increase after a loss of the record needs correct wall clocks: a clock that was used earlier must not have been
//! ahead of a clock that is used later. When the store does not answer, no agent leads after D. When it answers again,
//! one agent leads again.
//!
//! The register is not a member of the group. A machine sends the register a [`RegisterQuestion`] by the effect `Ask`,
//! and receives a [`RegisterShown`] by the input `Told`.
//!
//! # One lease
//! ```text
//!      a                        register                        b
//!      ├─ read ────────────────────▶│◀──────────────────── read ┤   both start
//!      │◀────────────── holds nothing                           │   wait: maybe it was deleted
//!      ├─ swap: term 1, a, nonce 2 ▶│                           │   a has the first slot
//!      │◀─────────────────── applied│◀──────────────────── read ┤   a leads until (when it asked) + D
//!      │                            │ holds term 1, a, nonce 2 ▶│   b follows a, and reads on
//!      ├─ swap: term 1, a, nonce 3 ▶│                           │   ... every H
//!      ✗                            │◀──────────────────── read ┤   nonce 3, first seen now
//!                                   │◀──────────────────── read ┤   nonce 3, unchanged
//!                                   │◀─ swap: term 2, b, .. ────┤   D (1 + r) / (1 - r) after the first sight
//! ```
//!
//! # The rules by name
//! | rule | behaviour of an agent | decided in |
//! |---|---|---|
//! | `nonce-of-one-attempt` | each attempt to write has its own number within its incarnation | `core.rs` |
//! | `lease-from-send-time` | the lease starts at the time when the applied attempt was sent to the store. The attempt may have waited in this process before | `core.rs`, `leader.rs` |
//! | `renews-when-answered` | a renewal goes before a read. The next renewal is sent when the last one was answered, at least H after the sending of the last one. A renewal without an answer is repeated after H, or after 2/3 D where answers are slow. So three answers have to fit into a lease: to a renewal, to a read, and to the next renewal | `attempts.rs`, `reads.rs` |
//! | `slow-waits` | an agent whose answers from the store take more than 3/4 H (the median of ten) does not claim the lease, and takes a free lease one poll later: otherwise the leadership could move to an agent that cannot keep it | `reads.rs`, `core.rs` |
//! | `lease-ends-by-clock` | each step first ends a lease whose time has passed | `machine.rs` |
//! | `unknown-is-no-success` | an attempt with an unknown outcome prolongs nothing: the agent reads the record | `shown.rs` |
//! | `recognised-by-its-nonce` | an agent recognises its late-applied attempt by the nonce; the lease starts when that attempt was sent | `shown.rs`, `attempts.rs` |
//! | `wait-for-the-unchanged` | a lease of the length D has ended when its record has not changed for D (1 + r) / (1 - r) by the reader's clock, counted from the arrival of the first answer that showed the record | `sight.rs` |
//! | `longest-lease-seen` | D in that wait is the longest lease that the agent saw in the register, at least its own. This also holds while the register has no record, or a record of an earlier term, released or not: such a record says nothing about the leadership after it | `sight.rs` |
//! | `gap-from-sending` | a gap is the time from the sending of a read to the arrival of the next answer. The allowed gap is the poll plus twice the time of an answer (the median of ten), at least poll + H and at most poll + D. A report without a question carries the age of its read. The wait grows by the part of the allowed gap above poll + H | `reads.rs`, `sight.rs` |
//! | `a-poll-after-a-quick-answer` | if an answer took at most H / 2, the next read is sent one poll after the answer arrived, which leaves no gap. Otherwise it is sent one poll after the question, so that a slow store is read equally often | `reads.rs` |
//! | `a-gap-begins-anew` | after a longer gap, the agent begins its wait again for every content, because the store may have gone back to a backup. The same holds for a lease that is found released, for an absent record, and for the agent's own applied attempt | `sight.rs`, `attempts.rs` |
//! | `unbroken-chain` | a renewal that the store reports without a question, and that replaced the known record, counts like a renewal that was read: no read is needed. A later read counts as seen without a gap if the store reported exactly that change of the known record | `sight.rs` |
//! | `no-second-chance` | an attempt is forgotten if it would replace another version than the version that a later read shows: it was not applied, but a store that goes back may still apply it | `attempts.rs` |
//! | `the-newest-answer-counts` | the answer to a read is ignored after the answer to a later read | `reads.rs` |
//! | `term-above-all` | the term of a new leadership is above every term that its agent has seen, and not below the reading of the wall clock | `core.rs` |
//! | `rank-staggered-slots` | an agent that ranks below k others, as far as its process knows, waits k polls, because a higher-ranked agent may see the same record one poll later. It waits one poll more if a better agent of another process claims the lease, and 8 polls more while it cools down | `core.rs` |
//! | `confirmed-end-frees` | the lease of an incarnation is free at once when the end of that incarnation is confirmed: by a supervisor of this process or, if the processes have links beside the lease, by a supervisor or the sentinel of another process | `core.rs` |
//! | `claim-if-better` | an agent that ranks above the holder writes a claim, unless a better agent has written one | `claims.rs` |
//! | `heed-the-claim` | the holder hands over to a better claimant that has renewed its claim for long enough, by the holder's policy | `claims.rs`, `leader.rs` |
//! | `exceed-what-was-seen` | an agent that has seen a higher term does not follow a lower one, and writes the higher term into the claim. The holder then takes its own lease again, in a term above the written one | `core.rs`, `shown.rs` |
//! | `hand-over` | `Draining`, `Drained`, then the lease is released for a successor. The successor takes it at once; the others wait for the successor | `transition.rs`, `sight.rs` |
//! | `released-for-whom-it-names` | a command may name an agent of another process, which this process does not know: the lease is released for that agent. The same holds for an agent whose claim is fresh, whatever its link says. Without a name it is released for the best agent that the members, the claim or the list of the store name; if there is none, any agent may take it. If no agent has taken it, the former holder takes it back: while it cools down, eight polls after the others | `leader.rs`, `core.rs` |
//! | `release-until-confirmed` | a release is written again until the store has confirmed it, or shows another record | `core.rs` |
//! | `write-over-the-past` | a holder writes its record again while its lease lasts, if the record was deleted or the store shows an earlier term | `leader.rs` |
//!
//! # Role × input
//! An agent that does not lead ends each step in one of two ways. It follows the holder in the record, or it sets the
//! timer of its slot (the time at which it may take the lease). − is a traced no-op.
//!
//! | input | vacant | following | taking | leading |
//! |---|---|---|---|---|
//! | `Told`: a read shows its own attempt | leads; after a gap: its slot | the same | the same | lease from the sending of the attempt |
//! | … another holder | follows | follows the newest | its attempt failed: follows | lost; an earlier term: writes over it |
//! | … a released lease, or nothing; an earlier term that is released | its slot | no leader; its slot | its attempt failed: its slot | lost; nothing, or an earlier term: writes over it |
//! | … no record of this election | − | no leader | − | − |
//! | … a claim | its slot moves | claims, if it is better | − | drains, by its policy; of a higher term: lost, takes it again |
//! | … a holder of a lower term | reports the higher term by a claim | no leader | its attempt failed | − |
//! | applied | leads; after a gap, or a later read of another version: − | the same | the same | lease from the sending of the attempt |
//! | changed, failed | reads | reads | reads | reads |
//! | leader's end in `Members` | − | no leader; its slot; confirmed: at once | − | − |
//! | `TimedOut` | `Detect`: reads; `Campaign`: takes; `Cooldown`: its slot | `Detect`: reads; `Lease`: no leader; `Cooldown` | `Detect`: reads; `Cooldown` | `Heartbeat`: renews, reads; `Lease`: lost; `Drain`: releases; `Cooldown` |
//! | `Campaign` | its slot, without a cool-down | the same | − | − |
//! | `SetScore` | its slot | the same | leads only if it has one | renews with it; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | drain; release |
//!
//! # Why no two lead
//! Agent A considers itself leader because of an applied attempt that A sent at the time s, by A's clock. Every reader
//! B sees the record of this attempt after s. B takes the lease when it has seen the record unchanged for D (1 + r) /
//! (1 - r) by B's clock, which is at least D by A's clock. The compare-and-swap succeeds only if it finds the version
//! that B saw last. So no write was applied in between, and A's lease, which lasted until s + D, has ended. If A
//! released the lease, A had stopped leading before it asked for the release. An attempt of A that is applied later
//! would have to replace a record that no longer exists, so it fails.
//!
//! The store may go back to a backup. Then B may see an old record again, although A has renewed it since. While the
//! store goes back, it does not answer. B notices the silence as a gap in its reads, and begins its wait again. A may
//! lead by a renewal that the store has lost. By the end of B's wait A's lease has ended, or A has written its record
//! again. If the record is deleted, B sees no record, and waits for the longest lease that it saw.
//!
//! # Not covered
//! - A store that goes back within the allowed gap, for example an asynchronous standby that takes over at once. The
//!   allowed gap is 490 ms with the default timings, 148 ms with `lan`, 2.9 s with `wan`; up to 1,030 ms, 328 ms and
//!   5.9 s if the store answers slowly.
//! - A record that is deleted twice, or written for the first time and deleted, between two reads of an agent: the
//!   agent sees no record both times.
//! - Links beside a lease. A peer may report that an agent has ended, if the peer's rights include that agent. Give a
//!   peer only the rights for its own agents, and let hosts prove their identity (TLS or a secret).
//! - An agent that starts after a record was deleted, or after the store went back, knows only the length of its own
//!   lease, not a longer lease of another agent. So give all agents the same timings. While you change timings agent by
//!   agent, do not restore the store or delete the record.
//!
//! An agent that once saw a longer lease waits for that length until it restarts, even after all agents have
//! shorter leases.
//!
//! Not here: how an agent asks a store, and the behaviour of a store that is down ([`RegisterRecord`] is the text that
//! a store keeps).

mod alarm;
mod attempts;
mod claims;
mod config;
mod core;
mod leader;
mod machine;
mod reads;
mod shown;
mod sight;
#[cfg(any(test, feature = "testkit"))]
mod simulated;
mod state;
mod transition;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::LeaseConfig;

#[cfg(any(test, feature = "testkit"))]
pub use simulated::{Held, Register, RegisterConfig, RegisterMessage, Simulated, SimulatedConfig};

pub use crate::elections::{
    message::{
        Micros,
        record::{
            ClaimRecord, Holder, LeaseName, LeaseRecord, MAX_RECORD, Nonce, PresentRecord,
            RecordError, RegisterRecord, Successor,
        },
        register::{
            Answer, Cell, ReadRegister, RegisterQuestion, RegisterShown, SwapRegister, Swapped,
            Version,
        },
    },
    policy::Preemption,
};

use self::core::Core;
use state::State;

use crate::protocol::{
    AgentId, ClockKind, EffectsOf, Election, Identity, InputOf, Leader, LeaderEnd, Leaders,
    MemberKind, MembershipError, Prospects, Requirements, Rules, Storage, Time, Timings, View,
};
use crate::{
    elections::{timer::BullyTimer, vote::Vote},
    parts::Participant,
};

type Out = EffectsOf<Lease>;

/// Name of the lease rules in messages between hosts.
pub const RULES: Rules = Rules::new("lease");

/// The part of one agent in an election by a lease in a store; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    core: Core,
    /// Only [`transition`] changes this field.
    state: State,
}

#[cfg(any(test, feature = "testkit"))]
impl Lease {
    /// Returns the longest lease that this agent has seen in its store.
    pub fn longest_lease_seen(&self) -> Option<Duration> {
        self.core.sight.as_ref().map(sight::Sight::longest)
    }
}

impl Election for Lease {
    type Message = Infallible;
    type Timer = BullyTimer;
    type Ask = RegisterQuestion;
    type Told = Box<RegisterShown>;
    type Durable = Vote;
    type Config = Arc<LeaseConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<Vote>) -> Self {
        Self {
            core: Core::new(Participant::new(identity), config),
            state: State::Vacant,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        if !self.core.has_started {
            return self.before_start(now, input, out);
        }
        self.end_expired_lease(now, out);
        self.on_input(now, input, out);
    }

    fn requirements(
        config: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        Ok(Requirements {
            // The store decides which agent writes a term, and no two agents write the same term.
            leaders: Leaders::PerTerm,
            // All data that must survive a crash are in the register.
            storage: Storage::Nothing,
            clock: ClockKind::CountsSuspend,
            ..Requirements::new(RULES)
        })
    }

    fn on_host(mut config: Self::Config, wall_at_zero: i64) -> Self::Config {
        Arc::make_mut(&mut config).set_wall_clock(wall_at_zero);
        config
    }

    /// Returns whether the store has not confirmed a release yet (rule `release-until-confirmed`).
    fn is_releasing(&self) -> bool {
        self.core.releasing.is_some()
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.hold_back(span);
    }

    fn prospects(&self) -> Prospects {
        let takeover_at = match &self.state {
            State::Leading(leading) => leading.takeover_at,
            State::Vacant | State::Following(_) | State::Taking { .. } => None,
        };
        Prospects {
            cooldown_until: self.core.cooldown.until(),
            waits_until: self.core.alarms.due(BullyTimer::Campaign),
            takeover_at,
            followed_until: None,
            preemption: Some(self.core.config.preemption),
            recovers: None,
            next_epoch: None,
            slow_writes: None,
            clock_gap: None,
            probes: false,
            slow_answers: self.core.reads.slow(&self.core.config),
        }
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        self.core.me.last_end()
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, now: Time) -> View {
        let own = |term| self.core.me.as_leader(term);
        let view = self.state.view(now, self.core.highest, own);
        let about = view
            .leader
            .as_ref()
            .and_then(|leader| self.core.about(leader))
            .cloned();
        View { about, ..view }
    }
}
