//! The keys of the section `quorum`: the voters, the size of a quorum, and the files of the votes.

use super::{
    Rows, check, rows,
    scene::{LINKED, QUORUM, alone, planned},
};

pub(super) fn rows() -> Vec<Rows> {
    let of = |more: &str| format!("{LINKED}\n{more}");
    vec![
        rows!(
            of("role = \"observer\""),
            alone,
            r#"quorum.voters = ["b", "c"] | "voters":[] | "voters":["b","c"]"#
        ),
        rows!(
            of("quorum.voters = [\"a\"]\ntimings.preset = \"lan\""),
            alone,
            r#"
            quorum.diskless = true | `quorum.store_file` is missing | "role":"leader"
            quorum.store_file = "FOLDER/vote" | `quorum.store_file` is missing | vote is missing: if this node never voted
            quorum.store_file: quorum.store = "create" -> quorum.store = "create"\nquorum.store_file = "FOLDER/vote" | `quorum.store_file` is missing | "vote"
        "#
        ),
        rows!(
            of("quorum.voters = [\"b\", \"c\"]\nquorum.store_file = \"FOLDER/vote\""),
            alone,
            r#"quorum.learner: quorum.store = "create" -> quorum.store = "create"\nquorum.learner = true | `quorum.voters` contradicts `node` | "voters":["b","c"]"#
        ),
        rows!(
            of("quorum.voters = [\"a\", \"b\", \"c\"]\nquorum.store_file = \"FOLDER/vote\""),
            alone,
            r#"
            quorum.store = "create" | is missing: if this node never voted | "vote"
            quorum.store = "open-or-create" | is missing: if this node never voted | "vote"
        "#
        ),
        rows!(
            QUORUM,
            alone,
            r#"quorum.marks_file = "FOLDER/NODE.marks" | ["a.vote" | ["a.marks", "a.vote""#
        ),
        rows!(
            QUORUM,
            planned,
            "
            quorum.vote_quorum = 3 | vote_quorum: None | vote_quorum: Some(3)
            quorum.lease_quorum = 3 | lease_quorum: None | lease_quorum: Some(3)
        "
        ),
    ]
}

#[test]
fn each_key_of_the_quorum_shows() {
    check(&rows());
}
