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
use tokio::{io::split, sync::oneshot};

use crate::{
    planted::{Defect, has},
    protocol::{AgentId, Time},
    remote::{
        Closed, Established, GroupRules,
        bridge::shared::{BridgeState, PeerState},
        carry::{Announcer, Carried, LookAtMembers, Outbox},
        transport::Stream,
        wire::{FirstTimings, Versions},
    },
};

use super::{Connection, greet::Greeted, read::LinkReader, write::LinkWriter};

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
}

/// What the other side said of a group, and what was made of it.
pub(super) struct Opened {
    pub(super) theirs: GroupRules,
    /// It was not found to follow other rules.
    pub(super) is_carried: bool,
}

/// One group, as the two sides know it.
pub(super) struct GroupSide {
    /// The agents that run here, as the other side was told.
    pub(super) told: RefCell<Announcer>,
    /// Looks at them.
    pub(super) look: LookAtMembers,
    /// An agent here has changed since.
    pub(super) is_dirty: Arc<AtomicBool>,
    /// The agents that run there, by the numbers of the other side.
    pub(super) theirs: RefCell<BTreeMap<AgentId, u32>>,
    /// What the other side said when it opened the group, once it has.
    pub(super) opened: RefCell<Option<Opened>>,
}

impl Common {
    /// What is known of the timings that count in a group there, if the link speaks version 1.
    pub(super) fn first(&self, group: usize) -> Option<FirstTimings> {
        if self.link.version != Versions::FIRST {
            return None;
        }
        let opened = self.groups.get(group).map(|side| side.opened.borrow());
        let opened = opened.as_ref().and_then(|opened| opened.as_ref());
        let carried = opened.filter(|opened| opened.is_carried);
        let is_leased = carried.is_none_or(|opened| opened.theirs.rules == "quorum");
        let is_equal = !is_leased || has(Defect::FirstVersionCounts);
        Some(if is_equal {
            FirstTimings::Equal
        } else {
            self.peer.first_timings
        })
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
        let common = Rc::new(Common {
            shared: Arc::clone(&self.shared),
            outbox,
            heard: Cell::new(self.shared.now()),
            peer,
            link,
            groups,
            is_told: Cell::new(false),
            // Even if the peer opens no group, agents that only a former link has named are gone.
            has_opened: Cell::new(true),
            answers: RefCell::default(),
            asked: Cell::new(None),
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
            }
        };
        self.shared.carried.iter().map(side).collect()
    }
}
