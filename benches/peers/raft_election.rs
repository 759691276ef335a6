//! The leader election of the crate `raft`, behind the same interface as ours.
//!
//! It is configured as in production: with its pre-vote and its check of the quorum, which ends a leadership that a
//! majority does not confirm. Heartbeats and time-outs are those of our default timings: 180 ms and 900 ms. Nothing is
//! proposed; the log has only the entries of its elections.
//!
//! The crate draws its election time-outs, 900 to 1,780 ms, from the thread's own random numbers. Here they are drawn
//! anew from the seed of the world, so that a seed is one history.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use actix_bully::protocol::{
    AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Role, Term, Time,
};
use bully_core::protocol::{
    EffectsOf, Election, Identity, Input, InputOf, Leaders, MembershipError, MinimumRole,
    PeerMessage, Requirements, Rules, View,
};
use bully_sim::faults::SplitMix64;
use protobuf::Message as _;
use raft::{
    Config, GetEntriesContext, RawNode, StateRole, Storage,
    eraftpb::{Entry, HardState, Message, MessageType},
    storage::MemStorage,
};

use crate::contenders::Contender;

/// The contender.
#[derive(Debug)]
pub(crate) struct Raft;

impl Contender for Raft {
    type Election = RaftElection;

    fn config(voters: &[AgentId], seed: u64) -> Arc<Voters> {
        Arc::new(Voters {
            names: voters.to_vec(),
            seed,
        })
    }

    fn size(message: &RaftMessage) -> usize {
        usize::try_from(message.0.compute_size()).unwrap_or(0)
    }
}

/// The nodes that take part.
#[derive(Debug)]
pub(crate) struct Voters {
    names: Vec<AgentId>,
    /// Seed of the time-outs.
    seed: u64,
}

const TICK: Duration = Duration::from_millis(20);
const HEARTBEAT_TICKS: usize = 9;
const ELECTION_TICKS: usize = 45;

/// One node.
pub(crate) struct RaftElection {
    node: RawNode<MemStorage>,
    voters: Arc<Voters>,
    me: Identity,
    random: SplitMix64,
    /// The time-out in ticks, and the term and role for which it was drawn.
    patience: (usize, Option<(u64, StateRole)>),
    /// The last incarnation heard of each node.
    incarnations: BTreeMap<u64, Incarnation>,
    leading: Option<Term>,
    following: Option<Leader>,
}

/// A message of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RaftMessage(Message);

/// The only timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick;

/// The record of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    hard: HardState,
    entries: Vec<Entry>,
}

// The generated type has no hash of its own; it has no maps, so its bytes are always the same.
impl Hash for RaftMessage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.write_to_bytes().unwrap_or_default().hash(state);
    }
}

impl fmt::Display for RaftMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of term {}", self.0.msg_type, self.0.term)
    }
}

impl PeerMessage for RaftMessage {
    fn kind(&self) -> &'static str {
        use MessageType as Kind;
        match self.0.msg_type {
            Kind::MsgRequestPreVote => "pre-vote",
            Kind::MsgRequestPreVoteResponse => "pre-vote reply",
            Kind::MsgRequestVote => "vote",
            Kind::MsgRequestVoteResponse => "vote reply",
            Kind::MsgHeartbeat => "heartbeat",
            Kind::MsgHeartbeatResponse => "heartbeat reply",
            Kind::MsgAppend => "append",
            Kind::MsgAppendResponse => "append reply",
            Kind::MsgTimeoutNow => "timeout now",
            _ => "other",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }

    fn is_repeated(&self) -> bool {
        use MessageType::{MsgHeartbeat, MsgHeartbeatResponse};
        [MsgHeartbeat, MsgHeartbeatResponse].contains(&self.0.msg_type)
    }
}

impl fmt::Debug for RaftElection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaftElection")
            .field("me", &self.me)
            .field("leading", &self.leading)
            .finish_non_exhaustive()
    }
}

impl RaftElection {
    fn number(&self, id: &AgentId) -> Option<u64> {
        let place = self.voters.names.iter().position(|voter| voter == id)?;
        u64::try_from(place + 1).ok()
    }

    fn name(&self, number: u64) -> Option<&AgentId> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.voters.names.get(place)
    }

    /// Carries out the effects that the node asks for.
    fn obey(&mut self, out: &mut EffectsOf<Self>) {
        while self.node.has_ready() {
            let mut ready = self.node.ready();
            self.say(ready.take_messages(), out);
            let changed = ready.hs().is_some() || !ready.entries().is_empty();
            let store = self.node.raft.raft_log.store.clone();
            {
                let mut store = store.wl();
                if let Some(hard) = ready.hs() {
                    store.set_hardstate(hard.clone());
                }
                store
                    .append(ready.entries())
                    .expect("entries follow each other");
            }
            if changed {
                out.persist(kept(&store));
            }
            self.say(ready.take_persisted_messages(), out);
            let mut light = self.node.advance(ready);
            if let Some(commit) = light.commit_index() {
                store.wl().mut_hard_state().set_commit(commit);
            }
            self.say(light.take_messages(), out);
            self.node.advance_apply();
        }
    }

    fn say(&self, messages: Vec<Message>, out: &mut EffectsOf<Self>) {
        for message in messages {
            if let Some(to) = self.name(message.to) {
                out.send(to, RaftMessage(message));
            }
        }
    }

    /// Draws a time-out in the same cases as the crate: with each new term and role.
    fn be_patient(&mut self) {
        let since = Some((self.node.raft.term, self.node.raft.state));
        if self.patience.1 != since {
            let more = self.random.below(ELECTION_TICKS as u64);
            let ticks = ELECTION_TICKS + usize::try_from(more).unwrap_or(0);
            self.patience = (ticks, since);
        }
        let raft = &mut self.node.raft;
        raft.set_randomized_election_timeout(self.patience.0);
    }

    /// Tells the application the changes.
    fn tell(&mut self, out: &mut EffectsOf<Self>) {
        let raft = &self.node.raft;
        let term = Term(raft.term);
        let leading = (raft.state == StateRole::Leader).then_some(term);
        if leading != self.leading {
            if let Some(term) = self.leading {
                let reason = LostReason::Superseded;
                out.notify(Event::Lost { term, reason });
            }
            if let Some(term) = leading {
                out.notify(Event::Acquired { term });
            }
        }
        let id = self.name(raft.leader_id).cloned();
        let incarnation = match raft.leader_id == raft.id {
            true => Some(self.me.incarnation),
            false => self.incarnations.get(&raft.leader_id).copied(),
        };
        let following = id.zip(incarnation).map(|(id, incarnation)| Leader {
            id,
            incarnation,
            term,
        });
        if following != self.following && leading.is_none() {
            match &following {
                Some(leader) => out.notify(Event::NewLeader(leader.clone())),
                None => out.notify(Event::NoLeader { term }),
            }
        }
        (self.leading, self.following) = (leading, following);
    }
}

fn kept(store: &MemStorage) -> Kept {
    let all = |first: u64, end: u64| {
        let context = GetEntriesContext::empty(false);
        store.entries(first, end, None, context)
    };
    let ends = store.first_index().ok().zip(store.last_index().ok());
    let some = ends.filter(|(first, last)| first <= last);
    let entries = some.and_then(|(first, last)| all(first, last + 1).ok());
    Kept {
        hard: store.rl().hard_state().clone(),
        entries: entries.unwrap_or_default(),
    }
}

impl Election for RaftElection {
    type Message = RaftMessage;
    type Timer = Tick;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Kept;
    type Config = Arc<Voters>;

    fn new(me: Identity, voters: &Arc<Voters>, kept: Option<Kept>) -> Self {
        let numbers = (1..).take(voters.names.len()).collect::<Vec<u64>>();
        let store = MemStorage::new_with_conf_state((numbers, vec![]));
        if let Some(kept) = kept {
            let mut store = store.wl();
            store
                .append(&kept.entries)
                .expect("entries follow each other");
            store.set_hardstate(kept.hard);
        }
        let id = voters.names.iter().position(|voter| *voter == me.id);
        let id = id.map_or(0, |place| place as u64 + 1);
        let config = Config {
            id,
            election_tick: ELECTION_TICKS,
            heartbeat_tick: HEARTBEAT_TICKS,
            pre_vote: true,
            check_quorum: true,
            ..Config::default()
        };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        let mut random = SplitMix64::new(voters.seed ^ (id << 32 | me.incarnation.0));
        random.next_u64();
        let mut election = Self {
            node: RawNode::new(&config, store, &logger).expect("a valid configuration"),
            voters: Arc::clone(voters),
            me,
            random,
            patience: (ELECTION_TICKS, None),
            incarnations: BTreeMap::new(),
            leading: None,
            following: None,
        };
        election.be_patient();
        election
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            leaders: Leaders::PerTerm,
            storage: bully_core::protocol::Storage::Record,
            ..Requirements::new(Rules::new("raft"))
        })
    }

    fn handle(&mut self, _now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match input {
            Input::Start(_) => out.set_timer(Tick, TICK),
            Input::TimedOut(Tick) => {
                self.node.tick();
                out.set_timer(Tick, TICK);
            }
            Input::Received {
                from,
                incarnation,
                message,
            } => {
                if let Some(number) = self.number(&from) {
                    self.incarnations.insert(number, incarnation);
                }
                // A message that the node refuses needs no answer.
                let _refused = self.node.step(message.0);
            }
            Input::Campaign => {
                let _refused = self.node.campaign();
            }
            Input::StepDown { to } => {
                let best = || {
                    self.voters
                        .names
                        .iter()
                        .rfind(|voter| **voter != self.me.id)
                };
                let to = to.as_ref().or_else(best).and_then(|id| self.number(id));
                if let Some(number) = to {
                    self.node.transfer_leader(number);
                }
            }
            Input::Members(_) | Input::SetScore(_) | Input::Drained | Input::ChangeVoters(_) => {}
        }
        self.be_patient();
        self.obey(out);
        self.tell(out);
    }

    fn view(&self, _now: Time) -> View {
        let role = match self.node.raft.state {
            StateRole::Leader => Role::Leader,
            StateRole::Follower => Role::Follower,
            StateRole::Candidate | StateRole::PreCandidate => Role::Candidate,
        };
        View {
            about: None,
            role,
            term: Term(self.node.raft.term),
            leader: self.following.clone(),
            leading: self.leading,
            valid_until: Time::MAX,
        }
    }
}
