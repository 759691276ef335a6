//! A secret that all hosts share: which are linked, which are refused, and what a stranger can do without.

use actix::clock::sleep;
use actix_bully::{
    agent::BullyHandle,
    protocol::{Incarnation, MemberKind, Presence},
    remote::{
        ClusterId, Limits, LinkId, NodeIncarnation,
        internals::{
            Nonce,
            wire::{
                Allowance, Frame, Hello, LinkConditions, RosterContent, RosterFrame, Versions,
                encode_proof,
            },
        },
        secret::Secret,
        transport::{Pipes, Stream, Transport as _},
    },
};
use bully_core::protocol::Member;
use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    kit::{Host, MS, address, all_follow, builder, id, node, others, play, scene, until},
    voters::of_epoch,
};

pub(crate) fn secret(word: u8) -> Secret {
    Secret::new([word; 32]).unwrap()
}

/// Each host in its turn: first all accept both secrets, then the new one only.
#[test]
fn a_secret_is_changed_host_by_host_while_the_others_are_linked() {
    scene(async |pipes, _| {
        let (old, new) = (secret(1), secret(2));
        let both = new.clone().also_accept(old.clone());
        let start = |name: &str, incarnation, secret: &Secret| {
            let mut host = Host::with(|group| {
                let builder = builder(pipes, name, &others(name));
                let builder = builder.incarnation(NodeIncarnation(incarnation));
                builder.secret(secret.clone()).carry(group)
            });
            host.agent(&format!("{name}1"), 1);
            host
        };
        let all_linked = |hosts: &[Host]| {
            hosts.iter().all(|host| {
                let others = hosts
                    .iter()
                    .filter(|other| other.bridge.node() != host.bridge.node());
                others
                    .into_iter()
                    .all(|other| host.is_linked(other.bridge.node().as_str()))
            })
        };
        let mut hosts: Vec<_> = ["a", "b", "c"].map(|name| start(name, 1_000, &old)).into();
        until("linked", || all_linked(&hosts)).await;
        for (round, secret) in (1..).zip([&both, &new]) {
            for at in 0..3 {
                let name = ["a", "b", "c"][at];
                hosts.remove(at).stop().await;
                hosts.insert(at, start(name, 1_000 + round, secret));
                until("linked again", || all_linked(&hosts)).await;
            }
        }
        hosts.remove(1).stop().await;
        let late = start("b", 2_000, &old);
        sleep(MS(500)).await;
        assert!(
            !late.is_linked("a") && !late.is_linked("c"),
            "the old one is over"
        );
    });
}

/// Speaks the bytes of the protocol itself.
struct Raw(Box<dyn Stream>);

impl Raw {
    async fn dial(pipes: &Pipes, from: &str, to: &str) -> Self {
        Self(pipes.host(from).dial(&address(to)).await.unwrap())
    }

    async fn say(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// The body of the next frame; `None` at the end.
    async fn hear(&mut self) -> Option<Vec<u8>> {
        let len = self.0.read_u32().await.ok()?;
        let mut body = vec![0; usize::try_from(len).unwrap()];
        self.0.read_exact(&mut body).await.ok()?;
        Some(body)
    }
}

/// Says to the host at `to` that it is `c`, and that this incarnation of the agent `c1` has ended.
async fn forge(pipes: &Pipes, to: &str, incarnation: Incarnation) -> Option<Raw> {
    let bounds = Limits::default().bounds();
    let mut raw = Raw::dial(pipes, "x", to).await;
    let mine = Hello {
        versions: Versions::OURS,
        cluster: ClusterId::new("test").unwrap(),
        node: node("c"),
        incarnation: NodeIncarnation(1_001),
        nonce: Nonce([3; 8]),
        frame: 64 * 1024,
    };
    let mut said = BytesMut::new();
    mine.encode(&mut said);
    let heard = raw.hear().await?;
    let Ok(Frame::Hello(theirs)) = Frame::decode(&heard, bounds) else {
        return None;
    };
    let link = LinkId::between((&theirs.node, theirs.nonce), (&mine.node, mine.nonce));
    LinkConditions {
        challenge: None,
        allowance: Allowance::of(&Limits::default()),
        end: None,
    }
    .encode(&mut said);
    encode_proof(link, &[], &mut said);
    raw.say(&said).await;
    // It opens the group as the other side does.
    let mut forged = BytesMut::new();
    while forged.is_empty() {
        let body = raw.hear().await?;
        if let Ok(Frame::Roster(roster)) = Frame::decode(&body, bounds) {
            let mut member = Member::up(id("c1"), MemberKind::Voter, Some(3.into()), incarnation);
            (member.presence, member.ends) = (Presence::Down, [incarnation].into_iter().collect());
            let content = RosterContent {
                members: vec![(0, member)],
                ..RosterContent::default()
            };
            RosterFrame::encode(1, 0, roster.opening, &content, &mut forged);
        }
    }
    raw.say(&forged).await;
    Some(raw)
}

/// Three voters whose leader `c1` is said to have ended; how many believe at once that they lead.
async fn believers_after_a_forged_end(secret: Option<Secret>) -> (usize, u64) {
    let folder = tempfile::tempdir().unwrap();
    let pipes = Pipes::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        let bridge = builder(&pipes, name, &others(name));
        let bridge = match &secret {
            Some(secret) => bridge.secret(secret.clone()),
            None => bridge,
        };
        Host::of_voter(bridge, folder.path(), of_epoch(0))
    });
    let agents: Vec<BullyHandle> = [&a, &b, &c].map(|host| host.agents[0].clone()).into();
    let leads = |agent: &&BullyHandle| agent.is_leader();
    until("c1 leads", || agents[2].is_leader()).await;
    all_follow(&[&a, &b], "c1").await;
    sleep(MS(500)).await;
    let incarnation = agents[2].current().incarnation;
    let forged = [
        forge(&pipes, "a", incarnation).await,
        forge(&pipes, "b", incarnation).await,
    ];
    let mut most = 0;
    for _ in 0..1_000 {
        most = most.max(agents.iter().filter(leads).count());
        sleep(MS(1)).await;
    }
    drop(forged);
    let counted = [&a, &b].map(|host| host.bridge.counters().get("secret").unwrap());
    (most, counted.iter().sum())
}

/// The one promise of the quorum mode that depends on which nodes its peers are.
#[test]
fn a_forged_end_gives_two_believers_only_where_peers_prove_nothing() {
    play(async {
        let (most, _) = believers_after_a_forged_end(None).await;
        assert_eq!(most, 2, "as documented: any local user can do this");
        let (most, counted) = believers_after_a_forged_end(Some(secret(1))).await;
        assert_eq!((most, counted), (1, 2));
    });
}
