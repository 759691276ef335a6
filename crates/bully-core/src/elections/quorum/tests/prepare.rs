//! `prepare-before-drain` and `lead-in-given-term`: at the leader, at the voters, and at the successor.

use super::*;
use crate::elections::quorum::Diskless;

/// Term that the leader asks for its successor.
const NEXT: u64 = MINE + 1;

/// Returns a leader that hears both other voters, and was asked to hand over to LOW.
fn preparing() -> Kit {
    let mut me = Kit::heard();
    me.step_down(LOW)
        .asked(ahead(NEXT, 5, LOW))
        .set(BullyTimer::Drain, D / 2)
        .nothing_else_happened();
    me
}

/// Returns a leader's question for votes for its successor.
fn ahead(term: u64, score: i32, successor: &str) -> Claim {
    Claim {
        successor: Some(Box::new(candidate(successor, 1))),
        ..claim(term, score)
    }
}

/// Ends the leader's work, and returns its resignation.
fn resigns(me: &mut Kit) -> Resign {
    let effects = me.step(Input::Drained);
    match effects.messages()[..] {
        [QuorumMessage::Resign(resign)] => resign.clone(),
        _ => panic!("{effects:?}"),
    }
}

/// Returns a follower of HIGH that has voted for the successor in the term after HIGH's term.
fn voted(successor: &str) -> Kit {
    voted_by(config(), successor)
}

fn voted_by(config: QuorumConfig, successor: &str) -> Kit {
    let kit = Kit::known(config, Some(5));
    let mut me = kit.after(HIGH, heartbeat(OLD, 9));
    me.hear(HIGH, ahead(OLD + 1, 9, successor))
        .wrote(OLD + 1, successor)
        .sent(HIGH, grants(OLD + 1).of(successor))
        .nothing_else_happened();
    me
}

// ---- the leader ------------------------------------------------------------------------------

#[test]
fn a_preparation_lasts_half_a_lease_and_later_votes_still_count() {
    let mut me = preparing().after(LOW, grants(NEXT).of(LOW));
    me.later(D / 2 - 1)
        .fire(BullyTimer::Drain)
        .set(BullyTimer::Drain, 1)
        .nothing_else_happened();
    me.later(1)
        .fire(BullyTimer::Drain)
        .drained(MINE, Some(LOW))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
    assert_eq!(resigns(&mut me.clone()), resign(MINE, Some(LOW)));
    me.hear(HIGH, grants(NEXT).of(LOW)).nothing_else_happened();
    assert_eq!(resigns(&mut me), gives(MINE, LOW, NEXT));
}

#[test]
fn a_voter_that_knows_a_higher_term_ends_the_preparation() {
    let mut me = preparing();
    me.hear(HIGH, refuses(NEXT, NEXT + 3, 0).of(LOW))
        .drained(MINE, Some(LOW))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
    me.hear(LOW, grants(NEXT).of(LOW)).nothing_else_happened();
    assert_eq!(resigns(&mut me), resign(MINE, Some(LOW)));
}

/// A voter is in a higher term, so the leader leads in a term above it. Votes in a lower term then are of no use.
#[test]
fn a_leader_that_has_to_raise_its_term_meanwhile_gives_none() {
    let mut me = preparing();
    me.hear(HIGH, nack(NEXT + 3))
        .wrote(NEXT + 4, ME)
        .asked(claim(NEXT + 4, 5))
        .nothing_else_happened();
    me.hear(LOW, grants(NEXT + 4))
        .notified(Event::Renewed {
            term: Term(NEXT + 4),
        })
        .whatever();
    me.hear(LOW, grants(NEXT).of(LOW)).nothing_else_happened();
    me.hear(HIGH, grants(NEXT).of(LOW))
        .drained(NEXT + 4, Some(LOW))
        .whatever();
    assert_eq!(resigns(&mut me), resign(NEXT + 4, Some(LOW)));
}

/// A leader must obey the seals that the votes for its term report.
#[test]
fn no_term_is_given_whose_votes_report_a_seal() {
    let mut me = preparing();
    me.hear(LOW, epochs::reports(&grants(NEXT).of(LOW), NEXT, &[HIGH]))
        .drained(MINE, Some(LOW))
        .whatever();
    assert_eq!(resigns(&mut me), resign(MINE, Some(LOW)));
}

#[test]
fn nothing_is_prepared_without_disks_or_without_a_successor() {
    let diskless = Some(Diskless::default());
    let forgetful = QuorumConfig {
        diskless,
        ..config()
    };
    let mut alone = Kit::heard();
    alone.later(2 * H + 1).acked(LOW, 1).whatever();
    alone.later(D - 1); // its lease has nearly ended
    let mut two = Kit::leading();
    two.acked(LOW, 1).whatever();
    let mut without_disks = Kit::heard();
    without_disks.machine.core.config = Arc::new(forgetful);
    for (why, mut me) in [
        ("nobody is heard", alone),
        ("only one other voter is heard", two),
        ("without disks", without_disks),
    ] {
        let term = me.view().leading.expect(why);
        let effects = me.step_down(None);
        assert!(!effects.writes(), "{why}");
        assert!(
            matches!(effects.events()[..], [Event::Draining { .. }]),
            "{why}"
        );
        assert_eq!(me.view().leading, Some(term), "{why}");
    }
}

// ---- the voters ------------------------------------------------------------------------------

#[test]
fn a_voter_that_voted_ahead_goes_on_supporting_its_leader() {
    let mut me = voted(LOW);
    me.hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, P)
        .sent(HIGH, ack(OLD, SAID, 5))
        .nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    // A heartbeat with another score is handled like the announcement of a new leader.
    let effects = me.hear(HIGH, heartbeat(OLD, 8));
    assert_eq!(effects.messages(), [&ack(OLD, SAID, 5).into()]);
    let effects = me.hear(HIGH, heartbeat(OLD, 8));
    assert_eq!(effects.messages(), [&ack(OLD, SAID, 5).into()]);
}

/// `one-vote-per-term`; the promise to the leader remains.
#[test]
fn a_vote_ahead_is_a_vote_and_frees_no_promise() {
    let mut me = voted(LOW);
    me.hear(HIGH, ahead(OLD + 1, 9, ME))
        .refused(HIGH, OLD + 1, OLD + 1, 0)
        .nothing_else_happened();
    me.hear(HIGH, ahead(OLD + 1, 9, LOW))
        .sent(HIGH, grants(OLD + 1).of(LOW))
        .nothing_else_happened();
    for term in [OLD + 1, OLD + 2] {
        me.hear(LOW, claim(term, 1))
            .refused(LOW, term, OLD + 1, P)
            .nothing_else_happened();
    }
}

#[test]
fn only_the_leader_that_is_followed_gets_a_vote_for_another() {
    let mut free = Kit::vacant();
    let mut other = Kit::following_low();
    let mut late = Kit::following();
    late.later(P);
    let mut reborn = Kit::reborn(config(), MemberKind::Voter, Some(5), vote(OLD, HIGH, P))
        .started()
        .after(HIGH, heartbeat(OLD, 9));
    for (why, me) in [
        ("no leader", &mut free),
        ("another leader", &mut other),
        ("the promise is over", &mut late),
        ("it abstains after a restart", &mut reborn),
    ] {
        let before = me.durable();
        let effects = me.hear(HIGH, ahead(OLD + 1, 9, LOW));
        assert!(!effects.writes(), "{why}");
        assert_eq!(me.durable(), before, "{why}");
    }
}

// ---- the successor ---------------------------------------------------------------------------

#[test]
fn the_successor_leads_in_the_given_term_and_writes_nothing() {
    let mut me = voted(ME);
    let said = Elected {
        sent_at: Some(me.now),
        ..elected(OLD + 1, 5)
    };
    me.hear(HIGH, gives(OLD, ME, OLD + 1))
        .has_no_leader(OLD)
        .sent_all(said)
        .set(BullyTimer::Heartbeat, H)
        .set(BullyTimer::Round, 2 * E)
        .nothing_else_happened();
    assert_eq!(me.view().leading, None, "`lease-before-leading`");
    let echo = me.now;
    me.hear(LOW, ack(OLD + 1, echo, 1))
        .set(BullyTimer::Lease, D)
        .acquired(OLD + 1)
        .nothing_else_happened();
}
