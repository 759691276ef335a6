//! A node whose configuration names a store for its lease, and nothing else.

use std::{fs, path::Path, time::Duration};

use actix_bully::config::{Config, ConfigError, RunError};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::kubernetes::double::KubeDouble;
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::with_prefix("register-").expect("a temporary folder can be made")
}

fn text(node: &str, key: &str, path: &Path) -> String {
    let path = path.display();
    format!(
        "node = \"{node}\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\n{key} = \"{path}\""
    )
}

/// Starts two nodes, and checks that they lead one after the other.
fn lead_in_turn(key: &str, path: &Path) {
    let config = |node| Config::from_toml(&text(node, key, path)).expect("it is TOML");
    actix::System::new().block_on(async {
        let soon = Duration::from_secs(20);
        let first = config("api-1").start().expect("it starts");
        let leader = first.agent().wait_for_leader(soon).await.expect("it leads");
        let other = config("api-2").start().expect("it starts");
        let followed = other
            .agent()
            .wait_for_leader(soon)
            .await
            .expect("it follows");
        assert_eq!((leader.id.as_str(), &followed), ("api-1", &leader));
        first.leave(soon).await.expect("it hands over");
        let mut next = other.agent().leader();
        while next.as_ref().is_none_or(|next| next.term <= leader.term) {
            next = other.agent().wait_for_leader(soon).await.ok();
            actix::clock::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(next.expect("there is one").id, "api-2");
        other.leave(soon).await.expect("it ends");
    });
}

#[test]
fn nodes_lead_in_turn_by_a_folder() {
    let folder = folder();
    lead_in_turn("folder", &folder.path().join("leases"));
}

#[test]
fn nodes_lead_in_turn_by_a_lease_of_kubernetes() {
    let server = KubeDouble::start();
    lead_in_turn("kubernetes = true\nkubeconfig_file", &server.kubeconfig());
}

#[test]
fn nodes_lead_in_turn_by_a_database() {
    let server = Server::shared();
    let folder = folder();
    let url = folder.path().join("url");
    fs::write(&url, format!("{}\n", server.address())).expect("it can be written");
    lead_in_turn("create_table = true\npostgres_url_file", &url);
}

#[test]
fn what_contradicts_a_store_is_named() {
    let with = |more: &str| {
        let text = format!("node = \"a\"\ngroup = \"jobs\"\n{more}");
        let config = Config::from_toml(&text).expect("it is TOML");
        config.check()
    };
    assert!(with("lease.folder = \"x\"").is_ok());
    for (more, other) in [
        ("quorum.voters = [\"a\"]", "quorum.voters"),
        ("lease.postgres_url_file = \"y\"", "lease.postgres_url_file"),
        (
            "lease.etcd_endpoints = [\"http://a\"]",
            "lease.etcd_endpoints",
        ),
    ] {
        let refused = with(&format!("{more}\nlease.folder = \"x\""));
        let Err(ConfigError::Contradiction {
            key, other: found, ..
        }) = &refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!((key.as_str(), found.as_str()), ("lease.folder", other));
    }
    let refused = with("lease.folder = \"x\"\nlease.key_file = \"k\"");
    assert!(
        matches!(&refused, Err(ConfigError::Contradiction { key, .. }) if key == "lease.key_file"),
        "{refused:?}"
    );
    let etcd = "lease.etcd_endpoints = [\"https://a\"]\n";
    for (more, missing) in [
        ("lease.key_file = \"k\"", "lease.authorities_file"),
        (
            "lease.authorities_file = \"a\"\nlease.key_file = \"k\"",
            "lease.certificate_file",
        ),
        (
            "lease.authorities_file = \"a\"\nlease.certificate_file = \"c\"",
            "lease.key_file",
        ),
    ] {
        let refused = with(&format!("{etcd}{more}"));
        assert!(
            matches!(&refused, Err(ConfigError::Missing { key, .. }) if key == missing),
            "{more}: {refused:?}"
        );
    }
    assert!(with(&format!("{etcd}lease.authorities_file = \"a\"")).is_ok());
    let short = with("lease.folder = \"x\"\ntimings.delay_bound = \"100ms\"");
    assert!(short.is_err(), "{short:?}");
}

#[test]
fn a_store_that_cannot_be_opened_is_blamed_on_its_key() {
    let folder = folder();
    let nowhere = folder.path().join("missing/leases");
    let config = Config::from_toml(&text("a", "folder", &nowhere)).expect("it is TOML");
    actix::System::new().block_on(async {
        let refused = config.start().expect_err("there is no such folder");
        assert!(
            matches!(refused, RunError::Register { key, .. } if key == "lease.folder"),
            "{refused}"
        );
    });
}
