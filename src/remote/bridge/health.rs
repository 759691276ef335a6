//! Facts about a peer for people: the last error, the round-trip time of a ping, rules that differ from the rules here.
//!
//! Decided here: the facts of each peer, and when they are out of date. The bridge does not act on them, except on the
//! time after which an earlier process with a peer's name may take part.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    sync::Mutex,
    time::Duration,
};

use tracing::warn;

use crate::{
    group::{Pace, PeerReport, PeerReporter, companion_of},
    protocol::{Decree, Leaders, NewVoter, Requirements, Time},
    remote::{
        Closed, Farewell, GroupRules, NodeId,
        advice::{advice, advice_to_dial},
    },
};

use super::shared::{BridgeState, PeerState, lock};

/// The facts about one peer.
#[derive(Debug, Default)]
pub(crate) struct PeerHealth {
    trouble: Mutex<Option<LinkTrouble>>,
    /// The groups that the peer has announced on the present link.
    opened: Mutex<PeerGroups>,
    /// Time at which this side last refused a process because another process of the same name is linked; `None` before
    /// the first refusal.
    contested: Mutex<Option<Time>>,
    /// Time at which the peer last reported that it has refused an earlier process with this node's name; `None` before
    /// the first report.
    twin: Mutex<Option<Time>>,
    /// Time at which the peer last sent a term that is later than the clock of this host allows; `None` before the
    /// first such term.
    ahead: Mutex<Option<Time>>,
    /// Round-trip time of the last ping, if one was answered.
    echo: Mutex<Option<Duration>>,
}

/// Time after which a dispute about a name, or a clock that is ahead, is no longer reported. If the dispute or the
/// wrong clock continues, the bridge notices it again within a few seconds.
const RECENT: Duration = Duration::from_secs(60);

/// The groups of a peer.
#[derive(Debug, Default)]
struct PeerGroups {
    /// The groups that this side carries as well.
    known: BTreeMap<String, PeerOpened>,
    /// Some of the other groups.
    others: BTreeSet<String>,
    /// Whether the peer has announced all of its groups.
    are_all: bool,
}

/// Largest number of a peer's other groups that are kept, for messages to people. The peer chooses their number.
const OTHERS: usize = 4;

/// The epoch, rules and timings of a group, as a peer announced them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PeerOpened {
    epoch: u64,
    /// The peer's rules and the rules of this side, if no message crosses because they differ.
    mismatch: Option<(String, String)>,
    pace: Option<Pace>,
}

/// The reason why a link is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTrouble {
    /// The link was closed or not accepted.
    Closed(Closed),
    /// No connection was made.
    NotDialled {
        /// The network's error.
        reason: String,
        advice: &'static str,
        /// Whether the host answered that no process listens, so that the peer's agents are suspected at once. Any
        /// other failure may be a fault of the network, and proves nothing about the process.
        is_refused: bool,
    },
}

/// The name that two processes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameDispute {
    /// The name of this node: the peer refused this node.
    Own,
    /// The name of the peer: this node refused a process.
    Peer,
}

impl LinkTrouble {
    /// Returns the description of a failed attempt to connect.
    pub(crate) fn dialling(reason: &io::Error) -> Self {
        // A host may break a connection while its process is being killed. Another dial a moment later shows the end.
        let dropped = [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted];
        if dropped.contains(&reason.kind()) {
            return Self::Closed(Closed::Lost);
        }
        Self::NotDialled {
            reason: reason.to_string(),
            advice: advice_to_dial(reason),
            is_refused: reason.kind() == ErrorKind::ConnectionRefused,
        }
    }

    /// Returns whether the link ended because another link to the peer replaced it. Such an end is not a problem.
    fn is_replacement(&self) -> bool {
        let replaced = [Closed::Replaced, Closed::Goodbye(Farewell::Replaced)];
        matches!(self, Self::Closed(why) if replaced.contains(why))
    }

    fn text(&self) -> String {
        match self {
            Self::Closed(why) => why.to_string(),
            Self::NotDialled { reason, .. } => reason.clone(),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Closed(why) => advice(*why),
            Self::NotDialled { advice, .. } => Some(advice),
        }
    }

    /// `IsSelf` is not a dispute: perhaps the address of the peer is the address of this process. The advice for
    /// `IsSelf` covers both causes, the name and the address.
    fn dispute(&self) -> Option<NameDispute> {
        match self {
            Self::Closed(Closed::Goodbye(Farewell::Stale | Farewell::NameHeld)) => {
                Some(NameDispute::Own)
            }
            Self::Closed(Closed::Stale | Closed::NameHeld) => Some(NameDispute::Peer),
            Self::Closed(_) | Self::NotDialled { .. } => None,
        }
    }
}

impl PeerHealth {
    /// Notes that another process claims to be the peer, while the peer is linked.
    pub(crate) fn contest(&self, now: Time) {
        *lock(&self.contested) = Some(now);
    }

    /// Notes that the peer refused an earlier process with this node's name. Returns `false` if this was noted
    /// recently.
    pub(crate) fn note_twin(&self, now: Time) -> bool {
        is_news(&self.twin, now)
    }

    pub(crate) fn linked(&self) {
        *lock(&self.trouble) = None;
        *lock(&self.opened) = PeerGroups::default();
    }

    /// Notes that the peer has a group that this side does not carry.
    pub(crate) fn opened_other(&self, group: &str) {
        let others = &mut lock(&self.opened).others;
        if others.len() < OTHERS {
            others.insert(group.to_owned());
        }
    }

    /// Notes that the peer has announced all of its groups. If this side carries none of these groups, returns the
    /// first of them.
    pub(crate) fn all_told(&self) -> Option<String> {
        let mut groups = lock(&self.opened);
        groups.are_all = true;
        groups
            .others
            .first()
            .filter(|_| groups.known.is_empty())
            .cloned()
    }

    /// Notes that the peer sends terms that are later than the clock of this host allows. Returns whether this is new.
    pub(crate) fn note_ahead(&self, now: Time) -> bool {
        is_news(&self.ahead, now)
    }

    /// Notes the rules that the peer follows in a group. `mine` are this side's rules, if they differ.
    pub(crate) fn opened(
        &self,
        group: &str,
        (theirs, pace): (&GroupRules, Option<Pace>),
        mine: Option<&GroupRules>,
    ) {
        let said = PeerOpened {
            pace,
            epoch: theirs.epoch,
            mismatch: mine.map(|mine| (theirs.to_string(), mine.to_string())),
        };
        lock(&self.opened).known.insert(group.to_owned(), said);
    }

    /// Notes the time that the peer took to answer a ping.
    pub(crate) fn echoed(&self, after: Duration) {
        *lock(&self.echo) = Some(after);
    }

    pub(crate) fn echo(&self) -> Option<Duration> {
        *lock(&self.echo)
    }

    /// Returns the reason why the link is missing, if the reason is known.
    pub(crate) fn last_error(&self) -> Option<String> {
        lock(&self.trouble).as_ref().map(LinkTrouble::text)
    }
}

/// Notes a fact at the time `now`. Returns `false` if it was noted recently.
fn is_news(noted: &Mutex<Option<Time>>, now: Time) -> bool {
    let before = lock(noted).replace(now);
    before.is_none_or(|before| now.since(before) >= RECENT)
}

/// Returns the time without a link after which a node's last incarnation is forgotten, by the limit and by the rules of
/// the groups.
///
/// The time is zero if the rules of all groups allow a leader on each side of a partition. Then two processes of one
/// name do no more harm than a partition, and the earlier process takes part again as soon as the later process has
/// ended. Otherwise the time is never shorter than a promise: an earlier process that votes in place of the later
/// process does not know the promises of the later process, and two agents could lead.
///
/// A goodbye of the later process does not shorten the time. A bridge also says goodbye when it removes this peer, or
/// stops before its agents: the later process may go on to vote at other nodes, while the earlier process votes here.
/// And a promise outlasts the process that made it. A restart of the earlier process ends the wait.
fn forgets_after(limit: Duration, rules: &[Requirements]) -> Duration {
    if !rules.is_empty() && rules.iter().all(|of| of.leaders == Leaders::PerSide) {
        return Duration::ZERO;
    }
    let promises = rules.iter().map(|of| of.promise);
    promises.fold(limit, Duration::max)
}

impl BridgeState {
    /// Returns the time without a link after which an earlier process of a node's name may take part.
    ///
    /// See [`forgets_after`].
    pub(crate) fn forgets_after(&self) -> Duration {
        let groups = self.carried.iter();
        let groups = groups.filter(|carried| companion_of(carried.name()).is_none());
        let rules: Vec<_> = groups
            .filter_map(|carried| carried.requirements())
            .collect();
        forgets_after(self.limits.forget(), &rules)
    }

    /// Notes that a link with this node ended, or that an attempt to dial this node failed.
    pub(crate) fn note_failure(&self, node: &NodeId, trouble: LinkTrouble) {
        let Some(peer) = self.peer(node) else {
            return;
        };
        if trouble.is_replacement() {
            return;
        }
        let is_stale = trouble == LinkTrouble::Closed(Closed::Goodbye(Farewell::Stale));
        *lock(&peer.health.trouble) = Some(trouble);
        if peer.agents().disown(is_stale) && is_stale {
            warn!(node = %self.me.node, peer = %node, "two processes have this node's name: the peer knows a later process, and refuses this one: stop this one, or stop the later one and restart this one, or give one a name of its own");
        }
    }

    fn report(&self, peer: &PeerState, group: &str) -> PeerReport {
        let at = self.carried.iter().position(|c| c.name() == group);
        let agents = peer.agents();
        let unlinked_for = agents.unlinked_for(self.now());
        let refused = at.map(|at| agents.refused(at)).unwrap_or_default();
        drop(agents);
        let contested = *lock(&peer.health.contested);
        let twin = *lock(&peer.health.twin);
        let is_recent = |at: Time| self.now().since(at) < RECENT;
        // While the peer is linked, an earlier error is out of date.
        let trouble = lock(&peer.health.trouble).clone();
        let trouble = trouble.filter(|_| unlinked_for.is_some());
        let dispute = trouble.as_ref().and_then(LinkTrouble::dispute);
        let ahead = *lock(&peer.health.ahead);
        let groups = lock(&peer.health.opened);
        let opened = groups.known.get(group).cloned();
        let lacks_group = groups.are_all && opened.is_none() && unlinked_for.is_none();
        let shares_no_group = lacks_group && groups.known.is_empty() && !groups.others.is_empty();
        let others: Vec<String> = if lacks_group {
            let known = groups.known.keys().map(String::as_str);
            let known = known.filter(|name| companion_of(name).is_none());
            let others = groups.others.iter().map(String::as_str);
            known
                .chain(others)
                .take(OTHERS)
                .map(str::to_owned)
                .collect()
        } else {
            Vec::new()
        };
        drop(groups);
        PeerReport {
            node: peer.node.to_string(),
            address: peer.address.clone(),
            unlinked_for,
            is_name_disputed: dispute == Some(NameDispute::Own),
            is_contested: if unlinked_for.is_some() {
                dispute == Some(NameDispute::Peer)
            } else {
                contested.is_some_and(is_recent)
            },
            has_twin: twin.is_some_and(is_recent),
            is_clock_ahead: ahead.is_some_and(is_recent),
            lacks_group,
            shares_no_group,
            other_groups: others,
            advice: trouble.as_ref().and_then(LinkTrouble::advice),
            last_error: trouble.as_ref().map(LinkTrouble::text),
            echo: peer.health.echo(),
            timings: opened.as_ref().and_then(|opened| {
                let mine = self.carried.get(at?)?.pace()?;
                let theirs = opened.pace.filter(|theirs| *theirs != mine)?;
                Some((theirs.to_string(), mine.to_string()))
            }),
            epoch: opened.as_ref().map(|opened| opened.epoch),
            mismatch: opened.and_then(|opened| opened.mismatch),
            refused,
        }
    }
}

impl PeerReporter for BridgeState {
    fn report_peers(&self, group: &str) -> Vec<PeerReport> {
        let peers = self.peers();
        peers.iter().map(|peer| self.report(peer, group)).collect()
    }

    fn note_voters(&self, group: &str, decree: &Decree) {
        for refused in self.decree(group, decree.epoch, &decree.voters) {
            warn!(node = %self.me.node, group, "voter's host is not a peer: {refused}");
        }
    }

    fn want_voter(&self, group: &str, new: &NewVoter) {
        if let Some(refused) = self.want(group, new) {
            warn!(node = %self.me.node, group, "new voter's host is not a peer: {refused}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Rules;

    #[test]
    fn a_link_that_was_replaced_is_no_trouble_and_a_disputed_name_is_the_name_of_the_refused_side()
    {
        for why in [Closed::Replaced, Closed::Goodbye(Farewell::Replaced)] {
            assert!(LinkTrouble::Closed(why).is_replacement(), "{why}");
        }
        for (why, dispute) in [
            (Closed::Silent, None),
            (Closed::IsSelf, None),
            (Closed::Goodbye(Farewell::IsSelf), None),
            (Closed::Stale, Some(NameDispute::Peer)),
            (Closed::NameHeld, Some(NameDispute::Peer)),
            (Closed::Goodbye(Farewell::Stale), Some(NameDispute::Own)),
            (Closed::Goodbye(Farewell::NameHeld), Some(NameDispute::Own)),
        ] {
            let trouble = LinkTrouble::Closed(why);
            assert_eq!(
                (trouble.text(), trouble.dispute()),
                (why.to_string(), dispute)
            );
            assert!(!trouble.is_replacement(), "{why}");
        }
    }

    #[test]
    fn an_incarnation_is_not_forgotten_before_its_promises_end() {
        let rules = |leaders, seconds| Requirements {
            leaders,
            promise: Duration::from_secs(seconds),
            ..Requirements::new(Rules::new("lottery"))
        };
        let (bully, quorum) = (rules(Leaders::PerSide, 0), rules(Leaders::PerTerm, 8));
        let lease = rules(Leaders::PerTerm, 0);
        for (limit, rules, seconds) in [
            (5, vec![], 5), // no agent is here yet
            (5, vec![bully.clone()], 0),
            (5, vec![bully.clone(), lease], 5),
            (5, vec![bully.clone(), quorum.clone()], 8),
            (9, vec![bully, quorum], 9),
        ] {
            let forgets = forgets_after(Duration::from_secs(limit), &rules);
            assert_eq!(forgets, Duration::from_secs(seconds), "{rules:?}");
        }
    }

    #[test]
    fn trouble_ends_with_a_link_and_other_rules_with_those_of_this_side() {
        let health = PeerHealth::default();
        let refused = LinkTrouble::dialling(&ErrorKind::ConnectionRefused.into());
        *lock(&health.trouble) = Some(refused);
        assert_eq!(health.last_error().as_deref(), Some("connection refused"));
        health.linked();
        assert_eq!(health.last_error(), None);
        let rules = |epoch| GroupRules {
            rules: "quorum".to_owned(),
            epoch,
            voters: None,
        };
        let told = || lock(&health.opened).known.get("jobs").cloned();
        health.opened("jobs", (&rules(2), None), Some(&rules(1)));
        let [theirs, mine] = [2, 1].map(|epoch| rules(epoch).to_string());
        let said = |epoch, mismatch| {
            Some(PeerOpened {
                epoch,
                mismatch,
                pace: None,
            })
        };
        assert_eq!(told(), said(2, Some((theirs, mine))));
        health.opened("jobs", (&rules(3), None), None);
        assert_eq!(told(), said(3, None));
        assert_eq!(health.echo(), None);
        health.echoed(Duration::ZERO);
        assert_eq!(health.echo(), Some(Duration::ZERO));
    }
}
