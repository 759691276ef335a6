//! Reports that follow one another before anybody looks.

use super::{FIRST, group_of, id};
use crate::protocol::{Presence, Score};

#[test]
fn a_report_that_follows_another_one_before_a_look_is_not_lost() {
    let (group, _peer) = group_of("a");
    assert_eq!(group.members().len(), 1, "it is merged");
    // A new score is staged; the report after it belongs to what is staged.
    group.set_score(&id("a"), Some(Score::from(5)));
    assert!(group.suspect(&id("a"), FIRST));
    let members = group.members();
    let member = members.get(&id("a")).unwrap();
    assert_eq!(
        (member.score, member.presence),
        (Some(Score::from(5)), Presence::Suspect)
    );
}
