//! A bridge and its sentinel: that it takes one only where peers prove who they are, and what it orders it. What follows
//! when one ends: `tests/sentinel`.

use std::{
    io::ErrorKind,
    sync::{Arc, Mutex},
};

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeError,
    secret::Secret,
    sentinel::{EndNotice, Sentinel, SentinelDriver, SentinelError, Watched},
};

use super::kit::{Host, MS, builder, group, scene, until};

/// The orders that it took, the number of those that it refused, and whether it takes none, as a sentinel that stands
/// still and whose pipe is full.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<(Vec<EndNotice>, u32, bool)>>);

impl Told {
    /// How many orders it took, and how many it refused.
    fn counts(&self) -> (usize, u32) {
        let told = self.0.lock().unwrap();
        (told.0.len(), told.1)
    }
}

impl SentinelDriver for Told {
    fn id(&self) -> u32 {
        1
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        let mut told = self.0.lock().unwrap();
        if told.2 {
            told.1 += 1;
            return Err(SentinelError::Pipe(ErrorKind::WouldBlock.into()));
        }
        told.0.push(order.notice.clone());
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        false
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
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
fn an_order_that_the_sentinel_did_not_take_is_given_again_and_the_sentinel_ends_with_the_bridge() {
    scene(async |pipes, _| {
        let told = Told::default();
        told.0.lock().unwrap().2 = true;
        let sentinel = Sentinel::driven_by(told.clone());
        let a = Host::with(|group| {
            builder(pipes, "a", &["b"])
                .carry(group)
                .secret(Secret::new([1; 32]).unwrap())
                .sentinel(sentinel)
        });
        until("it is tried again", || told.counts().1 == 2).await;
        told.0.lock().unwrap().2 = false;
        until("it is ordered", || told.counts().0 == 1).await;
        let counts = told.counts();
        sleep(MS(5_000)).await;
        assert_eq!(told.counts(), counts);

        let bridge = a.bridge.clone();
        a.stop().await;
        assert_eq!(Arc::strong_count(&told.0), 1, "the sentinel is dropped");
        drop(bridge);
    });
}
