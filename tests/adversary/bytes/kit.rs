//! A receiver as complete as bytes can see it, and one frame of each kind to spoil.

use actix_bully::{
    elections::{AnyMessage, bully::Elect},
    protocol::{AgentId, Incarnation, MemberKind, Round, Score, Term, Time},
    remote::{
        Challenge, ClusterId, Farewell, Limits, LinkId, NodeId, NodeIncarnation, Proof, Rights,
        internals::{
            Acquaintance, EndDigest, Established, FrameVerdict, GroupStanding, Handshake, Inbound,
            Introduction, Nonce, TermGuard,
            wire::{
                Allowance, Bounds, Frame, Frames, Hello, LeaderHint, LinkConditions, Messages,
                MessagesWriter, Opening, RawReceivers, RosterContent, RosterFrame, Targets,
                decode_payload, encode_goodbye, encode_payload, encode_ping, encode_pong,
                encode_proof, encode_twin,
            },
        },
    },
};
use bully_core::{
    elections::bully::{Heartbeat, Resign},
    protocol::Member,
};
use bytes::{BufMut, BytesMut};

const NOW: Time = Time::ZERO;

fn introduction(name: &str) -> Introduction {
    let node = NodeId::new(name).expect("a node's name");
    let cluster = ClusterId::new("shop").expect("a cluster's name");
    Introduction::new(node, cluster, NodeIncarnation(100))
}

fn greet(name: &str, nonce: u8, out: &mut BytesMut) -> Handshake {
    let (me, nonce) = (introduction(name), Nonce([nonce; 8]));
    Handshake::begin(me, nonce, None, &Limits::default(), NOW, out)
}

/// This side's end of one connection.
pub(crate) struct Receiver {
    frames: Frames,
    limits: Limits,
    state: State,
    guard: TermGuard,
    /// Messages that were delivered.
    pub(crate) delivered: usize,
}

enum State {
    Greeting(Box<Handshake>),
    Ready(Box<Inbound>),
}

impl Receiver {
    pub(crate) fn new() -> Self {
        let limits = Limits::default();
        Self {
            frames: Frames::new(&limits),
            limits,
            state: State::Greeting(Box::new(greet("host-a", 1, &mut BytesMut::new()))),
            guard: TermGuard::new(),
            delivered: 0,
        }
    }

    /// Takes bytes in pieces of that size, until they end or the link does. Its end has the name under which it is counted.
    pub(crate) fn take(&mut self, bytes: &[u8], piece: usize) -> Result<(), &'static str> {
        for bytes in bytes.chunks(piece) {
            let taken = self.frames.feed(bytes);
            assert_eq!(
                taken,
                bytes.len(),
                "a piece is no longer than what is read ahead"
            );
            let most = self.limits.frame() + 4 + Limits::READ_AHEAD;
            assert!(self.frames.capacity() <= most);
            while let Some(body) = self.frames.next(NOW)? {
                let ready = match &mut self.state {
                    State::Greeting(handshake) => greeted(handshake, body)?,
                    State::Ready(inbound) => {
                        self.delivered += judged(inbound, &mut self.guard, body)?;
                        None
                    }
                };
                if ready.is_some() {
                    self.frames.raise(&self.limits);
                    let inbound = Inbound::new(Rights::all(), &self.limits, NOW);
                    self.state = State::Ready(Box::new(inbound));
                }
            }
        }
        Ok(())
    }
}

fn greeted(
    handshake: &mut Handshake,
    body: &[u8],
) -> Result<Option<Box<Established>>, &'static str> {
    let known = Some(Acquaintance::default());
    Ok(handshake.receive(NOW, body, |_| known, &mut BytesMut::new())?)
}

fn judged(
    inbound: &mut Inbound,
    guard: &mut TermGuard,
    body: &[u8],
) -> Result<usize, &'static str> {
    match inbound.frame(NOW, body, |_| GroupStanding::Carried(0))? {
        FrameVerdict::Messages(messages) => {
            messages.into_iter().try_fold(0, |delivered, message| {
                let message = message.map_err(|_| "malformed")?;
                if inbound.sender(NOW, &message)?.is_err() {
                    return Ok(delivered);
                }
                let bounds = Limits::default().bounds();
                let said = decode_payload(message.payload, bounds);
                let said: AnyMessage = said.map_err(|_| "malformed")?;
                guard.admit(said.term()).map_err(|_| "term")?;
                Ok(delivered + 1)
            })
        }
        FrameVerdict::Roster(change) => {
            if let Some(leader) = change.leader {
                guard.admit(leader.term).map_err(|_| "term")?;
            }
            Ok(0)
        }
        FrameVerdict::Answer(_)
        | FrameVerdict::Answered(_)
        | FrameVerdict::Twin
        | FrameVerdict::Drop(_) => Ok(0),
    }
}

fn framed(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    out.to_vec()
}

/// A length before a body.
pub(crate) fn frame(body: &[u8]) -> Vec<u8> {
    framed(|out| {
        out.put_u32(u32::try_from(body.len()).expect("a short body"));
        out.put_slice(body);
    })
}

/// What an honest peer sends before anything else.
pub(crate) fn greetings() -> Vec<u8> {
    let (mut out, mut said) = (BytesMut::new(), Vec::new());
    let mut peer = greet("host-b", 2, &mut out);
    let mut here = BytesMut::new();
    let mut this = greet("host-a", 1, &mut here);
    // HELLO, CONDITIONS, READY: each answers the other side's frame before it.
    for _ in 0..2 {
        let (heard, answered) = (here.split(), out.split());
        said.extend_from_slice(&answered);
        let hear = |side: &mut Handshake, frame: &[u8], out: &mut BytesMut| {
            let known = Some(Acquaintance::default());
            let progress = side.receive(NOW, &frame[4..], |_| known, out);
            assert_eq!(progress, Ok(None));
        };
        hear(&mut peer, &heard, &mut out);
        hear(&mut this, &answered, &mut here);
    }
    said.extend_from_slice(&out);
    said
}

fn content() -> RosterContent {
    let member = |name: &str, score| {
        let id = AgentId::new(name).expect("a name");
        Member::up(id, MemberKind::Voter, score, Incarnation(9))
    };
    RosterContent {
        left: Vec::new(),
        members: vec![
            (0, member("agent-1", Some(Score::from((30, -500))))),
            (1, member("agent-2", None)),
        ],
        leader: Some(LeaderHint {
            agent: 0,
            incarnation: Incarnation(9),
            term: Term(7),
        }),
    }
}

fn messages() -> Vec<AnyMessage> {
    let round = Round {
        incarnation: Incarnation(9),
        counter: 300,
    };
    let (score, term) = (Score::from((30, -500)), Term(7));
    let successor = AgentId::new("agent-2").ok();
    vec![
        Heartbeat {
            term,
            score,
            sent_at: Some(Time::from_millis(5)),
        }
        .into(),
        Elect {
            round,
            score,
            seen: term,
            ..Elect::default()
        }
        .into(),
        Resign {
            term,
            successor,
            ..Resign::default()
        }
        .into(),
    ]
}

/// What an honest peer sends once the link is ready: a frame of each kind.
pub(crate) fn conversation() -> Vec<Vec<u8>> {
    let opening = Opening {
        name: "shop",
        rules: "available",
        epoch: 0,
        voters: None,
        pace: None,
    };
    let left = RosterContent {
        left: vec![1],
        ..RosterContent::default()
    };
    vec![
        framed(|out| RosterFrame::encode(1, 0, Some(opening), &content(), out)),
        framed(|out| {
            let mut writer = MessagesWriter::begin(2, out);
            for (message, to) in messages().iter().zip([&[][..], &[5], &[1, 200, 70_000]]) {
                let to = if to.is_empty() {
                    Targets::All
                } else {
                    Targets::Some(to)
                };
                writer.push(0, 0, Incarnation(9), to, &encoded(message));
            }
            assert!(writer.end());
        }),
        framed(|out| encode_ping(3, 1 << 40, out)),
        framed(|out| encode_pong(4, 300, out)),
        framed(|out| RosterFrame::encode(5, 0, None, &left, out)),
    ]
}

fn encoded(message: &AnyMessage) -> BytesMut {
    let mut payload = BytesMut::new();
    encode_payload(message, &mut payload).expect("a message can be encoded");
    payload
}

/// A frame of each kind, without a connection around it.
pub(crate) fn one_of_each() -> Vec<Vec<u8>> {
    let mut all = conversation();
    let mut hello = BytesMut::new();
    drop(greet("host-b", 2, &mut hello));
    all.push(hello.to_vec());
    all.push(framed(|out| encode_proof(LinkId([7; 16]), &[], out)));
    all.push(framed(|out| {
        let proofs = [Proof([8; 32]), Proof([9; 32])];
        encode_proof(LinkId([7; 16]), &proofs, out);
    }));
    let allowance = Allowance::of(&Limits::default());
    let plain = LinkConditions {
        challenge: None,
        allowance,
        end: None,
    };
    let full = LinkConditions {
        challenge: Some(Challenge([3; 32])),
        allowance,
        end: Some(EndDigest([4; 32])),
    };
    all.extend([plain, full].map(|conditions| framed(|out| conditions.encode(out))));
    all.push(framed(|out| encode_goodbye(Farewell::Auth, out)));
    all
}

/// The frame that would be sent to say the same, messages included; `None` if the body is
/// refused.
pub(crate) fn said_again(body: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::decode(body, Bounds::default()).ok()?;
    let mut out = BytesMut::new();
    match frame {
        Frame::Hello(hello) => Hello::encode(&hello, &mut out),
        Frame::Ready { link, proofs } => encode_proof(link, &proofs, &mut out),
        Frame::Conditions(conditions) => conditions.encode(&mut out),
        Frame::Roster(roster) => {
            let content = &roster.content;
            RosterFrame::encode(roster.seq, roster.group, roster.opening, content, &mut out);
        }
        Frame::Messages(messages) => messages_again(messages, &mut out)?,
        Frame::Ping { seq, token } => encode_ping(seq, token, &mut out),
        Frame::Pong { seq, token } => encode_pong(seq, token, &mut out),
        Frame::Twin { seq } => encode_twin(seq, &mut out),
        Frame::Goodbye { why } => encode_goodbye(why, &mut out),
        _ => return None,
    }
    Some(out.to_vec())
}

fn messages_again(messages: Messages<'_>, out: &mut BytesMut) -> Option<()> {
    let mut again = MessagesWriter::begin(messages.seq, out);
    for message in messages {
        let message = message.ok()?;
        let several: Vec<u32>;
        let to = match message.to {
            RawReceivers::All => Targets::All,
            RawReceivers::One(one) => {
                several = vec![one];
                Targets::Some(&several)
            }
            RawReceivers::Several(numbers) => {
                several = numbers.collect();
                Targets::Some(&several)
            }
        };
        let said: AnyMessage = decode_payload(message.payload, Bounds::default()).ok()?;
        let payload = encoded(&said);
        again.push(
            message.group,
            message.from,
            message.incarnation,
            to,
            &payload,
        );
    }
    again.end().then_some(())
}
