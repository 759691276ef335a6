//! The keys of the section `quorum`: the voters, the size of a quorum, and the files of the votes.

use actix::clock::sleep;

use crate::config::RunningNode;

use super::{
    Rows, Seen, check, rows,
    scene::{LINKED, MS, QUORUM, SECONDS, Scene, alone},
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
        rows!(QUORUM, alone, r#"quorum.epoch = 3 | "epoch":0 | "epoch":3"#),
        rows!(
            QUORUM,
            counted,
            "
            quorum.vote_quorum = 3 | two: always, three: always, two: always | two: never, three: always, two: always
            quorum.lease_quorum = 3 | two: always, three: always, two: always | two: never, three: always, two: never
        "
        ),
    ]
}

#[test]
fn each_key_of_the_quorum_shows() {
    check(&rows());
}

/// Starts two of three voters. The third one comes later, and is cut off then. All have the key. Returns how much of
/// the time `c` leads in each phase.
async fn counted(s: Scene) -> Seen {
    let (_a, c) = (s.a()?, s.other("c", &s.line));
    sleep(SECONDS(10)).await;
    let two = leads(&c).await;
    let _b = s.other("b", &s.line);
    sleep(SECONDS(10)).await;
    let three = leads(&c).await;
    for other in ["a", "c"] {
        s.pipes.partition("b", other);
    }
    sleep(SECONDS(10)).await;
    let again = leads(&c).await;
    Ok(format!("two: {two}, three: {three}, two: {again}"))
}

async fn leads(node: &RunningNode) -> &'static str {
    let mut leads = 0;
    for _ in 0..200 {
        sleep(MS(97)).await;
        leads += u32::from(node.agent().is_leader());
    }
    match leads {
        0 => "never",
        200 => "always",
        _ => "at times",
    }
}
