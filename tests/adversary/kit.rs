//! A node under attack with an honest peer, and a hostile peer that sends raw bytes.

use std::{
    iter,
    net::SocketAddr,
    time::{Duration, Instant},
};

use actix::{System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::AnyMessage,
    protocol::{AgentId, Incarnation, Leader, MemberKind, Term, Timings},
    remote::{
        BridgeBuilder, BridgeCounts, BridgeEvent, BridgeHandle, ClusterId, Farewell, Limits,
        LimitsBuilder, LinkId, LinkStatus, NodeId, NodeIncarnation, Peer, PeerStatus, RemoteBridge,
        Traffic,
        internals::{
            Nonce,
            wire::{
                Allowance, Frame, Hello, LinkConditions, MessagesWriter, Opening, RosterContent,
                RosterFrame, Targets, Versions, encode_payload, encode_ping, encode_proof,
            },
        },
        transport::{Stream as NetStream, Tcp},
    },
};
use bully_core::{elections::quorum::Nack, protocol::Member};
use bytes::{BufMut, BytesMut};
use futures::{FutureExt, Stream, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

/// Incarnation of every hostile agent.
pub(crate) const INCARNATION: Incarnation = Incarnation(9);

pub(crate) fn play(scene: impl Future<Output = ()>) {
    System::new().block_on(scene);
}

/// Waits until `holds` returns true, in real time.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "sockets know no virtual time")]
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        sleep(MS(2)).await;
    }
}

/// Returns limits under which a peer on a stalled machine does not count as silent.
pub(crate) fn patient() -> LimitsBuilder {
    Limits::builder().silence(MS(15_000))
}

/// Returns timings whose first election and heartbeats are as short as in a local network. Their deadlines outlast a
/// stalled machine.
fn timings() -> Timings {
    let builder = Timings::lan().to_builder().deadline(MS(2_000));
    builder.detector(MS(60), MS(10_000)).build().unwrap()
}

pub(crate) struct Host {
    pub(crate) group: Group,
    pub(crate) bridge: BridgeHandle,
    pub(crate) agent: BullyHandle,
}

/// Returns the bridge of the node `name`, at any free port.
pub(crate) fn bridge(name: &str, limits: &LimitsBuilder, peers: Vec<Peer>) -> BridgeBuilder {
    let builder = RemoteBridge::builder(name)
        .incarnation(NodeIncarnation(1_000))
        .limits(limits.build().unwrap())
        .listen("127.0.0.1:0");
    peers.into_iter().fold(builder, BridgeBuilder::peer)
}

/// Starts the node `name` behind its bridge, with one agent.
pub(crate) fn host(
    bridge: BridgeBuilder,
    group: Group,
    name: &str,
    score: i32,
    timings: Timings,
) -> Host {
    let bridge = bridge.carry(&group).start().unwrap();
    let agent = BullyAgent::builder(&format!("{name}1"))
        .score(score)
        .timings(timings)
        .join(&group)
        .start()
        .unwrap();
    Host {
        group,
        bridge,
        agent,
    }
}

/// The node `a` under attack, whose agent leads, and the honest node `b`, whose agent follows.
pub(crate) struct Scene {
    victim: Host,
    honest: Host,
    leader: Leader,
    link: LinkId,
    events: Box<dyn Stream<Item = BridgeEvent> + Unpin>,
}

impl Scene {
    /// Sets the scene. The victim knows the hostile nodes in `known`.
    pub(crate) async fn set(limits: &LimitsBuilder, known: Vec<Peer>) -> Self {
        Self::set_over(Tcp::default(), limits, known).await
    }

    /// Sets the scene with this TCP network for the victim.
    pub(crate) async fn set_over(tcp: Tcp, limits: &LimitsBuilder, known: Vec<Peer>) -> Self {
        let peers = known.into_iter().chain([Peer::inbound("b")]).collect();
        let (group, bridged) = (Group::new("g").unwrap(), bridge("a", limits, peers));
        let victim = host(bridged.transport(tcp), group, "a", 9, timings());
        let at = victim.bridge.local_addr().unwrap().to_string();
        let (group, peers) = (Group::new("g").unwrap(), vec![Peer::new("a", &at)]);
        let bridged = bridge("b", &patient(), peers);
        let honest = host(bridged, group, "b", 1, timings());
        until("both follow a1", || {
            let leads = |leader: Option<Leader>| leader.is_some_and(|l| l.id.as_str() == "a1");
            leads(victim.agent.leader()) && leads(honest.agent.leader())
        })
        .await;
        let leader = victim.agent.leader().unwrap();
        let link = linked(&victim.bridge, "b").unwrap();
        let events = Box::new(victim.bridge.events());
        Self {
            victim,
            honest,
            leader,
            link,
            events,
        }
    }

    pub(crate) fn at(&self) -> SocketAddr {
        self.victim.bridge.local_addr().unwrap()
    }

    pub(crate) fn counts(&self) -> BridgeCounts {
        self.victim.bridge.counters()
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.victim.bridge.traffic()
    }

    pub(crate) fn group(&self) -> &Group {
        &self.victim.group
    }

    /// Sends a message from the victim's leader to an agent.
    pub(crate) fn say_to(&self, agent: &str, message: AnyMessage) {
        let to = bully_core::protocol::To::One(id(agent));
        let group = &self.victim.group;
        group.deliver(&self.leader.id, self.leader.incarnation, &to, message);
    }

    /// Returns the number of messages to a peer that the victim lost.
    pub(crate) fn lost(&self, peer: &str) -> u64 {
        let peers = self.victim.bridge.peers();
        let of = |status: &&PeerStatus| status.node.as_str() == peer;
        peers.iter().find(of).map_or(0, |status| status.lost)
    }

    /// Returns the events of the victim's bridge since the last call.
    pub(crate) fn told(&mut self) -> Vec<BridgeEvent> {
        let next = || self.events.next().now_or_never().flatten();
        iter::from_fn(next).collect()
    }

    /// Returns the counters that have moved since `before`, and the differences.
    pub(crate) fn since(&self, before: &BridgeCounts) -> Vec<(&'static str, u64)> {
        let now = self.counts();
        let pairs = before.iter().zip(now.iter());
        let moved = pairs.map(|((name, before), (_, now))| (name, now - before));
        moved.filter(|(_, more)| *more > 0).collect()
    }

    /// Waits until these counters have moved, and checks that no other counter has moved.
    pub(crate) async fn counted(&self, before: &BridgeCounts, expected: &[(&str, u64)]) {
        let sum = |moved: &[(&str, u64)]| moved.iter().map(|(_, n)| n).sum::<u64>();
        let what = format!("{expected:?}");
        until(&what, || sum(&self.since(before)) >= sum(expected)).await;
        assert_eq!(self.since(before), expected);
    }

    /// Checks that the honest peer still has the same link and the same leader.
    pub(crate) async fn is_unhurt(&mut self) {
        let heard = || self.honest.bridge.traffic().frames_in;
        let before = heard();
        until("the honest peer hears something", || heard() > before).await;
        assert_eq!(linked(&self.victim.bridge, "b"), Some(self.link));
        assert_eq!(linked(&self.honest.bridge, "a"), Some(self.link));
        for agent in [&self.victim.agent, &self.honest.agent] {
            assert_eq!(agent.leader().as_ref(), Some(&self.leader));
        }
        let honest = node("b");
        for event in self.told() {
            let is_lost = matches!(&event, BridgeEvent::PeerLost { node } if *node == honest);
            assert!(!is_lost, "{event:?}");
        }
    }
}

pub(crate) fn linked(bridge: &BridgeHandle, peer: &str) -> Option<LinkId> {
    let peers = bridge.peers();
    let status = peers.iter().find(|status| status.node.as_str() == peer)?;
    if let LinkStatus::Linked { id } = status.link {
        Some(id)
    } else {
        None
    }
}

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(crate) fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

/// A connection on which the test sends raw bytes.
pub(crate) struct Raw {
    stream: Box<dyn NetStream>,
    /// Number of the last frame that was sent over a ready link.
    pub(crate) seq: u64,
    pub(crate) link: LinkId,
}

impl Raw {
    pub(crate) async fn dial(at: SocketAddr) -> Self {
        Self::with(TcpStream::connect(at).await.unwrap())
    }

    pub(crate) fn with(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self::over(Box::new(stream))
    }

    /// Sends over a stream of any kind.
    pub(crate) fn over(stream: Box<dyn NetStream>) -> Self {
        let (seq, link) = (0, LinkId([0; 16]));
        Self { stream, seq, link }
    }

    /// Sends bytes. Returns `false` if the other end closed the connection first.
    pub(crate) async fn say(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok() && self.stream.flush().await.is_ok()
    }

    /// Returns the body of the next frame; `None` at the end of the stream.
    pub(crate) async fn hear(&mut self) -> Option<Vec<u8>> {
        let len = self.stream.read_u32().await.ok()?;
        let mut body = vec![0; usize::try_from(len).unwrap()];
        self.stream.read_exact(&mut body).await.ok()?;
        Some(body)
    }

    /// Reads until the end of the stream, which must come. Returns the goodbye in the last frame.
    pub(crate) async fn ends(&mut self) -> Option<Farewell> {
        let mut last = None;
        let reading = async {
            while let Some(body) = self.hear().await {
                last = Some(body);
            }
        };
        let limit = Duration::from_secs(20);
        actix::clock::timeout(limit, reading).await.unwrap();
        match Frame::decode(&last?, Limits::default().bounds()) {
            Ok(Frame::Goodbye { why }) => Some(why),
            _ => None,
        }
    }

    /// Sends HELLO, and reads the HELLO of the other side.
    pub(crate) async fn hello(&mut self, mine: Hello) {
        self.say(&framed(|out| mine.encode(out))).await;
        let theirs = self.hear().await.unwrap();
        let Ok(Frame::Hello(theirs)) = Frame::decode(&theirs, Limits::default().bounds()) else {
            unreachable!("it says hello first");
        };
        self.link = LinkId::between((&theirs.node, theirs.nonce), (&mine.node, mine.nonce));
    }

    /// Finishes the handshake as this node.
    pub(crate) async fn greet(mut self, name: &str) -> Self {
        self.hello(hello(name)).await;
        let link = self.link;
        self.say(&framed(|out| conditions().encode(out))).await;
        self.say(&framed(|out| encode_proof(link, &[], out))).await;
        let bounds = Limits::default().bounds();
        let theirs = self.hear().await.unwrap();
        let agreed = Frame::decode(&theirs, bounds);
        assert!(matches!(agreed, Ok(Frame::Conditions(_))), "{agreed:?}");
        let theirs = self.hear().await.unwrap();
        let proofs = Vec::new();
        let ready = Frame::decode(&theirs, bounds);
        assert_eq!(ready, Ok(Frame::Ready { link, proofs }));
        self
    }

    /// Returns the number of the next frame.
    pub(crate) fn next(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Opens the group and announces one observer under the number 0.
    pub(crate) async fn announce(&mut self, agent: &str) {
        let member = Member::up(id(agent), MemberKind::Observer, None, INCARNATION);
        let content = RosterContent {
            members: vec![(0, member)],
            ..RosterContent::default()
        };
        let seq = self.next();
        let roster = roster(seq, 0, Some("g"), &content);
        self.say(&roster).await;
    }

    /// Waits until the other side has read all earlier frames, which the answer to a PING shows.
    pub(crate) async fn has_been_read(&mut self) {
        let seq = self.next();
        self.say(&framed(|out| encode_ping(seq, 0xabcd, out))).await;
        while !self.hear().await.unwrap().ends_with(b"\xcd\xab\xcd") {}
    }

    /// Sends one message of agent 0 in group 0.
    pub(crate) async fn message(&mut self, to: Targets<'_>, message: &AnyMessage) {
        let seq = self.next();
        let frame = message_frame(seq, 0, 0, to, message);
        self.say(&frame).await;
    }
}

/// Returns an honest HELLO.
pub(crate) fn hello(name: &str) -> Hello {
    Hello {
        versions: Versions::OURS,
        cluster: ClusterId::new("default").unwrap(),
        node: node(name),
        incarnation: NodeIncarnation(5),
        nonce: Nonce([3; 8]),
        frame: 64 * 1024,
    }
}

/// Returns honest CONDITIONS, without a secret.
pub(crate) fn conditions() -> LinkConditions {
    LinkConditions {
        challenge: None,
        allowance: Allowance::of(&Limits::default()),
        end: None,
    }
}

pub(crate) fn framed(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    out.to_vec()
}

/// Puts the length before a body.
pub(crate) fn frame(body: &[u8]) -> Vec<u8> {
    framed(|out| {
        out.put_u32(u32::try_from(body.len()).unwrap());
        out.put_slice(body);
    })
}

pub(crate) fn roster(
    seq: u64,
    group: u32,
    opens: Option<&str>,
    content: &RosterContent,
) -> Vec<u8> {
    let opening = opens.map(|name| Opening {
        name,
        rules: "available",
        epoch: 0,
        voters: None,
        pace: None,
    });
    framed(|out| RosterFrame::encode(seq, group, opening, content, out))
}

pub(crate) fn message_frame(
    seq: u64,
    group: u32,
    from: u32,
    to: Targets<'_>,
    message: &AnyMessage,
) -> Vec<u8> {
    framed(|out| {
        let mut messages = MessagesWriter::begin(seq, out);
        let mut payload = BytesMut::new();
        encode_payload(message, &mut payload).unwrap();
        messages.push(group, from, INCARNATION, to, &payload);
        assert!(messages.end());
    })
}

/// Returns a message that changes nothing, unless its term does.
pub(crate) fn nack(term: u64) -> AnyMessage {
    Nack {
        term: Term(term),
        incarnation: INCARNATION,
        ..Nack::default()
    }
    .into()
}
