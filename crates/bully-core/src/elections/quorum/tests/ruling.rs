//! The conditions under which a leader gives up its leadership for another list of voters.

use super::{epochs::*, *};
use crate::protocol::{ChangeError, Contact, NewVoter, VoterChange, VotersEvent};

/// Returns a leader that has heard LOW for longer than a promise lasts. It has heard HIGH too if `hears_high` is set.
fn leading_for_long(hears_high: bool) -> Kit {
    let mut me = Kit::leading();
    for _ in 0..=P / H {
        me.later(H);
        me.acked(LOW, 1).whatever();
        if hears_high {
            me.acked(HIGH, 3).whatever();
        }
    }
    me
}

fn refused(change: VoterChange, heard: u32) -> Event {
    answered(change, Err(ChangeError::NoQuorum { heard, needed: 2 }))
}

/// HIGH may be up, and its acknowledgement may still be on its way.
#[test]
fn a_leader_that_is_new_refuses_nothing_for_voters_that_it_has_not_heard_yet() {
    let mut me = Kit::leading();
    me.change(remove(LOW)).nothing_else_happened();
    me.acked(HIGH, 3).whatever();
    me.change(remove(LOW)).drained(MINE, None).whatever();
}

#[test]
fn a_voter_that_is_there_no_more_counts_no_more() {
    let mut me = leading_for_long(true);
    for _ in 0..2 {
        me.later(P / 2);
        me.acked(LOW, 1).whatever();
    }
    me.change(remove(LOW))
        .notified(refused(remove(LOW), 1))
        .nothing_else_happened();
}

/// The network can connect to the new voter's host before the command is repeated.
#[test]
fn a_leader_that_has_not_heard_a_new_voter_says_where_it_is_found_if_it_was_told() {
    let id = id("new");
    let not_seen = |new: &NewVoter| {
        let reason = ChangeError::NotSeen { id: new.id.clone() };
        answered(VoterChange::Add(new.clone()), Err(reason))
    };
    let unknown = NewVoter { id, contact: None };
    let mut me = Kit::heard();
    me.change(VoterChange::Add(unknown.clone()))
        .notified(not_seen(&unknown))
        .nothing_else_happened();

    let contact = Some(Contact {
        node: "n".to_owned(),
        address: "n:1".to_owned(),
    });
    let new = NewVoter { contact, ..unknown };
    me.change(VoterChange::Add(new.clone()))
        .notified(Event::Voters(Box::new(VotersEvent::Wanted(new.clone()))))
        .notified(not_seen(&new))
        .nothing_else_happened();
    // No other agent asks the new voter to enlist, so only a leader reports its contact.
    Kit::vacant()
        .change(VoterChange::Add(new))
        .nothing_else_happened();
}
