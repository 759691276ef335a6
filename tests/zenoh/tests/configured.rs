//! Nodes whose configurations have the section `zenoh`, and no address of each other.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use actix_bully::config::{Config, RunError, RunningNode};
use actix_bully_zenoh::starter;
use actix_bully_zenoh_tests::{Authority, DEADLINE, endpoint, free_udp_port, play, until};
use tempfile::TempDir;

/// Returns the configuration of `node`, whose only peer is `peer`.
fn config(node: &str, peer: &str, more: &str) -> Config {
    let text = format!(
        "node = \"{node}\"\ngroup = \"jobs\"\npeers = [{{ node = \"{peer}\" }}]\ntimings.preset = \"lan\"\n{more}"
    );
    Config::from_toml(&text).expect("it is TOML")
}

fn start(config: &Config) -> Result<RunningNode, RunError> {
    starter(config)?.start()
}

fn follows(node: &RunningNode, leader: &str) -> bool {
    let found = node.agent().leader();
    found.is_some_and(|found| found.id == leader)
}

/// Checks that the two nodes elect the second, whose name is higher, and that the first leads after the second has
/// left.
async fn elect_in_turn(first: &Config, second: &Config) {
    let (one, other) = (
        start(first).expect("it starts"),
        start(second).expect("it starts"),
    );
    until("both follow the second", || {
        follows(&one, &second.node) && follows(&other, &second.node)
    })
    .await;
    other.leave(DEADLINE).await.expect("it hands over");
    until("the first leads", || follows(&one, &first.node)).await;
    one.leave(DEADLINE).await.expect("it ends");
}

#[test]
fn nodes_with_a_secret_find_each_other_by_name() {
    play(async {
        let (at, folder) = (endpoint(), TempDir::new().expect("a folder"));
        let secret = folder.path().join("secret");
        fs::write(&secret, "-".repeat(32)).expect("a file");
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("its owner may");
        let node = |node, peer, key| {
            let secret = secret.display();
            let zenoh = format!("secret_file = \"{secret}\"\nzenoh.{key} = [\"{at}\"]");
            config(node, peer, &zenoh)
        };
        elect_in_turn(&node("a", "b", "listen"), &node("b", "a", "connect")).await;
    });
}

/// Writes the files of the section `tls`.
fn certified(folder: &Path, authority: &Authority, node: &str) -> String {
    let leaf = authority.node(node);
    let files = [
        ("authorities_file", &authority.pem),
        ("certificate_file", &leaf.certificate),
        ("key_file", &leaf.key),
    ];
    files
        .iter()
        .fold(String::from("[tls]"), |text, (key, pem)| {
            let path = folder.join(format!("{node}.{key}"));
            fs::write(&path, pem).expect("a file");
            format!("{text}\n{key} = \"{}\"", path.display())
        })
}

/// The first node is at `localhost`, and the second connects by that name; so the first node's certificate has both
/// names.
#[test]
fn quic_uses_the_certificates_of_the_nodes() {
    play(async {
        let (ours, folder) = (Authority::new("ours"), TempDir::new().expect("a folder"));
        let at = format!("quic/localhost:{}", free_udp_port());
        let node = |node: &str, peer: &str, key: &str| {
            let tls = certified(folder.path(), &ours, node);
            config(node, peer, &format!("zenoh.{key} = [\"{at}\"]\n{tls}"))
        };
        let (first, second) = (
            node("localhost", "member-2", "listen"),
            node("member-2", "localhost", "connect"),
        );
        elect_in_turn(&first, &second).await;
    });
}

#[test]
fn a_refusal_by_zenoh_names_the_section() {
    play(async {
        let at = endpoint();
        let zenoh = format!("zenoh.listen = [\"{at}\"]");
        let first = start(&config("a", "b", &zenoh)).expect("it starts");
        let taken = start(&config("b", "a", &zenoh));
        let refused = taken.expect_err("another listens there");
        let is_blamed = matches!(
            refused,
            RunError::Bridge {
                key: Some("zenoh"),
                ..
            }
        );
        assert!(is_blamed, "{refused}");
        first.leave(DEADLINE).await.expect("it ends");
    });
}
