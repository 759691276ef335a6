//! The ring election: a token goes round, collects who is there, and the most important one leads.
//!
//! The members stand in a ring, in the order of their names, and speak to the next one only. Le
//! Lann's token with Chang and Roberts' suppression, hop by hop with acknowledgements; a list in
//! the token makes it survive the death of whoever sent it.
//!
//! ```text
//!   a ──Collect: a──▶ b ──Collect: a b──▶ c ──Collect: a b c──▶ a     once round (N1 to N4)
//!   a ──Nominate c──▶ b ──Nominate c──▶ c                             on to the winner (N5)
//!   c ──Coordinator c──▶ a ──Coordinator c──▶ b ──Coordinator c──▶ c  once round; c leads (N6, N7)
//!   a ◀──HopAck── b, and so on: behind each of these
//! ```
//!
//! **What you can rely on.** After the last change, and once messages take no longer than the
//! delay bound d, one leader among all who can reach each other, and it is the highest in rank.
//! Not: one leader at every instant. Every side of a partition elects one, until the probes of
//! either side meet. A winner believes that it leads only when its announcement has come home, so
//! that two lead for a moment only where somebody was passed over. The [`Term`] orders what one
//! observer sees; it is no fence.
//!
//! A model checker looks at every order in which three members can act, one of which may crash, as
//! far as the bounds in `tests/heavy` reach: while no message takes longer than d, and none is lost,
//! at most one leads, and all agree in time.
//!
//! **What it costs.** One initiator: n `Collect`, up to n `Nominate`, n `Coordinator`, and as many
//! acknowledgements; up to 3 n d, and one Hop for each dead member met. All begin at once: at most
//! n (n + 1) / 2 `Collect`. Each heartbeat: n, and n acknowledgements. See
//! [`worst_case_messages`](RingConfig::worst_case_messages) and
//! [`worst_case_failover`](RingConfig::worst_case_failover). A bully is faster, and costs more
//! messages where many begin at once; in a ring nobody speaks to more than a neighbour.
//!
//! **A leader that hangs** considers itself leader for the detection time (`Lost`, N9) without a step
//! ([`View::valid_until`]); the first timer after that finds the stall, and gives the leadership up.
//!
//! # The rules by number
//! | rule | here | decided in |
//! |---|---|---|
//! | N1 | an election for the term after the highest seen; its origin is the first on the list | `collect.rs` |
//! | N2 | pass on, and wait for the acknowledgement; silence for one Hop: suspect, and try the next | `hop.rs` |
//! | N3 | `Collect`: of two elections the weaker is suppressed; add yourself, pass on | `collect.rs` |
//! | N4 | whoever finds itself on the list closes it: the origin, or the first after a dead one | `collect.rs` |
//! | N5 | `Nominate`: on to the winner; round without meeting it: it is gone, N1 | `nominate.rs` |
//! | N6 | the winner announces itself, and leads when that has come home | `coordinate.rs` |
//! | N7 | `Coordinator`: follow, pass on once; an older one is stale | `coordinate.rs` |
//! | N8 | no outcome within Token: whoever still has a reason begins again | `collect.rs` |
//! | N9 | heartbeats go the same way; silence for Lost: the leader is gone | `coordinate.rs` |
//! | N10 | who is passed over is probed; if it follows another leader, N1 | `probe.rs` |
//!
//! # Amendments, with their reasons
//! - *The number of an election is the term of its winner* (the source has two numbers). A later
//!   election always wins, and one comparison tells what is over.
//! - *Within one Hop a message is sent twice*: one that is lost is not a death.
//!   [`sends`](RingConfigBuilder::sends)`(1)` is the source's rule.
//! - *Every participant waits for the outcome*, not only the origin: both the origin and its token
//!   may be lost.
//! - *A vacant seat is taken by turns*, in order of rank: where all see the leader's end at the
//!   same moment one token goes round, not n.
//! - *A `Coordinator` carries no list*: whoever has passed it on remembers that, so a heartbeat
//!   stays small in a large ring.
//! - *Acknowledgements tell the newest term* that their sender knows a leader of. Who follows an
//!   older one has missed something, and begins an election; so does a leader whose heartbeats do
//!   not come home.
//! - *Every member probes whom it passes over*, not only the leader: a follower's suspicion hides a
//!   member from all others.
//! - *A merging election waits 2 d*, until all who were probed have answered: begun at the first
//!   answer it left the others out, and a leader lost its place for a moment.
//! - *Who outranks the leader that it hears begins an election*, after
//!   [`challenge_after`](RingConfigBuilder::challenge_after).
//! - *A hand-over is a nomination*: who steps down nominates its successor in a new term, and is
//!   itself chosen again only if there is nobody else.
//! - *Who rests takes the last turn*, eight places further back in line: all who are left may rest, and
//!   nobody would begin. Who is gone or passed over is nobody to go first.
//! - *An ineligible voter passes on*, and is on the list without a score; an observer is not in the
//!   ring, and the leader tells it. It passes nobody over, and probes nobody.
//!
//! # The source's faults
//! The Go seed's ring sends nothing: it follows pointers, reads and writes other nodes' fields, so
//! - it announces the leader to dead nodes: here a dead member is never told, only probed while its
//!   death is a guess;
//! - whoever starts is taken for alive, and a node may die between being collected and being
//!   chosen: here the nomination finds out (N5), and who dies later is missed as a leader (N9);
//! - there is no second starter, no lost token, no dying origin: N3, N8, N4;
//! - it locks node after node: here are messages only.
//!
//! Also in *Chang and Roberts 1979*, from which the suppression is: *An improved algorithm for
//! decentralized extrema-finding in circular configurations of processes*.
//!
//! # Role × input
//! − is a traced no-op. Every `Collect`, `Nominate` and `Coordinator` is acknowledged first.
//!
//! | input | follower | candidate, waiting | leader |
//! |---|---|---|---|
//! | `Collect`, over or weaker | − | − | − |
//! | … stronger | add itself, pass on; follow on | the same, for the stronger one | the same; lead on |
//! | … its own circle | − | close: announce or nominate | the same |
//! | `Nominate` of itself | announce | announce | announce, in the higher term |
//! | … of another | pass on; after a circle begin anew | the same | the same |
//! | `Coordinator`, newer | follow, pass on | the same; its election is over, unless for a later term | give way, follow |
//! | … its own, home | − | lead | go on, in the higher term |
//! | … older | − | − | − |
//! | an acknowledgement or probe that knows a later leader | merge | wait for it, if its own election is too old | merge |
//! | `Answer` with another leader | merge | − | merge |
//! | leader's end in `Members` | take a turn | forget the leader | − |
//! | `TimedOut` | `Turn`: begin; `Lost`: as its end | `Token`: take a turn; `Hop`: next member | `Beat`, `Lost`, `Drain`; `Token`: begin, if its own announcement is lost |
//! | `Campaign` | begin | − | a heartbeat |
//! | `SetScore` | above the leader: take a turn | − | a heartbeat; `None`: drain |
//! | `StepDown`, `Drained` | − | − | drain; nominate the successor |
//!
//! A candidate has begun an election or announces itself; a waiting agent has passed one on. Who
//! follows or leads goes on doing so meanwhile. Before `Start` nothing happens; a message of an
//! agent that is no member, or of an incarnation that is over, is dropped by the driver.
//!
//! Not here: votes, leases and fencing tokens. A list names at most [`MOST`] members: in a larger
//! ring the others pass it on, follow, and challenge whoever they outrank.

mod bounded;
mod collect;
mod command;
mod config;
mod coordinate;
mod defect;
mod hop;
mod membership;
mod message;
mod nominate;
mod probe;
mod state;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

pub use bounded::{Bounded, MOST};
pub use config::{RingConfig, RingConfigBuilder, RingError};
#[doc(hidden)]
pub use defect::Defect;
pub use message::{
    Answer, Collect, Coordinator, ElectionId, Entrant, Following, HopAck, Lap, Nominate, Probe,
    RingMessage,
};
pub use state::Timer;

use state::{Contest, Hop, Passed, Seat, Stage, Turn};

use crate::elections::shared::{Cooldown, Participant};
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leader, Leaders, Member,
    MemberKind, MembershipError, NotifyOrder, Requirements, Role, Rules, Score, Term, Time, View,
};

type Out = EffectsOf<Ring>;

const RULES: Rules = Rules::new("ring");

/// One agent's side of a ring election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    me: Participant,
    config: Arc<RingConfig>,
    /// Whom the leader tells beside the ring.
    observers: Option<Arc<[AgentId]>>,
    seat: Seat,
    contest: Option<Contest>,
    hops: BTreeMap<Lap, Hop>,
    /// Who is passed over, and in which life it was silent.
    suspects: BTreeMap<AgentId, Option<Incarnation>>,
    /// The last announcement that went on from here.
    passed: Option<Passed>,
    /// The highest term seen.
    seen: Term,
    /// The term of the newest leader known: elections up to it are over.
    closed: Term,
    /// When this agent's turn to begin an election comes.
    turn: Option<Turn>,
    /// When those who are passed over are asked.
    probe: Option<Time>,
    /// After stepping down: others go first until then.
    cooldown: Cooldown,
    /// The last score that was not `None`: what a leader shows that became ineligible.
    last_score: Score,
    /// The last step; none before the life has begun.
    stepped: Option<Time>,
}

impl Election for Ring {
    type Message = RingMessage;
    type Timer = Timer;
    type Durable = ();
    type Config = Arc<RingConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<()>) -> Self {
        Self {
            last_score: identity.score.unwrap_or_default(),
            me: Participant::new(identity),
            config: Arc::clone(config),
            observers: None,
            seat: Seat::Vacant,
            contest: None,
            hops: BTreeMap::new(),
            suspects: BTreeMap::new(),
            passed: None,
            seen: Term::ZERO,
            closed: Term::ZERO,
            turn: None,
            probe: None,
            cooldown: Cooldown::default(),
            stepped: None,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) if !self.has_begun() => self.on_start(now, members, out),
            Input::SetScore(score) if !self.has_begun() => {
                self.me.score = score;
                self.last_score = score.unwrap_or_default();
                return;
            }
            _ if !self.has_begun() => return self.ignore("its life has not begun"),
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(now, &from, incarnation, message, out),
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, out),
            Input::Drained => self.on_drained(now, out),
        }
        if self.seat == Seat::Vacant && self.turn.is_none() {
            self.reconsider(now, out); // whoever may lead is never idle while nobody does
        }
        self.stepped = Some(now);
    }

    fn view(&self, _now: Time) -> View {
        let leader = self.current();
        let leading = match &self.seat {
            Seat::Mine(reign) => Some(reign.term),
            Seat::Vacant | Seat::Taken(_) => None,
        };
        let detection = self.config.detector().detection;
        View {
            role: self.role(),
            term: leader.as_ref().map_or(self.seen, |l| l.term),
            leader,
            leading,
            valid_until: self.stepped.map_or(Time::ZERO, |at| at.after(detection)),
        }
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            // A token goes round among those who can reach each other: each side of a partition is
            // a ring of its own, until the probes of either side meet (N10).
            leaders: Leaders::PerSide,
            // The vacant seat is taken by turns, so that one token goes round instead of n.
            notify: NotifyOrder::HighestRankFirst,
            ..Requirements::new(RULES)
        })
    }
}

impl Ring {
    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: RingMessage,
        out: &mut Out,
    ) {
        self.is_there(from, incarnation);
        match message {
            RingMessage::Coordinator(m) => self.on_coordinator(now, from, m, out),
            _ if !self.me.is_voter() => self.ignore("an observer is only told who leads"),
            RingMessage::HopAck(m) => self.on_hop_ack(now, from, &m, out),
            _ if !self.me.members.get(from).is_some_and(Member::is_voter) => {
                self.ignore("an observer takes no part");
            }
            RingMessage::Collect(m) => self.on_collect(now, from, m, out),
            RingMessage::Nominate(m) => self.on_nominate(now, from, m, out),
            RingMessage::Probe(m) => self.on_probe(now, from, &m, out),
            RingMessage::Answer(m) => self.on_answer(now, &m, out),
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Out) {
        match timer {
            Timer::Hop(lap) => self.on_hop_due(now, lap, out),
            Timer::Token => self.on_token_due(now, out),
            Timer::Turn => self.on_turn(now, out),
            Timer::Beat => self.on_beat_due(now, out),
            Timer::Lost => self.on_lost_due(now, out),
            Timer::Probe => self.on_probe_due(now, out),
            Timer::Drain => self.on_drain_due(now, out),
            Timer::Rest => self.on_rest_over(now, out),
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    /// The election that this agent takes part in, if one is under way.
    pub fn election(&self) -> Option<&ElectionId> {
        self.contest.as_ref().map(|contest| &contest.id)
    }

    /// Whose acknowledgements this agent waits for.
    pub fn awaited(&self) -> impl Iterator<Item = &AgentId> {
        self.hops.values().map(|hop| &hop.to)
    }

    /// Whom this agent passes over because of its own experience.
    pub fn suspects(&self) -> impl Iterator<Item = &AgentId> {
        self.suspects.keys()
    }

    const fn has_begun(&self) -> bool {
        self.stepped.is_some()
    }

    /// Whether this agent may begin an election for its own sake: it is eligible, and there is a
    /// term left to lead in.
    fn may_stand(&self) -> bool {
        self.me.eligible().is_some() && self.seen.next().is_some()
    }

    /// The same, unless it lets others go first.
    fn stands(&self, now: Time) -> bool {
        self.may_stand() && !self.lets_others_go_first(now, None)
    }

    /// Whether it rests, and somebody else is there to lead; `gone` is known not to be.
    fn lets_others_go_first(&self, now: Time, gone: Option<&AgentId>) -> bool {
        self.cooldown.is_active(now) && self.others_that_stand().any(|m| Some(&m.id) != gone)
    }

    /// Who else may be elected and is thought to be there, the most important one first.
    fn others_that_stand(&self) -> impl Iterator<Item = &Member> {
        let standing = self.me.members.standing();
        standing.filter(|m| m.id != self.me.id && !self.suspects.contains_key(&m.id))
    }

    /// How many members the ring has, as far as is known.
    fn size(&self) -> usize {
        let there = |m: &&Member| m.presence != crate::protocol::Presence::Down;
        self.me.members.voters().filter(there).count().max(1)
    }

    /// Whom this agent follows, or itself.
    fn current(&self) -> Option<Leader> {
        match &self.seat {
            Seat::Vacant => None,
            Seat::Taken(followed) => Some(followed.leader.clone()),
            Seat::Mine(reign) => Some(Leader {
                id: self.me.id.clone(),
                incarnation: self.me.incarnation,
                term: reign.term,
            }),
        }
    }

    fn role(&self) -> Role {
        match (&self.seat, &self.contest) {
            (Seat::Mine(_), _) => Role::Leader,
            (_, None) => Role::Follower,
            (_, Some(c)) if c.id.origin == self.me.id || c.stage == Stage::Announced => {
                Role::Candidate
            }
            (_, Some(_)) => Role::Waiting,
        }
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.role(), why);
    }
}
