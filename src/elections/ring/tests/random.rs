//! Any inputs in any order: the contract holds, whatever comes.

use super::*;
use crate::testkit::faults::SplitMix64;

fn message(random: &mut SplitMix64) -> RingMessage {
    let names = [A, B, ME, Z, EYE, STRANGER];
    let mut name = || *random.pick(&names).unwrap();
    let (one, other, third) = (name(), name(), name());
    let term = random.below(6);
    let score = i32::try_from(random.below(10)).unwrap();
    match random.below(6) {
        0 => {
            let list = [(one, score), (other, score), (third, 4)];
            let some = usize::try_from(random.between(1, 3)).unwrap();
            collect(term, (one, score), &list[..some]).into()
        }
        1 => nominate(term, one, other, &[one, third]).into(),
        2 => beat(one, term, score, random.below(3)).into(),
        3 => {
            let lap = *random
                .pick(&[Lap::Collect, Lap::Nominate, Lap::Coordinator])
                .unwrap();
            ack(lap, term, one, random.below(3), random.below(6)).into()
        }
        4 => probe(random.below(6)).into(),
        _ => answer(term, random.chance(700).then_some((one, term))).into(),
    }
}

/// Something happens to that member.
fn change(
    m: &mut Members,
    name: &AgentId,
    incarnation: Incarnation,
    random: &mut SplitMix64,
) -> bool {
    match random.below(4) {
        0 => m.down(name, incarnation),
        1 => m.suspect(name, incarnation),
        2 => m.leave(name),
        _ => {
            let is_eye = name.as_str() == EYE;
            let kind = if is_eye {
                MemberKind::Observer
            } else {
                MemberKind::Voter
            };
            let is_new = m.get(name).is_none();
            if is_new {
                m.join([Member::up(name.clone(), kind, Some(4.into()), incarnation)]);
            }
            is_new || m.up(name, incarnation)
        }
    }
}

fn step(kit: &mut Kit, random: &mut SplitMix64) {
    kit.later(random.below(30));
    let names = [A, B, Z, EYE];
    let name = id(random.pick(&names).unwrap());
    let incarnation = Incarnation(random.between(1, 3));
    match random.below(12) {
        0..=4 => {
            let (message, incarnation) = (message(random), random.between(1, 2));
            // A member that is heard is there: a driver tells that first.
            let is_up = |m: &Member| m.is_up() && m.incarnation == Some(Incarnation(incarnation));
            let member = kit.members.get(&name);
            let is_news =
                member.is_some_and(|m| !is_up(m) && !m.is_stale(Incarnation(incarnation)));
            if is_news {
                kit.told(|m| m.up(&name, Incarnation(incarnation)))
                    .whatever();
            }
            kit.hear_incarnation(name.as_str(), incarnation, message)
                .whatever();
        }
        5..=7 => {
            // The next timer, on time or late.
            let armed = kit.contract.armed();
            if let Some((timer, due)) = armed.into_iter().min_by_key(|(_, due)| *due) {
                let late = if random.chance(100) {
                    random.below(2_000)
                } else {
                    0
                };
                kit.now = kit.now.max(due.after(Duration::from_millis(late)));
                kit.fire(timer).whatever();
            }
        }
        8 => kit
            .told(|m| change(m, &name, incarnation, random))
            .whatever(),
        9 => {
            let score = i32::try_from(random.below(12)).unwrap();
            kit.set_score((score < 11).then_some(score)).whatever();
        }
        10 => kit.step(Input::Campaign).whatever(),
        _ => {
            let to = random.chance(500).then_some(name);
            let input = if random.chance(500) {
                Input::Drained
            } else {
                Input::StepDown { to }
            };
            kit.step(input).whatever();
        }
    }
}

#[test]
fn the_contract_holds_whatever_comes() {
    let mut led = 0_u32;
    for seed in 0..150 {
        let mut random = SplitMix64::new(seed);
        let kits = Kit::roles();
        let at = usize::try_from(random.below(10)).unwrap();
        let mut kit = kits[at].1.clone();
        for _ in 0..200 {
            step(&mut kit, &mut random);
            led += u32::from(kit.role() == Role::Leader);
        }
    }
    assert!(led > 500, "it is not always the same: {led}");
}
