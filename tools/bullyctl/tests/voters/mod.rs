//! `bullyctl` shows and changes the voters: three voters and a learner, on four nodes.

use serde_json::{Value, json};

use crate::nodes::{Nodes, bullyctl};

#[test]
fn the_voters_are_shown_and_changed() {
    let nodes = Nodes::start_quorum();
    let said = nodes.by_socket("n1", "voters");
    let shown = "\
3 voters of orders in epoch 0, as n1 knows them
VOTER  PRESENCE
n1     up
n2     up
n3     up        leads
not voters: n4
";
    assert_eq!((said.code, &*said.out), (0, shown), "{said:?}");

    // Any node can be asked. Here it is a learner that adds itself, and the others know its address already.
    let address = &nodes.get("n4").bridge;
    let add = format!("voters add n4 --node n4 --address {address} --within 30");
    let said = nodes.by_socket("n4", &add);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.out,
        "the voters are now n1 n2 n3 n4, in epoch 1; this even number tolerates no more failures than one voter less\n"
    );
    nodes.wait_for_epoch(1);
    nodes.wait_for_leader("n3");
    let voters: Value = nodes.by_url("n2", "voters --json").read();
    let four = ["n1", "n2", "n3", "n4"];
    assert_eq!(
        voters,
        json!([{"agent": "n2", "group": "orders", "epoch": 1, "voters": four}])
    );
    let said = nodes.by_socket("n2", "voters add n4");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the voters are those already: n1 n2 n3 n4"),
        "{said:?}"
    );

    let said = nodes.by_url("n1", "voters remove n2 --json --within 30");
    let removed: Value = said.read();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(removed["verdict"], "done");
    assert_eq!(removed["became"], "voters_changed");
    assert_eq!(removed["voters"], json!(["n1", "n3", "n4"]));
    nodes.wait_for_epoch(2);
    nodes.wait_for_leader("n3");

    // The removed voter is a learner now, and may replace another voter.
    let said = nodes.by_socket("n3", "voters replace n1 n2 --within 30");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the voters are now n2 n3 n4, in epoch 3; ")
            && said.out.contains("stop n1, or add its node to the peers"),
        "{said:?}"
    );
    nodes.wait_for_epoch(3);
    nodes.wait_for_leader("n3");
}

#[test]
fn a_refused_change_of_the_voters_has_an_exit_code_and_says_why() {
    let nodes = Nodes::start_quorum();
    for (task, says) in [
        (
            "voters add nobody",
            "the voters are not changed: the leader has not heard nobody as a learner",
        ),
        (
            "voters replace nobody n4",
            "the voters are not changed: nobody is not in the list of voters: name an agent of that list",
        ),
        (
            "voters replace n1 n2",
            "the voters are not changed: n2 is a voter already, so it cannot replace another voter: remove that voter without a replacement",
        ),
    ] {
        let said = nodes.by_socket("n2", task);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.out.starts_with(says), "{said:?}");
    }
    let said: Value = nodes.by_socket("n3", "voters add nobody --json").read();
    assert_eq!(said["verdict"], "refused");
    assert_eq!(said["reason"], "voters");
    assert_eq!(said["why"], json!({"not_seen": {"id": "nobody"}}));
}

#[test]
fn a_group_without_a_quorum_has_no_voters_to_show_or_to_change() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n1", "voters");
    let none = "has no list of voters: only a quorum has one\n";
    assert_eq!((said.code, said.out), (0, format!("orders {none}")));
    let said = nodes.by_socket("n1", "voters remove n2");
    let none = "this group has no list of voters that could change: only agents with `.quorum([..])` have one (in a configuration: `quorum.voters`)\n";
    assert_eq!((said.code, said.out.as_str()), (1, none));
    let help = bullyctl("voters --help");
    assert!(help.out.contains("Makes a learner a voter"), "{help:?}");
}
