//! Each incarnation is new, and only what was set from outside outlasts it.

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
        toy.set_score(9).unwrap(); // while it is down
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

#[test]
fn a_machine_that_crashes_in_its_first_step_is_restarted_until_the_budget_is_spent() {
    play(async {
        let stage = Stage::new();
        let builder = Toy::scripted("toy", &stage, |script| script.at_start = vec![Act::Crash]);
        let toy = builder.start().unwrap();
        clock::sleep(MS(20_000)).await;
        assert_eq!(toy.current().lifecycle, Lifecycle::Ended);
        let births = stage
            .inputs
            .take()
            .iter()
            .filter(|l| l.contains("born"))
            .count();
        assert_eq!(births, 6, "once, and five restarts");
        assert!(!stage.group.members().get(&id("toy")).unwrap().is_up());
    });
}

#[test]
fn the_end_of_the_system_is_an_end_like_any_other() {
    let (toy, group) = {
        let system = crate::common::virtual_system();
        system.block_on(async {
            let stage = Stage::new();
            let toy = Toy::builder("toy", &stage).start().unwrap();
            stage.prompt(&toy, &[Act::Acquire(1)]).await;
            assert!(toy.is_leader());
            (toy, stage.group.clone())
        })
    };
    assert!(!toy.is_leader());
    assert_eq!(toy.current().lifecycle, Lifecycle::Ended);
    assert!(!group.members().get(&id("toy")).unwrap().is_up());
}
