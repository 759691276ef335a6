//! Limits the messages that an actor has received, by the capacity of its mailbox and by the number of unhandled
//! messages.
//!
//! An actor reports a full mailbox to `try_send` only. An actor on threads of its own (`SyncArbiter`) never does so,
//! because actix moves its messages to a queue without a bound. So some messages are *markers*: their answer is
//! awaited, even if the sender needs none. When the answer comes, the actor has taken all messages before the marker.
//!
//! Decided here: when an actor has room, and that a waiting sender is then woken. Not here: where a message waits until
//! that time, and which sender is refused.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{
            AtomicBool,
            Ordering::{AcqRel, Acquire, Release},
        },
    },
    task::{Context, Poll, Wake},
    time::Duration,
};

use actix::{
    Actor, AsyncContext, MailboxError, Message, Recipient, clock::timeout, fut::wrap_future,
    prelude::SendError,
};
use tokio::sync::{Notify, oneshot};

/// Counts the messages that one actor has received, and the messages that the actor is known to have handled.
pub(crate) struct Intake {
    most: Amount,
    counts: Mutex<IntakeCounts>,
    /// A function that is called when there may be room again, from any thread.
    wake: Box<dyn Fn() + Send + Sync>,
}

/// A number of messages, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    messages: u64,
    bytes: u64,
}

#[derive(Debug, Default)]
struct IntakeCounts {
    /// All messages that were handed over so far.
    handed: Amount,
    handled: Amount,
    /// Number of markers (messages whose answer reports room) that have no answer yet.
    markers: u32,
    /// Number of messages since the latest marker.
    unmarked: u32,
    /// Whether a sender waits for room.
    is_awaited: bool,
}

type AnswerTo<M> = oneshot::Sender<Result<<M as Message>::Result, MailboxError>>;
pub(crate) type Answered<M> = oneshot::Receiver<Result<<M as Message>::Result, MailboxError>>;

impl Intake {
    /// Makes an intake with limits for messages and for bytes. A few markers may be handed over beyond the limits,
    /// because their answers report new room.
    pub(crate) fn new(
        messages: usize,
        bytes: usize,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let most = Amount {
            messages: wide(messages),
            bytes: wide(bytes),
        };
        Arc::new(Self {
            most,
            counts: Mutex::default(),
            wake: Box::new(wake),
        })
    }

    /// Hands over a message that needs no answer, from any thread. Use the same recipient each time: in a full mailbox
    /// each clone of a recipient has a slot of its own.
    ///
    /// # Errors
    /// The message, if the actor has no room for it or has ended.
    pub(crate) fn hand<M>(
        self: &Arc<Self>,
        to: &Recipient<M>,
        message: M,
        size: usize,
    ) -> Result<(), M>
    where
        M: Message<Result: Send> + Send + 'static,
    {
        let Some((at, is_marker)) = self.reserve(size, false) else {
            return Err(message);
        };
        if is_marker {
            Marker::send(to, message, self, at, None);
            return Ok(());
        }
        match to.try_send(message) {
            Ok(()) => Ok(()),
            Err(SendError::Full(message) | SendError::Closed(message)) => {
                let mut counts = self.counts();
                counts.handed.messages = counts.handed.messages.saturating_sub(1);
                counts.handed.bytes = counts.handed.bytes.saturating_sub(wide(size));
                counts.unmarked = counts.unmarked.saturating_sub(1);
                counts.is_awaited = true;
                Err(message)
            }
        }
    }

    /// Hands over a message that needs an answer. The message counts until it is answered, whether or not a caller
    /// waits for the answer.
    ///
    /// # Errors
    /// Like the errors of [`hand`](Self::hand).
    pub(crate) fn ask<M>(
        self: &Arc<Self>,
        to: &Recipient<M>,
        message: M,
        size: usize,
    ) -> Result<Answered<M>, M>
    where
        M: Message<Result: Send> + Send + 'static,
    {
        let Some((at, _)) = self.reserve(size, true) else {
            return Err(message);
        };
        let (answer, answered) = oneshot::channel();
        Marker::send(to, message, self, at, Some(answer));
        Ok(answered)
    }

    /// Reserves room for a message. Returns the amount handed over so far, including this message, and whether this
    /// message is a marker.
    fn reserve(&self, size: usize, is_ask: bool) -> Option<(Amount, bool)> {
        let mut counts = self.counts();
        let Amount { messages, bytes } = counts.unhandled();
        let bytes = bytes.saturating_add(wide(size));
        // If no marker is on its way, no answer would report new room, so the next message is a marker.
        if counts.markers > 0 && (messages >= self.most.messages || bytes > self.most.bytes) {
            counts.is_awaited = true;
            return None;
        }
        counts.handed.messages = counts.handed.messages.saturating_add(1);
        counts.handed.bytes = counts.handed.bytes.saturating_add(wide(size));
        let is_marker = is_ask || counts.markers == 0 || counts.unmarked >= UNMARKED;
        if is_marker {
            counts.markers = counts.markers.saturating_add(1);
            counts.unmarked = 0;
        } else {
            counts.unmarked = counts.unmarked.saturating_add(1);
        }
        Some((counts.handed, is_marker))
    }

    /// Notes that the actor has taken all messages up to the amount `at`.
    fn answered(&self, at: Amount) {
        let mut counts = self.counts();
        counts.markers = counts.markers.saturating_sub(1);
        if at.messages > counts.handled.messages {
            counts.handled = at;
        }
        let is_awaited = std::mem::take(&mut counts.is_awaited);
        drop(counts);
        if is_awaited {
            (self.wake)();
        }
    }

    fn counts(&self) -> MutexGuard<'_, IntakeCounts> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IntakeCounts {
    fn unhandled(&self) -> Amount {
        let Self {
            handed, handled, ..
        } = self;
        Amount {
            messages: handed.messages.saturating_sub(handled.messages),
            bytes: handed.bytes.saturating_sub(handled.bytes),
        }
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intake").field(&self.counts()).finish()
    }
}

/// Largest number of messages in a row without a marker. Chosen: if each message were a marker, each would cost an
/// answer; with far fewer markers, new room is noticed later, because only the answer of a marker shows it.
const UNMARKED: u32 = 15;

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// A message whose answer no task awaits. The thread that delivers the answer notes it.
struct Marker<M: Message<Result: Send> + Send + 'static> {
    waiting: Mutex<Option<Waiting<M>>>,
    /// Whether the marker was woken, so that its answer must be checked once more.
    is_woken: AtomicBool,
    intake: Arc<Intake>,
    at: Amount,
}

struct Waiting<M: Message<Result: Send> + Send + 'static> {
    request: Pin<Box<dyn Future<Output = Result<M::Result, MailboxError>> + Send>>,
    answer: Option<AnswerTo<M>>,
}

impl<M: Message<Result: Send> + Send + 'static> Marker<M> {
    fn send(
        to: &Recipient<M>,
        message: M,
        intake: &Arc<Intake>,
        at: Amount,
        answer: Option<AnswerTo<M>>,
    ) {
        // If the mailbox is full, the request still has one slot of its own, which it takes when it is polled.
        let request = tokio::task::unconstrained(to.send(message));
        let marker = Arc::new(Self {
            waiting: Mutex::new(Some(Waiting {
                request: Box::pin(request),
                answer,
            })),
            is_woken: AtomicBool::new(false),
            intake: Arc::clone(intake),
            at,
        });
        marker.wake();
    }

    fn look(self: &Arc<Self>) {
        while self.is_woken.load(Acquire) {
            let mut waiting = match self.waiting.try_lock() {
                Ok(waiting) => waiting,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                // The thread that holds the lock checks once more, because `is_woken` is set.
                Err(TryLockError::WouldBlock) => return,
            };
            self.is_woken.store(false, Release);
            let Some(Waiting { request, .. }) = &mut *waiting else {
                return;
            };
            let waker = Arc::clone(self).into();
            let Poll::Ready(result) = request.as_mut().poll(&mut Context::from_waker(&waker))
            else {
                continue;
            };
            let answer = waiting.take().and_then(|waiting| waiting.answer);
            drop(waiting);
            // The room is noted before the answer is sent, because the receiver of the answer may at once ask for this
            // room.
            self.intake.answered(self.at);
            if let Some(answer) = answer {
                answer.send(result).ok(); // the caller may have given up
            }
        }
    }
}

impl<M: Message<Result: Send> + Send + 'static> Wake for Marker<M> {
    fn wake(self: Arc<Self>) {
        self.is_woken.swap(true, AcqRel);
        self.look();
    }
}

/// Hands messages to a target, for an actor that handles nothing else until the target has room.
#[derive(Clone, Debug)]
pub(crate) struct InTurn {
    intake: Arc<Intake>,
    room: Arc<Notify>,
}

impl InTurn {
    pub(crate) fn new() -> Self {
        let room = Arc::new(Notify::new());
        let told = Arc::clone(&room);
        let intake = Intake::new(IN_TURN, usize::MAX, move || told.notify_one());
        Self { intake, room }
    }

    /// Hands over a message, now or as soon as there is room. If the message needs an answer, `answer` receives it.
    pub(crate) fn hand<A, M>(
        &self,
        to: Recipient<M>,
        message: M,
        answer: Option<impl FnOnce(Answered<M>) + 'static>,
        ctx: &mut actix::Context<A>,
    ) where
        A: Actor<Context = actix::Context<A>>,
        M: Message<Result: Send> + Send + 'static,
    {
        let mut answer = answer;
        let mut give = move |intake: &Arc<Intake>, message| match answer.take() {
            None => intake
                .hand(&to, message, 0)
                .map_err(|message| (message, to.connected())),
            Some(hear) => match intake.ask(&to, message, 0) {
                Ok(answered) => {
                    hear(answered);
                    Ok(())
                }
                Err(message) => {
                    answer = Some(hear);
                    Err((message, to.connected()))
                }
            },
        };
        let Err((mut message, mut is_there)) = give(&self.intake, message) else {
            return;
        };
        let Self { intake, room } = self.clone();
        let wait = async move {
            while is_there {
                timeout(AGAIN, room.notified()).await.ok();
                match give(&intake, message) {
                    Ok(()) => return,
                    Err((back, there)) => (message, is_there) = (back, there),
                }
            }
        };
        ctx.wait(wrap_future::<_, A>(wait));
    }
}

/// Largest number of messages that [`InTurn`] has handed to an actor, and that the actor has not handled. Chosen: it
/// only bounds the memory of a slow actor. With a small limit, each message would wait for an answer.
const IN_TURN: usize = 1_024;
/// Time between two tries. A mailbox has room as soon as its actor takes a message; an answer may come much later.
const AGAIN: Duration = Duration::from_millis(5);

/// The times at which a message is offered again after it found no room. In most cases an answer reports room earlier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Retries(u32);

impl Retries {
    /// Notes that there was no room. Returns the pause: 1 ms at first, then twice as long each time, up to 32 ms.
    pub(crate) fn pause(&mut self) -> Duration {
        let longer = 1_u32.checked_shl(self.0.min(5)).unwrap_or(1);
        self.0 = self.0.saturating_add(1);
        Duration::from_millis(1).saturating_mul(longer)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use actix::{Handler, SyncArbiter, SyncContext, System};

    use super::*;

    #[derive(Message)]
    #[rtype(result = "u64")]
    struct Number(u64);

    /// Works on a thread of its own when it is allowed to. actix takes all of its messages out of the mailbox at once.
    struct Worker(Arc<Mutex<mpsc::Receiver<()>>>);

    impl Actor for Worker {
        type Context = SyncContext<Self>;
    }

    impl Handler<Number> for Worker {
        type Result = u64;
        fn handle(&mut self, number: Number, _: &mut SyncContext<Self>) -> u64 {
            self.0.lock().unwrap().recv().ok(); // once there is no sender, it goes on
            number.0
        }
    }

    fn worker() -> (mpsc::Sender<()>, Recipient<Number>) {
        let (go, goes_on) = mpsc::channel();
        let goes_on = Arc::new(Mutex::new(goes_on));
        let worker = SyncArbiter::start(1, move || Worker(Arc::clone(&goes_on)));
        (go, worker.recipient())
    }

    #[test]
    fn an_actor_on_a_thread_of_its_own_is_handed_so_much_and_tells_of_room() {
        System::new().block_on(async {
            let (go, to) = worker();
            let room = Arc::new(Notify::new());
            let told = Arc::clone(&room);
            let intake = Intake::new(40, usize::MAX, move || told.notify_one());
            let handed = (0..1_000).take_while(|n| intake.hand(&to, Number(*n), 1).is_ok());
            assert_eq!(handed.count(), 40);
            assert!(intake.ask(&to, Number(0), 1).is_err());
            drop(go);
            room.notified().await;
            // Meanwhile the actor works: there is room for all messages now or a little later.
            let mut answer = intake.ask(&to, Number(7), 1);
            while answer.is_err() {
                room.notified().await;
                answer = intake.ask(&to, Number(7), 1);
            }
            assert_eq!(answer.ok().unwrap().await.unwrap().unwrap(), 7);
            let Amount { messages, bytes } = intake.counts().unhandled();
            assert_eq!((messages, bytes), (0, 0), "all of them are handled");
        });
    }

    struct NeverRuns;
    impl Actor for NeverRuns {
        type Context = actix::Context<Self>;
    }
    impl Handler<Number> for NeverRuns {
        type Result = u64;
        fn handle(&mut self, number: Number, _: &mut Self::Context) -> u64 {
            number.0
        }
    }

    #[test]
    fn a_message_that_a_full_mailbox_does_not_take_is_not_counted_and_waits_for_room() {
        let actor = actix::Context::<NeverRuns>::new();
        let (to, intake) = (actor.address().recipient(), Intake::new(99, 999, || ()));
        let handed = (0..99).take_while(|n| intake.hand(&to, Number(*n), 10).is_ok());
        let handed = wide(handed.count());
        let counts = intake.counts();
        assert!(handed < 99 && counts.is_awaited, "it is full");
        assert_eq!(counts.unhandled().bytes, 10 * handed);
    }

    #[test]
    fn bytes_count_as_well_and_one_message_has_room_in_any_case() {
        System::new().block_on(async {
            let (go, to) = worker();
            let intake = Intake::new(40, 10, || ());
            assert!(intake.hand(&to, Number(1), 1_000).is_ok());
            assert!(intake.hand(&to, Number(2), 1).is_err());
            drop(go);
        });
    }
}
