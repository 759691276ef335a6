//! Would these tests notice a bridge that lets a hostile peer do more? Needs the feature `planted`.

use actix_bully::planted::{Defect, VARIABLE};

#[path = "../common/planted.rs"]
mod again;

#[test]
fn a_bridges_defects_are_found_by_a_hostile_peer() {
    let cases = [(
        Defect::RoleNotAsked,
        "members::a_peer_says_no_more_than_its_rights_allow",
        "right: [(\"role\", 1)]",
    )];
    again::are_found("adversary", VARIABLE, &cases);
}
