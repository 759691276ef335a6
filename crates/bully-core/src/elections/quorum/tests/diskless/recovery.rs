//! `abstain-without-memory`, `recover-by-a-quorum`, `recover-by-the-clock`, `ask-after-the-claims`.

use super::*;

#[test]
fn the_term_that_a_recovering_voter_has_seen_counts() {
    let mut me = asking(forgetful());
    me.hear(LOW, recovers(1, 70)).nothing_else_happened();
    me.later(ABSTAINS - ASKS);
    for name in [LOW, HIGH] {
        me.hear(name, remembers(1, 7)).whatever();
    }
    assert!(me.machine.core.binds());
    assert_eq!(me.durable().0, 70);
}

#[test]
fn no_vote_is_given_before_the_own_promise_is_over() {
    assert!(!votes_after_a_promise(forgetful()));
}

fn votes_after_a_promise(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    for _ in 0..4 {
        me.later(P / 4).fire(BullyTimer::Recover).whatever();
        for counter in 1..4 {
            me.hear(LOW, remembers(counter, OLD)).whatever();
            me.hear(HIGH, remembers(counter, OLD)).whatever();
        }
    }
    granted(&me.hear(LOW, claim(BEGINS, 1)))
}

#[test]
fn it_asks_and_takes_part_above_what_a_quorum_of_others_remembers() {
    let mut me = begun(forgetful());
    me.later(ASKS)
        .fire(BullyTimer::Recover)
        .set(BullyTimer::Recover, E)
        .asked(Recover {
            round: round(1),
            ..Recover::default()
        })
        .nothing_else_happened();
    me.hear(LOW, remembers(1, 7)).nothing_else_happened();
    me.hear(HIGH, remembers(1, 9)).nothing_else_happened();
    assert!(!me.machine.core.binds(), "it still abstains");
    let effects = me.later(ABSTAINS - ASKS).fire(BullyTimer::Recover);
    assert!(!effects.writes());
    effects.whatever();
    assert!(me.machine.core.binds());
    assert_eq!(me.durable(), (9, Some(ME.into())), "it may have voted in 9");
    for term in [7, 9] {
        assert!(!granted(&me.hear(LOW, claim(term, 1))), "in {term}");
    }
    assert!(granted(&me.hear(LOW, claim(BEGINS, 1))));
}

/// Three of four voters elect, and one voter is down. Two other voters with a memory are enough, because one of them
/// voted in each term in which this voter voted.
#[test]
fn enough_others_remember_once_one_of_them_voted_in_every_term() {
    assert!(!takes_part_by_one_memory(four()));
    let mut me = asking(four());
    me.later(ABSTAINS - ASKS);
    me.hear(LOW, remembers(1, 7)).nothing_else_happened();
    me.hear(HIGH, remembers(1, 9)).whatever();
    assert!(me.machine.core.binds());
    assert_eq!(me.durable().0, 9);
    // In a group of two, the other voter voted in every term.
    let mut me = asking(voters(&[LOW, ME]));
    me.later(ABSTAINS - ASKS);
    me.hear(LOW, remembers(1, 7)).whatever();
    assert!(me.machine.core.binds());
}

/// Returns whether one voter with a memory is enough in a group of four, while the other voters are silent.
fn takes_part_by_one_memory(config: QuorumConfig) -> bool {
    let mut me = asking(config);
    me.hear(LOW, remembers(1, OLD)).whatever();
    me.later(2 * E).fire(BullyTimer::Recover).whatever();
    me.machine.core.binds()
}

/// Of four voters one is down and two have restarted. So only one voter remembers, and by the clock three answers are
/// enough.
#[test]
fn fewer_memories_are_enough_where_the_clock_decides() {
    let mut me = asking(four());
    me.hear(LOW, remembers(1, OLD)).nothing_else_happened();
    me.hear(HIGH, recovers(1, 0)).nothing_else_happened();
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert!(me.machine.core.binds());
    let mut me = asking(four());
    me.hear(HIGH, recovers(1, 0)).nothing_else_happened();
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert!(!me.machine.core.binds(), "two voters are not a quorum");
}

/// The recovery as an operator sees it while the agent waits.
#[test]
fn a_recovery_names_the_missing_voters_and_the_number_of_restarts() {
    let recovers_by = |me: &Kit| me.machine.prospects().recovers.unwrap();
    let mut me = asking(five());
    let begins = recovers_by(&me);
    assert_eq!((begins.needed, begins.restarts), (3, None));
    assert_eq!(begins.silent, [LOW, HIGH, "v4", "v5"].map(id));
    me.hear(LOW, remembers(1, OLD)).whatever();
    me.hear(HIGH, remembers(1, OLD)).whatever();
    let waits = recovers_by(&me);
    assert_eq!((waits.answers, waits.restarts), (2, Some(2)));
    assert_eq!(waits.remember, [LOW, HIGH].map(id));
    assert_eq!(waits.silent, ["v4", "v5"].map(id));
    // LOW and HIGH restart.
    for voter in [LOW, HIGH] {
        me.hear(voter, recovers(1, OLD)).whatever();
    }
    assert_eq!(recovers_by(&me).restarts, Some(0));
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert!(me.machine.core.binds());
}

/// Of three voters one has restarted and another one is down. There is no leader before the latter returns.
#[test]
fn silence_is_no_answer() {
    assert!(!takes_part_after_silence(forgetful()));
    let again = asking(forgetful()).later(E).fire(BullyTimer::Recover);
    again.set(BullyTimer::Recover, H).whatever();
}

fn takes_part_after_silence(config: QuorumConfig) -> bool {
    let mut me = asking(config);
    me.hear(LOW, remembers(1, OLD)).whatever();
    for _ in 0..5 {
        me.later(H).fire(BullyTimer::Recover).whatever();
    }
    me.machine.core.binds()
}

#[test]
fn without_an_answer_no_vote_is_given() {
    assert!(!votes_unanswered(forgetful()));
}

fn votes_unanswered(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    me.later(ABSTAINS).fire(BullyTimer::Recover).whatever();
    granted(&me.hear(LOW, claim(OLD, 1)))
}

/// LOW recovers too, hears that this voter has continued, and must still count it as forgetful. Otherwise LOW would
/// wait for ever.
#[test]
fn a_voter_that_continued_by_the_clock_still_counts_for_the_voters_that_forgot_with_it() {
    assert!(says_that_it_had_forgotten(forgetful()));
}

/// Returns whether LOW learns that this voter had forgotten. Only LOW recovered at the same time, so HIGH and later
/// incarnations of LOW do not learn it.
fn says_that_it_had_forgotten(config: QuorumConfig) -> bool {
    let mut me = asking(config);
    me.hear_incarnation(LOW, 4, recovers(1, 0)).whatever();
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert!(me.machine.core.binds());
    let asks = |incarnation| Recover {
        round: Round {
            incarnation: Incarnation(incarnation),
            counter: 3,
        },
        ..Recover::default()
    };
    let mut says = |who, incarnation| {
        let effects = me.hear_incarnation(who, incarnation, asks(incarnation));
        let [QuorumMessage::Recovered(answer)] = effects.messages()[..] else {
            panic!("{effects:?}");
        };
        (answer.recovering, answer.term)
    };
    let floor = Term(BEGINS + ASKS + E - 1);
    assert_eq!(says(LOW, 5), (false, floor), "it has restarted since");
    assert_eq!(says(HIGH, 4), (false, floor));
    says(LOW, 4) == (true, floor)
}

/// The answer of a recovering voter is true only for its round. A voter with a memory keeps the memory.
#[test]
fn an_answer_of_one_that_recovers_counts_for_its_round_only() {
    let mut me = asking(forgetful());
    me.later(E + 1).fire(BullyTimer::Recover).whatever();
    me.hear(LOW, recovers(1, 0)).nothing_else_happened();
    me.later(H).fire(BullyTimer::Recover).whatever();
    assert!(!me.machine.core.binds());
    me.hear(HIGH, remembers(1, 3)).nothing_else_happened();
    me.hear(LOW, remembers(2, 4)).whatever();
    assert!(me.machine.core.binds());
}

#[test]
fn answers_to_another_incarnation_count_for_nothing() {
    let mut me = asking(forgetful());
    let old = |counter| Recovered {
        round: Round {
            incarnation: Incarnation(0),
            counter,
        },
        ..remembers(1, 3)
    };
    me.later(ABSTAINS - ASKS);
    for counter in [0, 1, 2, u64::MAX] {
        me.hear(LOW, old(counter)).nothing_else_happened();
        me.hear(HIGH, old(counter)).nothing_else_happened();
    }
    me.hear(HIGH, remembers(2, 3)).nothing_else_happened(); // this round was never asked
    me.hear(LOW, remembers(2, 3)).nothing_else_happened();
    assert!(!me.machine.core.binds());
}

/// Answers before the claims of a former incarnation are over may lack its last vote.
///
/// Of five voters, this one voted in the term 9, and restarted. LOW, `v4` and `v5` answer before HIGH's claim reaches
/// LOW, whose vote is the third. So no answer has the term 9. When LOW restarts too and asks this voter, `v4` and `v5`,
/// only the leader remembers the term.
#[test]
fn answers_from_before_the_claims_were_over_count_for_nothing() {
    let (asks_early, votes) = votes_after_early_answers(five());
    assert!(!asks_early && !votes);
}

/// Returns whether the voter asks before the claims are over, and whether it then votes in the term 9.
fn votes_after_early_answers(config: QuorumConfig) -> (bool, bool) {
    let mut me = Kit::voter(&Arc::new(config));
    let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(1));
    me.members.join(["v4", "v5"].map(up));
    me.start().whatever();
    let asks = me.later(1).fire(BullyTimer::Recover);
    let asks_early = !asks.messages().is_empty();
    drop(asks);
    for voter in [LOW, "v4", "v5"] {
        me.hear(voter, remembers(1, OLD)).whatever();
    }
    // LOW votes in the meantime. If this voter asks late enough, LOW's answer has the term 9.
    me.later(ASKS - 1).fire(BullyTimer::Recover).whatever();
    me.later(ABSTAINS - ASKS)
        .fire(BullyTimer::Recover)
        .whatever();
    if !me.machine.core.binds() {
        for (voter, term) in [(LOW, 9), ("v4", OLD), ("v5", OLD)] {
            me.hear(voter, remembers(1, term)).whatever();
        }
    }
    assert!(me.machine.core.binds());
    (asks_early, granted(&me.hear("v4", claim(9, 1))))
}
