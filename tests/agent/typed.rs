//! An application sends and receives each message of the textbook by a type of its own.

use actix::{Actor, Context, Handler, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyMember, StartError},
    elections::{
        AnyMessage,
        bully::{Elect, Elected, Ok as Answer},
    },
    group::Envelope,
    protocol::{Round, Score, Term},
};

use crate::stage::{Log, MS, id, play};

/// An actor that notes each message of the textbook. It receives each kind of message by its own type.
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
fn an_actor_of_an_application_is_a_member_and_speaks_by_types_as_long_as_its_place_is_kept() {
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
        let round = Round {
            incarnation: member.incarnation(),
            counter: 1,
        };
        let elect = Elect {
            round,
            score: Score::from(1),
            seen: Term(0),
            ..Elect::default()
        };
        let answer = "agent: elected term 1 score 5, answering 1.1";
        member.send(agent.id(), elect.clone());
        clock::sleep(MS(1)).await;
        assert_eq!(log.take(), [answer]);

        // The address of the agent accepts these types, too.
        macro_rules! say {
            ($message:expr) => {
                agent.addr().do_send(Envelope {
                    from: id("actor"),
                    incarnation: member.incarnation(),
                    message: $message,
                });
                clock::sleep(MS(1)).await;
            };
        }
        say!(elect);
        assert_eq!(log.take(), [answer]);
        say!(Answer {
            round,
            seen: Term(20),
            ..Answer::default()
        });
        assert_eq!(agent.current().term, Term(21), "renewed above it");
        let (term, score) = (Term(29), Score::from(9));
        say!(Elected {
            term,
            score,
            ..Elected::default()
        });
        assert_eq!(agent.leader().unwrap().id, id("actor"));
        assert!(group.members().get(member.id()).is_some());
        drop(member);
        assert!(group.members().get(&id("actor")).is_none());
        join().map(drop).unwrap();
    });
}
