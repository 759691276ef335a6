//! The time at which a change of a leadership becomes known: a shorter leadership before the effects of a step, and a
//! longer one after them.

use actix::clock;
use actix_bully::{
    agent::{Lifecycle, WaitError},
    protocol::Term,
};
use futures::StreamExt;

use crate::{
    stage::{MS, play_toy, settle},
    toy::Act,
};

#[test]
fn a_gained_leadership_is_published_after_all_effects_and_a_lost_one_before() {
    play_toy(async |stage, toy, _| {
        stage.tap.handle.set(toy.clone()).unwrap();
        stage
            .prompt(&toy, &[Act::Acquire(1), Act::Say("elected")])
            .await;
        assert!(toy.is_leader());
        stage.prompt(&toy, &[Act::Say("heartbeat")]).await;
        stage.prompt(&toy, &[Act::Say("resign"), Act::Lose]).await;
        let seen = [
            "elected to prompter, follows",
            "heartbeat to prompter, leads",
            "resign to prompter, follows",
        ];
        assert_eq!(stage.tap.log.take(), seen);
        assert!(!toy.is_leader());
    });
}

#[test]
fn the_group_notes_the_leader_for_members_that_join_later() {
    play_toy(async |stage, toy, _| {
        settle().await;
        stage.inputs.take();
        stage.prompt(&toy, &[Act::Acquire(7)]).await;
        let members = stage.group.members();
        assert_eq!(members.leader().map(|l| l.term), Some(Term(7)));
        stage.prompt(&toy, &[Act::Lose]).await;
        assert_eq!(stage.group.members().leader(), None);
        assert_eq!(stage.group.members().term(), Term(7));
        assert_eq!(stage.inputs.take(), [""; 0], "no member was notified");
    });
}

#[test]
fn changes_begin_with_the_present_and_skip_to_the_newest() {
    play_toy(async |stage, toy, _| {
        stage.prompt(&toy, &[Act::Follow("prompter", 2)]).await;
        let mut changes = toy.changes();
        let first = changes.next().await.unwrap();
        assert_eq!(first, toy.current());
        assert_eq!((first.term, first.lifecycle), (Term(2), Lifecycle::Running));
        for term in 3..100 {
            stage.tell(&toy, &[Act::Follow("prompter", term)]);
        }
        settle().await;
        assert_eq!(changes.next().await.unwrap().term, Term(99));
        let nothing = clock::timeout(MS(1_000), changes.next()).await;
        assert!(nothing.is_err(), "no state is told twice");
        toy.leave(MS(10)).await.unwrap();
        assert_eq!(changes.next().await.unwrap().lifecycle, Lifecycle::Ended);
        assert_eq!(changes.next().await, None);
    });
}

#[test]
fn waiting_for_a_leader_ends_with_the_leader_or_says_why_not() {
    play_toy(async |stage, toy, _| {
        let within = MS(50);
        let before = clock::Instant::now();
        let timed_out = toy.wait_for_leader(within).await;
        let longest = Some(MS(10_000));
        assert_eq!(timed_out, Err(WaitError::TimedOut { within, longest }));
        assert_eq!(before.elapsed(), MS(50));
        stage.tell(&toy, &[Act::Follow("prompter", 2)]);
        let leader = toy.wait_for_leader(within).await.unwrap();
        assert_eq!(leader.term, Term(2));
        toy.leave(MS(10)).await.unwrap();
        assert_eq!(toy.wait_for_leader(within).await, Err(WaitError::Ended));
    });
}
