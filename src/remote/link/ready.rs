//! A link that is ready: its reader and its writer, and what they know in common.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    pin::pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use futures::future::{Either, select};
use tokio::{
    io::split,
    sync::{Notify, oneshot},
};

use crate::{
    group::companion_of,
    protocol::{AgentId, Leaders, Time},
    remote::{
        Closed, Established, GroupRules,
        bridge::shared::{BridgeState, PeerState},
        carry::{Announcer, Carried, LookAtMembers, Outbox},
        transport::Stream,
    },
};

use super::{
    Connection,
    greet::Greeted,
    quiet::{LinkFacts, Need, Spans, Vigil, is_out_of_date, silent_at},
    read::LinkReader,
    write::LinkWriter,
};

/// What reader and writer of one link share.
pub(super) struct Common {
    pub(super) shared: Arc<BridgeState>,
    pub(super) peer: Arc<PeerState>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) link: Established,
    /// Groups of this side, in the order of the bridge.
    pub(super) groups: Vec<GroupSide>,
    /// The other side has told which agents run there: messages can name them.
    pub(super) is_told: Cell<bool>,
    /// A group has begun anew there since it was last known which agents are gone.
    pub(super) has_opened: Cell<bool>,
    /// When something last arrived.
    pub(super) heard: Cell<Time>,
    /// PINGs to be answered.
    pub(super) answers: RefCell<VecDeque<u64>>,
    /// The PING that waits for its answer, and since when.
    pub(super) asked: Cell<Option<(u64, Time)>>,
    /// When the last PING was sent.
    pub(super) measured: Cell<Time>,
    /// When a message of an agent last went over it, in either direction, or a roster from here.
    pub(super) talked: Cell<Time>,
    /// When a leader's heartbeat last came, unless it was found silent since.
    pub(super) beat: Cell<Option<Time>>,
    /// When somebody last depended on the peer's being there.
    in_question: Cell<Option<Time>>,
    pub(super) vigil: Cell<Vigil>,
    /// By the peers that there were when the link began.
    pub(super) spans: Spans,
    /// Notifies the reader that the link is no longer quiet.
    pub(super) roused: Notify,
}

/// What the other side said of a group, and what was made of it.
pub(super) struct Opened {
    pub(super) theirs: GroupRules,
    /// It was not found to follow other rules.
    pub(super) is_carried: bool,
}

/// One group, as the two sides know it.
pub(super) struct GroupSide {
    /// Whether its members are those of another group, which is asked instead.
    pub(super) is_companion: bool,
    /// The agents that run here, as the other side was told.
    pub(super) told: RefCell<Announcer>,
    /// Looks at them.
    pub(super) look: LookAtMembers,
    /// An agent here has changed since.
    pub(super) is_dirty: Arc<AtomicBool>,
    /// The agents that run there, by the numbers of the other side.
    pub(super) theirs: RefCell<BTreeMap<AgentId, u32>>,
    /// How many may lead in it; `None` while no agent runs here.
    pub(super) leaders: Cell<Option<Leaders>>,
    /// What the other side said when it opened the group, once it has.
    pub(super) opened: RefCell<Option<Opened>>,
}

impl Common {
    // ---- how often the peer is asked whether it is there: `quiet.rs` ---------------------------

    fn facts(&self) -> LinkFacts {
        // Nobody asks what the groups need of a link that is in use: there may be many.
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

    /// Whether the writer has to ask now.
    pub(super) fn is_to_ask(&self) -> bool {
        // First: what depended on the link when the writer began to wait may be over.
        self.watch();
        let (now, facts) = (self.shared.now(), self.facts());
        now >= self.vigil.get().asks_at(&self.spans, &facts) || is_out_of_date(now, &facts)
    }

    /// When the reader has to give the peer up.
    pub(super) fn gone_at(&self) -> Time {
        self.vigil.get().gone_at(&self.spans, &self.facts())
    }

    /// Looks whether the link is quiet, and whether its leader is silent; says when to look again, if nothing happens.
    pub(super) fn watch(&self) -> Time {
        let (now, spans) = (self.shared.now(), self.spans);
        if self.outbox.take_question() {
            self.in_question.set(Some(now));
        }
        let silent = silent_at(&spans, &self.facts());
        if silent.is_some_and(|at| at <= now) {
            self.beat.set(None); // said once, until it is heard again
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

    /// When to look at it again, as things are now.
    pub(super) fn looks_at(&self) -> Time {
        let (spans, facts) = (&self.spans, self.facts());
        let asks = self.vigil.get().asks_at(spans, &facts);
        silent_at(spans, &facts).map_or(asks, |at| at.min(asks))
    }

    /// The link has ended: a leader at its other end is heard no more.
    fn ended(&self) {
        if self.beat.get().is_some() {
            self.shared.rouse_links();
        }
    }
}

impl Connection {
    /// Runs a link until it ends; gives the stream back, for a goodbye.
    ///
    /// A goodbye never comes in the middle of a frame: only an end that the bridge asked for has one
    /// ([`Closed::farewell`]), and the writer heeds that between two turns.
    pub(super) async fn link(
        &self,
        greeted: Greeted,
        close_request: oneshot::Receiver<Closed>,
    ) -> (Closed, Box<dyn Stream>) {
        let Greeted {
            stream,
            frames,
            link,
            peer,
            pass,
            ..
        } = greeted;
        let outbox = Arc::clone(&peer.agents().outbox);
        let groups = self.sides(&outbox);
        let now = self.shared.now();
        let common = Rc::new(Common {
            shared: Arc::clone(&self.shared),
            outbox,
            heard: Cell::new(now),
            peer,
            link,
            groups,
            is_told: Cell::new(false),
            // Even if the peer opens no group, agents that only a former link has named are gone.
            has_opened: Cell::new(true),
            answers: RefCell::default(),
            asked: Cell::new(None),
            measured: Cell::new(now),
            talked: Cell::new(now),
            beat: Cell::new(None),
            in_question: Cell::new(None),
            vigil: Cell::new(Vigil::Quick(now)),
            spans: Spans::new(&self.shared.limits, self.shared.peers().len()),
            roused: Notify::new(),
        });
        let (from_peer, to_peer) = split(stream);
        let mut reader = LinkReader::new(Rc::clone(&common), from_peer, frames);
        let mut writer = LinkWriter::new(Rc::clone(&common), to_peer, close_request);
        let why = {
            let reading = pin!(reader.run());
            let writing = pin!(writer.run());
            match select(reading, writing).await {
                Either::Left((why, _)) | Either::Right((why, _)) => why,
            }
        };
        // By its name: a newer link may have taken the queue over already.
        common.outbox.unlink(common.link.link);
        common.ended();
        // A goodbye may linger: meanwhile its slot is free for another connection.
        drop(pass);
        let stream = reader.into_inner().unsplit(writer.into_inner());
        (why, stream)
    }

    fn sides(&self, outbox: &Arc<Outbox>) -> Vec<GroupSide> {
        let side = |carried: &Arc<dyn Carried>| {
            let is_dirty = Arc::new(AtomicBool::new(true));
            let (dirty, outbox) = (Arc::clone(&is_dirty), Arc::clone(outbox));
            let look = carried.watch(Box::new(move || {
                // Before the wake: a writer that wakes and finds no mark tells nothing.
                dirty.store(true, Relaxed);
                outbox.wake();
            }));
            GroupSide {
                told: RefCell::default(),
                look,
                is_dirty,
                theirs: RefCell::default(),
                opened: RefCell::default(),
                leaders: Cell::new(None),
                is_companion: companion_of(carried.name()).is_some(),
            }
        };
        self.shared.carried.iter().map(side).collect()
    }
}
