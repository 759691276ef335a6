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
fn the_leader_is_heard_again() {
    for message in both(OLD, 9) {
        Kit::following()
            .hear(HIGH, message)
            .set(BullyTimer::Detect, L)
            .nothing_else_happened();
    }
}

#[test]
fn the_leader_is_followed_to_a_higher_term() {
    for message in both(OLD + 1, 9) {
        Kit::following()
            .hear(HIGH, message)
            .followed(HIGH, OLD + 1)
            .nothing_else_happened();
    }
}

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
fn an_announcement_from_above_is_followed() {
    for term in [OLD, OLD + 1] {
        for message in both(term, 9) {
            Kit::following_low()
                .hear(HIGH, message)
                .followed(HIGH, term)
                .nothing_else_happened();
        }
    }
}

#[test]
fn a_newer_leader_below_is_asked_to_yield() {
    for message in both(OLD + 1, 1) {
        let seen = Kit::following().hear(LOW, message).has_no_leader(OLD);
        asks(seen, LOW, 1, OLD + 1);
    }
}

#[test]
fn a_newer_leader_below_is_followed_where_leaders_are_left_alone() {
    Kit::voter(&never())
        .started()
        .after(HIGH, elected(OLD, 9))
        .hear(LOW, elected(OLD + 1, 1))
        .followed(LOW, OLD + 1)
        .nothing_else_happened();
}

#[test]
fn a_newer_leader_below_is_followed_and_asked_where_leaders_have_a_grace_period() {
    let mut me = Kit::voter(&after_a_second())
        .started()
        .after(HIGH, elected(OLD, 9));
    let effects = me.hear(LOW, elected(OLD + 1, 1)).followed(LOW, OLD + 1);
    asks(effects, LOW, 1, OLD + 1);
    assert_eq!(me.view().leader, Some(leader(LOW, OLD + 1)));
}

#[test]
fn the_leader_that_is_outranked_now_is_asked_and_followed_on() {
    let mut me = Kit::following();
    asks(me.hear(HIGH, heartbeat(OLD, 1)), HIGH, 1, OLD);
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
}

#[test]
fn another_score_of_the_leader_is_no_event() {
    Kit::following()
        .hear(HIGH, heartbeat(OLD, 7))
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
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
fn an_agent_without_a_leader_follows_one_above() {
    for message in both(OLD, 9) {
        Kit::with_slot()
            .hear(HIGH, message.clone())
            .followed(HIGH, OLD)
            .nothing_else_happened();
        Kit::waiting()
            .hear(HIGH, message)
            .followed(HIGH, OLD)
            .nothing_else_happened();
    }
}

#[test]
fn an_agent_without_a_leader_asks_one_below_to_yield() {
    for message in both(OLD, 1) {
        asks(Kit::with_slot().hear(LOW, message.clone()), LOW, 1, OLD);
        asks(Kit::waiting().hear(LOW, message), LOW, 2, OLD);
    }
}

#[test]
fn an_agent_that_does_not_compete_follows_any_leader() {
    for (name, score) in [(LOW, 1), (HIGH, 9)] {
        for message in both(MINE + 1, score) {
            for mut me in [Kit::observer(), Kit::witness(), Kit::cooling_down()] {
                me.hear(name, message.clone())
                    .followed(name, MINE + 1)
                    .nothing_else_happened();
            }
        }
    }
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
fn the_asked_leader_above_is_followed_on_whatever_it_says() {
    for message in [
        heartbeat(OLD, 9).into(),
        elected(OLD, 9).into(),
        BullyMessage::from(answers(1, OLD, 9)),
    ] {
        let mut me = Kit::asking_leader();
        me.hear(HIGH, message)
            .set(BullyTimer::Detect, L)
            .nothing_else_happened();
        assert_eq!(me.role(), Role::Follower);
    }
}

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
fn a_candidate_follows_an_announcement_from_above() {
    for message in both(OLD + 1, 9) {
        for mut me in [Kit::asking_voters(), Kit::asking_found()] {
            me.hear(HIGH, message.clone())
                .followed(HIGH, OLD + 1)
                .nothing_else_happened();
        }
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
fn a_leader_gives_in_to_one_above_of_no_older_term() {
    for term in [MINE, MINE + 1] {
        for message in both(term, 9) {
            for mut me in [Kit::leading(), Kit::draining()] {
                me.hear(HIGH, message.clone())
                    .lost(MINE, LostReason::Superseded)
                    .followed(HIGH, term)
                    .nothing_else_happened();
            }
        }
    }
}

#[test]
fn a_leader_renews_above_a_newer_one_below() {
    for message in both(MINE + 2, 1) {
        for mut me in [Kit::leading(), Kit::draining()] {
            let term = Term(MINE + 3);
            me.hear(LOW, message.clone())
                .sent_all(elected(MINE + 3, 5))
                .notified(Event::Renewed { term })
                .nothing_else_happened();
        }
    }
}

#[test]
fn a_newer_leader_below_supersedes_where_leaders_are_left_alone() {
    Kit::leading_by(&never())
        .hear(LOW, elected(MINE + 1, 1))
        .lost(MINE, LostReason::Superseded)
        .followed(LOW, MINE + 1)
        .nothing_else_happened();
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
