//! Resolves the name of a host to its addresses.
//!
//! Decided here: a task that waits for a name may end at any time. The system resolves a name in a blocking call that
//! cannot be ended, and that may take ten seconds if the name servers are silent. A runtime that stops would wait for
//! such a call on its own threads, so the call is made on a separate thread. There is at most one thread for each name:
//! all tasks that ask for this name in the meantime wait for the same answer.

use std::{
    collections::BTreeMap,
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::{Mutex, PoisonError},
    thread,
};

use tokio::sync::oneshot;

/// A function that asks for the addresses of a `host:port`, and blocks until they are known.
pub(super) type Ask = fn(&str) -> io::Result<Vec<SocketAddr>>;

pub(super) fn ask_the_system(address: &str) -> io::Result<Vec<SocketAddr>> {
    match zoned(address) {
        Some(zoned) => zoned.to_socket_addrs().map(Iterator::collect),
        None => address.to_socket_addrs().map(Iterator::collect),
    }
}

/// Splits an address in brackets with a zone, such as `[fe80::2%eth0]:7400`; `None` for other addresses. The system
/// maps the name of an interface to its number, but accepts the address only without the brackets.
fn zoned(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.strip_prefix('[')?.rsplit_once("]:")?;
    let port = port.parse().ok()?;
    host.contains('%').then_some((host, port))
}

/// Returns the addresses of a `host:port`, in the order of the answer.
pub(super) async fn resolve(address: &str, ask: Ask) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = address.parse() {
        return Ok(vec![address]);
    }
    let gone = || io::Error::other("the name was not resolved");
    wait_for(address, ask)?
        .await
        .unwrap_or_else(|_| Err(gone()))
}

/// The tasks that wait for a name that is being resolved.
static WAITING: Mutex<BTreeMap<String, Vec<Waiter>>> = Mutex::new(BTreeMap::new());

type Waiter = oneshot::Sender<io::Result<Vec<SocketAddr>>>;

fn wait_for(address: &str, ask: Ask) -> io::Result<oneshot::Receiver<io::Result<Vec<SocketAddr>>>> {
    start_asking(address, ask, |asking| {
        thread::Builder::new()
            .name("bully-resolve".to_owned())
            .spawn(asking)
            .map(drop)
    })
}

/// Waits for the answer if the name is already being resolved; otherwise `start` begins to resolve it.
fn start_asking(
    address: &str,
    ask: Ask,
    start: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
) -> io::Result<oneshot::Receiver<io::Result<Vec<SocketAddr>>>> {
    let (answer, receiver) = oneshot::channel();
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(others) = waiting.get_mut(address) {
        // Dials that gave up are removed. They ask again later, so the list would grow while the call hangs.
        others.retain(|waiter| !waiter.is_closed());
        others.push(answer);
        return Ok(receiver);
    }
    // Entered before the thread runs: an immediate answer must find a task that waits for it.
    waiting.insert(address.to_owned(), vec![answer]);
    // Unlocked before the thread is started: if the system has no thread left, the question is dropped here, and
    // takes the lock to inform all waiting tasks.
    drop(waiting);
    let question = Question(Some(address.to_owned()));
    start(Box::new(move || {
        let found = ask(question.0.as_deref().unwrap_or_default());
        question.answer(&found);
    }))?;
    Ok(receiver)
}

/// A name that is being resolved. If it is dropped without an answer, all waiting tasks get an error.
struct Question(Option<String>);

impl Question {
    fn answer(mut self, found: &io::Result<Vec<SocketAddr>>) {
        let copy = |found: &io::Result<Vec<SocketAddr>>| match found {
            Ok(addresses) => Ok(addresses.clone()),
            // Keeps the error number: a shortage of this host has no error kind of its own.
            Err(reason) => Err(match reason.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(reason.kind(), reason.to_string()),
            }),
        };
        for waiter in self.waiters() {
            waiter.send(copy(found)).ok(); // the task may have given up
        }
    }

    /// Takes the waiting tasks out, so that the name may be resolved again later.
    fn waiters(&mut self) -> Vec<Waiter> {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let waiters = self.0.take().and_then(|name| waiting.remove(&name));
        waiters.unwrap_or_default()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        drop(self.waiters());
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        time::{Duration, Instant},
    };

    use actix::{
        System,
        clock::{sleep, timeout},
    };

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    /// Every Linux has the interface `lo`, whose number is 1.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_zone_may_be_the_name_of_an_interface() {
        for address in ["[fe80::2%lo]:7400", "[fe80::2%1]:7400"] {
            let found = ask_the_system(address).unwrap();
            assert_eq!(found, ["[fe80::2%1]:7400".parse().unwrap()], "{address}");
        }
        assert!(ask_the_system("[fe80::2%no-such-interface]:7400").is_err());
        for address in ["[::1]:7400", "127.0.0.1:7400"] {
            let found = ask_the_system(address).unwrap();
            assert_eq!(found, [address.parse().unwrap()]);
        }
    }

    fn hang(_: &str) -> io::Result<Vec<SocketAddr>> {
        loop {
            thread::park(); // for good, as name servers that do not answer nearly are
        }
    }

    #[test]
    fn a_system_stops_although_a_name_is_being_resolved() {
        #[expect(clippy::disallowed_methods, reason = "threads know no virtual time")]
        let began = Instant::now();
        let system = System::new();
        system.block_on(async {
            for _ in 0..3 {
                let asked = timeout(SHORT, resolve("silent.test:1", hang));
                assert!(asked.await.is_err(), "no name server answers");
            }
        });
        drop(system);
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_task_that_asks_meanwhile_waits_for_the_same_answer() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let slow: Ask = |_| {
            while ASKED.load(Relaxed) == 0 {
                thread::yield_now();
            }
            ASKED.fetch_add(1, Relaxed);
            Ok(vec![([10, 0, 0, 1], 1).into()])
        };
        System::new().block_on(async {
            let gone = timeout(SHORT, resolve("slow.test:1", slow));
            assert!(gone.await.is_err(), "the question goes on");
            let both = futures::future::join(
                resolve("slow.test:1", slow),
                resolve("slow.test:1", |_| Err(io::ErrorKind::NotFound.into())),
            );
            let begin = async {
                sleep(SHORT).await;
                ASKED.fetch_add(1, Relaxed);
            };
            let ((one, other), ()) = futures::future::join(both, begin).await;
            let expected: Vec<SocketAddr> = vec![([10, 0, 0, 1], 1).into()];
            assert_eq!((one.unwrap(), other.unwrap()), (expected.clone(), expected));
            assert_eq!(ASKED.load(Relaxed), 2, "asked once");
            let nowhere = resolve("slow.test:1", |_| Err(io::ErrorKind::NotFound.into())).await;
            assert_eq!(nowhere.unwrap_err().kind(), io::ErrorKind::NotFound);
        });
    }

    #[test]
    fn an_address_is_no_name_and_a_panic_is_an_error() {
        System::new().block_on(async {
            let found = resolve("[::1]:7", hang).await.unwrap();
            assert_eq!(found, ["[::1]:7".parse().unwrap()]);
            let sick = resolve("sick.test:1", |_| panic!("a resolver that is broken"));
            assert_eq!(sick.await.unwrap_err().kind(), io::ErrorKind::Other);
            let found = resolve("sick.test:1", |_| Ok(Vec::new())).await;
            assert_eq!(found.unwrap(), [], "and it may be asked again");
        });
    }

    #[test]
    fn a_name_may_be_asked_for_again_after_no_thread_could_be_started() {
        let refused = start_asking("full.test:1", hang, |question| {
            drop(question);
            Err(io::ErrorKind::WouldBlock.into())
        });
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        System::new().block_on(async {
            let found = resolve("full.test:1", |_| Ok(Vec::new())).await;
            assert_eq!(found.unwrap(), []);
        });
    }
}
