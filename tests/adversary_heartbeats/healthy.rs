//! The healthy peers: nodes on a thread of their own, which note the arrival of each heartbeat.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use actix::Recipient;
use actix_bully::{
    Group,
    elections::AnyMessage,
    group::{Envelope, LocalWire},
    protocol::AgentId,
    remote::Peer,
};

use super::{
    kit::{bridge, host, patient},
    restart::Aside,
    timings,
};

pub(crate) const NAMES: [&str; 3] = ["b", "c", "d"];

/// Times at which heartbeats arrived at one peer.
#[derive(Debug, Default)]
struct Ear(Mutex<Vec<Instant>>);

impl LocalWire<AnyMessage> for Ear {
    fn carry(
        &self,
        _: &AgentId,
        message: Envelope<AnyMessage>,
        inbox: &Recipient<Envelope<AnyMessage>>,
    ) {
        if let AnyMessage::Heartbeat(_) = message.message {
            self.0.lock().unwrap().push(Instant::now());
        }
        inbox.do_send(message);
    }
}

pub(crate) struct Healthy {
    ears: [Arc<Ear>; 3],
    aside: Aside,
}

impl Healthy {
    /// Starts nodes that dial the node at this address.
    pub(crate) fn start(at: SocketAddr) -> Self {
        let ears: [Arc<Ear>; 3] = Default::default();
        let theirs = ears.clone();
        let aside = Aside::start(async move |ended| {
            let nodes = NAMES.iter().zip(theirs).map(|(name, ear)| {
                let group = Group::with_wire("g", ear).unwrap();
                let peers = vec![Peer::new("a", &at.to_string())];
                host(bridge(name, &patient(), peers), group, name, 1, timings())
            });
            let nodes: Vec<_> = nodes.collect();
            ended.await.unwrap();
            for node in &nodes {
                assert_eq!(node.agent.leader().unwrap().id.as_str(), "a1");
            }
        });
        Self { ears, aside }
    }

    pub(crate) fn end(self) {
        self.aside.end();
    }

    /// Forgets the heartbeats so far, except the last heartbeat at each peer: the next interval begins there.
    pub(crate) fn forget(&self) {
        for ear in &self.ears {
            let mut heard = ear.0.lock().unwrap();
            let last = heard.pop();
            *heard = last.into_iter().collect();
        }
    }

    pub(crate) fn have_heard(&self, beats: usize) -> bool {
        let mut ears = self.ears.iter();
        ears.all(|ear| ear.0.lock().unwrap().len() > beats)
    }

    /// Returns the interval that 99 of 100 intervals between heartbeats do not exceed, at all peers.
    pub(crate) fn p99(&self) -> Duration {
        let mut intervals = Vec::new();
        for ear in &self.ears {
            let heard = ear.0.lock().unwrap();
            let pairs = heard.iter().zip(heard.iter().skip(1));
            intervals.extend(pairs.map(|(one, next)| *next - *one));
        }
        intervals.sort();
        *intervals.get((intervals.len() - 1) * 99 / 100).unwrap()
    }
}
