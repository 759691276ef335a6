//! Many failures at once, and failures between many messages.

use std::cell::Cell;
use std::future::poll_fn;
use std::iter::once;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;
use futures::future::join_all;

use crate::common::virtual_system;
use crate::supervision::probe::{Fault, Mail, Moment, Plan, Probe, poison};
use crate::supervision::stage::{Noted, ms, three_restarts};

fn lines_with(noted: &Noted, word: &str) -> Vec<String> {
    let lines = noted.take().into_iter();
    lines.filter(|line| line.contains(word)).collect()
}

#[test]
fn a_panic_while_the_queue_is_full_loses_nothing_of_it() {
    virtual_system().block_on(async {
        let (trace, noted) = Noted::new();
        let child = trace.guarded(three_restarts().build().unwrap(), || ());
        let addr = child.start(|_| Probe::new(trace.clone(), &[]));
        assert!(addr.try_send(poison()).is_ok());
        let mut accepted = 0;
        while addr.try_send(Mail(accepted)).is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, 15, "a full mailbox, the poison included");
        // The mailbox is full. The following senders wait until the next incarnation has handled messages of the queue.
        let waiting = join_all((accepted..accepted + 40).map(|number| addr.send(Mail(number))));
        assert_eq!(waiting.await, vec![Ok(1); 40]);
        ms(1).await;
        let mut delivered = lines_with(&noted, "mail");
        let queued: Vec<_> = delivered.drain(..15).collect();
        let lines = |numbers: std::ops::Range<u32>| {
            let line = |number| format!("100 i1 mail {number}");
            numbers.map(line).collect::<Vec<_>>()
        };
        assert_eq!(queued, lines(0..15), "what was queued, in order");
        delivered.sort();
        assert_eq!(delivered, lines(15..55), "what waited, each once");
    });
}

/// The policy has no backoff, and gives the child up after 1,001 failures.
#[test]
fn a_child_that_always_fails_does_not_hold_up_its_neighbours() {
    let stops = (0..=1_000).map(|n| (Moment::Started, n, Fault::Stop));
    let first = once((Moment::Started, 0, Fault::Stop));
    let panics = first.chain((1..=1_000).map(|n| (Moment::Restarting, n, Fault::Panic)));
    for (what, plans) in [
        ("stops in started", stops.collect::<Vec<Plan>>()),
        ("panics in restarting", panics.collect()),
    ] {
        let policy = RestartPolicy::builder().max_restarts(1_000);
        let policy = policy.window(Duration::from_secs(3_600)).restart_on_stop();
        let policy = policy.backoff_base(Duration::ZERO).build().unwrap();
        virtual_system().block_on(async {
            let (trace, noted) = Noted::new();
            let turns = Rc::new(Cell::new(0));
            let neighbour = Rc::clone(&turns);
            // `yield_now` would wait until the arbiter has no other task, so this future wakes itself instead.
            actix_rt::spawn(poll_fn(move |task| {
                neighbour.set(neighbour.get() + 1);
                task.waker().wake_by_ref();
                Poll::<()>::Pending
            }));
            let child = trace.guarded(policy, || ());
            let child = child.start(|_| Probe::new(trace.clone(), &plans));
            assert_eq!(child.send(Mail(0)).await, Err(MailboxError::Closed));
            tokio::task::yield_now().await;
            assert_eq!(lines_with(&noted, "hook").len(), 1_001, "{what}");
            let turns = turns.get();
            assert!(
                turns >= 1_000,
                "{what}: the neighbour had {turns} turns only"
            );
        });
    }
}
