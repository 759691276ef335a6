//! A handle in a thread that has no runtime: no wait panics there.

use std::{pin::pin, sync::mpsc, task, thread, time::Duration};

use actix::System;
use actix_bully::{
    Group,
    agent::{BullyAgent, LeadError, LeaveError, WaitError},
    protocol::Timings,
};
use futures::StreamExt;

use crate::stage::MS;

/// Runs a future by nothing but its wakers.
fn drive<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(thread::current())).into();
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
