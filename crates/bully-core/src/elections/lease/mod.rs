//! A lease in a store: for more agents than should talk to each other.
//!
//! Its participants say nothing to each other for the election. They know one *register*: a record with compare-and-swap in a
//! store that the application runs anyway, such as a database. The agent that the record names as its holder
//! renews it, and leads; the others read it, and one of them takes it over when it was not renewed for long
//! enough.
//!
//! **What you can rely on.** At most one agent considers itself leader, at any instant, as far as the store's
//! compare-and-swap is linearizable and the rate of each clock errs by no more than 11 %. The term increases with each
//! leadership, so it is a fencing token; if the record is deleted, or the store goes back to a backup, it does so as long
//! as no wall clock that was used was ahead of one that is used later. When the store does not answer, no agent
//! leads after D; when it answers again, one does.
//!
//! The register is no member of the group: a machine asks it by [`RegisterQuestion`], the effect `Ask`, and hears
//! [`RegisterShown`], the input `Told`.
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
//! | rule | what an agent does | decided in |
//! |---|---|---|
//! | `nonce-of-one-attempt` | each attempt to write has a number that no other attempt of its incarnation has | `core.rs` |
//! | `lease-from-send-time` | a lease counts from when the attempt was sent that was then applied: after the time that it waited in this process for the store's turn | `core.rs`, `leader.rs` |
//! | `renews-when-answered` | a renewal goes before a read. The next one is made when the last was answered, H after it at the earliest; one without an answer is repeated after H, where answers are slow after 2/3 D. So three answers have to fit into a lease: of a renewal, a read, and the next renewal | `attempts.rs`, `reads.rs` |
//! | `slow-waits` | an agent that waits for an answer of the store for more than 3/4 H (the median of ten) claims no lease, and takes a free one a step later: a preference would move the leadership to an agent that cannot keep it | `reads.rs`, `core.rs` |
//! | `lease-ends-by-clock` | each step begins with the end of a lease that is over | `machine.rs` |
//! | `unknown-is-no-success` | an attempt whose outcome is unknown prolongs nothing: the agent reads | `shown.rs` |
//! | `recognised-by-its-nonce` | an attempt that was applied late is seen by its nonce, and counts from when it was sent | `shown.rs`, `attempts.rs` |
//! | `wait-for-the-unchanged` | a lease is over when its record has not changed for D (1 + r) / (1 - r), by the reader's clock, since the first answer arrived that showed it | `sight.rs` |
//! | `longest-lease-seen` | that D is the longest lease that the agent saw in the register, or its own: also while the register has no record, or has a record of an earlier term, which says nothing of the leadership after it, released or not | `sight.rs` |
//! | `gap-from-sending` | a gap is the time from the sending of a read to the arrival of the next answer. Allowed are the poll and twice the time of an answer (the median of ten), at least the poll and H, at most the poll and D. An answer that is told unasked carries the age of its read. The wait is longer by the part allowed above the poll and H | `reads.rs`, `sight.rs` |
//! | `a-poll-after-a-quick-answer` | the next read is sent a poll after an answer arrived that took at most H / 2, which leaves no gap; else a poll after the question, so that a slow store is read as often | `reads.rs` |
//! | `a-gap-begins-anew` | after a longer gap everything that is seen counts from then: the store may have gone back to a backup. So does a lease that is found released, no record at all, or an attempt of its own that was applied | `sight.rs`, `attempts.rs` |
//! | `unbroken-chain` | a renewal that the store tells unasked, over the record that is known, is seen like one that is read, and no read is needed. What a read shows after that counts as seen without a gap if the store told that very change, over what is known | `sight.rs` |
//! | `no-second-chance` | what would replace another version than a later read shows is forgotten: it was not applied, and a store that goes back may do it yet | `attempts.rs` |
//! | `the-newest-answer-counts` | the answer to a read is not heard after that to a later one | `reads.rs` |
//! | `term-above-all` | a new leadership has a term above every one that its agent saw, and not below the wall clock's | `core.rs` |
//! | `rank-staggered-slots` | an agent with k others ahead of it, as its process knows, waits k times as long as a reader does, since those ahead may have seen the same that much later; one step more for a better agent of another process that claims the lease; 8 more while it cools down | `core.rs` |
//! | `confirmed-end-frees` | the lease of an incarnation is free at once when its end is confirmed: by a supervisor of this process, or, where links stand beside the lease, by a supervisor or the sentinel of another one | `core.rs` |
//! | `claim-if-better` | an agent that ranks above the holder writes a claim, unless a better one is there | `claims.rs` |
//! | `heed-the-claim` | the holder hands over to a claimant that is better and was there for long enough, by its policy | `claims.rs`, `leader.rs` |
//! | `exceed-what-was-seen` | an agent that has seen a higher term does not follow a lower one, and says so in the claim; the holder takes its own lease again above it | `core.rs`, `shown.rs` |
//! | `hand-over` | `Draining`, `Drained`, then the lease is released for a successor, which takes it at once; the others let it | `transition.rs`, `sight.rs` |
//! | `released-for-whom-it-names` | a command may name an agent of another process, which this one does not know: the lease is released for it. Without a name it is released for the best agent that the members, the claim or the list of the store name, else for any. If none has taken it, the one that released it takes it back: eight steps after the others, as long as it cools down | `leader.rs`, `core.rs` |
//! | `release-until-confirmed` | a release is written again until the store has confirmed it, or shows another record | `core.rs` |
//! | `write-over-the-past` | a holder whose record was deleted, or is of an earlier term, writes it again while its lease goes on | `leader.rs` |
//!
//! # Role × input
//! What happens at the end of a step for an agent that does not lead: it follows the holder that the record shows, or
//! sets the timer of its slot. − is a traced no-op.
//!
//! | input | vacant | following | taking | leading |
//! |---|---|---|---|---|
//! | `Told`: a read shows its own attempt | leads; after a gap: its slot | the same | the same | lease from when it was sent |
//! | … another holder | follows | follows the newest | its attempt failed: follows | lost; an earlier term: writes over it |
//! | … a released lease, or nothing; an earlier term that is released | its slot | no leader; its slot | its attempt failed: its slot | lost; nothing, or an earlier term: writes over it |
//! | … no record of this election | − | no leader | − | − |
//! | … a claim | its slot moves | claims, if it is better | − | drains, by its policy; of a higher term: lost, takes it again |
//! | … a holder of a lower term | says so by a claim | no leader | its attempt failed | − |
//! | applied | leads; after a gap, or a later read of another version: − | the same | the same | lease from when it was sent |
//! | changed, failed | reads | reads | reads | reads |
//! | leader's end in `Members` | − | no leader; its slot; confirmed: at once | − | − |
//! | `TimedOut` | `Detect`: reads; `Campaign`: takes; `Cooldown`: its slot | `Detect`: reads; `Lease`: no leader; `Cooldown` | `Detect`: reads; `Cooldown` | `Heartbeat`: renews, reads; `Lease`: lost; `Drain`: releases; `Cooldown` |
//! | `Campaign` | its slot, without a cool-down | the same | − | − |
//! | `SetScore` | its slot | the same | leads only if it has one | renews with it; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | drain; release |
//!
//! # Why no two lead
//! Let A consider itself leader by an attempt that it sent at s, by its clock, and that was applied. Every reader B
//! sees that record after s. B takes the lease when it has seen it unchanged for D (1 + r) / (1 - r) by its clock, which
//! is at least D by A's, and only if the compare-and-swap finds what B saw last: so nothing was applied in between,
//! and A's lease, which ended at s + D, is over. If A released the lease, it had stopped leading before it asked for that. An attempt of A
//! that is applied later was asked to replace a record that is not there any more, and fails.
//!
//! The store may go back to a backup: then B may see again what A has renewed since. That takes the store away for a while,
//! which B notices as a gap in its reads, and counts from there; A, which leads by what was lost, is over by then or has
//! written its record again. If the record is deleted, B sees nothing, and waits for the longest lease that it saw.
//!
//! # Not covered
//! - A store that goes back within the gap that is allowed, as an asynchronous standby may that takes over at once: 490 ms
//!   with the default timings, 148 ms with `lan`, 2.9 s with `wan`; up to 1,030 ms, 328 ms and 5.9 s where it answers slowly.
//! - A record that is deleted twice, or written for the first time and deleted, between two reads of an agent: it
//!   sees nothing both times.
//! - Links beside a lease: a peer may say that an agent has ended, if its rights name that agent. Give a peer the rights for
//!   its own agents only, and have hosts prove who they are (TLS or a secret).
//! - An agent that starts after a record was deleted, or after the store went back, cannot know a longer lease than its own.
//!   So give all agents the same timings; where they are changed one by one, do not restore or delete meanwhile.
//!
//! An agent that saw a longer lease once waits for it until it starts anew, also after all have shorter ones.
//!
//! Not here: how a store is asked, and what it does when it is down ([`RegisterRecord`] is the text that it keeps).

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

pub use config::{LeaseConfig, LeaseError};

#[cfg(any(test, feature = "testkit"))]
pub use simulated::{Held, Register, RegisterConfig, RegisterMessage, Simulated, SimulatedConfig};

pub use crate::elections::{
    message::{
        Micros,
        record::{
            ClaimRecord, Holder, LeaseName, LeaseRecord, MAX_RECORD, Nonce, PresentRecord,
            RECORD_FORMAT, RecordError, RegisterRecord, Successor,
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
    AgentId, ClockKind, EffectsOf, Election, Identity, InputOf, Leaders, MemberKind,
    MembershipError, Prospects, Requirements, Rules, Storage, Time, Timings, View,
};
use crate::{
    elections::{timer::BullyTimer, vote::Vote},
    parts::Participant,
};

type Out = EffectsOf<Lease>;

/// What hosts call these rules.
pub const RULES: Rules = Rules::new("lease");

/// One agent's side of an election by a lease in a store; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    core: Core,
    /// Written by [`transition`] only.
    state: State,
}

#[cfg(any(test, feature = "testkit"))]
impl Lease {
    /// The longest lease that it has seen in its store.
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
            // The store decides who writes a term, and no two write one.
            leaders: Leaders::PerTerm,
            // All that must survive is in the register.
            storage: Storage::Nothing,
            clock: ClockKind::CountsSuspend,
            ..Requirements::new(RULES)
        })
    }

    fn on_host(mut config: Self::Config, wall_at_zero: i64) -> Self::Config {
        Arc::make_mut(&mut config).set_wall_clock(wall_at_zero);
        config
    }

    /// `release-until-confirmed`.
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
            preemption: Some(self.core.config.preemption),
            recovers: None,
            next_epoch: None,
            slow_writes: None,
            clock_gap: None,
            probes: false,
            slow_answers: self.core.reads.slow(&self.core.config),
        }
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
