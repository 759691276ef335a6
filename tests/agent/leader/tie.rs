//! An agent that is tied to an actor: after the end of the actor the agent is not eligible.

use std::time::Duration;

use actix::{Actor, Addr, Context, clock};
use actix_bully::{
    agent::{CommandError, ElectionHandle},
    protocol::Score,
    testkit::Inject,
};

use crate::{
    stage::{End, Idle, MS, Stage, id, play, play_toy, settle},
    toy::{Act, Toy},
};

/// Starts an agent with the score 7 and an actor, and ties the agent to the actor.
fn tied() -> (Stage, ElectionHandle<Toy>, Addr<Idle>) {
    let (stage, database) = (Stage::new(), Idle.start());
    let toy = Toy::builder("toy", &stage).score(7).start().unwrap();
    toy.tie_to(&database).unwrap();
    (stage, toy, database)
}

/// Waits until the agent has noticed the end of an actor.
async fn look() {
    clock::sleep(MS(55)).await;
}

/// Returns the inputs of the machine about its score.
fn told(stage: &Stage) -> Vec<String> {
    let is_score = |line: &String| line.contains("score");
    stage.inputs.take().into_iter().filter(is_score).collect()
}

fn score_of(stage: &Stage) -> Option<Score> {
    let members = stage.group.members();
    members.get(&id("toy")).and_then(|member| member.score)
}

#[test]
fn an_agent_whose_actor_is_gone_withdraws_and_gets_its_score_back_with_the_next_actor() {
    for how in [End::Stop, End::Panic] {
        play(async {
            let (stage, toy, database) = tied();
            settle().await;
            stage.inputs.take();
            clock::sleep(Duration::from_secs(60)).await;
            assert_eq!(told(&stage), [""; 0], "it is there");
            assert!(!toy.current().tie_broken);

            database.do_send(how);
            look().await;
            assert_eq!(told(&stage), ["toy.1 score false"]);
            assert!(toy.current().tie_broken);
            assert_eq!(score_of(&stage), None, "the group knows it");

            let next = Idle.start();
            toy.tie_to(&next).unwrap();
            settle().await;
            assert_eq!(told(&stage), ["toy.1 score true"]);
            assert!(!toy.current().tie_broken);
            assert_eq!(score_of(&stage), Some(Score::from(7)));
            look().await;
            assert_eq!(told(&stage), [""; 0]);

            toy.tie_to(&database).unwrap(); // this actor has ended before
            settle().await;
            assert_eq!(told(&stage), ["toy.1 score false"]);
        });
    }
}

#[test]
fn a_tie_outlasts_a_crash_of_the_agent_whether_it_holds_or_not() {
    play(async {
        let (stage, toy, database) = tied();
        settle().await;
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        assert_eq!(score_of(&stage), Some(Score::from(7)));
        database.do_send(End::Stop);
        look().await;
        assert_eq!(score_of(&stage), None);
        stage.inputs.take();
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        let born = stage.inputs.take();
        assert!(
            born.iter()
                .any(|line| line.contains("born Restarted, score none"))
        );
        assert_eq!(score_of(&stage), None);
    });
}

#[test]
fn a_tie_keeps_no_actor_alive() {
    struct Quiet(Addr<Idle>);
    impl Actor for Quiet {
        type Context = Context<Self>;
        fn stopped(&mut self, _: &mut Context<Self>) {
            self.0.do_send(End::Stop);
        }
    }
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).score(7).start().unwrap();
        let seen = Idle.start();
        let quiet = Quiet(seen.clone()).start();
        toy.tie_to(&quiet).unwrap();
        look().await;
        assert!(seen.connected());
        drop(quiet);
        look().await;
        assert!(
            !seen.connected(),
            "its last address is gone, and it stopped"
        );
        assert_eq!(score_of(&stage), None);
    });
}

#[test]
fn an_agent_that_has_ended_is_tied_to_nothing() {
    play_toy(async |stage, toy, _| {
        let database = Idle.start();
        toy.tie_to(&database).unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        toy.leave(MS(100)).await.unwrap();
        assert_eq!(toy.tie_to(&database), Err(CommandError::Ended));
        database.do_send(End::Stop);
        look().await;
        assert!(!toy.current().tie_broken);
    });
}
