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

/// The voter votes for the successor, in the term that the leader asked for.
fn votes(me: &mut Kit, voter: &str) {
    me.hear(voter, grants(NEXT).of(LOW)).whatever();
}

/// The preparation lasts for half a lease.
fn takes_too_long(me: &mut Kit) {
    me.later(D / 2 - 1)
        .fire(BullyTimer::Drain)
        .set(BullyTimer::Drain, 1)
        .nothing_else_happened();
    me.later(1)
        .fire(BullyTimer::Drain)
        .drained(MINE, Some(LOW))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
}

#[test]
fn a_term_is_given_if_a_quorum_voted_and_no_voter_knows_more() {
    type Steps = fn(&mut Kit);
    let rows: [(Steps, Resign); 5] = [
        (takes_too_long, resign(MINE, Some(LOW))),
        (
            |me| {
                votes(me, LOW);
                takes_too_long(me);
                votes(me, HIGH);
            },
            gives(MINE, LOW, NEXT),
        ),
        // A voter is in a higher term.
        (
            |me| {
                me.hear(HIGH, refuses(NEXT, NEXT + 3, 0).of(LOW))
                    .drained(MINE, Some(LOW))
                    .whatever();
                votes(me, LOW);
            },
            resign(MINE, Some(LOW)),
        ),
        // The leader leads in a term above that of such a voter, so votes in a lower term are of no use.
        (
            |me| {
                me.hear(HIGH, nack(NEXT + 3)).whatever();
                me.hear(LOW, grants(NEXT + 4)).whatever();
                votes(me, LOW);
                votes(me, HIGH);
            },
            resign(NEXT + 4, Some(LOW)),
        ),
        // A leader must obey the seals that the votes for its term report.
        (
            |me| {
                me.hear(LOW, epochs::reports(&grants(NEXT).of(LOW), NEXT, &[HIGH]))
                    .drained(MINE, Some(LOW))
                    .whatever();
            },
            resign(MINE, Some(LOW)),
        ),
    ];
    for (events, expected) in rows {
        let mut me = preparing();
        events(&mut me);
        assert_eq!(resigns(&mut me), expected);
    }
}

#[test]
fn nothing_is_prepared_without_disks_or_without_a_successor() {
    let mut alone = Kit::heard();
    alone.later(2 * H + 1).acked(LOW, 1).whatever();
    alone.later(D - 1); // its lease has nearly ended
    let mut without_disks = Kit::heard();
    without_disks.machine.core.config = Arc::new(QuorumConfig {
        diskless: Some(Diskless::default()),
        ..config()
    });
    for (why, mut me) in [
        ("nobody is heard", alone),
        ("only one other voter is heard", Kit::leading()),
        ("without disks", without_disks),
    ] {
        let effects = me.step_down(None);
        assert!(!effects.writes(), "{why}");
        let events = effects.events();
        assert!(matches!(events[..], [Event::Draining { .. }]), "{why}");
        assert!(me.view().leading.is_some(), "{why}");
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
    let mut late = Kit::following();
    late.later(P);
    let reborn = Kit::reborn(config(), MemberKind::Voter, Some(5), vote(OLD, HIGH, P)).started();
    for (why, mut me) in [
        ("no leader", Kit::vacant()),
        ("another leader", Kit::following_low()),
        ("the promise is over", late),
        ("it abstains", reborn.after(HIGH, heartbeat(OLD, 9))),
    ] {
        let effects = me.hear(HIGH, ahead(OLD + 1, 9, LOW));
        assert!(!effects.writes(), "{why}");
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

/// `lead-in-given-term`: the other agent may lead in that term with this vote.
#[test]
fn a_successor_that_voted_for_another_agent_leads_in_no_given_term() {
    let mut me = voted(LOW);
    me.hear(HIGH, gives(OLD, ME, OLD + 1)).whatever();
    assert!(!matches!(me.machine.state, State::Leading(_)));
}
