//! `Members`: only a confirmed end frees a lease.

use super::*;

#[test]
fn a_suspicion_changes_nothing_and_an_absence_frees_nothing() {
    let mut me = Kit::following();
    assert_eq!(me.is_suspected(HIGH), NOTHING);
    me.leaves(HIGH).has_no_leader(OLD).next_slot(PATIENCE);
    me.later(READ).sees(Some(held(HIGH, OLD, 3))).whatever();
    assert_eq!(me.leader().as_deref(), Some(HIGH), "HIGH still renews");
}
