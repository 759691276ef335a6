//! A handle on a thread without a runtime: no wait panics there.

use std::{
    panic,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, mpsc},
    task, thread,
    time::Duration,
};

use actix::{Message, System};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeadError, LeaveError, WaitError},
    leader::{LeaderProxy, Messages},
    protocol::Timings,
};
use futures::StreamExt;
use serde::{Deserialize, Serialize};

use crate::stage::MS;

/// Runs a future to its end with a waker that unparks the thread, without a runtime.
fn drive<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        let context = &mut task::Context::from_waker(&waker);
        if let task::Poll::Ready(value) = future.as_mut().poll(context) {
            return value;
        }
        thread::park();
    }
}

#[test]
fn waits_outside_of_a_runtime_are_refused_and_change_nothing() {
    System::new().block_on(async {
        let group = Group::new("g").unwrap();
        let agent = BullyAgent::builder("a").timings(Timings::lan());
        let agent = agent.join(&group).start().unwrap();
        agent
            .wait_for_leader(Duration::from_secs(60))
            .await
            .unwrap();
        let (told, heard) = mpsc::channel();
        let handle = agent.clone();
        let outside = thread::spawn(move || {
            let within = Duration::from_secs(60);
            let waited = drive(handle.wait_for_leader(within)).map(|leader| leader.id);
            let left = drive(handle.leave(within));
            let led = drive(handle.lead(|_guard| async {}));
            let first = drive(handle.changes().next()).map(|status| status.lifecycle);
            told.send((waited, left, led, first.is_some())).unwrap();
        });
        outside.join().unwrap();
        let refused = (
            Err(WaitError::NoRuntime),
            Err(LeaveError::NoRuntime),
            Err(LeadError::NoRuntime),
            true,
        );
        assert_eq!(heard.recv().unwrap(), refused);
        assert!(agent.is_leader(), "nothing was done");
        agent.leave(MS(1_000)).await.unwrap();
    });
}

/// This happens in a `main` whose server finds its port in use: the System ends before any actor has had its first
/// turn.
#[test]
fn a_system_that_ends_at_once_drops_agents_messages_and_proxies_without_a_panic() {
    let panicked = panics_of(|| {
        System::new().block_on(async {
            let group = Group::new("g").unwrap();
            let agent = BullyAgent::builder("a").join(&group).start().unwrap();
            drop(Messages::of(&agent).unwrap());
            drop(
                LeaderProxy::<Nothing>::builder(&agent, "x")
                    .start()
                    .unwrap(),
            );
            drop(agent.every("y", Duration::from_secs(1)).start(|_| async {}));
        });
    });
    assert_eq!(panicked, Vec::<String>::new());
}

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Nothing;

/// Returns the panics of a scene on this thread. The runtime catches these panics, so a hook collects them.
fn panics_of(scene: impl FnOnce()) -> Vec<String> {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let seen = || SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let here = thread::current().id();
    let before = Arc::new(panic::take_hook());
    let others = Arc::clone(&before);
    panic::set_hook(Box::new(move |panicked| {
        if thread::current().id() == here {
            seen().push(panicked.to_string());
        } else {
            others(panicked);
        }
    }));
    scene();
    panic::set_hook(Box::new(move |panicked| before(panicked)));
    std::mem::take(&mut *seen())
}
