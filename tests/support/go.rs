//! The Go program's nodes exactly as written, with their faults: `handleMessage`, `StartElection`, `becomeLeader`,
//! `sendHeartbeat`, `checkLeader`, `Crash` and `Recover`.
//!
//! The tests show each fault beside its repair (`tests/elections/programs/`). No user of the crate can reach this code,
//! which is not a part of it. The name of a node is its number. The field `IsAlive` of another node is the node's state
//! in the world. A crash only sets a flag in the program, so `Term` stays in memory. The program's locks, with their
//! deadlock and race, are left out: a machine shares nothing.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use actix_bully::protocol::{
    AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Role, Term, Time,
};
use bully_core::protocol::{
    Birth, EffectsOf, Election, Identity, Input, InputOf, Member, Members, MembershipError,
    MinimumRole, PeerMessage, Requirements, Rules, To, View,
};

const HEARTBEAT: Duration = Duration::from_millis(500);
const CHECK: Duration = Duration::from_secs(2);
/// Duration of `time.Sleep(1 * time.Second)` in `StartElection`.
const SLEEP: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(3);
const RECOVERY: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MessageType {
    Election,
    Ok,
    Coordinator,
    Heartbeat,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    r#type: MessageType,
    term: u64,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} term {}", self.kind(), self.term)
    }
}

impl PeerMessage for Message {
    fn kind(&self) -> &'static str {
        match self.r#type {
            MessageType::Election => "ELECTION",
            MessageType::Ok => "OK",
            MessageType::Coordinator => "COORDINATOR",
            MessageType::Heartbeat => "HEARTBEAT",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }

    fn is_repeated(&self) -> bool {
        self.r#type == MessageType::Heartbeat
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeState {
    Follower,
    Candidate,
    Leader,
}

/// The proposed optimizations that a node uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Optimizations {
    /// "Election suppression": ignore duplicate elections during an ongoing one.
    pub(crate) suppression: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    Heartbeat,
    Check,
    /// The sleep of one call of `StartElection`; nothing cancels it.
    Sleep(u32),
    Recovery,
}

/// The fields of a `Node`.
#[derive(Debug)]
pub(crate) struct Node {
    me: Identity,
    peers: Arc<Members>,
    state: NodeState,
    /// The leader; `None` for -1.
    current_leader: Option<AgentId>,
    term: u64,
    heartbeat_received: Time,
    sleeps: u32,
    optimizations: Optimizations,
}

impl Node {
    /// Returns `CurrentLeader`, as the program prints it.
    pub(crate) fn current_leader(&self) -> &str {
        self.current_leader.as_ref().map_or("-1", AgentId::as_str)
    }

    pub(crate) const fn term(&self) -> u64 {
        self.term
    }

    /// Returns `n.ID > other`: the numbers are names of one digit.
    fn is_higher_than(&self, other: &AgentId) -> bool {
        self.me.id > *other
    }

    fn message(&self, r#type: MessageType) -> Message {
        let term = self.term;
        Message { r#type, term }
    }

    /// Calls `sendTo` for each node that is alive.
    fn broadcast(&self, r#type: MessageType, out: &mut EffectsOf<Self>) {
        self.send_where(|_| true, r#type, out);
    }

    fn send_where(
        &self,
        wanted: impl Fn(&Member) -> bool,
        r#type: MessageType,
        out: &mut EffectsOf<Self>,
    ) -> usize {
        let alive = |m: &&Member| m.id != self.me.id && m.is_up() && wanted(m);
        let peers = self.peers.iter().filter(alive);
        let peers: Arc<[AgentId]> = peers.map(|m| m.id.clone()).collect();
        let count = peers.len();
        if count > 0 {
            out.send_to(To::Set(peers), self.message(r#type));
        }
        count
    }

    fn start_election(&mut self, out: &mut EffectsOf<Self>) {
        if self.state == NodeState::Candidate {
            return;
        }
        self.be(NodeState::Candidate, out);
        self.set_term(self.term + 1, out);
        let higher = |m: &Member| !self.is_higher_than(&m.id);
        if self.send_where(higher, MessageType::Election, out) == 0 {
            return self.become_leader(out);
        }
        self.sleeps += 1;
        out.set_timer(Timer::Sleep(self.sleeps), SLEEP);
    }

    fn become_leader(&mut self, out: &mut EffectsOf<Self>) {
        self.state = NodeState::Leader;
        self.current_leader = Some(self.me.id.clone());
        out.notify(Event::Acquired {
            term: Term(self.term),
        });
        self.broadcast(MessageType::Coordinator, out);
    }

    /// Does as `checkLeader`, with its guard `CurrentLeader != -1`.
    fn check_leader(&mut self, now: Time, out: &mut EffectsOf<Self>) {
        let silent = now.since(self.heartbeat_received) > SILENCE;
        if self.state != NodeState::Leader && silent && self.current_leader.is_some() {
            self.start_election(out);
        }
    }

    fn handle_message(
        &mut self,
        now: Time,
        from: AgentId,
        message: &Message,
        out: &mut EffectsOf<Self>,
    ) {
        match message.r#type {
            MessageType::Election if self.optimizations.suppression && self.is_candidate() => {}
            MessageType::Election => {
                if self.is_higher_than(&from) {
                    out.send(&from, self.message(MessageType::Ok));
                    self.start_election(out);
                }
            }
            MessageType::Ok => self.be(NodeState::Follower, out),
            MessageType::Coordinator => {
                self.be(NodeState::Follower, out);
                self.set_term(message.term, out);
                self.heartbeat_received = now;
                self.current_leader = Some(from);
                if let Some(leader) = self.leader() {
                    out.notify(Event::NewLeader(leader));
                }
            }
            MessageType::Heartbeat => {
                if self.current_leader == Some(from) {
                    self.heartbeat_received = now;
                }
            }
        }
    }

    fn is_candidate(&self) -> bool {
        self.state == NodeState::Candidate
    }

    fn be(&mut self, state: NodeState, out: &mut EffectsOf<Self>) {
        if let Some(term) = self.leads() {
            let reason = LostReason::Superseded;
            out.notify(Event::Lost { term, reason });
        }
        self.state = state;
    }

    fn set_term(&mut self, term: u64, out: &mut EffectsOf<Self>) {
        self.term = term;
        out.persist(term);
    }

    /// Returns the state that `GetLeader` reads.
    fn leads(&self) -> Option<Term> {
        (self.state == NodeState::Leader).then_some(Term(self.term))
    }

    /// Returns `CurrentLeader`, unless the node knows that it is dead: the world accepts no dead leader.
    fn leader(&self) -> Option<Leader> {
        let id = self.current_leader.clone()?;
        let incarnation = if id == self.me.id {
            self.me.incarnation
        } else {
            let leader = self.peers.get(&id).filter(|m| m.is_up())?;
            leader.incarnation.unwrap_or(Incarnation(1))
        };
        Some(Leader {
            id,
            incarnation,
            term: Term(self.term),
        })
    }
}

/// Returns the time until the next tick of a ticker that began at 0.
fn until_next(tick: Duration, now: Time) -> Duration {
    let past = now.since(Time::ZERO).as_nanos() % tick.as_nanos();
    tick.saturating_sub(Duration::from_nanos(u64::try_from(past).unwrap_or(0)))
}

impl Election for Node {
    type Message = Message;
    type Timer = Timer;
    type Ask = Infallible;
    type Told = Infallible;
    /// The field `Term`: a crash sets a flag, and the memory stays.
    type Durable = u64;
    type Config = Optimizations;

    fn new(me: Identity, optimizations: &Optimizations, term: Option<u64>) -> Self {
        Self {
            me,
            peers: Arc::default(),
            state: NodeState::Follower,
            current_leader: None,
            term: term.unwrap_or(0),
            heartbeat_received: Time::ZERO,
            sleeps: 0,
            optimizations: *optimizations,
        }
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements::new(Rules::new("the Go program")))
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match input {
            Input::Start(peers) => {
                self.peers = peers;
                self.heartbeat_received = now;
                out.set_timer(Timer::Heartbeat, until_next(HEARTBEAT, now));
                out.set_timer(Timer::Check, until_next(CHECK, now));
                if self.me.birth == Birth::Restarted {
                    out.set_timer(Timer::Recovery, RECOVERY);
                }
            }
            Input::Received { from, message, .. } => self.handle_message(now, from, &message, out),
            Input::TimedOut(Timer::Heartbeat) => {
                if self.state == NodeState::Leader {
                    self.broadcast(MessageType::Heartbeat, out);
                }
                out.set_timer(Timer::Heartbeat, HEARTBEAT);
            }
            Input::TimedOut(Timer::Check) => {
                self.check_leader(now, out);
                out.set_timer(Timer::Check, CHECK);
            }
            // "If still candidate": of any election.
            Input::TimedOut(Timer::Sleep(_)) => {
                if self.is_candidate() {
                    self.become_leader(out);
                }
            }
            Input::TimedOut(Timer::Recovery) | Input::Campaign => self.start_election(out),
            Input::Members(peers) => self.peers = peers,
            Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => {}
        }
    }

    fn view(&self, _now: Time) -> View {
        View {
            about: None,
            role: match self.state {
                NodeState::Follower => Role::Follower,
                NodeState::Candidate => Role::Candidate,
                NodeState::Leader => Role::Leader,
            },
            term: Term(self.term),
            leader: self.leader(),
            leading: self.leads(),
            valid_until: Time::MAX,
        }
    }
}
