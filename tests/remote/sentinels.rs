//! A bridge and its sentinel: a bridge uses a sentinel only if its peers prove their names, and gives an order until the
//! sentinel takes it. `tests/sentinel` shows the reaction to its end.

use std::{
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard},
};

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeError,
    secret::Secret,
    sentinel::{EndNotice, Sentinel, SentinelDriver, SentinelError, Watched},
};

use super::kit::{Host, MS, builder, group, scene, until};

/// The state of a simulated sentinel. A deaf sentinel refuses orders, like one that stands still and whose pipe is full.
#[derive(Debug, Default)]
struct Orders {
    is_deaf: bool,
    has_ended: bool,
    refused: usize,
    taken: Vec<EndNotice>,
}

#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Orders>>);

impl Told {
    fn now(&self) -> MutexGuard<'_, Orders> {
        self.0.lock().unwrap()
    }

    /// Returns the number of orders that it refused, and of those that it took.
    fn counts(&self) -> (usize, usize) {
        let orders = self.now();
        (orders.refused, orders.taken.len())
    }
}

impl SentinelDriver for Told {
    fn id(&self) -> u32 {
        1
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        let mut orders = self.now();
        if orders.is_deaf {
            orders.refused += 1;
            return Err(SentinelError::Pipe(ErrorKind::WouldBlock.into()));
        }
        orders.taken.push(order.notice.clone());
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        self.now().has_ended
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        self.now().has_ended = false;
        Ok(())
    }
}

#[test]
fn a_bridge_whose_peers_prove_nothing_takes_no_sentinel() {
    scene(async |pipes, _| {
        let started = builder(pipes, "a", &[])
            .carry(&group())
            .sentinel(Sentinel::driven_by(Told::default()))
            .start();
        assert!(matches!(started, Err(BridgeError::SentinelUnproven)));
    });
}

#[test]
fn an_order_is_given_until_a_sentinel_takes_it_and_anew_to_the_next_sentinel_until_the_bridge_ends()
{
    scene(async |pipes, _| {
        let told = Told::default();
        told.now().is_deaf = true;
        let sentinel = Sentinel::driven_by(told.clone());
        let a = Host::with(|group| {
            let bridge = builder(pipes, "a", &["b"]).carry(group);
            let bridge = bridge.secret(Secret::new([1; 32]).unwrap());
            bridge.sentinel(sentinel)
        });
        until("it is tried again", || told.counts() == (2, 0)).await;
        told.now().is_deaf = false;
        until("it is ordered", || told.counts().1 == 1).await;
        let before = told.counts();
        sleep(MS(5_000)).await;
        assert_eq!(told.counts(), before);
        assert_eq!(told.now().taken[0].incarnation, a.bridge.incarnation());

        told.now().has_ended = true;
        until("another one is ordered", || told.counts().1 == 2).await;
        let taken = told.now().taken.clone();
        assert_ne!(taken[0].secret, taken[1].secret, "no bytes are used twice");

        let bridge = a.bridge.clone();
        a.stop().await;
        assert_eq!(Arc::strong_count(&told.0), 1, "the sentinel is dropped");
        drop(bridge);
    });
}
