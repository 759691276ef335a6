//! A bridge and its sentinel: that it takes one only where peers prove who they are, what it orders it, and what follows
//! when it ends.

use std::sync::{Arc, Mutex};

use actix_bully::remote::{
    BridgeError, LinkStatus,
    secret::Secret,
    sentinel::{EndNotice, Sentinel, SentinelDriver, SentinelError, Watched},
};

use super::kit::{Host, builder, group, scene, until};

/// What a sentinel was ordered, and whether it has ended.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<(Vec<EndNotice>, bool)>>);

impl Told {
    fn notices(&self) -> Vec<EndNotice> {
        self.0.lock().unwrap().0.clone()
    }

    fn end(&self) {
        self.0.lock().unwrap().1 = true;
    }
}

impl SentinelDriver for Told {
    fn id(&self) -> u32 {
        1
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        self.0.lock().unwrap().0.push(order.notice.clone());
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        self.0.lock().unwrap().1
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        self.0.lock().unwrap().1 = false;
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
