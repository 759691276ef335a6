//! Each incarnation begins anew. Only settings from outside, such as a score, outlast a crash.

use actix::clock;
use actix_bully::{
    agent::Lifecycle,
    protocol::{Incarnation, Presence, Score},
    testkit::Inject,
};

use crate::{
    stage::{MS, Stage, id, play, settle},
    toy::{Act, Toy},
};

#[test]
fn a_crash_begins_a_later_incarnation_without_old_timers() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).score(3).start().unwrap();
        stage.prompt(&toy, &[Act::Set('a', MS(150))]).await;
        let born = ["toy.1 born Started, score 3, None", "toy.1 start among 2"];
        assert_eq!(stage.inputs.take(), born);
        toy.addr().do_send(Inject::Crash);
        settle().await;
        assert_eq!(toy.current().lifecycle, Lifecycle::Down);
        let member = stage.group.members().get(&id("toy")).unwrap().clone();
        assert_eq!(member.presence, Presence::Down);
        stage.tell(&toy, &[Act::Say("queued")]);
        clock::sleep(MS(1_000)).await;
        let born = ["toy.2 born Restarted, score 3, None", "toy.2 start among 2"];
        assert_eq!(stage.inputs.take(), born);
        assert_eq!(stage.heard.take().last().unwrap(), "queued");
        let status = toy.current();
        assert_eq!(
            (status.lifecycle, status.incarnation),
            (Lifecycle::Running, Incarnation(2))
        );
    });
}

#[test]
fn a_score_that_was_set_outlasts_a_crash() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).score(3).start().unwrap();
        settle().await;
        toy.set_score(8).unwrap();
        settle().await;
        let score = || stage.group.members().get(&id("toy")).unwrap().score;
        assert_eq!(score(), Some(Score::from(8)));
        toy.addr().do_send(Inject::Crash);
        settle().await;
        toy.set_score(9).unwrap(); // the agent is down
        stage.inputs.take();
        clock::sleep(MS(500)).await;
        let lines = stage.inputs.take();
        assert_eq!(
            lines.first().unwrap(),
            "toy.2 born Restarted, score 9, None"
        );
        assert_eq!(score(), Some(Score::from(9)));
        toy.withdraw_score().unwrap();
        settle().await;
        assert_eq!(score(), None);
    });
}
