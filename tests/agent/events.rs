//! The events of subscribers: `Acquired` and `Lost` alternate, at every time of subscription and under every fault.

use actix::{Actor, ActorFutureExt, AsyncContext, Context, Handler, WrapFuture, clock};
use actix_bully::{agent::Notice, testkit::Inject};

use crate::{
    stage::{Log, MS, Scribe, Stage, play, play_toy, settle},
    toy::{Act, Toy},
};

#[test]
fn a_late_subscriber_hears_the_present_state_first() {
    play_toy(async |stage, toy, _| {
        let [early, late] = [Log::default(), Log::default()];
        let scribes = [&early, &late].map(|log| Scribe(log.clone()).start());
        stage.prompt(&toy, &[Act::Follow("prompter", 1)]).await;
        toy.subscribe(scribes[0].clone().recipient()).unwrap();
        settle().await;
        assert_eq!(early.take(), ["toy: follows prompter in term 1"]);
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        toy.subscribe(scribes[1].clone().recipient()).unwrap();
        stage.prompt(&toy, &[Act::Lose]).await;
        let events = [
            "toy: acquired the leadership in term 2",
            "toy: lost the leadership of term 2: resigned",
        ];
        assert_eq!(early.take(), events);
        assert_eq!(late.take(), events);
    });
}

#[test]
fn a_subscriber_is_not_kept_alive() {
    play_toy(async |stage, toy, _| {
        let scribe = Scribe(Log::default()).start();
        let weak = scribe.downgrade();
        toy.subscribe(scribe.recipient::<Notice>()).unwrap();
        settle().await;
        assert!(weak.upgrade().is_none());
        stage
            .prompt(&toy, &[Act::Acquire(1), Act::Say("fine")])
            .await;
        assert_eq!(stage.heard.take(), ["fine"]);
    });
}

#[test]
fn subscribers_hear_once_of_a_leadership_that_ran_out_while_the_agent_hung() {
    play_toy(async |stage, toy, log| {
        let scribe = Scribe(log.clone()).start();
        toy.subscribe(scribe.clone().recipient()).unwrap();
        let acts = [Act::Acquire(1), Act::Limit(MS(30))];
        stage.prompt(&toy, &acts).await; // done at 0 ms, checked at 1 ms
        assert_eq!(log.take(), ["toy: acquired the leadership in term 1"]);
        toy.addr().do_send(Inject::hang(clock::sleep(MS(500))));
        clock::sleep(MS(28)).await;
        assert_eq!(log.take(), [""; 0], "29 of 30 ms have passed");
        clock::sleep(MS(10)).await;
        assert_eq!(log.take(), [""; 0], "the agent has 10 ms to say it itself");
        clock::sleep(MS(3)).await;
        assert_eq!(log.take(), ["toy: lost the leadership of term 1: stalled"]);
        stage.tell(&toy, &[Act::Lose]); // the report of the machine, which runs again
        clock::sleep(MS(600)).await;
        assert_eq!(log.take(), [""; 0], "one `Lost` for each `Acquired`");
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        assert_eq!(log.take(), ["toy: acquired the leadership in term 2"]);
        toy.addr().do_send(Inject::hang(clock::sleep(MS(500))));
        clock::sleep(MS(200)).await;
        assert_eq!(log.take(), ["toy: lost the leadership of term 2: stalled"]);
        let late = Scribe(log.clone()).start();
        toy.subscribe(late.clone().recipient()).unwrap();
        stage.tell(&toy, &[Act::Renew(3)]);
        clock::sleep(MS(310)).await;
        let again = ["toy: acquired the leadership in term 3"; 2];
        assert_eq!(log.take(), again, "its machine never lost it");
        toy.leave(MS(100)).await.unwrap();
    });
}

#[test]
fn a_leader_that_runs_says_itself_why_its_lease_ended() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::scripted("toy", &stage, |script| {
            script.at_timer = vec![('l', Act::Lose)];
        });
        let toy = toy.start().unwrap();
        let log = Log::default();
        let scribe = Scribe(log.clone()).start();
        toy.subscribe(scribe.clone().recipient()).unwrap();
        let acts = [
            Act::Acquire(1),
            Act::Limit(MS(30)),
            Act::Set('l', MS(30)), // at the instant at which the lease ends
        ];
        stage.prompt(&toy, &acts).await;
        clock::sleep(MS(100)).await;
        let events = [
            "toy: acquired the leadership in term 1",
            "toy: lost the leadership of term 1: resigned",
        ];
        assert_eq!(log.take(), events);
    });
}

/// An actor that handles no message for a second, and has room for one message meanwhile.
struct Busy(Log);

impl Actor for Busy {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(1);
        ctx.wait(clock::sleep(MS(1_000)).into_actor(self).map(|(), _, _| ()));
    }
}

impl Handler<Notice> for Busy {
    type Result = ();

    fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
        self.0.add(notice.event);
    }
}

#[test]
fn no_event_is_left_out_where_a_mailbox_is_full() {
    play_toy(async |stage, toy, log| {
        let busy = Busy(log.clone()).start();
        toy.subscribe(busy.clone().recipient()).unwrap();
        let mut said = Vec::new();
        for term in 1..=20 {
            stage.prompt(&toy, &[Act::Acquire(term), Act::Lose]).await;
            said.push(format!("acquired the leadership in term {term}"));
            said.push(format!("lost the leadership of term {term}: resigned"));
        }
        assert_eq!(log.take(), [""; 0], "it has handled nothing");
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), said);
    });
}
