//! `Yield`: a leader that released its term is heard late.

use super::*;

/// The release answers an earlier round.
#[test]
fn a_late_release_counts_while_no_later_term_is_known() {
    let again = Kit::asking_leader().after(HIGH, yields(1));
    let mut me = again.clone();
    me.hear(LOW, releases(1, OLD - 1)).nothing_else_happened();
    let mut me = again;
    me.hear(LOW, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
}
