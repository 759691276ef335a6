//! The state of a group's peers (other nodes), as the carriers of the group (such as bridges) see them. It helps to
//! find out why a group has no leader.
//!
//! Decided here: the fields of a peer's report, whatever carries the group. Not here: how a peer is reached
//! ([`remote`](crate::remote)), and the consequences for a leader ([`agent`](crate::agent)).

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use serde::Serialize;

use crate::{
    protocol::{AgentId, Decree, Member, NewVoter, PeerMessage, Timings},
    shown,
};

use super::{Group, snapshot::Route};

/// Another node that carries the group, as this node sees it.
///
/// As JSON the fields have the names below; spans are milliseconds, under keys that end in `_ms`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of which each is true or not, whatever the others are"
)]
pub(crate) struct PeerReport {
    /// Name of the node.
    pub(crate) node: String,
    /// The address that this node dials; `None` if the peer has to dial.
    pub(crate) address: Option<String>,
    /// Time since the last link to the node ended, or since the bridge of this process began. `None` while there is a
    /// link. As JSON: `unlinked_ms`.
    #[serde(rename = "unlinked_ms", serialize_with = "shown::optional_millis")]
    pub(crate) unlinked_for: Option<Duration>,
    /// The error that ended the last link, or the error of the last attempt after that. For people: the words may
    /// change.
    pub(crate) last_error: Option<String>,
    /// Round-trip time of the last question to the node. As JSON: `echo_ms`.
    #[serde(rename = "echo_ms", serialize_with = "shown::optional_millis")]
    pub(crate) echo: Option<Duration>,
    /// The advice for [`last_error`](Self::last_error), if there is advice. For people: the words may change.
    pub(crate) advice: Option<&'static str>,
    /// Whether the peer last refused this node for its name: another process has the same name, or took the name later.
    pub(crate) is_name_disputed: bool,
    /// Whether two processes claim to be this peer. While the peer is connected: this node refused the other process in
    /// the last minute. Otherwise: this node last refused a process for this name.
    pub(crate) is_contested: bool,
    /// Whether the peer reported in the last minute that it refused an earlier process with the name of this node.
    pub(crate) has_twin: bool,
    /// Whether the peer sent terms in the last minute that are later than the clock of this host allows: either the
    /// peer's clock is ahead, or the clock of this host is behind. Messages with such terms are dropped.
    pub(crate) is_clock_ahead: bool,
    /// Whether the peer is connected, and has reported no agent of this group.
    pub(crate) lacks_group: bool,
    /// Whether the peer is connected and has groups, but this node carries none of them.
    pub(crate) shares_no_group: bool,
    /// The first groups that the peer carries, without this group.
    pub(crate) other_groups: Vec<String>,
    /// Set if the agents of the peer follow other rules in this group, or are of another epoch, or have other voters:
    /// the peer's text, then the text of this node.
    pub(crate) mismatch: Option<(String, String)>,
    /// Set if the agents of the peer have other timings than the agents of this node: the peer's text, then the text of
    /// this node.
    pub(crate) timings: Option<(String, String)>,
    /// The epoch of the voters that the peer's agents in this group follow, by the peer's last report.
    pub(crate) epoch: Option<u64>,
    /// The agents of the peer whose names belong to other agents at this node.
    pub(crate) refused: Vec<AgentId>,
}

/// The timings of a node's agents, as far as people compare them. Different timings are safe: nothing is refused
/// because of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pace {
    /// Longest time that a message is assumed to take one way, in whole microseconds.
    pub delay: Duration,
    /// Silence after which an agent considers its leader gone, in whole microseconds; zero without a failure detector.
    pub detection: Duration,
}

impl From<&Timings> for Pace {
    fn from(timings: &Timings) -> Self {
        let whole = |span: Duration| {
            Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
        };
        let detection = timings.detector().map(|detector| detector.detection);
        Self {
            delay: whole(timings.delay_bound()),
            detection: whole(detection.unwrap_or_default()),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delay, detection } = self;
        write!(f, "messages of {delay:?}, detection after {detection:?}")
    }
}

/// A carrier of a group to other nodes.
pub(crate) trait PeerReporter: Send + Sync {
    /// Returns the nodes to which this carrier carries the group `group`.
    fn report_peers(&self, group: &str) -> Vec<PeerReport>;
    /// Notes the decided voters of the group `group`: their nodes become peers. Lists may arrive in another order than
    /// the order of their decisions; their epochs show which list is the latest.
    fn note_voters(&self, group: &str, decree: &Decree);
    /// Notes that the agent `new` shall become a voter of the group, and that the leader has received nothing from this
    /// agent yet. The agent's node becomes a peer until the next list, as a node that may only observe.
    fn want_voter(&self, group: &str, new: &NewVoter);
}

/// The carriers (such as bridges) of a group.
#[derive(Default)]
pub(super) struct Reporters(Mutex<Carriers>);

#[derive(Default)]
struct Carriers {
    all: Vec<Weak<dyn PeerReporter>>,
    /// The latest list of voters that was decided. It is kept for carriers that are added later.
    decree: Option<Arc<Decree>>,
}

impl Reporters {
    fn carriers(&self) -> MutexGuard<'_, Carriers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, reporter: Weak<dyn PeerReporter>) -> Option<Arc<Decree>> {
        let mut carriers = self.carriers();
        carriers.all.retain(|known| known.strong_count() > 0); // a bridge may be started many times
        carriers.all.push(reporter);
        carriers.decree.clone()
    }

    fn all(&self) -> Vec<Arc<dyn PeerReporter>> {
        self.carriers()
            .all
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Keeps `decree` if it is later than the list that is kept; returns whether it is later.
    fn keep(&self, decree: &Decree) -> bool {
        let mut carriers = self.carriers();
        let known = carriers.decree.as_ref();
        let is_later = known.is_none_or(|known| known.epoch < decree.epoch);
        if is_later {
            carriers.decree = Some(Arc::new(decree.clone()));
        }
        is_later
    }
}

impl fmt::Debug for Reporters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reporters").field(&self.all().len()).finish()
    }
}

/// A member, and whether messages reach it, as far as this node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReachableMember {
    pub(crate) member: Member,
    /// The node where the member runs; `None` for this process.
    pub(crate) node: Option<Arc<str>>,
    /// Whether the member is up, and its node is connected.
    pub(crate) is_reachable: bool,
    /// The epoch of the voters that the member follows. `None` for a member of another node: that node reports one
    /// epoch for all of its agents ([`PeerReport::epoch`]).
    pub(crate) epoch: Option<u64>,
}

impl<M: PeerMessage> Group<M> {
    /// Adds a reporter about the nodes to which the group is carried. A dropped reporter is forgotten.
    pub(crate) fn add_reporter(&self, reporter: &Weak<dyn PeerReporter>) {
        let decree = self.0.reporters.add(Weak::clone(reporter));
        if let (Some(decree), Some(bridge)) = (decree, reporter.upgrade()) {
            bridge.note_voters(self.name(), &decree);
        }
    }

    /// Notes the voters that are valid from now on: each carrier of the group makes the voters' nodes peers of this
    /// node.
    pub(crate) fn note_voters(&self, decree: &Decree) {
        if self.0.reporters.keep(decree) {
            // The carriers are called without the lock, because a bridge takes locks of its own.
            for bridge in self.0.reporters.all() {
                bridge.note_voters(self.name(), decree);
            }
        }
    }

    /// Asks every carrier of the group to connect to the agent `new`, whose host's contact is known.
    pub(crate) fn want_voter(&self, new: &NewVoter) {
        for bridge in self.0.reporters.all() {
            bridge.want_voter(self.name(), new);
        }
    }

    /// Notes the timings of an agent that starts in this process. Other nodes receive the timings when they connect.
    pub(crate) fn note_pace(&self, pace: Pace) {
        self.registry().pace = Some(pace);
    }

    /// Returns the timings of the last agent that started in this process.
    pub(crate) fn pace(&self) -> Option<Pace> {
        self.registry().pace
    }

    /// Returns the nodes to which the group is carried, ordered by name; an empty list if the group is carried nowhere.
    pub(crate) fn peers(&self) -> Vec<PeerReport> {
        // The carriers are called without the lock, because a bridge takes locks of its own.
        let reporters = self.0.reporters.all();
        let reports = reporters
            .iter()
            .map(|bridge| bridge.report_peers(self.name()));
        let mut peers: Vec<_> = reports.flatten().collect();
        peers.sort_by(|a, b| a.node.cmp(&b.node));
        peers
    }

    /// Returns whether another agent of this process is up.
    pub(crate) fn has_others_here(&self, id: &AgentId) -> bool {
        let mut registry = self.registry();
        let snapshot = registry.snapshot(&self.0.delivery);
        let mut here = snapshot.here();
        here.any(|member| member.id != *id && member.is_up())
    }

    /// Returns the members ordered by name, and whether messages reach each of them.
    pub(crate) fn reach(&self) -> Vec<ReachableMember> {
        let mut registry = self.registry();
        let snapshot = registry.snapshot(&self.0.delivery);
        let routed = snapshot.members.iter().zip(&*snapshot.routes);
        let reach = |(member, route): (&Member, &Arc<Route<M>>)| {
            let (node, is_linked) = match &**route {
                Route::Local { .. } => (None, true),
                Route::Remote { node, .. } => (Some(Arc::clone(node)), route.is_up()),
            };
            ReachableMember {
                epoch: registry.epoch_of(&member.id),
                member: member.clone(),
                node,
                is_reachable: is_linked && member.is_up(),
            }
        };
        routed.map(reach).collect()
    }
}
