//! Thousands of random incarnations, nonsense included: nothing panics, and the contract holds.

use super::*;
use crate::testkit::faults::SplitMix64;

const NAMES: [&str; 5] = [LOW, HIGH, EYE, ME, "stranger"];

fn pick<T: Copy>(random: &mut SplitMix64, from: &[T]) -> T {
    *random.pick(from).unwrap()
}

fn score(random: &mut SplitMix64) -> i32 {
    i32::try_from(random.below(11)).unwrap()
}

/// One that is under way, an older or a later one.
fn any_election(random: &mut SplitMix64, me: &Kit) -> ElectionId {
    if random.chance(1) {
        return election(u64::MAX - random.below(3), HIGH);
    }
    let promised = me.machine.core.numbers.promised.clone();
    if let Some(promised) = promised.filter(|_| random.chance(500)) {
        return promised;
    }
    let count = me.machine.core.numbers.seen.0.saturating_sub(2) + random.below(4);
    election(count, pick(random, &NAMES))
}

fn any_message(random: &mut SplitMix64, me: &Kit, from: &str) -> ReorganizationMessage {
    let mut election = any_election(random, me);
    let call = pick(random, &[Call::Halt, Call::NewCoordinator, Call::Ready]);
    let some = score(random).into();
    let score = random.chance(900).then_some(some);
    let seen = Term(me.machine.core.numbers.seen.0.saturating_sub(1) + random.below(3));
    let kind = random.below(11);
    if kind < 5 && random.chance(900) {
        election.id = id(from);
    }
    match kind {
        0 => Halt {
            election,
            score: some,
        }
        .into(),
        1 => NewCoordinator { election }.into(),
        2 => Ready {
            election,
            score: some,
            task: Task(seen.0),
        }
        .into(),
        3 => AreYouNormal {
            election,
            score: some,
        }
        .into(),
        4 => Resign {
            election,
            successor: random.chance(500).then(|| id(ME)),
        }
        .into(),
        5 => AreYouThere { election, score }.into(),
        6 => There {
            election,
            score,
            coordinates: random.chance(500),
            seen,
        }
        .into(),
        7 => Normal { election }.into(),
        8 => NotNormal { election, seen }.into(),
        9 => Ack { call, election }.into(),
        _ => Nack {
            call,
            election,
            seen,
            score,
        }
        .into(),
    }
}

fn change(random: &mut SplitMix64, members: &mut Members) {
    let name = id(pick(random, &[LOW, HIGH, EYE, ME]));
    let life = Incarnation(1 + random.below(3));
    match random.below(8) {
        0 => drop(members.down(&name, life)),
        1 => drop(members.suspect(&name, life)),
        2 | 3 => drop(members.up(&name, life)),
        4 => drop(members.leave(&name)),
        5 => {
            let score = random.chance(750).then(|| score(random).into());
            members.set_score(&name, score);
        }
        6 if name != id(EYE) => {
            let score = random.chance(750).then(|| score(random).into());
            members.join([Member::up(name, MemberKind::Voter, score, life)]);
        }
        _ => {
            let term = Term(members.term().0 + random.below(2));
            members.note_leader(Leader {
                id: name,
                incarnation: life,
                term,
            });
        }
    }
}

/// Mostly one that is due, on time or late.
fn time_out(random: &mut SplitMix64, me: &mut Kit) -> Vec<String> {
    let armed = me.contract.armed();
    if let Some((timer, due)) = random.pick(&armed).copied()
        && random.chance(800)
    {
        me.now = me.now.max(due);
        let late = if random.chance(100) { 1_000 } else { 3 };
        return me.later(random.below(late)).fire(timer);
    }
    let timer = pick(
        random,
        &[Timer::Answer, Timer::Takeover, Timer::Watch, Timer::Check],
    );
    me.fire(timer)
}

fn live(random: &mut SplitMix64, me: &mut Kit) {
    me.later(random.below(30));
    match random.below(10) {
        0..=4 => {
            let from = pick(random, &NAMES);
            let message = any_message(random, me, from);
            me.hear_incarnation(from, 1 + random.below(2), message);
        }
        5..=7 => drop(time_out(random, me)),
        8 => {
            let mut members = me.members.clone();
            change(random, &mut members);
            me.told(|m| *m = members);
        }
        _ => {
            let to = random.chance(500).then(|| id(pick(random, &NAMES)));
            let score = random.chance(800).then(|| score(random).into());
            let command = pick(random, &[0, 1, 2, 3]);
            me.step(match command {
                0 => Input::Campaign,
                1 => Input::SetScore(score),
                2 => Input::StepDown { to },
                _ => Input::Drained,
            });
        }
    }
}

#[test]
fn whatever_comes_the_contract_holds() {
    let mut reached = std::collections::BTreeSet::new();
    for seed in 0..1_500 {
        let mut random = SplitMix64::new(seed);
        let kind = if random.chance(100) {
            MemberKind::Observer
        } else {
            MemberKind::Voter
        };
        let when_asked = pick(&mut random, &[WhenAsked::Answer, WhenAsked::Elect]);
        let config = ReorganizationConfig {
            when_asked,
            ..lan()
        };
        let score = random.chance(900).then(|| score(&mut random));
        let mut me = Kit::unborn(kind, score, config).started();
        for _ in 0..200 {
            live(&mut random, &mut me);
            reached.insert((me.machine.status(), me.role()));
        }
    }
    assert_eq!(reached.len(), 7, "all states are reached: {reached:?}");
}
