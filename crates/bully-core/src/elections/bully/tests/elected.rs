//! `Elected` and `Heartbeat`, which are handled alike.

use super::*;

/// Asks that leader to yield, in its next round.
fn asks(effects: StepEffects, leader: &str, counter: u64, term: u64) {
    let elect = Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(5)
    };
    effects
        .sent(leader, elect)
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

/// Both kinds of announcement.
fn both(term: u64, score: i32) -> [BullyMessage; 2] {
    [elected(term, score).into(), heartbeat(term, score).into()]
}

/// Says that an announcement was of a term that is over.
fn void(below: u64) -> Behind {
    Behind { seen: Term(below) }
}

// ---- followers ----

#[test]
fn a_stale_elected_is_ignored() {
    let mut me = Kit::following();
    for message in both(OLD - 1, 9) {
        me.hear(HIGH, message).nothing_else_happened();
    }
    for message in both(OLD, 1) {
        me.hear(LOW, message).nothing_else_happened(); // the same term, and below the leader
    }
    let mut me = Kit::following_low();
    for message in both(OLD - 1, 9) {
        me.hear(HIGH, message).nothing_else_happened(); // an older term, and above the leader
    }
}

#[test]
fn a_later_incarnation_of_the_leader_is_a_change_and_the_former_is_not() {
    let mut me = Kit::following();
    let later = Leader {
        incarnation: Incarnation(2),
        ..leader(HIGH, OLD)
    };
    me.hear_incarnation(HIGH, 2, elected(OLD, 9))
        .set(BullyTimer::Detect, L)
        .notified(Event::NewLeader(later))
        .nothing_else_happened();
    me.hear_incarnation(HIGH, 1, elected(OLD, 9))
        .nothing_else_happened();
}

#[test]
fn a_leader_below_the_terms_that_have_ended_is_told_which_to_exceed() {
    for message in both(MINE, 9) {
        Kit::cooling_down()
            .hear(HIGH, message)
            .sent(HIGH, void(MINE + 1)) // MINE itself has been resigned
            .nothing_else_happened();
    }
    // The same holds for an agent that is only told.
    Kit::observer()
        .after(LOW, elected(MINE, 1))
        .after(LOW, resign(MINE, None))
        .hear(HIGH, elected(MINE, 9))
        .sent(HIGH, void(MINE + 1)) // MINE itself has been resigned
        .nothing_else_happened();
}

// ---- candidates ----

#[test]
fn the_asked_leader_below_decides_by_its_answer() {
    for mut me in [Kit::asking_found(), Kit::asking_voters()] {
        for message in both(OLD, 1) {
            me.hear(LOW, message).nothing_else_happened();
        }
        me.hear(LOW, answers(0, OLD, 1)).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
        me.hear(LOW, answers(1, OLD, 1))
            .followed(LOW, OLD)
            .nothing_else_happened();
    }
}

#[test]
fn another_leader_below_is_asked_in_place_of_the_first() {
    let seen = Kit::asking_leader()
        .hear(LOW, elected(OLD + 1, 1))
        .has_no_leader(OLD);
    asks(seen, LOW, 2, OLD + 1);
    Kit::asking_leader()
        .hear(LOW, elected(OLD, 1)) // stale
        .nothing_else_happened();
}

#[test]
fn a_candidate_follows_one_below_where_leaders_are_left_alone() {
    let mut me = Kit::voter(&never()).started();
    me.later(S).fire(BullyTimer::Campaign).whatever();
    me.hear(LOW, elected(OLD, 1))
        .followed(LOW, OLD)
        .nothing_else_happened();
}

// ---- leaders ----

#[test]
fn a_leader_tells_an_older_one() {
    for mut me in [Kit::leading(), Kit::draining()] {
        for (name, term, score) in [
            (HIGH, MINE - 1, 9),
            (LOW, MINE - 1, 1),
            (LOW, MINE, 1), // the same term: the rank decides
        ] {
            for message in both(term, score) {
                me.hear(name, message)
                    .sent(name, elected(MINE, 5))
                    .nothing_else_happened();
            }
        }
    }
}

#[test]
fn a_newer_leader_below_supersedes_and_is_asked_where_leaders_have_a_grace_period() {
    let seen = Kit::leading_by(&after_a_second())
        .hear(LOW, elected(MINE + 1, 1))
        .lost(MINE, LostReason::Superseded)
        .followed(LOW, MINE + 1);
    asks(seen, LOW, 2, MINE + 1);
}

#[test]
fn a_former_leader_follows_no_leader_of_a_lower_term() {
    let mut me = Kit::leading();
    me.hear(HIGH, elect(9)).whatever();
    for message in both(MINE - 1, 1) {
        me.hear(LOW, message)
            .sent(LOW, void(MINE))
            .nothing_else_happened();
    }
    me.hear(HIGH, elected(MINE + 1, 9))
        .followed(HIGH, MINE + 1)
        .nothing_else_happened();
}
