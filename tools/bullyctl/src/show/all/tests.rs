//! The table of all nodes: marks, ages, and its width.

use actix_bully::{operate::Report, protocol::Presence};
use serde_json::{Value, json};

use super::*;
use crate::{
    fixture,
    watch::known::{KnownAgent, KnownNode},
};

/// Returns the report of a node with one agent of the same name, which follows this leader in this term.
fn report(node: &str, leader: Option<(&str, u64)>) -> Report {
    let leads = leader.filter(|(leader, _)| *leader == node);
    let term = leader.map_or(9, |(_, term)| term).to_string();
    let leader =
        leader.map(|(id, term)| json!({"id": id, "incarnation": "1", "term": term.to_string()}));
    let agent = json!({
        "role": if leads.is_some() { "leader" } else { "follower" }, "term": term, "leader": leader,
        "leading": leads.map(|_| term.clone()),
    });
    fixture::report([fixture::agent(node, &agent)])
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn seen<'a>(name: &'a str, report: &'a Report) -> SeenNode<'a> {
    SeenNode {
        name,
        report: Some(report),
        age: None,
        failure: None,
        known: KnownNode::default(),
    }
}

#[test]
fn a_row_that_differs_from_the_most_is_marked_and_the_views_stand_below() {
    let [one, two, three] = [
        report("n1", Some(("n3", 7))),
        report("n2", None),
        report("n3", Some(("n3", 7))),
    ];
    let nodes = [seen("n1", &one), seen("n2", &two), seen("n3", &three)];
    assert_eq!(
        all(&nodes),
        "   NODE  AGENT  ROLE      TERM  LEADER  HEARD
   n1    n1     follower  7     n3      now
!  n2    n2     follower  9     -       now
   n3    n3     LEADER    7     n3      now

the views of orders differ: no agent leads (n2); n3 leads in term 7 (n1, n3)
"
    );
    // A view with another term is another view. If two views have the same number of agents, both are marked.
    let later = report("n1", Some(("n3", 8)));
    let text = all(&[seen("n1", &later), seen("n3", &three)]);
    assert_eq!(text.matches("\n!  n").count(), 2, "{text}");
    assert!(
        text.ends_with(
            "the views of orders differ: n3 leads in term 7 (n3); n3 leads in term 8 (n1)\n"
        ),
        "{text}"
    );
    let agreed = all(&[seen("n1", &one), seen("n3", &three)]);
    assert!(
        !agreed.contains('!') && !agreed.contains("\n\n"),
        "{agreed}"
    );
}

#[test]
fn agents_of_several_groups_are_shown_with_their_groups() {
    let (one, mut two) = (report("n1", None), report("n2", None));
    "billing".clone_into(&mut two.agents[0].group);
    let text = all(&[seen("n1", &one), seen("n2", &two)]);
    assert!(
        text.contains(" orders/n1 ") && text.contains(" billing/n2 "),
        "{text}"
    );
}

#[test]
fn an_old_answer_is_shown_with_its_age_and_differs_from_none() {
    let [one, old] = [report("n1", Some(("n1", 8))), report("n2", Some(("n2", 7)))];
    let nodes = [
        seen("n1", &one),
        SeenNode {
            age: Some(Duration::from_secs(12)),
            failure: Some("no node answers at /run/n2.sock: \u{1b}[2J"),
            ..seen("n2", &old)
        },
    ];
    assert_eq!(
        all(&nodes),
        "   NODE  AGENT  ROLE    TERM  LEADER  HEARD
   n1    n1     LEADER  8     n1      now
   n2    n2     leader  7     n2      12 s ago

n2: no node answers at /run/n2.sock: ?[2J
"
    );
}

#[test]
fn a_node_that_is_not_heard_is_shown_as_the_first_one_knows_it() {
    let one = report("n1", Some(("n1", 8)));
    let link = |unlinked: Option<f64>| -> LinkReport {
        read(
            json!({"node": "x", "address": null, "link": "waiting", "agents": 1, "lost": 0,
            "unlinked_ms": unlinked, "last_error": null, "echo_ms": null}),
        )
    };
    let (linked, lost) = (link(None), link(Some(754_000.0)));
    let unheard = |name, link, sign: Option<KnownSign>| SeenNode {
        name,
        report: None,
        age: None,
        failure: None,
        known: KnownNode {
            link,
            agents: Vec::from_iter(sign.map(|sign| KnownAgent {
                group: "orders",
                name,
                about: None,
                sign,
            })),
        },
    };
    let member = |presence| Some(KnownSign::Member(presence));
    let nodes = [
        seen("n1", &one),
        unheard("n2", Some(&linked), member(Presence::Up)),
        unheard("n3", Some(&lost), member(Presence::Suspect)),
        unheard("n4", Some(&lost), None),
        unheard("n5", None, Some(KnownSign::Row(31_000))),
    ];
    let text = all(&nodes);
    let rows: Vec<_> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "NODE AGENT ROLE TERM LEADER HEARD",
            "n1 n1 LEADER 8 n1 now",
            "n2 n2 up - - linked",
            "n3 n3 suspect - - 12 min ago",
            "n4 - - - - 12 min ago",
            "n5 n5 listed - - 31 s ago",
            "",
            "as n1 knows them, because no socket or URL of theirs is known here: n2, n3, n4, n5",
        ]
    );
    let lines = all_lines(&nodes, true);
    let third: Value = read(serde_json::from_str(&lines[2].1).unwrap());
    assert_eq!(
        (&third["node"], &third["answers"], &third["heard_ms"]),
        (&"n3".into(), &false.into(), &Value::Null)
    );
    assert_eq!(third["link"]["unlinked_ms"], 754_000.0);
    let lines = all_lines(&nodes, false);
    assert_eq!(lines[1].1, "n2  orders/n2  up  not heard\n");
    assert_eq!(lines[3].1, "n4  -  -  not heard\n", "it has no agents");
}

#[test]
fn nodes_that_fail_for_one_reason_share_a_sentence() {
    let refused = ["n2", "n3"].map(|name| SeenNode {
        name,
        report: None,
        age: None,
        failure: Some("it is not permitted"),
        known: KnownNode::default(),
    });
    let lines = all_lines(&refused, false);
    assert_eq!(lines[1].1, "n3  -  -  not heard  it is not permitted\n");
    assert!(all(&refused).ends_with("\n\nn2, n3: it is not permitted\n"));
}

#[test]
fn the_table_has_room_on_eighty_columns_and_what_has_not_is_marked() {
    let name = |number: u32| format!("a-name-of-many-letters-{number}");
    let names: Vec<_> = (0..20).map(name).collect();
    let leader = name(0);
    let reports: Vec<_> = names
        .iter()
        .map(|name| report(name, Some((&leader, 123_456))))
        .collect();
    let nodes: Vec<_> = names
        .iter()
        .zip(&reports)
        .map(|(name, report)| seen(name, report))
        .collect();
    let text = all(&nodes);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(
        text.lines()
            .nth(1)
            .is_some_and(|row| row.matches("a-name-of-man…").count() == 3),
        "{text}"
    );
    assert!(text.ends_with("and 4 more agents\n"), "{text}");
}

#[test]
fn a_line_is_the_same_until_something_matters() {
    let one = report("n1", Some(("n1", 8)));
    let of = |age: Option<u64>, is_json| {
        let nodes = [SeenNode {
            age: age.map(Duration::from_secs),
            failure: age.map(|_| "no node answers"),
            ..seen("n1", &one)
        }];
        all_lines(&nodes, is_json).swap_remove(0)
    };
    assert_eq!(
        of(None, false).1,
        "n1  orders/n1  leader  leader n1 in term 8  running\n"
    );
    assert_eq!(
        of(Some(3), false).1,
        "n1  orders/n1  leader  leader n1 in term 8  no node answers\n"
    );
    for is_json in [false, true] {
        let key = |age| of(age, is_json).0;
        assert_eq!(key(Some(3)), key(Some(4)));
        assert_ne!(key(None), key(Some(4)), "it does not answer any more");
    }
}
