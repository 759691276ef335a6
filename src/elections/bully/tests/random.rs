//! Thousands of random lives, nonsense included: nothing panics, and the contract holds.

use super::*;

/// The generator `SplitMix64`.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit
    }

    pub(super) fn index(&mut self, len: usize) -> usize {
        let limit = u64::try_from(len).unwrap();
        usize::try_from(self.below(limit)).unwrap()
    }

    pub(super) fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    pub(super) fn pick<X: Copy>(&mut self, from: &[X]) -> X {
        from[self.index(from.len())]
    }
}

fn score(dice: &mut Dice) -> i32 {
    i32::try_from(dice.below(11)).unwrap()
}

fn term(dice: &mut Dice, me: &Kit) -> Term {
    let seen = me.bully.seen.0;
    if dice.one_in(2_000) {
        return Term(u64::MAX - dice.below(3));
    }
    Term((seen.saturating_sub(2)).saturating_add(dice.below(5)))
}

/// Its last round, an earlier one, or one of a former life.
fn any_round(dice: &mut Dice, me: &Kit) -> Round {
    let counter = me.bully.rounds.saturating_sub(dice.below(3) / 2);
    Round {
        incarnation: Incarnation(u64::from(!dice.one_in(8))),
        counter,
    }
}

fn any_message(dice: &mut Dice, me: &Kit) -> BullyMessage {
    let (round, seen) = (any_round(dice, me), term(dice, me));
    let (score, term) = (score(dice).into(), term(dice, me));
    match dice.below(6) {
        0 => Elect {
            round,
            score,
            seen,
            takeover: None,
        }
        .into(),
        1 => Ok {
            round,
            seen,
            refusal: None,
        }
        .into(),
        2 => {
            let released = dice.one_in(3).then_some(seen);
            Yield {
                round,
                seen,
                released,
            }
            .into()
        }
        3 => {
            let answer = dice.one_in(2).then_some(round);
            Elected {
                term,
                score,
                answer,
                sent_at: None,
            }
            .into()
        }
        4 => Heartbeat {
            term,
            score,
            sent_at: None,
        }
        .into(),
        _ => {
            let successor = dice.pick(&[Some(ME), Some(LOW), Some(HIGH), Some(STRANGER), None]);
            resign(term.0, successor).into()
        }
    }
}

fn change(dice: &mut Dice, members: &mut Members) {
    let name = id(dice.pick(&[LOW, HIGH, EYE, ME]));
    let life = Incarnation(1 + dice.below(3));
    match dice.below(9) {
        0 => {
            members.down(&name, life);
        }
        1 | 2 => {
            members.suspect(&name, life);
        }
        3 | 4 => {
            members.up(&name, life);
        }
        5 => {
            members.leave(&name);
        }
        6 => {
            let score = (!dice.one_in(4)).then(|| score(dice).into());
            members.set_score(&name, score);
        }
        7 if name != id(EYE) => {
            let score = (!dice.one_in(4)).then(|| score(dice).into());
            let member = Member::up(name, MemberKind::Voter, score, life);
            members.join([member]);
        }
        7 => members.set_closed(dice.one_in(2)),
        _ => {
            let term = Term(members.term().0 + dice.below(2));
            members.note_leader(Leader {
                id: name,
                incarnation: life,
                term,
            });
        }
    }
}

/// Mostly what happens: a timer that is due, on time or late. Sometimes any at any time.
fn any_timer(dice: &mut Dice, me: &mut Kit) -> Timer {
    let armed = me.contract.armed();
    if armed.is_empty() || dice.one_in(4) {
        return dice.pick(&timer::TIMERS);
    }
    let (timer, due) = dice.pick(&armed);
    let late = dice.pick(&[0, 0, J, J + D + 1, 2 * L]);
    me.now = me.now.max(due).after(Duration::from_millis(late));
    timer
}

fn any_input(dice: &mut Dice, me: &mut Kit) -> InputOf<Bully> {
    match dice.below(20) {
        0..10 => Input::Received {
            from: id(dice.pick(&[LOW, LOW, HIGH, HIGH, EYE, STRANGER, ME])),
            incarnation: Incarnation(1 + dice.below(8) / 6),
            message: any_message(dice, me),
        },
        10..14 => Input::TimedOut(any_timer(dice, me)),
        14..16 => {
            change(dice, &mut me.members);
            Input::Members(Arc::new(me.members.clone()))
        }
        16 => Input::SetScore((!dice.one_in(5)).then(|| score(dice).into())),
        17 => Input::Campaign,
        18 => Input::StepDown {
            to: dice
                .pick(&[None, Some(LOW), Some(HIGH), Some(ME), Some(STRANGER)])
                .map(id),
        },
        _ if dice.one_in(10) => Input::Start(Arc::new(me.members.clone())),
        _ => Input::Drained,
    }
}

fn any_life(dice: &mut Dice, config: BullyConfig) -> Kit {
    let kind = if dice.one_in(10) {
        MemberKind::Observer
    } else {
        MemberKind::Voter
    };
    let score = (!dice.one_in(8)).then(|| score(dice));
    let mut me = Kit::unborn(config, kind, score);
    for _ in 0..dice.below(4) {
        change(dice, &mut me.members);
    }
    me.started()
}

fn lives(seeds: u64, config: &BullyConfig) {
    for seed in 0..seeds {
        let mut dice = Dice::new(seed);
        let mut me = any_life(&mut dice, config.clone());
        let mut last = None;
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..80 {
                me.later(dice.below(3) * dice.below(30));
                let input = any_input(&mut dice, &mut me);
                last = Some((me.now, input.clone(), me.bully.state.clone()));
                me.step(input).whatever();
            }
        }));
        assert!(run.is_ok(), "seed {seed}: {last:#?}");
    }
}

#[test]
fn any_life_keeps_the_contract() {
    lives(1_500, &lan());
}

#[test]
fn any_life_without_preemption_keeps_the_contract() {
    lives(800, &never());
}

#[test]
fn any_life_with_patient_preemption_keeps_the_contract() {
    lives(800, &after_a_second());
}

#[test]
fn any_life_with_a_margin_keeps_the_contract() {
    lives(
        500,
        &BullyConfig {
            margin: Some(3.into()),
            ..lan()
        },
    );
}

#[test]
fn any_life_without_a_detector_keeps_the_contract() {
    lives(
        500,
        &BullyConfig {
            timings: Timings::astra(),
            ..lan()
        },
    );
}

#[test]
fn any_strict_life_keeps_the_contract() {
    lives(1_000, &BullyConfig::strict());
}
