//! `bullyctl history`, by the socket and by the routes.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use actix_bully::history::GroupHistory;

use super::nodes::{Nodes, bullyctl};

#[test]
fn the_history_has_a_line_for_each_leadership() {
    let nodes = Nodes::start();
    let moved = nodes.by_socket("n3", "transfer --to n1");
    assert_eq!(moved.code, 0, "{moved:?}");
    for said in [
        nodes.by_socket("n3", "history"),
        bullyctl(&format!("--url {} history", nodes.get("n3").url)),
    ] {
        assert_eq!(said.code, 0, "{said:?}");
        let lines: Vec<_> = said.out.lines().collect();
        assert!(lines[0].starts_with("orders: "), "{said:?}");
        let columns = [
            "FROM",
            "LEADER",
            "TERM",
            "LED FOR",
            "NO LEADER BEFORE",
            "END",
        ];
        assert!(
            columns.iter().all(|name| lines[1].contains(name)),
            "{said:?}"
        );
        let [.., before, last] = &*lines else {
            panic!("{said:?}");
        };
        assert!(
            before.contains(" n3 ") && before.ends_with("resigned"),
            "{said:?}"
        );
        assert!(last.contains(" n1 ") && last.ends_with("leads"), "{said:?}");
    }
    let groups: Vec<GroupHistory> = nodes.by_socket("n2", "history --json").read();
    let last = groups[0].leaderships.last().unwrap();
    assert_eq!((last.leader.as_str(), last.end), ("n1", None), "{groups:?}");
    let short = nodes.by_socket("n2", "history --last 1");
    assert!(short.out.starts_with("orders: 1 of "), "{short:?}");
}
