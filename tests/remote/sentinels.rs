//! A bridge and its sentinel: a bridge uses a sentinel only if its peers prove their names. The tests also show the
//! orders to the sentinel, and the reaction to its end.

use std::{
    io::ErrorKind,
    sync::{Arc, Mutex},
};

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeError, LinkStatus,
    secret::Secret,
    sentinel::{EndNotice, Sentinel, SentinelDriver, SentinelError, Watched},
};

use super::kit::{Host, MS, builder, group, scene, until};

/// The state of a simulated sentinel: its orders and its answers.
#[derive(Debug, Default)]
struct Orders {
    taken: Vec<EndNotice>,
    refused: u32,
    is_deaf: bool,
    has_ended: bool,
}

#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Orders>>);

impl Told {
    fn notices(&self) -> Vec<EndNotice> {
        self.0.lock().unwrap().taken.clone()
    }

    fn end(&self) {
        self.0.lock().unwrap().has_ended = true;
    }

    /// Sets whether the sentinel refuses orders, like a sentinel that stands still and whose pipe is full.
    fn be_deaf(&self, is_deaf: bool) {
        self.0.lock().unwrap().is_deaf = is_deaf;
    }

    fn refused(&self) -> u32 {
        self.0.lock().unwrap().refused
    }
}

impl SentinelDriver for Told {
    fn id(&self) -> u32 {
        1
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        let mut orders = self.0.lock().unwrap();
        if orders.is_deaf {
            orders.refused += 1;
            return Err(SentinelError::Pipe(ErrorKind::WouldBlock.into()));
        }
        orders.taken.push(order.notice.clone());
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        self.0.lock().unwrap().has_ended
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        self.0.lock().unwrap().has_ended = false;
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
fn a_sentinel_that_ends_is_replaced_by_one_with_other_bytes_and_the_links_are_made_anew() {
    scene(async |pipes, _| {
        let told = Told::default();
        let host = |name, peers: &[&str], sentinel: Option<Sentinel>| {
            Host::with(|group| {
                builder(pipes, name, peers)
                    .carry(group)
                    .secret(Secret::new([1; 32]).unwrap())
                    .sentinel(sentinel)
            })
        };
        let a = host("a", &["b"], Some(Sentinel::driven_by(told.clone())));
        let b = host("b", &["a"], None);
        let link = |host: &Host| {
            let link = host.bridge.peers()[0].link;
            matches!(link, LinkStatus::Linked { .. }).then_some(link)
        };
        until("they are linked", || {
            link(&a).is_some() && link(&b).is_some()
        })
        .await;
        let first = link(&a);
        let notices = told.notices();
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].incarnation, a.bridge.incarnation());
        told.end();
        until("another one is ordered", || told.notices().len() == 2).await;
        let notices = told.notices();
        assert_eq!(notices[1].node, notices[0].node);
        assert_ne!(notices[1].secret, notices[0].secret);
        until("they are linked anew", || {
            link(&a).is_some_and(|id| Some(id) != first && link(&b) == Some(id))
        })
        .await;
    });
}

#[test]
fn an_order_that_the_sentinel_did_not_take_is_given_again_and_the_sentinel_ends_with_the_bridge() {
    scene(async |pipes, _| {
        let told = Told::default();
        told.be_deaf(true);
        let sentinel = Sentinel::driven_by(told.clone());
        let a = Host::with(|group| {
            builder(pipes, "a", &["b"])
                .carry(group)
                .secret(Secret::new([1; 32]).unwrap())
                .sentinel(sentinel)
        });
        until("it is tried again", || told.refused() == 2).await;
        told.be_deaf(false);
        until("it is ordered", || told.notices().len() == 1).await;
        let refused = told.refused();
        sleep(MS(5_000)).await;
        assert_eq!((told.notices().len(), told.refused()), (1, refused));

        let bridge = a.bridge.clone();
        a.stop().await;
        assert_eq!(Arc::strong_count(&told.0), 1, "the sentinel is dropped");
        drop(bridge);
    });
}
