//! The queue of messages for one node: any thread adds messages, and the writer of the link takes them.
//!
//! Decided here: the limits of a queue. Its bytes are bounded. A repeated message replaces the earlier message of its
//! kind from the same sender to the same receivers; any other message is sent, or its loss is counted. If the queue is
//! full, the newest message is lost. If the peer takes no bytes, the link is closed instead, and all waiting messages
//! are lost. Messages of applications may use half of the queue, and elections have the rest: so an agent that sends
//! too much does not end the link. Messages outlast a link that is lost and made again at once; after [`QUEUE_TIME`]
//! without a link they are out of date.

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
    /// Largest number of bytes that may wait.
    most: AtomicUsize,
    /// Time without a byte taken by the peer, after which a full queue is considered the peer's fault. Before the end
    /// of this time, this side may simply send too much.
    grace_period: Duration,
    queue: Mutex<OutboxQueue>,
    /// Notifies the writer that there is a message to send.
    wake: Notify,
    /// Notifies the writer when the queue is over its limit.
    full: Notify,
    /// Whether the writer still has to ask the peer whether it is present, because a caller depends on the answer.
    is_in_question: AtomicBool,
    /// Whether the peer has to be informed of an earlier process with its name.
    has_twin: AtomicBool,
    lost: AtomicU64,
    /// Number of messages that the peer would not accept, since [`Outbox::take_refused`] was last called.
    refused: AtomicU64,
    /// Deepest nesting of a message that this process accepts. No message here is deeper, because all nodes of a
    /// cluster have the same types of messages.
    depth: u8,
}

/// A write that the peer has not taken yet; see [`Outbox::stall`].
#[must_use]
pub(crate) struct Stall<'a>(&'a Outbox);

impl Drop for Stall<'_> {
    fn drop(&mut self) {
        self.0.lock().stalled = None;
    }
}

#[derive(Debug, Default)]
struct OutboxQueue {
    messages: Batch,
    /// Bounds of a message that the peer takes.
    bounds: Bounds,
    /// The numbers of the waiting messages that a newer message may replace.
    repeated: BTreeMap<RepeatKey, u64>,
    bytes: usize,
    state: QueueState,
    /// The link that takes the messages, or the last such link, and its start.
    by: Option<(LinkId, Instant)>,
    /// Time since which the link waits for the peer to take written bytes; `None` if it does not wait.
    stalled: Option<Instant>,
    /// The last reading of the clock. Messages that are added in a burst share it, because reading the clock takes
    /// time.
    now: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum QueueState {
    /// No link is ready.
    #[default]
    Waiting,
    Linked,
    /// The queue is over its limit: the link is being closed.
    Overrun,
    /// No link will ever send the messages.
    Closed,
}

impl Outbox {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: AtomicUsize::new(most(limits, Allowance::of(limits))),
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

    /// Limits the queue by the peer's limits from now on: the queue takes no message that the peer would not accept,
    /// and no more bytes than the peer accepts in time.
    pub(crate) fn keep_to(&self, limits: &Limits, theirs: Allowance) {
        self.most.store(most(limits, theirs), Relaxed);
        self.lock().bounds = theirs.bounds;
    }

    /// Wakes the writer, which has to send something other than a message.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Makes the writer ask the peer whether it is still present.
    pub(crate) fn verify(&self) {
        self.is_in_question.store(true, Relaxed);
        self.wake();
    }

    /// Returns whether [`verify`](Self::verify) was called since the last call.
    pub(crate) fn take_question(&self) -> bool {
        self.is_in_question.swap(false, Relaxed)
    }

    /// Makes the writer inform the peer that an earlier process uses its name.
    pub(crate) fn tell_of_twin(&self) {
        self.has_twin.store(true, Relaxed);
        self.wake();
    }

    /// Returns whether [`tell_of_twin`](Self::tell_of_twin) was called since the last call.
    pub(crate) fn take_twin(&self) -> bool {
        self.has_twin.swap(false, Relaxed)
    }

    /// Waits until there is something to send. A notification before this call ends the wait at once.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Waits until the queue is over its limit.
    pub(crate) async fn overrun(&self) {
        while self.lock().state != QueueState::Overrun {
            self.full.notified().await;
        }
    }

    /// Returns the number of messages that were lost on this side, for example because they were too old or the queue
    /// was full.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Counts messages that were lost on their way out of this process.
    pub(crate) fn count_lost(&self, messages: u64) {
        self.lost.fetch_add(messages, Relaxed);
    }

    /// Counts a message that the peer would not accept: it is lost here, and the link stays.
    pub(crate) fn count_refused(&self) {
        self.lost.fetch_add(1, Relaxed);
        self.refused.fetch_add(1, Relaxed);
    }

    /// Returns the number of messages counted by [`count_refused`](Self::count_refused) since the last call.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.swap(0, Relaxed)
    }

    /// Lets the link `by` take the messages from now on.
    pub(crate) fn link(&self, by: LinkId) {
        let mut queue = self.lock();
        // Messages that a former link did not send use space. Messages that are too old are dropped.
        self.drop_old(&mut queue);
        if queue.state != QueueState::Closed {
            queue.state = QueueState::Linked;
            queue.by = Some((by, Instant::now()));
            queue.stalled = None;
        }
    }

    /// Notes that the link `by` is lost. The waiting messages go over the next link, if it is ready in time.
    pub(crate) fn unlink(&self, by: LinkId) {
        let mut queue = self.lock();
        if queue.state != QueueState::Closed && queue.by.is_some_and(|(link, _)| link == by) {
            queue.state = QueueState::Waiting;
        }
    }

    /// Notes that the peer has not taken the written bytes at once. The stall ends when the returned value is dropped.
    pub(crate) fn stall(&self) -> Stall<'_> {
        self.lock().stalled = Some(Instant::now());
        Stall(self)
    }

    /// Drops the waiting messages. The caller knows that the peer's process has ended, so the messages have no
    /// receiver.
    pub(crate) fn clear(&self) {
        let mut queue = self.lock();
        self.drop_all(&mut queue);
    }

    /// Closes the queue. The caller knows that the node is no longer a peer.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.state = QueueState::Closed;
        self.drop_all(&mut queue);
    }

    /// Takes all messages that are not out of date, in the order in which they were sent, and leaves the batch `empty`
    /// in their place.
    ///
    /// # Errors
    /// [`Outdated`] if the oldest message has waited too long on this link: the peer is too slow.
    pub(crate) fn take(&self, by: LinkId, empty: Batch) -> Result<Batch, Outdated> {
        let mut queue = self.lock();
        if queue.by.is_none_or(|(link, _)| link != by) {
            return Ok(empty); // another link took over
        }
        Self::judge(&queue)?;
        self.drop_old(&mut queue);
        queue.bytes = 0;
        queue.repeated.clear();
        Ok(mem::replace(&mut queue.messages, empty))
    }

    /// Checks the queue, and takes no messages.
    ///
    /// # Errors
    /// The errors of [`take`](Self::take).
    pub(crate) fn check(&self) -> Result<(), Outdated> {
        Self::judge(&self.lock())
    }

    /// Checks whether the peer is fast enough. Only the wait on the present link counts: many messages also grow old
    /// while there is no link, and each new link would be closed at once because of them.
    fn judge(queue: &OutboxQueue) -> Result<(), Outdated> {
        let waits = |(oldest, (_, linked)): (&Queued, _)| oldest.since.max(linked).elapsed();
        let waits = queue.messages.oldest().zip(queue.by).map(waits);
        let is_late = waits.is_some_and(|span| span > QUEUE_TIME);
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
        // A short payload is within the peer's bounds in any case. Only other payloads are decoded to check them.
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
            return; // the link is not affected: the rest of the queue is for elections
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

    /// Handles a message that has no room.
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
        let is_old = |message: &Queued| message.since.elapsed() > QUEUE_TIME;
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
        // A poisoned lock is used, because no code that can panic half-way runs under the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxQueue {
    /// Returns whether the queue has room for a message. A message that replaces an earlier message needs no additional
    /// room.
    fn has_room(&self, message: &Queued, most: usize) -> bool {
        let bytes = self.bytes.saturating_add(message.size());
        let Some(key) = message.key().filter(|_| bytes > most) else {
            return bytes <= most;
        };
        // Repeated messages, such as heartbeats, have a quarter more room: in a flood a leader must not seem silent.
        let quarter = most.checked_div(4).unwrap_or_default();
        bytes <= most.saturating_add(quarter) || self.repeated.contains_key(&key)
    }

    /// Returns whether messages of applications leave enough room for elections. A single message always has room.
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

    /// Closes the gaps between messages; repeated messages get other numbers.
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

/// Returns the largest number of bytes in a queue. An agent whose message is at the end of a full queue is still heard
/// in time.
fn most(limits: &Limits, theirs: Allowance) -> usize {
    let in_time = pace::within(limits, theirs, limits.ping_after());
    let frame = limits.frame().saturating_add(MARGIN);
    limits.queue().min(in_time.max(frame))
}

/// The peer is too slow: the oldest message has waited for too long, or too many messages wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outdated;

/// Longest time for which a message may wait to be sent.
const QUEUE_TIME: Duration = Duration::from_secs(2);

/// Exponent of the number of messages (2^5) that share a time stamp in a burst, as reading the clock takes time.
const SAME_TIME: u32 = 5;

/// Number of bytes that a queue holds beyond the longest frame, so that a message that fills a frame fits.
const MARGIN: usize = 1024;

#[cfg(test)]
mod tests;
