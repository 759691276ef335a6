//! The promises of a fence, which every database keeps in each of its settings.

use std::{
    fmt::Debug,
    sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel},
    thread::{self, ThreadId},
    time::Instant,
};

use actix_bully::leader::fence::{FenceNumber, sql::NotAdmitted};
use actix_bully_database_tests::DEADLINE;
use fastrand::Rng;

use End::{Commits, RollsBack};

/// The end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Commits,
    RollsBack,
}

/// The outcome of a leader's transaction, and the number of attempts that it needed.
pub(crate) type Written = (Result<(), NotAdmitted>, u32);

/// A resource behind a fence, and a table of rows with the fences of their writers.
pub(crate) trait Ledger: Sync {
    type Connection: Send;

    /// Opens a new connection, which waits for a lock until the deadline.
    fn connect(&self) -> Self::Connection;

    /// Runs a leader's transaction with the statements of the documentation until it is admitted or refused. Calls
    /// `admitted` between the admission and the row.
    fn write(
        &self,
        connection: &mut Self::Connection,
        fence: FenceNumber,
        admitted: &mut dyn FnMut(),
        end: End,
    ) -> Written;

    /// Makes the table of fences and the resource's row, if they are missing. Returns the number of new rows.
    fn first_use(&self) -> u64;

    /// Deletes the resource's row in the table of fences.
    fn forget(&self);

    /// Returns the highest fence that was admitted.
    fn highest(&self) -> i64;

    /// Returns the fences of the writers, in the order of their writes.
    fn rows(&self) -> Vec<i64>;

    /// Returns the number by which the database knows a connection.
    fn id(&self, connection: &mut Self::Connection) -> i32;

    /// Returns a function that tells whether the connection with this number, which this thread uses, waits for a lock.
    fn watch(&self, id: i32, thread: ThreadId) -> impl FnMut() -> bool;

    /// Returns the number of attempts that a transaction needs after it has waited for one with this end.
    fn attempts(&self, _: End) -> u32 {
        1
    }
}

/// Returns the fence of a leader with this term.
pub(crate) fn fence(number: i64) -> FenceNumber {
    FenceNumber::try_from(number).unwrap()
}

fn write<L: Ledger>(ledger: &L, connection: &mut L::Connection, of: i64, end: End) -> Written {
    ledger.write(connection, fence(of), &mut || {}, end)
}

fn refused(of: i64) -> Result<(), NotAdmitted> {
    let fence = fence(of);
    Err(NotAdmitted { fence, rows: 0 })
}

/// Checks the outcome of each transaction, one after the other.
pub(crate) fn a_former_leader_is_refused(ledger: &impl Ledger) {
    let mut one = ledger.connect();
    let mut write = |of, end| write(ledger, &mut one, of, end).0;
    for of in [1, 1, 3] {
        assert_eq!(write(of, Commits), Ok(()));
    }
    assert_eq!(write(2, Commits), refused(2));
    assert_eq!(write(3, Commits), Ok(()));
    assert_eq!(write(1, Commits), refused(1));
    assert_eq!(write(9, RollsBack), Ok(()));
    assert_eq!(ledger.highest(), 3);
    assert_eq!(write(4, Commits), Ok(()));
    assert_eq!(ledger.rows(), [1, 1, 3, 3, 4]);
    assert_eq!(ledger.first_use(), 0);
    assert_eq!(ledger.highest(), 4);
    assert_eq!(write(i64::MAX, Commits), Ok(()));
    assert_eq!(ledger.highest(), i64::MAX);
    assert_eq!(write(i64::MAX - 1, Commits), refused(i64::MAX - 1));
    ledger.forget();
    assert_eq!(write(i64::MAX, Commits), refused(i64::MAX));
}

/// Runs two transactions at once: the second one waits for the first one, and never writes a lower fence after it.
pub(crate) fn of_two_at_once_the_second_waits<L: Ledger>(make: impl Fn() -> L) {
    for (first, second) in [(1, 2), (2, 1), (2, 2)] {
        for end in [Commits, RollsBack] {
            let ledger = make();
            let (outcome, attempts) = two_at_once(&ledger, [first, second], end);
            let when = format!("{first}, {second}, {end:?}");
            let is_refused = second < first && end == Commits;
            assert_eq!(outcome.is_err(), is_refused, "{when}");
            assert_eq!(attempts, ledger.attempts(end), "{when}");
            let mut expected = Vec::new();
            expected.extend((end == Commits).then_some(first));
            expected.extend((!is_refused).then_some(second));
            assert_eq!(ledger.rows(), expected, "{when}");
            assert_eq!(ledger.highest(), *expected.last().unwrap(), "{when}");
        }
    }
}

fn two_at_once<L: Ledger>(ledger: &L, [first, second]: [i64; 2], end: End) -> Written {
    let (mut one, mut two) = (ledger.connect(), ledger.connect());
    let id = ledger.id(&mut two);
    let mut two = Some(two);
    thread::scope(|scope| {
        let (say, hear) = channel();
        let mut begin = || {
            let (mut two, say) = (two.take().unwrap(), say.clone());
            let second = scope.spawn(move || {
                say.send(write(ledger, &mut two, second, Commits)).unwrap();
            });
            let thread = second.thread().id();
            wait_until(&hear, ledger.watch(id, thread));
        };
        let first = ledger.write(&mut one, fence(first), &mut begin, end);
        assert_eq!(first, (Ok(()), 1));
        next(&hear)
    })
}

/// Waits until the other thread waits for a lock. Fails if the thread sends an outcome before.
pub(crate) fn wait_until<T: Debug>(hear: &Receiver<T>, mut waits: impl FnMut() -> bool) {
    let begun = Instant::now();
    loop {
        let does = waits();
        let said = hear.try_recv();
        let is_silent = matches!(said, Err(TryRecvError::Empty));
        assert!(is_silent, "it does not wait: {said:?}");
        if does {
            return;
        }
        assert!(begun.elapsed() < DEADLINE, "it never waits");
    }
}

/// Waits for the next message of another thread, and returns it.
pub(crate) fn next<T: Debug>(from: &Receiver<T>) -> T {
    match from.recv_timeout(DEADLINE) {
        Ok(said) => said,
        Err(RecvTimeoutError::Timeout) => panic!("the other thread hangs"),
        Err(RecvTimeoutError::Disconnected) => panic!("the other thread has failed"),
    }
}

/// Lets many leaders write at random times. Some of them have already lost the leadership.
pub(crate) fn fences_never_decrease(ledger: &impl Ledger) {
    let refused: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = Rng::with_seed(seed);
                    let mut one = ledger.connect();
                    let writes = (0..25).map(|round| round / 3 + random.i64(0..4));
                    let refused =
                        writes.filter(|of| write(ledger, &mut one, *of, Commits).0.is_err());
                    refused.count()
                })
            })
            .collect();
        writers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    let rows = ledger.rows();
    assert!(rows.is_sorted(), "{rows:?}");
    let admitted = rows.len();
    assert!(
        admitted > 10 && refused > 10,
        "{admitted} admitted, {refused} refused"
    );
}
