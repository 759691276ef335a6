//! Tests of the table that `cluster --interactive` keeps at the top of a terminal.

use actix_bully::testkit::cluster::Cluster;

use crate::{board, five, settled, test};

fn table(cluster: &Cluster, most: usize) -> Vec<String> {
    let status = cluster.status();
    let why: Vec<String> = status
        .agents()
        .iter()
        .map(|agent| format!("because of {}", agent.name))
        .collect();
    board::table(&status, &why, most)
}

#[test]
fn the_table_has_all_that_there_is_to_know_of_an_agent() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("1").await.unwrap();
        cluster.hang("5").await.unwrap();
        cluster.withdraw_score("2").unwrap();
        let table = table(&cluster, 20).join("\n");
        let expected = "\
AGENT    ROLE          TERM  INC  SCORE  LEASE   LEADER   WHY
agent-1  down          1     1    1      -       -        because of agent-1
agent-2  follower      1     1    -      -       agent-5  because of agent-2
agent-3  follower      1     1    3      -       agent-5  because of agent-3
agent-4  follower      1     1    4      -       agent-5  because of agent-4
agent-5  LEADER, hung  1     1    5      900 ms  agent-5  because of agent-5";
        assert_eq!(table, expected, "\n{table}");
    });
}

#[test]
fn an_isolated_agent_is_marked_until_it_rejoins() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.isolate("5").unwrap();
        cluster.hang("4").await.unwrap();
        cluster.isolate("4").unwrap();
        let roles = |cluster: &Cluster| table(cluster, 20)[4..].join("\n");
        let both = roles(&cluster);
        assert!(both.contains("agent-5  LEADER, isolated "), "{both}");
        assert!(both.contains("agent-4  hung, isolated "), "{both}");
        let states = cluster.status().to_string();
        assert!(
            states.contains("agent-4  4      hung, isolated"),
            "{states}"
        );
        cluster.rejoin("5").unwrap();
        cluster.heal();
        let none = roles(&cluster);
        assert!(!none.contains("isolated"), "{none}");
        assert!(!cluster.status().to_string().contains("isolated"));
    });
}

#[test]
fn a_lease_is_shown_where_there_is_one() {
    test(|| async {
        let cluster = settled(five().quorum()).await;
        let lines = table(&cluster, 20);
        let leader = lines
            .iter()
            .skip(1)
            .find(|line| line.contains("LEADER"))
            .unwrap();
        let lease = leader.split_whitespace().nth(5).unwrap();
        let left: u64 = lease.parse().unwrap();
        assert!((1..=720).contains(&left), "{leader}");
    });
}

#[test]
fn a_crowd_is_counted() {
    test(|| async {
        let cluster = settled(five()).await;
        let lines = table(&cluster, 3);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[4], "and 2 more agents");
        assert_eq!(table(&cluster, 5).len(), 6);
    });
}

#[test]
fn a_page_begins_anew_and_a_refresh_leaves_the_cursor() {
    let table = ["AGENT  ROLE", "a      LEADER", "b      follower"].map(str::to_owned);
    let page = board::page(&table, &["said".to_owned()], "> ", false);
    assert_eq!(
        page,
        "\x1b[H\x1b[2J\x1b[?7lAGENT  ROLE\x1b[K\na      LEADER\x1b[K\nb      follower\x1b[K\n\x1b[?7h\nsaid\n\n> "
    );
    let refresh = board::refresh(&table, false);
    assert!(
        refresh.starts_with("\x1b7\x1b[H") && refresh.ends_with("\x1b8"),
        "{refresh:?}"
    );
    assert!(!refresh.contains("\x1b[2J"));
    let coloured = board::refresh(&table, true);
    assert!(
        coloured.contains("\x1b[1;32ma      LEADER\x1b[0m"),
        "{coloured:?}"
    );
    assert!(!coloured.contains("mb "), "{coloured:?}");
}
