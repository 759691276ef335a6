//! `term-by-the-clock`, `no-term-ahead`.

use super::{lives::claiming, *};

/// Largest accepted lead of another clock, in milliseconds.
const AHEAD: u64 = 10_000;

pub(super) fn a_claim_names_the_term_of_the_clock(config: QuorumConfig) -> bool {
    claiming(config).1 == BEGINS + ABSTAINS + 2 * S + 10
}

/// One clock that is years ahead would otherwise use up all terms that the clocks of the other voters can reach.
pub(super) fn no_vote_is_given_and_nothing_is_learned_far_ahead_of_the_own_clock(
    config: QuorumConfig,
) -> bool {
    let me = recovered(config, OLD);
    let highest = BEGINS + ABSTAINS + AHEAD;
    [(highest, true), (highest + 1, false)]
        .into_iter()
        .all(|(term, counts)| {
            let votes = granted(&me.clone().hear(LOW, claim(term, 1)));
            let hearsay: [QuorumMessage; 5] = [
                elect(term, 1).into(),
                objects(1, term).into(),
                yields_at(1, term).into(),
                refuses(OLD, term, 5).into(),
                nack(term).into(),
            ];
            let learns = |message: &QuorumMessage| {
                let me = me.clone().after(LOW, message.clone());
                me.machine.core.voter.seen == Term(term)
            };
            votes == counts && hearsay.iter().all(|message| learns(message) == counts)
        })
}

#[test]
fn a_fresh_voter_takes_the_terms_of_the_others_whatever_its_clock_shows() {
    let me = recovered(forgetful(), BEGINS * 3);
    assert_eq!(me.durable().0, BEGINS * 3);
}

/// The configuration shows the wall clock of its host, so a user can print the wait before it begins.
#[test]
fn the_wall_clock_is_counted_from_2024() {
    let config = QuorumBully::on_host(Arc::new(forgetful()), 1_704_067_200_000 + 7);
    assert_eq!(config.diskless().unwrap().wall_at_zero, 7);
}
