//! Compares the algorithm as written with this crate's algorithm: each fault of the former, and its repair in the
//! latter.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ballot::Ballot,
    protocol::{Incarnation, MemberKind, Round, Score, Time},
    testkit::faults::Conditions,
};
use bully_classics::ballot::{BallotNumber, BallotTimer, HeartbeatReply, Standing};
use bully_core::protocol::{Birth, Effects, Election, Identity, Input, InputOf, Member, Members};
use bully_sim::sim::{Detection, Participant, World};

use crate::ballot::{
    ble::{AsWritten, Ble},
    kit::{CAP, Group, ROUND, config, id, ms, names, usual},
};

fn as_written(n: i32, seed: u64) -> World<AsWritten> {
    let voters = names(usize::try_from(n).unwrap()).into_iter().zip(1..);
    let voters = voters
        .map(|(id, score): (_, i32)| Participant::voter(id, Some(Score::from(score)), ms(ROUND)));
    World::builder(seed)
        .agents(voters)
        .conditions(usual().build().unwrap())
        .detection(Detection::Silent(Duration::ZERO.into()))
        .build()
}

fn believers<E: Election>(world: &World<E>) -> Vec<String> {
    world.believers().iter().map(ToString::to_string).collect()
}

/// In the algorithm as written, half of the voters is enough, so one of two voters elects itself.
#[test]
fn each_of_two_that_are_cut_elects_itself() {
    let mut old = as_written(2, 1);
    old.cut("a", "b");
    old.run_for(ms(10 * ROUND));
    assert_eq!(believers(&old), ["a", "b"]);
    let mut new = Group::of(2).world(1);
    new.world.cut("a", "b");
    new.run(10 * ROUND);
    assert!(new.believers().is_empty());
}

#[test]
fn the_event_comes_every_round() {
    let mut old = as_written(3, 1);
    old.run_for(ms(102 * ROUND));
    let triggered = old.machine("a").map(AsWritten::triggered);
    assert_eq!(triggered, Some(101), "one for each round but the first");
    let mut new = Group::of(3).world(1);
    new.run(102 * ROUND);
    assert_eq!(new.world.events("a").len(), 1);
}

#[test]
fn one_slow_voter_lengthens_the_rounds_without_end() {
    fn slow<E: Election>(world: &mut World<E>) {
        let slow = Conditions::builder()
            .delay(ms(CAP)..=ms(CAP))
            .build()
            .unwrap();
        for other in ["b", "c"] {
            world.set_link("a", other, Some(slow));
            world.set_link(other, "a", Some(slow));
        }
    }
    let mut old = as_written(3, 1);
    slow(&mut old);
    old.run_for(ms(200 * ROUND));
    let blind = old.machine("b").map(AsWritten::delay).unwrap();
    assert!(blind > 2 * ms(CAP), "{blind:?}");
    let mut new = Group::of(3).led(1);
    slow(&mut new.world);
    new.run(200 * ROUND);
    assert!(new.world.machine("b").unwrap().round_takes() <= ms(CAP));
}

/// The algorithm as written keeps no record, so after a restart of all agents it elects the same ballot a second time.
#[test]
fn the_same_ballot_is_elected_by_two_incarnations() {
    fn terms<E: Election>(world: &mut World<E>) -> Vec<u64> {
        let mut terms = Vec::new();
        for _ in 0..2 {
            world.run_for(ms(10 * ROUND));
            terms.extend(world.beliefs().map(|(_, term)| term.0));
            for agent in ["a", "b", "c"] {
                world.crash(agent);
            }
            for agent in ["a", "b", "c"] {
                world.restart(agent);
            }
        }
        terms
    }
    assert_eq!(terms(&mut as_written(3, 1)), [0, 0]);
    assert_eq!(terms(&mut Group::of(3).world(1).world), [1, 2]);
}

/// The algorithm as written collects replies as a set of pairs. A voter that gets a repeated request replies twice. If
/// it took a higher ballot in between, its two replies differ and count as two voters. So two of five agents elect a
/// leader.
#[test]
fn a_voter_that_replies_with_two_ballots_is_taken_for_two() {
    let old = |replies: &[(&str, u64)]| {
        let mut old = AsWritten::new(first_of_five(), &ms(ROUND), None);
        feed(&mut old, Input::Start(five()));
        feed(&mut old, Input::TimedOut(())); // the first round begins
        for (voter, n) in replies {
            let (round, ballot) = (1, (*n, id(voter)));
            feed(&mut old, from(voter, Ble::Reply { round, ballot }));
        }
        feed(&mut old, Input::TimedOut(()));
        old.view(Time::ZERO).leader.map(|leader| leader.id)
    };
    assert_eq!(old(&[("b", 2)]), None, "two are no majority");
    assert_eq!(old(&[("b", 1), ("b", 2)]), Some(id("b")));

    let new = |replies: &[(&str, u64)]| {
        let mut new = Ballot::new(first_of_five(), &Arc::new(config(5)), None);
        feed(&mut new, Input::Start(five())); // the first round begins
        for (voter, n) in replies {
            feed(&mut new, from(voter, reply(voter, *n).into()));
        }
        feed(&mut new, Input::TimedOut(BallotTimer::Round));
        new.is_connected()
    };
    assert!(!new(&[("b", 1), ("b", 2)]));
    assert!(new(&[("b", 1), ("c", 2)]));
}

fn reply(voter: &str, n: u64) -> HeartbeatReply {
    let (id, score) = (id(voter), 2.into());
    let round = Round {
        incarnation: Incarnation(1),
        counter: 1,
    };
    let standing = Standing {
        ballot: Some(BallotNumber { n, score, id }),
        eligible: true,
        connected: true,
        hears: None,
    };
    HeartbeatReply { round, standing }
}

fn first_of_five() -> Identity {
    Identity {
        id: id("a"),
        incarnation: Incarnation(1),
        kind: MemberKind::Voter,
        score: Some(1.into()),
        birth: Birth::Started,
        store: None,
    }
}

fn five() -> Arc<Members> {
    let mut members = Members::new(false);
    members.join((1..).zip(names(5)).map(|(score, id): (i32, _)| {
        let (kind, score) = (MemberKind::Voter, Some(score.into()));
        Member::up(id, kind, score, Incarnation(1))
    }));
    Arc::new(members)
}

fn feed<E: Election>(machine: &mut E, input: InputOf<E>) {
    machine.handle(Time::ZERO, input, &mut Effects::new());
}

fn from<M, T>(voter: &str, message: M) -> Input<M, T> {
    let (from, incarnation) = (id(voter), Incarnation(1));
    Input::Received {
        from,
        incarnation,
        message,
    }
}
