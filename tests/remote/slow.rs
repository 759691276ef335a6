//! Messages that take longer than the timings assume: the leader reports that before it falls.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use actix::{Recipient, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding},
    elections::AnyMessage,
    group::{Envelope, LocalWire},
    protocol::AgentId,
    store::MemoryStore,
    testkit::VirtualClock,
};

use super::{
    kit::{MS, until},
    voters::{VOTERS, of_epoch},
    warnings::warnings,
};

/// Delays each message by this number of milliseconds.
#[derive(Debug, Default)]
struct SlowWire(AtomicU64);

impl LocalWire<AnyMessage> for SlowWire {
    fn carry(
        &self,
        _: &AgentId,
        message: Envelope<AnyMessage>,
        inbox: &Recipient<Envelope<AnyMessage>>,
    ) {
        let (inbox, delay) = (inbox.clone(), MS(self.0.load(Relaxed)));
        actix::spawn(async move {
            sleep(delay).await;
            inbox.do_send(message);
        });
    }
}

#[test]
fn a_leader_whose_network_becomes_slow_says_so_before_it_falls() {
    let said = warnings("renews its lease late", async {
        let wire = Arc::<SlowWire>::default();
        let group = Group::with_wire("slow", Arc::<SlowWire>::clone(&wire)).unwrap();
        let agents = VOTERS.map(|name| {
            let agent = BullyAgent::builder(name).quorum_config(Arc::new(of_epoch(0)));
            let agent = agent.clock(VirtualClock::new()).store(MemoryStore::new());
            agent.join(&group).start().unwrap()
        });
        until("one leads", || agents.iter().any(BullyHandle::is_leader)).await;
        let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
        let renews_late = || {
            let findings = leader.diagnosis().findings;
            let is_late = |found: &Finding| matches!(found, Finding::RenewsLate { .. });
            findings.iter().any(is_late)
        };
        sleep(MS(1_000)).await;
        assert!(!renews_late());
        let term = leader.current().term;
        // An echo takes 130 ms. When the next heartbeat is answered, 50 ms of the lease of 240 ms are left.
        wire.0.store(65, Relaxed);
        sleep(MS(1_000)).await;
        assert!(renews_late(), "{}", leader.diagnosis());
        sleep(MS(5_000)).await;
        assert_eq!(leader.current().leading, Some(term), "all the time");
        wire.0.store(0, Relaxed);
        sleep(MS(1_000)).await;
        assert!(!renews_late());
    });
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].contains("Timings::default()"), "{said:#?}");
}
