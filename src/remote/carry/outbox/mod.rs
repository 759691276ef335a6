//! What waits to be sent to one node: filled by any thread, emptied by the writer of its link.
//!
//! Decided here: what a queue may hold. It is bounded by bytes. A repeated message replaces the one of its kind before
//! it from the same sender to the same receivers; any other message is sent, or its loss is counted. Over the limit the
//! newest message is lost, or, where the peer takes nothing, the link with all that waits (what applications say has
//! half of the room, and elections have the rest): an agent that says too much is no reason to give a peer up. Messages
//! outlast a link that is lost and made anew at once; without one for [`Limits::queue_time`] they are out of date.

use std::{
    collections::BTreeMap,
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::clock::Instant;
use tokio::sync::Notify;
use tracing::error;

use crate::{
    group::{AppMessage, Envelope},
    remote::{
        Limits, LinkId, RemoteMessage,
        link::pace,
        wire::{Allowance, Bounds, decode_payload},
    },
};

/// The queue towards one node.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// So many bytes may wait.
    most: AtomicUsize,
    time: Duration,
    /// A peer that has taken nothing for so long is slow.
    grace_period: Duration,
    queue: Mutex<OutboxQueue>,
    /// Notifies the writer that there is something to send.
    wake: Notify,
    /// Notifies the writer when the queue is over its limit.
    full: Notify,
    /// Whether somebody depends on the peer's being there, and it was not asked yet.
    is_in_question: AtomicBool,
    /// The peer is to hear of an earlier process of its name.
    has_twin: AtomicBool,
    lost: AtomicU64,
    /// Of those, the ones that the peer would not take, as far as they are not counted elsewhere yet.
    refused: AtomicU64,
    /// How deep a message may nest that this node takes: the types of a cluster are the same at all nodes.
    depth: u8,
}

#[derive(Debug, Default)]
struct OutboxQueue {
    messages: Batch,
    /// What a message may be made of that the peer takes.
    bounds: Bounds,
    /// The numbers of the repeated messages.
    repeated: BTreeMap<RepeatKey, u64>,
    bytes: usize,
    state: QueueState,
    /// The link that takes the messages out, or did last, and since when.
    by: Option<(LinkId, Instant)>,
    /// Since when the link waits for the peer to take what was written.
    stalled: Option<Instant>,
    /// What the clock showed when it was looked at last.
    now: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum QueueState {
    /// No link, or none that is ready.
    #[default]
    Waiting,
    Linked,
    /// Over its limit: the link is being closed.
    Overrun,
    /// No link will ever send it.
    Closed,
}

impl Outbox {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: AtomicUsize::new(most(limits, Allowance::of(limits))),
            time: limits.queue_time(),
            grace_period: limits.write_time().checked_div(32).unwrap_or_default(),
            queue: Mutex::new(OutboxQueue {
                bounds: limits.bounds(),
                ..OutboxQueue::default()
            }),
            wake: Notify::new(),
            full: Notify::new(),
            is_in_question: AtomicBool::new(false),
            has_twin: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            depth: limits.depth(),
        }
    }

    /// From now on nothing waits that a peer would not take that takes this much, and no more than it takes in time.
    pub(crate) fn keep_to(&self, limits: &Limits, theirs: Allowance) {
        self.most.store(most(limits, theirs), Relaxed);
        self.lock().bounds = theirs.bounds;
    }

    /// Something else than a message has to be sent.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has the peer asked whether it is there.
    pub(crate) fn verify(&self) {
        self.is_in_question.store(true, Relaxed);
        self.wake();
    }

    /// Whether that was wanted since this was asked last.
    pub(crate) fn take_question(&self) -> bool {
        self.is_in_question.swap(false, Relaxed)
    }

    /// Has the peer told that an earlier process says that it is that peer.
    pub(crate) fn tell_of_twin(&self) {
        self.has_twin.store(true, Relaxed);
        self.wake();
    }

    /// Whether that was wanted since this was asked last.
    pub(crate) fn take_twin(&self) -> bool {
        self.has_twin.swap(false, Relaxed)
    }

    /// Waits until something is to be sent; a notification that came before is kept.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Waits until the queue is over its limit.
    pub(crate) async fn overrun(&self) {
        while self.lock().state != QueueState::Overrun {
            self.full.notified().await;
        }
    }

    /// How many messages were lost here: too old, or over the limit.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Counts messages that were lost on their way out of here.
    pub(crate) fn count_lost(&self, messages: u64) {
        self.lost.fetch_add(messages, Relaxed);
    }

    /// Counts a message that the peer would not take: so it is lost here, and the link stays.
    pub(crate) fn count_refused(&self) {
        self.lost.fetch_add(1, Relaxed);
        self.refused.fetch_add(1, Relaxed);
    }

    /// How many of those there were since the last call.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.swap(0, Relaxed)
    }

    /// From now on this link takes the messages out.
    pub(crate) fn link(&self, by: LinkId) {
        let mut queue = self.lock();
        // What a former link left behind takes room.
        self.drop_old(&mut queue);
        if queue.state != QueueState::Closed {
            queue.state = QueueState::Linked;
            queue.by = Some((by, Instant::now()));
            queue.stalled = None;
        }
    }

    /// That link is lost. What waits goes over the next one, if it is made in time.
    pub(crate) fn unlink(&self, by: LinkId) {
        let mut queue = self.lock();
        if queue.state != QueueState::Closed && queue.by.is_some_and(|(link, _)| link == by) {
            queue.state = QueueState::Waiting;
        }
    }

    /// The peer has not taken at once what was written.
    pub(crate) fn stall(&self) {
        self.lock().stalled = Some(Instant::now());
    }

    /// It has taken it now.
    pub(crate) fn go_on(&self) {
        self.lock().stalled = None;
    }

    /// The peer is gone: what waits has no receiver.
    pub(crate) fn clear(&self) {
        let mut queue = self.lock();
        self.drop_all(&mut queue);
    }

    /// The peer is none any more.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.state = QueueState::Closed;
        self.drop_all(&mut queue);
    }

    /// Takes everything that is not out of date, in the order in which it was said, for an empty batch to go on with.
    ///
    /// # Errors
    /// [`Outdated`] when the oldest has waited for too long on this link: the peer does not keep up.
    pub(crate) fn take(&self, by: LinkId, empty: Batch) -> Result<Batch, Outdated> {
        let mut queue = self.lock();
        if queue.by.is_none_or(|(link, _)| link != by) {
            return Ok(empty); // another link took over
        }
        self.judge(&queue)?;
        self.drop_old(&mut queue);
        queue.bytes = 0;
        queue.repeated.clear();
        Ok(mem::replace(&mut queue.messages, empty))
    }

    /// Leaves everything where it is.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(crate) fn check(&self) -> Result<(), Outdated> {
        self.judge(&self.lock())
    }

    /// Whether the peer keeps up. How long a message waited before this link says nothing of that: among many
    /// there is always one that grows too old before a new link can take it, and so no link would ever last.
    fn judge(&self, queue: &OutboxQueue) -> Result<(), Outdated> {
        let waits = |(oldest, (_, linked)): (&Queued, _)| oldest.since.max(linked).elapsed();
        let waits = queue.messages.oldest().zip(queue.by).map(waits);
        let is_late = waits.is_some_and(|span| span > self.time);
        if is_late || queue.state == QueueState::Overrun {
            return Err(Outdated);
        }
        Ok(())
    }

    fn push<M: RemoteMessage>(&self, group: u32, to: Receivers, message: Envelope<M>) {
        let mut queue = self.lock();
        match queue.state {
            QueueState::Linked => {}
            QueueState::Waiting => self.drop_old(&mut queue),
            QueueState::Overrun | QueueState::Closed => {
                self.lost.fetch_add(1, Relaxed);
                return;
            }
        }
        let Envelope {
            from,
            incarnation,
            message,
        } = message;
        let payload = match queue.messages.write(&message) {
            Ok(payload) => payload,
            Err(reason) => {
                self.lost.fetch_add(1, Relaxed);
                return error!(%reason, kind = message.kind(), "message not sent");
            }
        };
        let (bounds, said) = (queue.bounds, queue.messages.written(&payload));
        let is_plain = bounds.fit_any(said.len()) && bounds.depth >= self.depth;
        if !is_plain && decode_payload::<M>(said, bounds).is_err() {
            return self.count_refused();
        }
        let was_empty = queue.messages.is_empty();
        let repeats = message.is_repeated().then(|| message.kind());
        let is_burst = queue.state == QueueState::Linked && repeats.is_none() && !was_empty;
        if !is_burst || queue.messages.len().trailing_zeros() >= SAME_TIME {
            queue.now = Some(Instant::now());
        }
        let queued = Queued {
            group,
            from,
            incarnation,
            to,
            payload,
            repeats,
            since: queue.now.unwrap_or_else(Instant::now),
        };
        let most = self.most.load(Relaxed);
        if message.kind() == AppMessage::KIND && !queue.has_room_beside_elections(&queued, most) {
            self.lost.fetch_add(1, Relaxed);
            return; // of no concern to the link: the rest of the room is not theirs
        }
        if !queue.has_room(&queued, most) {
            self.lost.fetch_add(1, Relaxed);
            return self.overflow(&mut queue);
        }
        queue.put(queued);
        drop(queue);
        if was_empty {
            self.wake();
        }
    }

    /// There was no room for a message.
    fn overflow(&self, queue: &mut OutboxQueue) {
        let stuck = |since: Instant| since.elapsed() >= self.grace_period;
        if queue.state == QueueState::Linked {
            if !queue.stalled.is_some_and(stuck) {
                return;
            }
            queue.state = QueueState::Overrun;
            self.full.notify_one();
        }
        self.drop_all(queue);
    }

    fn drop_old(&self, queue: &mut OutboxQueue) {
        let is_old = |message: &Queued| message.since.elapsed() > self.time;
        while let Some((at, message)) = queue.messages.take_oldest_if(is_old) {
            queue.bytes = queue.bytes.saturating_sub(message.size());
            let key = message.key();
            if let Some(key) = key.filter(|key| queue.repeated.get(key) == Some(&at)) {
                queue.repeated.remove(&key);
            }
            self.lost.fetch_add(1, Relaxed);
        }
    }

    fn drop_all(&self, queue: &mut OutboxQueue) {
        let lost = u64::try_from(queue.messages.len()).unwrap_or(u64::MAX);
        self.lost.fetch_add(lost, Relaxed);
        queue.messages.clear();
        queue.repeated.clear();
        queue.bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, OutboxQueue> {
        // Nothing that can panic half-way runs under the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxQueue {
    /// A message that replaces a former one needs none.
    fn has_room(&self, message: &Queued, most: usize) -> bool {
        let bytes = self.bytes.saturating_add(message.size());
        let Some(key) = message.key().filter(|_| bytes > most) else {
            return bytes <= most;
        };
        // Heartbeats are repeated: a flood of other messages must not make a leader seem silent.
        let quarter = most.checked_div(4).unwrap_or_default();
        bytes <= most.saturating_add(quarter) || self.repeated.contains_key(&key)
    }

    /// Whether what applications say leaves enough room for elections. One such message has room in any case.
    fn has_room_beside_elections(&self, message: &Queued, most: usize) -> bool {
        let half = most.checked_div(2).unwrap_or_default();
        self.bytes == 0 || self.bytes.saturating_add(message.size()) <= half
    }

    fn put(&mut self, message: Queued) {
        self.bytes = self.bytes.saturating_add(message.size());
        let key = message.key();
        let at = self.messages.push(message);
        let former = key.and_then(|key| self.repeated.insert(key, at));
        if let Some(former) = former.and_then(|former| self.messages.remove(former)) {
            self.bytes = self.bytes.saturating_sub(former.size());
        }
        if self.messages.has_many_gaps() {
            self.close_gaps();
        }
    }

    /// Moves messages together; those that are repeated have other numbers then.
    fn close_gaps(&mut self) {
        self.repeated.clear();
        for (at, message) in self.messages.close_gaps() {
            if let Some(key) = message.key() {
                self.repeated.insert(key, at);
            }
        }
    }
}

mod batch;
mod queued;
mod sink;

use queued::RepeatKey;

pub(crate) use batch::Batch;
pub(crate) use queued::{Queued, Receivers};
pub(crate) use sink::GroupSink;

/// An agent behind a full queue, and behind what is being written, is still heard in time.
fn most(limits: &Limits, theirs: Allowance) -> usize {
    let in_time = pace::within(limits, theirs, limits.ping_after());
    let frame = limits.frame().saturating_add(MARGIN);
    limits.queue().min(in_time.max(frame))
}

/// The oldest message has waited for longer than the limit, or there were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outdated;

/// Of a burst, 2 to this power messages count as said at the same time: looks at the clock take theirs.
const SAME_TIME: u32 = 5;

/// So that a message of a whole frame has room.
const MARGIN: usize = 1024;

#[cfg(test)]
mod tests;
