//! `claim-for-a-reason` and `one-leader-per-term`, also with copies of messages that arrive late.

use super::*;
use crate::driver::MembersReports as _;

/// Returns a voter whose leader HIGH raises its term: the voter's record is above the term in which HIGH leads.
fn raised(config: QuorumConfig) -> Kit {
    let mut me = Kit::following_by(config);
    me.hear(HIGH, claim(OLD + 1, 9)).whatever();
    me
}

#[test]
fn an_agent_that_is_named_and_knows_of_a_later_election_asks_at_once() {
    let mut me = raised(config());
    me.hear(HIGH, resign(OLD, Some(ME)))
        .has_no_leader(OLD)
        .asked(Elect {
            released: Some(leader(HIGH, OLD)),
            ..elect(OLD + 1, 5)
        })
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
}

#[test]
fn an_elected_agent_in_a_contested_term_gives_up_or_raises_it() {
    let mut me = Kit::elected();
    me.hear(LOW, nack_of(MINE, MINE)).whatever();
    assert!(!matches!(me.machine.state, State::Leading(_)));

    let mut me = Kit::leading();
    me.hear(LOW, nack_of(MINE, MINE))
        .wrote(MINE + 1, ME)
        .asked(claim(MINE + 1, 5))
        .nothing_else_happened();
    me.hear(HIGH, nack_of(MINE, MINE)).nothing_else_happened();
    me.hear(LOW, grants(MINE + 1)).whatever();
    assert_eq!(me.view().leading, Some(Term(MINE + 1)));
    for late in [nack_of(MINE, MINE), nack_of(MINE, MINE + 1)] {
        me.hear(HIGH, late).nothing_else_happened();
    }
}

fn words(effects: &StepEffects) -> Vec<QuorumMessage> {
    effects.messages().into_iter().cloned().collect()
}

/// Gives the agent the messages of an incarnation of `from`, and returns the agent's answers.
fn told(to: &mut Kit, (from, life): (&str, u64), said: Vec<QuorumMessage>) -> Vec<QuorumMessage> {
    let answers = said.into_iter().map(|message| {
        let seen = to.hear_incarnation(from, life, message);
        words(&seen)
    });
    answers.collect::<Vec<_>>().concat()
}

/// Delivers the messages in `effects`, and all messages that follow from them, to the agents in `kits`.
fn deliver(kits: &mut [(&str, Kit)], from: usize, effects: StepEffects) {
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
fn three_by(config: &QuorumConfig) -> [(&'static str, Kit); 3] {
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

fn pass(kits: &mut [(&str, Kit)], millis: u64) {
    for (_, kit) in kits {
        kit.later(millis);
    }
}

/// Returns the leaders at the end, after two late copies. One is a resignation. The other is a vote for a successor
/// that reaches the next incarnation of the agent that asked for it.
fn one_term_for_two(config: QuorumConfig) -> Vec<(&'static str, Term)> {
    let mut all = three_by(&config);
    all[2].1.step_down(ME).whatever(); // the votes ahead are lost
    pass(&mut all, D / 2);
    all[2].1.fire(BullyTimer::Drain).whatever();
    let seen = all[2].1.step(Input::Drained);
    assert_eq!(words(&seen), [resign(1, Some(ME)).into()]);
    deliver(&mut all, 2, seen);
    assert_eq!(all[1].1.view().leading, Some(Term(2)));
    // ME hands over to LOW, with votes for LOW, and ends before LOW hears the resignation.
    let seen = all[1].1.step_down(LOW);
    deliver(&mut all, 1, seen);
    let seen = all[1].1.step(Input::Drained);
    assert_eq!(words(&seen), [gives(2, LOW, 3).into()]);
    // ME begins again with its record, abstains, and asks.
    pass(&mut all, P + W);
    let kept = vote(2, ME, P);
    let mut again = Kit::reborn(config, MemberKind::Voter, Some(5), kept.clone());
    let identity = Identity {
        incarnation: Incarnation(2),
        ..again.machine.core.me.identity()
    };
    let config = Arc::clone(&again.machine.core.config);
    again.machine = QuorumBully::new(identity, &config, Some(kept));
    let mut again = again.started();
    again.later(P + W).fire(BullyTimer::Election).whatever();
    // The copies arrive: HIGH's resignation of the first term, and HIGH's vote for LOW.
    again.hear(HIGH, resign(1, Some(ME))).whatever();
    let seen = again.hear(HIGH, grants(3).of(LOW));
    let [low, _, high] = &mut all;
    let answers = told(&mut high.1, (ME, 2), words(&seen));
    drop(told(&mut again, (HIGH, 1), answers));
    // LOW receives the resignation of ME, which was delayed.
    let seen = low.1.hear(ME, gives(2, LOW, 3));
    let answers = told(&mut high.1, (LOW, 1), words(&seen));
    drop(told(&mut low.1, (HIGH, 1), answers));
    let views = [(LOW, low.1.view()), (ME, again.view())];
    let leading = views.into_iter();
    leading
        .filter_map(|(name, view)| Some((name, view.leading?)))
        .collect()
}

/// `LeaderPerTerm`: three checks prevent a second leader, and each of them is enough.
#[test]
fn a_vote_that_was_given_ahead_elects_no_other_agent() {
    assert_eq!(one_term_for_two(config()), [(LOW, Term(3))]);
}

/// A vote counts only for the incarnation for which it was cast.
#[test]
fn a_vote_for_another_agent_or_another_incarnation_does_not_count() {
    let mut ahead = Kit::claiming();
    ahead
        .hear(LOW, grants(MINE).of(HIGH))
        .nothing_else_happened();
    let former = grants(MINE).addressed_to(0);
    ahead.hear(LOW, former.clone()).nothing_else_happened();
    ahead.hear(LOW, grants(MINE)).whatever();
    assert!(matches!(ahead.machine.state, State::Leading(_)));
}
