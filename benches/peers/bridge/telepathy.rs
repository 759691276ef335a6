//! The message over actix-telepathy: two clusters of one node each, joined.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use actix::prelude::*;
use actix_broker::BrokerSubscribe;
use actix_telepathy::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::tally::Tally;

/// A message with the same contents as a call for an election.
#[derive(RemoteMessage, Serialize, Deserialize)]
struct Call {
    incarnation: u64,
    counter: u64,
    score: (i64, i64, i64, i64),
    seen: u64,
}

/// The receiving end.
#[derive(RemoteActor)]
#[remote_messages(Call)]
struct Sink {
    tally: Arc<Tally>,
}

impl Actor for Sink {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.register(ctx.address().recipient());
    }
}

impl Handler<Call> for Sink {
    type Result = ();
    fn handle(&mut self, _: Call, _: &mut Self::Context) {
        self.tally.note();
    }
}

/// Returns a free port of this host: a cluster of actix-telepathy does not accept port 0.
fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it listens")
}

/// Starts the receiving end; returns its address.
pub(crate) fn serve(tally: Arc<Tally>) -> SocketAddr {
    let at = free();
    Sink { tally }.start();
    Cluster::new(at, Vec::new());
    at
}

/// Learns of hosts that join.
struct Lookout(mpsc::UnboundedSender<RemoteAddr>);

impl Actor for Lookout {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.subscribe_system_async::<ClusterLog>(ctx);
    }
}

impl Handler<ClusterLog> for Lookout {
    type Result = ();
    fn handle(&mut self, log: ClusterLog, _: &mut Self::Context) {
        if let ClusterLog::NewMember(node) = log {
            let sink = node.get_remote_addr(Sink::ACTOR_ID.to_string());
            self.0.send(sink).expect("the sending end waits for it");
        }
    }
}

impl Supervised for Lookout {}
impl ClusterListener for Lookout {}

/// The sending end.
pub(crate) struct Telepathy {
    sink: RemoteAddr,
    tally: Arc<Tally>,
    _lookout: Addr<Lookout>,
    _joined: mpsc::UnboundedReceiver<RemoteAddr>,
}

impl Telepathy {
    /// Joins the node at this address.
    pub(crate) async fn link(at: SocketAddr, tally: Arc<Tally>) -> Self {
        let (told, mut joined) = mpsc::unbounded_channel();
        let lookout = Lookout(told).start();
        Cluster::new(free(), vec![at]);
        let sink = joined.recv().await.expect("it joins");
        Self {
            sink,
            tally,
            _lookout: lookout,
            _joined: joined,
        }
    }

    /// Sends a number of messages; returns when all have arrived.
    pub(crate) async fn send(&self, window: usize, messages: usize) {
        let send = async |counters| {
            for counter in counters {
                self.sink.do_send(Call {
                    incarnation: 1_000,
                    counter,
                    score: (30, -500, 0, 0),
                    seen: 7,
                });
            }
        };
        self.tally.backlog(window, messages, send).await;
    }
}
