//! The state that the reader and the writer of one link share.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::AtomicBool},
};

use tokio::sync::Notify;

use crate::{
    protocol::{AgentId, Leaders, Time},
    remote::{
        Established, GroupRules,
        bridge::shared::{BridgeState, PeerState},
        carry::{Announcer, LookAtMembers, Outbox},
    },
};

use super::quiet::{LinkFacts, Need, Spans, Vigil, is_out_of_date, silent_at};
/// State that the reader and the writer of one link share.
pub(super) struct Common {
    pub(super) shared: Arc<BridgeState>,
    pub(super) peer: Arc<PeerState>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) link: Established,
    /// Groups of this side, in the order in which the bridge carries them.
    pub(super) groups: Vec<GroupSide>,
    /// Whether the other side has announced its agents, so that messages can name them.
    pub(super) is_told: Cell<bool>,
    /// Whether the other side has opened a group anew, and this side does not know yet which agents are gone.
    pub(super) has_opened: Cell<bool>,
    /// Time at which anything last arrived.
    pub(super) heard: Cell<Time>,
    /// PINGs that still need an answer.
    pub(super) answers: RefCell<VecDeque<u64>>,
    /// The PING that waits for its answer, and its time; `None` if no PING waits.
    pub(super) asked: Cell<Option<(u64, Time)>>,
    /// Time of the last PING.
    pub(super) measured: Cell<Time>,
    /// Time at which an agent's message last crossed the link, or at which this side last sent a roster.
    pub(super) talked: Cell<Time>,
    /// Time of the last heartbeat of a leader; `None` if the leader was found silent after it.
    pub(super) beat: Cell<Option<Time>>,
    /// Time at which a caller last depended on the peer's presence.
    pub(super) in_question: Cell<Option<Time>>,
    pub(super) vigil: Cell<Vigil>,
    /// Spans for the number of peers at the beginning of the link.
    pub(super) spans: Spans,
    /// Notifies the reader that the link is no longer quiet.
    pub(super) roused: Notify,
}

/// The rules of the other side for a group, and the result of the comparison.
pub(super) struct JudgedOpening {
    pub(super) theirs: GroupRules,
    /// Whether messages of the group cross: this side carries the group, and found no difference between the rules.
    pub(super) is_carried: bool,
}

/// One group, as the two sides know it.
pub(super) struct GroupSide {
    /// Whether this is a companion group (for application messages): the group of the election has the same members, and
    /// decides how often this side sends a heartbeat.
    pub(super) is_companion: bool,
    /// The agents that run here, as they were announced to the other side.
    pub(super) told: RefCell<Announcer>,
    /// Reads the present agents of the group in this process.
    pub(super) look: LookAtMembers,
    /// Whether an agent here has changed since the last announcement.
    pub(super) is_dirty: Arc<AtomicBool>,
    /// The agents that run at the other side, by the numbers of the other side.
    pub(super) theirs: RefCell<BTreeMap<AgentId, u32>>,
    /// Number of agents that may lead in the group at one time; `None` while no agent runs here.
    pub(super) leaders: Cell<Option<Leaders>>,
    /// The opening of the group by the other side, once it has come.
    pub(super) opened: RefCell<Option<JudgedOpening>>,
}

impl Common {
    // ---- how often the peer is asked whether it is there: `quiet.rs` ---------------------------

    fn facts(&self) -> LinkFacts {
        // The needs of the groups are not computed for a link that is in use: there may be many groups.
        let is_in_use = self.shared.now().since(self.talked.get()) < self.shared.limits.silence();
        let need = if is_in_use { Need::Quick } else { self.need() };
        LinkFacts {
            need,
            talked: self.talked.get(),
            beat: self.beat.get(),
            heard: self.heard.get(),
            asked: self.asked.get().map(|(_, since)| since),
            measured: self.measured.get(),
            alarm: self.shared.leaders.last_alarm().max(self.in_question.get()),
        }
    }

    fn need(&self) -> Need {
        if !self.is_told.get() {
            return Need::Quick;
        }
        let groups = self.groups.iter().enumerate();
        let needs = groups.filter_map(|(group, side)| {
            let is_shared = !side.is_companion && !side.theirs.borrow().is_empty();
            let leaders = side.leaders.get().filter(|_| is_shared)?;
            Some(Need::of(leaders, self.shared.leaders.last_beat(group)))
        });
        let all = needs.fold(None, |so_far, one| Some(one.and(so_far)));
        all.unwrap_or(Need::Quick)
    }

    /// Returns whether the writer has to ask now.
    pub(super) fn is_to_ask(&self) -> bool {
        // The link is checked first: since the writer began to wait, the link may have become quiet.
        self.watch();
        let (now, facts) = (self.shared.now(), self.facts());
        now >= self.vigil.get().asks_at(&self.spans, &facts) || is_out_of_date(now, &facts)
    }

    /// Returns the time at which the reader considers the peer gone.
    pub(super) fn gone_at(&self) -> Time {
        self.vigil.get().gone_at(&self.spans, &self.facts())
    }

    /// Checks whether the link is quiet, and whether the leader at its other end is silent. Returns the time of the
    /// next check, if nothing happens before.
    pub(super) fn watch(&self) -> Time {
        let (now, spans) = (self.shared.now(), self.spans);
        if self.outbox.take_question() {
            self.in_question.set(Some(now));
        }
        let silent = silent_at(&spans, &self.facts());
        if silent.is_some_and(|at| at <= now) {
            self.beat.set(None); // reported once, until the leader is heard again
            self.shared.rouse_links();
        }
        let (before, facts) = (self.vigil.get(), self.facts());
        let vigil = before.next(now, &spans, &facts);
        self.vigil.set(vigil);
        if before == Vigil::Quiet && vigil != before {
            self.roused.notify_one();
        }
        self.looks_at()
    }

    /// Returns the time of the next check, by the present state.
    pub(super) fn looks_at(&self) -> Time {
        let (spans, facts) = (&self.spans, self.facts());
        let asks = self.vigil.get().asks_at(spans, &facts);
        silent_at(spans, &facts).map_or(asks, |at| at.min(asks))
    }

    /// Handles the end of the link: a leader at its other end can no longer be heard.
    pub(super) fn ended(&self) {
        if self.beat.get().is_some() {
            self.shared.rouse_links();
        }
    }
}
