//! `Members`: only a confirmed end frees a lease.

use super::*;

#[test]
fn a_confirmed_end_frees_the_lease_of_that_very_incarnation() {
    let mut me = Kit::following();
    me.ends(HIGH).has_no_leader(OLD).next_slot(0);
}

/// A later incarnation of that name is up, so the earlier one does not lead; whether it knows is not confirmed.
#[test]
fn another_incarnation_is_no_confirmed_end() {
    let mut me = Kit::following();
    me.begins(HIGH, 2).has_no_leader(OLD).next_slot(PATIENCE);
    let mut me = Kit::following();
    me.told(|members| members.down(&id(HIGH), Incarnation(9)))
        .has_no_leader(OLD)
        .next_slot(PATIENCE);
}

#[test]
fn a_suspicion_changes_nothing_and_an_absence_frees_nothing() {
    let mut me = Kit::following();
    assert_eq!(me.is_suspected(HIGH), NOTHING);
    me.leaves(HIGH).has_no_leader(OLD).next_slot(PATIENCE);
    me.later(READ).sees(Some(held(HIGH, OLD, 3))).whatever();
    assert_eq!(me.leader().as_deref(), Some(HIGH), "it renews all the same");
}
