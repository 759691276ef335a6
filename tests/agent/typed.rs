//! Each message of the textbook can be sent to an agent by its own type.

use actix::{Actor, Addr, Context, Handler, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, BullyMember, StartError},
    elections::{
        AnyMessage,
        bully::{Elect, Elected, Ok as Answer},
    },
    group::{Envelope, MembersChanged},
    protocol::{Incarnation, MemberKind, Round, Score, Term},
};
use bully_core::{
    elections::bully::{Heartbeat, Resign, Yield},
    protocol::Member,
};

use crate::stage::{Log, MS, id, play};

/// A member that only writes down what it hears.
struct Peer(Log);

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<Envelope<AnyMessage>> for Peer {
    type Result = ();
    fn handle(&mut self, envelope: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.0.add(envelope.message);
    }
}

impl Handler<MembersChanged> for Peer {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

/// An agent "agent" of score 5, and a member "peer" of score 1.
fn set() -> (BullyHandle, Addr<Peer>, Log) {
    let group = Group::new("g").unwrap();
    let agent = BullyAgent::builder("agent").score(5).join(&group);
    let agent = agent.start().unwrap();
    let log = Log::default();
    let peer = Peer(log.clone()).start();
    let (inbox, changes) = (peer.clone().recipient(), peer.clone().recipient());
    let name = id("peer");
    let requirements = group.requirements().unwrap();
    assert_eq!(group.reserve(&name, requirements), Ok(INCARNATION));
    let member = Member::up(name, MemberKind::Voter, Some(Score::from(1)), INCARNATION);
    assert!(group.join(member, inbox, changes));
    (agent, peer, log)
}

fn envelope<M>(message: M) -> Envelope<M> {
    Envelope {
        from: id("peer"),
        incarnation: INCARNATION,
        message,
    }
}

/// As agents say it.
fn general(message: impl Into<AnyMessage>) -> Envelope<AnyMessage> {
    envelope(message.into())
}

const INCARNATION: Incarnation = Incarnation(1);
const ROUND: Round = Round {
    incarnation: INCARNATION,
    counter: 1,
};

#[test]
fn an_elect_is_answered() {
    play(async {
        let (agent, _peer, heard) = set();
        clock::sleep(MS(1)).await;
        heard.take();
        let (score, seen) = (Score::from(1), Term(0));
        let elect = Elect {
            round: ROUND,
            score,
            seen,
            ..Elect::default()
        };
        agent.addr().do_send(envelope(elect));
        clock::sleep(MS(1)).await;
        let answer = "elected term 1 score 5, answering 1.1";
        assert_eq!(heard.take(), [answer]);
    });
}

#[test]
fn a_leadership_is_announced_repeated_and_resigned() {
    play(async {
        let (agent, _peer, _) = set();
        clock::sleep(MS(1)).await;
        assert!(agent.is_leader());
        let (term, score) = (Term(9), Score::from(9));
        let elected = Elected {
            term,
            score,
            ..Elected::default()
        };
        agent.addr().do_send(envelope(elected));
        agent.addr().do_send(general(Heartbeat {
            term,
            score,
            ..Heartbeat::default()
        }));
        clock::sleep(MS(1)).await;
        let leader = agent.leader().unwrap();
        assert_eq!((leader.id, leader.term), (id("peer"), term));
        let successor = Some(id("agent"));
        agent.addr().do_send(general(Resign {
            term,
            successor,
            ..Resign::default()
        }));
        clock::sleep(MS(1)).await;
        assert!(agent.is_leader());
    });
}

#[test]
fn answers_are_heard_whatever_they_are_worth() {
    play(async {
        let (agent, _peer, _) = set();
        clock::sleep(MS(1)).await;
        let term = agent.current().term;
        for seen in [Term(20), Term(30)] {
            agent.addr().do_send(envelope(Answer {
                round: ROUND,
                seen,
                ..Answer::default()
            }));
            clock::sleep(MS(1)).await;
            assert_eq!(agent.current().term, Term(seen.0 + 1), "renewed above it");
            assert!(agent.current().term > term);
        }
        let seen = Term(40);
        let released = None;
        let give_way = Yield {
            round: ROUND,
            seen,
            released,
            ..Yield::default()
        };
        agent.addr().do_send(general(give_way));
        clock::sleep(MS(1)).await;
        assert_eq!(agent.current().term, Term(41));
    });
}

/// An actor of an application, which is told each message of the textbook by its type.
struct ByType(Log);

impl Actor for ByType {
    type Context = Context<Self>;
}

macro_rules! note {
    ($($message:ty),*) => { $(
        impl Handler<Envelope<$message>> for ByType {
            type Result = ();
            fn handle(&mut self, told: Envelope<$message>, _: &mut Context<Self>) {
                self.0.add(format!("{}: {}", told.from, AnyMessage::from(told.message)));
            }
        }
    )* };
}
note!(Elect, Answer, Elected);

#[test]
fn an_actor_of_an_application_is_a_member_as_long_as_its_place_is_kept() {
    play(async {
        let group = Group::new("g").unwrap();
        let agent = BullyAgent::builder("agent").score(5).join(&group);
        let agent = agent.start().unwrap();
        clock::sleep(MS(1)).await;
        let log = Log::default();
        let actor = ByType(log.clone()).start();
        let join = || BullyMember::join(&group, id("actor"), Some(Score::from(1)), &actor);
        let member = join().unwrap();
        assert!(matches!(join(), Err(StartError::Join(_))), "it is taken");
        clock::sleep(MS(1)).await;
        log.take();
        let elect = Elect {
            round: Round {
                incarnation: member.incarnation(),
                counter: 1,
            },
            score: Score::from(1),
            seen: Term(0),
            ..Elect::default()
        };
        member.send(agent.id(), elect);
        clock::sleep(MS(1)).await;
        assert_eq!(log.take(), ["agent: elected term 1 score 5, answering 1.1"]);
        assert!(group.members().get(member.id()).is_some());
        drop(member);
        assert!(group.members().get(&id("actor")).is_none());
        join().map(drop).unwrap();
    });
}
