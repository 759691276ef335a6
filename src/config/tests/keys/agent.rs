//! The keys of the agent: its role and name, and when it leads.

use std::future::pending;

use actix::clock::sleep;

use super::{
    Rows, Seen, check, rows,
    scene::{LEASE, LINKED, QUORUM, SECONDS, Scene, alone, leader, rounded, until},
};

pub(super) fn rows() -> Vec<Rows> {
    let alone = rows!(
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
    );
    let overtaken = |beside: &str| {
        rows!(
            beside,
            overtaken,
            r#"
            score = 7 | b leads | a leads
            preemption = "never" | b leads | a leads
            margin = 1 | b leads | a leads
        "#
        )
    };
    let returns = |beside: &str, table| rows!(beside, returns, table);
    let mut rows = vec![
        alone,
        overtaken(LINKED),
        overtaken(QUORUM),
        overtaken(LEASE),
        returns(
            LINKED,
            r#"
            drain = "2s" | drains for 5 s | drains for 2 s
            cooldown = "5s" | back after 60 s | back after 5 s
        "#,
        ),
        returns(
            QUORUM,
            r#"
            drain = "20ms" | drains for 640 ms | drains for 20 ms
            cooldown = "5s" | back after 60 s | back after 10 s
        "#,
        ),
        returns(
            LEASE,
            r#"
            drain = "20ms" | drains for 640 ms | drains for 20 ms
            cooldown = "5s" | back after 70 s | back after 15 s
        "#,
        ),
    ];
    rows.extend(replacing());
    rows
}

/// Returns the rows of keys that replace a default from another key.
fn replacing() -> [Rows; 2] {
    [
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

/// Starts a leader `a`. Then `b` gets a score, and ranks above `a` by its name. The rules of the election are the same
/// at both nodes.
async fn overtaken(s: Scene) -> Seen {
    let rules = if s.line.starts_with("score") {
        ""
    } else {
        &s.line
    };
    let voter = format!("role = \"voter\"\n{rules}");
    let (a, b) = (s.a()?, s.other("b", &voter));
    until(|| a.agent().is_leader() && leader(&b) == "a").await;
    b.agent().set_score(0).unwrap();
    sleep(SECONDS(60)).await;
    Ok(format!("{} leads", leader(&b)))
}

/// Starts a leader whose work never ends. Then the leader steps down, and leads again as soon as possible.
async fn returns(s: Scene) -> Seen {
    let (a, _b) = (s.a()?, s.other("b", "role = \"leader\""));
    let _c = s.other("c", "role = \"voter\"");
    let agent = a.agent().clone();
    agent.set_score(9).unwrap();
    actix::spawn(async move { agent.lead(|_| pending()).await });
    until(|| a.agent().is_leader()).await;
    sleep(SECONDS(20)).await;
    a.agent().step_down(None).unwrap();
    let drains = until(|| !a.agent().is_leader()).await;
    let back = until(|| a.agent().is_leader()).await;
    let (drains, back) = (rounded(drains), rounded(back));
    Ok(format!("drains for {drains}, back after {back}"))
}
