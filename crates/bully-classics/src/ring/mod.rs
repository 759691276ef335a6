//! The ring election: a token goes round and collects the members that are up, and the highest-ranked member leads.
//!
//! The members form a ring, in the order of their names, and each member sends messages only to the next member. The
//! next member acknowledges every message at once (not shown). Without an acknowledgement the sender skips this member
//! and sends the message to the member after it.
//!
//! ```text
//! a normal election, begun by a                      a failover: c led, and is dead
//!
//! a      b      c                                    a      b      c      d
//! │Collect a           it lists itself               │      │      ╳      │  no heartbeat for a while
//! ├─────▶│Collect a b                                │      │             │Collect d  (d ranks highest)
//! │      ├─────▶│Collect a b c                       │◀──────────────────── ┤
//! │◀───────────  ┤                                   ├─────▶│Collect d a b
//! │Nominate c          a is on the list: closed      │      ├────▶╳       │  not acknowledged: skipped
//! ├─────▶│Nominate c                                 │      ├────────────▶│  d is on the list: closed
//! │      ├─────▶│Coordinator c                       │      │             │Coordinator d
//! │◀───────────  ┤     a follows c                   │◀──────────────────── ┤
//! ├─────▶│Coordinator c                              ├─────▶│Coordinator d
//! │      ├─────▶│     it is home: c leads            │      ├────────────▶│  it is home: d leads
//! ```
//!
//! # What you can rely on
//! Some time after the last change, if messages take no longer than the delay bound, one agent leads all agents that
//! can reach each other. The leader is the highest-ranked of these agents. The election does not promise one leader at
//! every instant: each side of a partition elects a leader, until the probes of one side reach the other. A winner
//! considers itself leader only when its announcement has come home. So two agents can lead at the same time, for a
//! moment, only if a member was skipped. The [`Term`] orders the leaders that one observer sees; it cannot serve as a
//! fence.
//!
//! A voter without a score (a witness) stays in the ring: it passes messages on, follows, and is never
//! elected. A leader that loses its score hands over first.
//!
//! A model checker checks every order in which three members can act while at most one crashes, within the bounds in
//! `tests/heavy`. As long as no message is lost or takes longer than the delay bound, at most one agent leads, and
//! all agree in time.
//!
//! A leader that hangs considers itself leader for the detection time after its last step ([`View::valid_until`]).
//! The first timer after that time shows the stall, and the leader gives the leadership up.
//!
//! # What it costs
//! If one of n members begins: n `Collect`, up to n `Nominate`, n `Coordinator`, and the same number of
//! acknowledgements; up to three laps, and one hop for each dead member on the way. If all members begin at once: at
//! most n (n + 1) / 2 `Collect`. Each heartbeat: n messages, and n acknowledgements. See `worst_case_messages` and
//! [`worst_case_failover`](RingConfig::worst_case_failover). The Bully election is faster, and costs more messages if
//! many members begin at once. In a ring each member sends messages only to its neighbour.
//!
//! # The rules
//! | rule | meaning | decided in |
//! |---|---|---|
//! | `begin-by-rank` | if no agent leads, the highest-ranked member begins at once, each further member a step later | `core.rs` |
//! | `begin-above-all-terms` | an election is for the term after the highest seen; its origin (the member that began it) is the first in the list | `collect.rs` |
//! | `skip-the-silent` | pass a message on, and wait for the acknowledgement; after a hop of silence suspect that member, and try the next | `hop.rs` |
//! | `yield-to-stronger` | an agent in two elections drops the weaker one (Chang and Roberts) | `state.rs` |
//! | `close-on-own-name` | the member that finds itself in the list closes it: the origin, or the first member after a dead origin | `collect.rs` |
//! | `nominate-the-highest` | the nomination goes on to the winner; if it goes round without reaching the winner, another election begins | `nominate.rs` |
//! | `lead-when-home` | the winner announces itself, and leads when the announcement has come home | `announce.rs` |
//! | `follow-the-newest` | follow an announcement, and pass it on once; an older announcement is ignored | `announce.rs` |
//! | `restart-lost-election` | without an outcome in time, a member that still has a reason begins again | `transition.rs` |
//! | `miss-a-silent-leader` | heartbeats go round in the same way; after a silence the leader counts as gone | `follower.rs`; at the leader itself `leader.rs` |
//! | `challenge-when-higher` | a follower that outranks its leader begins an election, after [`challenge_after`](RingConfig::challenge_after) | `follower.rs` |
//! | `probe-the-skipped` | a skipped member is probed; if it follows another leader, an election merges both groups | `probe.rs` |
//! | `resign-by-nomination` | a leader that steps down (`StepDown`, `SetScore(None)`) lets its work end, and nominates its successor in a new term | `leader.rs`, `nominate.rs` |
//!
//! # Amendments, with their reasons
//! The rules are Le Lann's token with the suppression of *Chang and Roberts 1979* (*An improved algorithm for
//! decentralized extrema-finding in circular configurations of processes*), with an acknowledgement for each hop. The
//! token contains a list of members, so the election survives the death of its origin. The amendments:
//! - *The number of an election is the term of its winner* (the sources have two numbers). A later election always
//!   wins, and one comparison shows whether an election has ended.
//! - *Within one hop a message is sent twice*, because a lost message is not a death.
//!   [`sends`](RingConfig::sends)` = 1` is the sources' rule.
//! - *Every participant waits for the outcome*, not only the origin: the origin and its token may be lost together.
//! - *A `Coordinator` contains no list*: each member remembers that it has passed the message on, so a heartbeat
//!   stays small in a large ring.
//! - *Acknowledgements contain the newest term* in which their sender knows a leader. A member that follows an older
//!   leader has missed an announcement, and begins an election. A leader whose heartbeats do not come home does the
//!   same.
//! - *An election that joins two groups waits* until all probed members have answered. If such an election began at
//!   the first answer, it left the others out, and a leader lost its leadership for a moment.
//! - *An agent that cools down after a step-down has the last slot*, eight slots after the others: perhaps all
//!   remaining agents cool down, and then no election would begin. It does not defer to a member that is gone or
//!   skipped.
//! - *A voter that cannot be elected passes messages on*, and is in the list without a score. An observer is not in the
//!   ring: it learns of the leader from the leader. An observer skips no member, and probes no member.
//!
//! `tests/elections/programs/fields.rs` contains a published demonstration of a ring, in Go, that sends no messages: it
//! follows pointers and assigns other nodes' fields. So it announces the leader to dead nodes. In this machine a dead
//! member gets no announcement, and gets probes only while its death is a suspicion. The demonstration treats the
//! node that begins as alive, so it can elect a dead initiator; in this machine `nominate-the-highest` detects that.
//! The demonstration handles neither a second initiator nor a lost token.
//!
//! # Role × input
//! Every `Collect`, `Nominate` and `Coordinator` is acknowledged first. − means that nothing else follows, but an entry
//! in the trace.
//!
//! | input | follower | candidate, waiting | leader |
//! |---|---|---|---|
//! | `Collect`, ended or weaker | − | − | − |
//! | … stronger | adds itself, passes it on; follows on | the same, for the stronger one | the same; leads on |
//! | … that has gone round | − | closes the list: announces or nominates | the same |
//! | `Nominate` of itself | announces | announces | announces, in the higher term |
//! | … of another agent | passes it on; after a lap begins again | the same | the same |
//! | `Coordinator`, newer | follows, passes it on | the same; its election ends, unless it is for a later term | stops leading, follows |
//! | … its own, home | − | leads | leads on, in the higher term |
//! | … older | − | − | − |
//! | `HopAck` or `Probe` with a later term | merges | waits for that leader, if its own election is too old | merges |
//! | `Answer` with another leader | merges | − | merges |
//! | leader's end in `Members` | begins by rank | forgets the leader | − |
//! | another member's end in `Members` | a message that waits for it goes to the next member | the same | the same |
//! | `TimedOut` | `Slot`: begins; `Silence`: as for the leader's end; `Cooldown`: begins by rank; in every role `Probe`: asks the skipped members | `Token`: begins by rank; `Hop`: tries the next member | `Heartbeat`, `Silence`, `Drain`; `Token`: begins, if its own announcement is lost |
//! | `Campaign` | begins | − | sends a heartbeat |
//! | `SetScore` | above the leader: begins by rank | − | sends a heartbeat; `None`: drains |
//! | `StepDown`, `Drained` | − | − | drains; nominates the successor |
//!
//! A leader that steps down or loses its score nominates its successor after its work has ended. It does the same
//! before it leaves the group. A leader that crashes, or whose actor is stopped, sends nothing: its followers learn of
//! the end from the group's snapshot or from the silence. A heartbeat that is late, but newer than the last one that
//! was passed on, counts again: only `Members` proves that an incarnation has ended.
//!
//! A candidate has begun an election or announces itself. A waiting agent has passed an election on. Meanwhile an
//! agent that follows or leads continues to do so. Before `Start` the agent does nothing. The driver drops the
//! messages of non-members and of incarnations that have ended.
//!
//! Not here: votes, leases and fencing tokens. A list contains at most `MOST` members. In a larger ring the other
//! members pass the list on, follow, and challenge a leader that they outrank.

mod announce;
mod bounded;
mod collect;
mod config;
mod core;
mod follower;
mod hop;
mod leader;
mod machine;
mod message;
mod nominate;
mod presence;
mod probe;
mod state;
mod transition;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::RingConfig;
pub use machine::Ring;

#[cfg(any(test, feature = "testkit"))]
pub use {
    bounded::{Bounded, MOST},
    message::{
        Answer, Collect, Coordinator, Entrant, HopAck, Lap, Nominate, Probe, RingElectionId,
        RingMessage,
    },
    state::RingTimer,
};
#[cfg(not(any(test, feature = "testkit")))]
use {message::RingMessage, state::RingTimer};

use hop::Hop;
use state::{Campaign, Next, Passed, State};

use bully_core::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, InputOf, Leaders, MemberKind,
    MembershipError, NotifyOrder, Prospects, Requirements, Rules, Score, Term, Time, Timings, View,
};

type Out = EffectsOf<Ring>;

const RULES: Rules = Rules::new("ring");

impl Election for Ring {
    type Message = RingMessage;
    type Timer = RingTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = ();
    type Config = Arc<RingConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<()>) -> Self {
        Self::of(identity, Arc::clone(config))
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        self.step(now, input, out);
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.hold_back(span);
    }

    fn prospects(&self) -> Prospects {
        Prospects {
            cooldown_until: self.core.cooldown.until(),
            ..Prospects::default()
        }
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, _now: Time) -> View {
        let leader = self.leader();
        let leading = match &self.state {
            State::Leader(leading) => Some(leading.term),
            State::Vacant | State::Follower(_) => None,
        };
        let detection = self.core.config.detector().detection;
        View {
            about: None,
            role: self.role(),
            term: leader.as_ref().map_or(self.core.seen, |l| l.term),
            leader,
            leading,
            valid_until: self.stepped.map_or(Time::ZERO, |at| at.after(detection)),
        }
    }

    fn requirements(
        config: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        Ok(Requirements {
            // A token goes round among members that can reach each other. Each side of a partition is a separate
            // ring, until the probes of one side reach the other.
            leaders: Leaders::PerSide,
            // Members learn of a vacant leadership in order of rank, so that one token goes round instead of a token
            // for each member.
            notify: NotifyOrder::HighestRankFirst,
            ..Requirements::new(RULES)
        })
    }
}

#[cfg(any(test, feature = "testkit"))]
impl Ring {
    /// Returns the present election of this agent, if it takes part in one.
    pub fn election(&self) -> Option<&RingElectionId> {
        self.campaign.contest().map(|contest| &contest.id)
    }

    /// Returns the members for whose acknowledgements this agent waits.
    pub fn awaited(&self) -> impl Iterator<Item = &AgentId> {
        self.core.hops.values().map(|hop| &hop.to)
    }

    /// Returns the members that this agent skips because they were silent.
    pub fn suspects(&self) -> impl Iterator<Item = &AgentId> {
        self.core.suspects.keys()
    }
}
