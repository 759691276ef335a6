//! Three machines without a network. The tests break the driver's part of the contract on purpose.

use super::*;
use crate::driver::MembersReports as _;

/// Delivers the messages in `effects`, and all messages that follow from them, to the agents in `kits`.
pub(super) fn deliver(kits: &mut [(&str, Kit)], from: usize, effects: StepEffects) {
    let mut queue: VecDeque<(usize, StepEffects)> = VecDeque::from([(from, effects)]);
    while let Some((from, effects)) = queue.pop_front() {
        let name = kits[from].0;
        for effect in effects.0 {
            let Effect::Send { to, message } = effect else {
                continue;
            };
            let listens = |id: &AgentId| match &to {
                To::One(one) => one == id,
                To::All => true,
                To::Set(some) => some.contains(id),
            };
            for (at, (listener, kit)) in kits.iter_mut().enumerate() {
                if at != from && listens(&id(listener)) {
                    queue.push_back((at, kit.hear(name, message.clone())));
                }
            }
        }
    }
}

/// Returns LOW, ME and HIGH. HIGH leads in the first term.
fn three() -> [(&'static str, Kit); 3] {
    three_by(&config())
}

pub(super) fn three_by(config: &QuorumConfig) -> [(&'static str, Kit); 3] {
    let kit = |name: &str, score: i32| {
        let mut kit = Kit::began(config.clone(), MemberKind::Voter, Some(score));
        let identity = Identity {
            id: id(name),
            ..kit.machine.core.me.identity()
        };
        kit.machine = QuorumBully::new(identity, &kit.machine.core.config, None);
        kit.members.set_score(&id(ME), Some(5.into()));
        kit.begin().whatever();
        kit
    };
    let mut all = [(LOW, kit(LOW, 1)), (ME, kit(ME, 5)), (HIGH, kit(HIGH, 9))];
    let seen = all[2].1.fire(BullyTimer::Election);
    deliver(&mut all, 2, seen);
    assert_eq!(all[2].1.view().leading, Some(Term(1)));
    all
}

pub(super) fn pass(kits: &mut [(&str, Kit)], millis: u64) {
    for (_, kit) in kits {
        kit.later(millis);
    }
}

fn leading(kits: &[(&str, Kit)]) -> Vec<Term> {
    kits.iter()
        .filter_map(|(_, kit)| kit.view().leading)
        .collect()
}

/// `only-confirmed-end-voids` (a): a driver must revoke a leadership before it confirms the end, because a crashed
/// agent runs no code.
#[test]
fn an_end_that_is_confirmed_before_the_lease_ended_makes_two_lead() {
    let mut all = three();
    let [low, me, high] = &mut all;
    let end = |m: &mut Members| _ = m.down(&id(HIGH), Incarnation(1));
    low.1.told(end).whatever();
    let effects = me.1.told(end);
    let revoked = high.1.clone();
    deliver(&mut all[..2], 1, effects);
    assert_eq!(all[1].1.view().leading, Some(Term(2)));
    assert_eq!(
        revoked.view().leading,
        Some(Term(1)),
        "HIGH has not heard of its reported end"
    );
}

/// Scenario 58
#[test]
fn a_voter_with_a_higher_term_costs_no_leadership() {
    let mut all = three();
    all[0].1.machine.core.voter.record.term = Term(9);
    pass(&mut all, H);
    let seen = all[2].1.fire(BullyTimer::Heartbeat);
    deliver(&mut all, 2, seen);
    assert_eq!(leading(&all), [Term(10)]);
    for (name, kit) in &all {
        assert_eq!(kit.view().leader, Some(leader(HIGH, 10)), "{name}");
    }
}

/// Scenario 73
#[test]
fn two_that_claim_the_same_term_are_not_both_elected() {
    let mut all = three();
    let seen = all[2].1.step_down(None);
    seen.whatever();
    pass(&mut all, P);
    for at in [0, 1] {
        all[at].1.fire(BullyTimer::Election).whatever();
        all[at].1.fire(BullyTimer::Election).whatever();
    }
    let one = all[0].1.hear(HIGH, yields_at(1, 1));
    let other = all[1].1.hear(HIGH, yields_at(1, 1));
    deliver(&mut all, 0, one);
    deliver(&mut all, 1, other);
    assert!(leading(&all).len() <= 1);
}
