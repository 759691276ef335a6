//! A hand-over waits for a set of subscribers: for one message of each, and for no message of a subscriber that has
//! stopped.

use actix::{Actor, Addr, clock};
use actix_bully::agent::{CommandError, Drained, DrainingToken, ElectionHandle, SubscribeDraining};

use crate::{
    stage::{End, Idle, Log, MS, Scribe, Stage, play, play_toy, settle},
    toy::{Act, Toy},
};

/// Starts a leader with `N` workers, and asks it to hand over.
async fn draining<const N: usize>() -> (Stage, ElectionHandle<Toy>, [(Addr<Idle>, DrainingToken); N])
{
    let stage = Stage::new();
    let toy = Toy::builder("toy", &stage).start().unwrap();
    let workers = [(); N].map(|()| {
        let worker = Idle.start();
        let token = toy.subscribe_draining(worker.clone().recipient());
        (worker, token.unwrap())
    });
    stage.prompt(&toy, &[Act::Acquire(1), Act::Drain]).await;
    assert!(toy.current().draining);
    stage.inputs.take();
    (stage, toy, workers)
}

#[test]
fn two_messages_of_one_subscriber_count_once() {
    play(async {
        let (stage, toy, [a, b]) = draining().await;
        a.1.drained().unwrap();
        a.1.clone().drained().unwrap();
        toy.addr().do_send(a.1.message());
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "the other one works");
        b.1.drained().unwrap();
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        assert!(!toy.current().draining);
    });
}

#[test]
fn a_subscriber_that_stops_is_done_and_speaks_for_no_other() {
    play(async {
        let (stage, toy, [said, silent, slow]) = draining().await;
        said.1.drained().unwrap();
        said.0.do_send(End::Stop);
        silent.0.do_send(End::Stop);
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "one works");
        slow.0.do_send(End::Stop);
        clock::sleep(MS(11)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        assert!(!toy.is_leader());
    });
}

#[test]
fn one_subscriber_needs_no_token_and_several_do() {
    play(async {
        let (stage, toy, [a, b]) = draining().await;
        assert_eq!(toy.drained(), Err(CommandError::SeveralDraining));
        a.0.do_send(End::Stop);
        settle().await;
        assert_eq!(stage.inputs.take(), [""; 0]);
        assert_eq!(toy.drained(), Ok(()), "the other one is the only one");
        clock::sleep(MS(11)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        drop(b);
    });
}

#[test]
fn a_drained_message_counts_for_the_present_hand_over_only() {
    play(async {
        let (stage, toy, [a]) = draining().await;
        stage.prompt(&toy, &[Act::Lose, Act::Acquire(2)]).await;
        a.1.drained().unwrap(); // no hand-over has asked for it
        settle().await;
        stage.prompt(&toy, &[Act::Drain]).await;
        clock::sleep(MS(100)).await;
        assert_eq!(stage.inputs.take(), [""; 0]);
        a.1.drained().unwrap();
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
    });
}

#[test]
fn a_subscriber_that_comes_while_a_leader_drains_is_told_and_waited_for() {
    play(async {
        let (stage, toy, [first]) = draining().await;
        let log = Log::default();
        let scribe = Scribe(log.clone()).start();
        let late = SubscribeDraining(scribe.clone().recipient());
        let late: DrainingToken = toy.addr().send(late).await.unwrap();
        settle().await;
        let events = [
            "toy: acquired the leadership in term 1",
            "toy: drains in term 1",
        ];
        assert_eq!(log.take(), events);
        first.1.drained().unwrap();
        settle().await;
        assert_eq!(stage.inputs.take(), [""; 0]);
        let message: Drained = late.message();
        toy.addr().send(message).await.unwrap();
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
    });
}

#[test]
fn a_hand_over_without_work_does_not_wait() {
    play_toy(async |stage, toy, _| {
        let scribe = Scribe(Log::default()).start();
        toy.subscribe(scribe.clone().recipient()).unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        toy.step_down(None).unwrap();
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        assert!(!toy.is_leader());
    });
}
