//! The actor of a bridge, with the events of its connections, but without any connection.

use std::{sync::Arc, time::Duration};

use actix::{Actor, Addr, clock::sleep};
use tokio::{sync::oneshot, task::yield_now};

use super::{introduction, node};
use crate::elections::AnyMessage;
use crate::{
    group::Group,
    remote::{
        Closed, Established, Limits, LinkId, LinkStatus, NodeIncarnation, Peer, RemoteBridge,
        bridge::{
            message::{ConnectionEnded, ConnectionOutcome, DrainLinks, LinkReady, RemovePeer},
            peers::{ConnId, Origin},
            shared::{BridgeParts, BridgeState, PeerState, lock},
        },
        carry::{Carried, GroupCarrier},
        transport::Pipes,
        wire::Allowance,
    },
};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A bridge that knows one peer, while no process runs at that peer's address.
struct Stage {
    shared: Arc<BridgeState>,
    bridge: Addr<RemoteBridge>,
    peer: Arc<PeerState>,
    /// The receivers of each link's close signal. They are kept, so that no link is closed.
    links: Vec<oneshot::Receiver<Closed>>,
}

impl Stage {
    fn new(address: Option<&str>) -> Self {
        let limits = Limits::default();
        let group = Group::<AnyMessage>::new("g").unwrap();
        let carried: Arc<dyn Carried> = Arc::new(GroupCarrier::new(group, &limits));
        let shared = Arc::new(BridgeState::new(BridgeParts {
            me: introduction("a"),
            limits,
            transport: Arc::new(Pipes::new().host("a")),
            security: None,
            credential: None,
            carried: vec![carried],
            listener: None,
            seed: 7,
            began: actix::clock::Instant::now(),
            wall: crate::remote::carry::WallMillis::new(|| 0),
            ends: crate::remote::bridge::ends::Ends::default(),
            is_dangerous: false,
        }));
        let peer = address.map_or_else(|| Peer::inbound("b"), |address| Peer::new("b", address));
        assert!(shared.add(&node("b"), peer));
        let peer = shared.peer(&node("b")).unwrap();
        Self {
            bridge: RemoteBridge::new(Arc::clone(&shared)).start(),
            shared,
            peer,
            links: Vec::new(),
        }
    }

    /// Reports that a connection from this incarnation of the peer is ready. An error is the reason why the
    /// connection may not stay.
    async fn link(&mut self, conn: u64, incarnation: u64) -> Result<(), Closed> {
        let (close, closes) = oneshot::channel();
        self.links.push(closes);
        let link = Established {
            peer: node("b"),
            incarnation: NodeIncarnation(incarnation),
            link: LinkId([u8::try_from(conn % 256).unwrap(); 16]),
            version: 2,
            frame: 65_536,
            allowance: Allowance::of(&self.shared.limits),
            end: None,
        };
        let (conn, origin) = (ConnId(conn), Origin::Accepted);
        let ready = LinkReady {
            conn,
            origin,
            link,
            close,
        };
        self.bridge.send(ready).await.unwrap()
    }

    async fn end(&self, conn: u64, why: Closed) {
        let ended = ConnectionEnded {
            conn: ConnId(conn),
            node: Some(node("b")),
            origin: Origin::Accepted,
            outcome: ConnectionOutcome::Closed {
                why,
                lasted: Duration::ZERO,
            },
        };
        self.bridge.send(ended).await.unwrap();
    }

    fn dials(&self) -> u64 {
        lock(&self.shared.traffic).dials
    }
}

fn play(scene: impl Future<Output = ()>) {
    crate::testkit::virtual_system().block_on(scene);
}

#[test]
fn a_link_is_let_in_unless_the_bridge_drains_the_peer_was_removed_or_a_later_incarnation_is_known()
{
    play(async {
        let mut stage = Stage::new(None);
        assert_eq!(stage.link(100, 5).await, Ok(()));
        assert_eq!(stage.link(101, 4).await, Err(Closed::Stale));
        stage.end(100, Closed::Lost).await;
        assert_eq!(stage.link(102, 4).await, Err(Closed::Stale));
        let status = *lock(&stage.peer.stage);
        assert_eq!(status, LinkStatus::Waiting);
        stage.bridge.send(DrainLinks).await.unwrap();
        assert_eq!(stage.link(103, 5).await, Err(Closed::Leaving));
        let mut stage = Stage::new(None);
        stage.bridge.send(RemovePeer(node("b"))).await.unwrap();
        assert_eq!(stage.link(100, 5).await, Err(Closed::Auth));
    });
}

/// The wait after a refused dial is over soon. The penalty that replaced this wait lasts for at least a second.
#[test]
fn a_wait_that_was_replaced_counts_no_more_and_a_penalty_is_waited_for() {
    play(async {
        let mut stage = Stage::new(Some("b:1"));
        while stage.dials() == 0 || *lock(&stage.peer.stage) == LinkStatus::Dialing {
            yield_now().await;
        }
        assert_eq!(stage.link(100, 5).await, Ok(()));
        stage.end(100, Closed::Rate).await;
        assert_eq!(stage.dials(), 1, "the first wait has not ended");
        sleep(MS(990)).await;
        assert_eq!(stage.dials(), 1, "a peer that broke a rule waits");
        sleep(MS(60_000)).await;
        assert!(stage.dials() > 1);
    });
}
