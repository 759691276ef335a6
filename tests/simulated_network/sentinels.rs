//! Sentinels of the hosts, and the datagrams with which they report the end of a process.
//!
//! Decided here: when a notice arrives, that copies of it may be lost, and the datagrams of strangers: forged
//! notices, and copies of old notices. A sentinel ends with the power of its host, and not with the process.

use std::{collections::BTreeMap, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use actix_bully::remote::{
    Challenge, Credential, NodeId, NodeIncarnation, Proof,
    sentinel::{EndNotice, NoticeSecret, SentinelDriver, SentinelError, Watched},
    transport::{Datagrams, Pending},
};
use fastrand::Rng;
use futures::future::select;
use tokio::{sync::Notify, time::sleep};

use turmoil::Sim;

use crate::{faults::Faults, wire::Net};

/// The state of all sentinels in the network.
#[derive(Debug, Default)]
pub(crate) struct Sentinels {
    /// The number of the running sentinel of each host. A sentinel that has ended has no entry.
    alive: BTreeMap<String, u64>,
    serial: u64,
    /// Number of times that a sentinel of each host's present process was killed.
    kills: BTreeMap<String, u32>,
    /// The order to each sentinel: the notice, and the hosts that have to receive it.
    ordered: BTreeMap<String, (Vec<u8>, Vec<String>)>,
    /// All notices that were ever sent.
    said: Vec<Vec<u8>>,
    /// The datagrams on their way to each host: time of arrival, sender, bytes.
    coming: BTreeMap<String, Vec<(Duration, String, Vec<u8>)>>,
    arrivals: BTreeMap<String, Arc<Notify>>,
}

impl Sentinels {
    fn send(&mut self, due: Duration, (from, to): (&str, &str), bytes: Vec<u8>) {
        let coming = self.coming.entry(to.to_owned()).or_default();
        coming.push((due, from.to_owned(), bytes));
        self.arrivals.entry(to.to_owned()).or_default().notify_one();
    }
}

impl Net {
    /// Starts a sentinel for a process that begins.
    pub(crate) fn sentinel(&self, host: &str) -> SimulatedSentinel {
        let mut sentinel = SimulatedSentinel {
            net: self.clone(),
            host: host.to_owned(),
            number: 0,
        };
        sentinel.begin();
        self.state().sentinels.kills.remove(host);
        sentinel
    }

    /// Lets the sentinel of a host report the end of the process, early or late. The host itself goes on.
    pub(crate) fn tell_end(&self, host: &str, now: Duration, rng: &mut Rng) {
        let mut state = self.state();
        let sentinels = &mut state.sentinels;
        sentinels.alive.remove(host);
        let Some((notice, peers)) = sentinels.ordered.remove(host) else {
            return;
        };
        let late = [20, 20, 200, 3_000][rng.usize(..4)];
        for peer in peers {
            let first = now + Duration::from_millis(rng.u64(1..=late));
            for again in [0, 5, 50] {
                if rng.u8(..4) > 0 {
                    let due = first + Duration::from_millis(again);
                    sentinels.send(due, (host, &peer), notice.clone());
                }
            }
        }
        sentinels.said.push(notice);
    }

    /// Kills the sentinel of a host. A process loses at most two sentinels, so that the next sentinel starts soon.
    pub(crate) fn kill_sentinel(&self, host: &str) {
        let mut state = self.state();
        let kills = state.sentinels.kills.entry(host.to_owned()).or_default();
        *kills += 1;
        if *kills <= 2 {
            state.sentinels.alive.remove(host);
            state.sentinels.ordered.remove(host);
        }
    }

    /// Ends the sentinel of a host, by itself or together with the host.
    pub(crate) fn end_sentinel(&self, host: &str) {
        let mut state = self.state();
        state.sentinels.alive.remove(host);
        state.sentinels.ordered.remove(host);
    }

    /// Sends two datagrams of a stranger to `to`: a forged notice that this incarnation of a host has ended, and a
    /// copy of an old notice.
    pub(crate) fn forge(
        &self,
        host: &str,
        incarnation: u64,
        to: &str,
        now: Duration,
        rng: &mut Rng,
    ) {
        let mut state = self.state();
        let sentinels = &mut state.sentinels;
        let soon = now + Duration::from_millis(rng.u64(1..=20));
        if let Ok(node) = NodeId::new(host) {
            let forged = EndNotice {
                node,
                incarnation: NodeIncarnation(incarnation),
                secret: NoticeSecret::of(rng.u8(..)),
            };
            sentinels.send(soon, (STRANGER, to), forged.encode());
        }
        if !sentinels.said.is_empty() {
            let again = sentinels.said[rng.usize(..sentinels.said.len())].clone();
            sentinels.send(soon, (STRANGER, to), again);
        }
    }

    /// Opens the datagrams of a host's process. A datagram that arrived before the process began is lost.
    pub(crate) fn datagrams(&self, host: &str) -> Box<dyn Datagrams> {
        let now = turmoil::sim_elapsed().unwrap_or_default();
        let mut state = self.state();
        if let Some(coming) = state.sentinels.coming.get_mut(host) {
            coming.retain(|(due, ..)| *due > now);
        }
        let arrivals = state.sentinels.arrivals.entry(host.to_owned());
        Box::new(Hearing {
            arrivals: Arc::clone(arrivals.or_default()),
            net: self.clone(),
            host: host.to_owned(),
        })
    }
}

/// The sentinel of one host, as the bridge of the host drives it.
#[derive(Debug)]
pub(crate) struct SimulatedSentinel {
    net: Net,
    host: String,
    number: u64,
}

impl SimulatedSentinel {
    fn begin(&mut self) {
        let mut state = self.net.state();
        state.sentinels.serial += 1;
        self.number = state.sentinels.serial;
        let number = self.number;
        state.sentinels.alive.insert(self.host.clone(), number);
        state.sentinels.ordered.remove(&self.host);
    }

    fn is_alive(&self) -> bool {
        self.net.state().sentinels.alive.get(&self.host) == Some(&self.number)
    }
}

impl SentinelDriver for SimulatedSentinel {
    fn id(&self) -> u32 {
        0
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        if self.is_alive() {
            let peers = order.peers.iter();
            let names = peers.filter_map(|at| turmoil::reverse_lookup(at.ip()));
            let ordered = (order.notice.encode(), names.collect());
            let mut state = self.net.state();
            state.sentinels.ordered.insert(self.host.clone(), ordered);
        }
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        !self.is_alive()
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        self.begin();
        Ok(())
    }
}

impl Drop for SimulatedSentinel {
    fn drop(&mut self) {
        if self.is_alive() {
            self.net.end_sentinel(&self.host);
        }
    }
}

struct Hearing {
    net: Net,
    host: String,
    arrivals: Arc<Notify>,
}

impl Hearing {
    /// Returns a datagram that has arrived, or the time until the next one arrives.
    fn next(&self) -> Result<Vec<u8>, Option<Duration>> {
        let now = turmoil::sim_elapsed().unwrap_or_default();
        let mut state = self.net.state();
        loop {
            let Some(coming) = state.sentinels.coming.get_mut(&self.host) else {
                return Err(None);
            };
            let first = (0..coming.len()).min_by_key(|at| coming[*at].0);
            let Some(first) = first else {
                return Err(None);
            };
            if coming[first].0 > now {
                return Err(Some(coming[first].0.saturating_sub(now)));
            }
            let (_, from, bytes) = coming.remove(first);
            if !state.loses(&from, &self.host) {
                return Ok(bytes);
            }
        }
    }
}

impl Datagrams for Hearing {
    fn receive<'a>(&'a mut self, into: &'a mut [u8]) -> Pending<'a, usize> {
        Box::pin(async move {
            loop {
                match self.next() {
                    Ok(bytes) => {
                        let len = bytes.len().min(into.len());
                        into[..len].copy_from_slice(&bytes[..len]);
                        return Ok(len);
                    }
                    Err(Some(rest)) => {
                        let arrival = pin!(self.arrivals.notified());
                        select(arrival, pin!(sleep(rest))).await;
                    }
                    Err(None) => self.arrivals.notified().await,
                }
            }
        })
    }
}

/// Returns the socket address of a bridge for its address in a configuration.
pub(crate) fn address(address: &str) -> Option<SocketAddr> {
    let (host, port) = address.rsplit_once(':')?;
    Some(SocketAddr::new(turmoil::lookup(host), port.parse().ok()?))
}

/// The secret that all hosts of a history know and a stranger does not know.
#[derive(Debug)]
pub(crate) struct Known;

impl Credential for Known {
    fn challenge(&self) -> std::io::Result<Challenge> {
        Ok(Challenge([0; 32]))
    }

    fn prove(&self, _: &[u8]) -> Vec<Proof> {
        vec![Proof([7; 32])]
    }

    fn accepts(&self, _: &[u8], proofs: &[Proof]) -> bool {
        proofs.contains(&Proof([7; 32]))
    }
}

/// Name of the sender whose packets no fault loses.
const STRANGER: &str = "stranger";

impl Faults {
    /// Lets the sentinel of a host report the end of the process. The times and the number of copies come from a
    /// generator of their own, so that other histories stay the same.
    pub(crate) fn tell_end(&self, sim: &Sim<'_>, k: usize) {
        let now = sim.elapsed();
        let seed = self.setting.seed ^ u64::try_from(now.as_millis()).unwrap_or_default();
        let name = self.hosts[k].name();
        let mut rng = Rng::with_seed(seed);
        self.setting.net.tell_end(name, now, &mut rng);
    }

    pub(crate) fn forge(&self, sim: &Sim<'_>, rng: &mut Rng, k: usize, other: usize) {
        let host = &self.hosts[k];
        let incarnation = host.last.get().unwrap_or_default();
        let to = self.hosts[other].name();
        let net = &self.setting.net;
        net.forge(host.name(), incarnation, to, sim.elapsed(), rng);
    }
}
