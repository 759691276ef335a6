//! The keys of the agent: its role, its name and its score.

use actix::clock::sleep;

use super::{
    Rows, Seen, check, rows,
    scene::{LEASE, LINKED, QUORUM, SECONDS, Scene, alone, leader, until},
};

pub(super) fn rows() -> Vec<Rows> {
    vec![
        rows!(
            "",
            alone,
            r#"
            node = "x1" | `node` is missing | "agent":"x1"
            group = "other" | `group` is missing | "group":"other"
            role = "voter" | "role":"leader" | "role":"follower"
            role = "observer" | "kind":"voter" | "kind":"observer"
            about = "of a" | "leader_about":null | "leader_about":"of a"
            records_folder = "FOLDER/records" | records: false [] | records: true ["records", "records/history-jobs@a.jsonl"]
        "#
        ),
        rows!(LINKED, overtaken, "score = 7 | b leads | a leads"),
        // These keys replace a default that another key sets.
        rows!(
            QUORUM,
            alone,
            r#"
            memory_file = "FOLDER/memory" | ["a.vote", "history-jobs@a.jsonl"] | "memory"
            records_folder = "FOLDER/records" | "history-jobs@a.jsonl" | "records/history-jobs@a.jsonl"
        "#
        ),
        rows!(
            format!("listen = \"HERE\"\n{LEASE}"),
            alone,
            r#"memory_file = "FOLDER/memory" | "leases/a.node" | "memory""#
        ),
    ]
}

#[test]
fn each_key_of_the_agent_shows() {
    check(&rows());
}

/// Starts a leader `a`. Then `b` gets a score, and ranks above `a` by its name.
async fn overtaken(s: Scene) -> Seen {
    let (a, b) = (s.a()?, s.other("b", "role = \"voter\""));
    until(|| a.agent().is_leader() && leader(&b) == "a").await;
    b.agent().set_score(0).unwrap();
    sleep(SECONDS(60)).await;
    Ok(format!("{} leads", leader(&b)))
}
