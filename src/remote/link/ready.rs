//! A link that is ready: runs its reader and its writer. `common.rs` has the state that they share.

use std::{
    cell::{Cell, RefCell},
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
    remote::{
        Closed,
        carry::{Carried, Outbox},
        transport::Stream,
    },
};

use super::{
    Connection,
    common::{Common, GroupSide},
    greet::Greeted,
    quiet::{Spans, Vigil},
    read::LinkReader,
    write::LinkWriter,
};

impl Connection {
    /// Runs a link until it ends; returns the stream, for a goodbye.
    ///
    /// A goodbye never comes in the middle of a frame: a goodbye is sent only if the bridge asked for the end
    /// ([`Closed::farewell`]), and the writer checks for such a request between two turns.
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
            // True from the beginning, because agents that only a former link has announced are gone, even if the peer
            // opens no group on this link.
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
        // Only this link is unlinked: a newer link may already use the queue.
        common.outbox.unlink(common.link.link);
        common.ended();
        // The goodbye may take a while. The slot of this connection is free for another connection meanwhile.
        drop(pass);
        let stream = reader.into_inner().unsplit(writer.into_inner());
        (why, stream)
    }

    fn sides(&self, outbox: &Arc<Outbox>) -> Vec<GroupSide> {
        let side = |carried: &Arc<dyn Carried>| {
            let is_dirty = Arc::new(AtomicBool::new(true));
            let (dirty, outbox) = (Arc::clone(&is_dirty), Arc::clone(outbox));
            let look = carried.watch(Box::new(move || {
                // The mark is set before the writer is woken: a writer that wakes and finds no mark announces nothing.
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
