//! A node whose configuration names a store for its lease, and nothing else.

use std::{path::Path, time::Duration};

use actix_bully::config::{Config, ConfigError, RunError};
use actix_bully_register_tests::kubernetes::double::KubeDouble;
use tempfile::TempDir;

fn text(node: &str, key: &str, path: &Path) -> String {
    let path = path.display();
    format!(
        "node = \"{node}\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\n{key} = \"{path}\""
    )
}

/// A folder and a database are named in the configurations of the example `web_replicas`, and etcd in `on_etcd`.
#[test]
fn nodes_lead_in_turn_by_a_lease_of_kubernetes() {
    let server = KubeDouble::start();
    let (key, path) = ("kubernetes = true\nkubeconfig_file", server.kubeconfig());
    let config = |node| Config::from_toml(&text(node, key, &path)).expect("it is TOML");
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

/// The unit tests of a configuration have the contradictions of every other key.
#[test]
fn what_contradicts_a_store_is_named() {
    let with = |more: &str| {
        let etcd = "lease.etcd_endpoints = [\"https://a\"]";
        let text = format!("node = \"a\"\ngroup = \"jobs\"\n{etcd}\n{more}");
        Config::from_toml(&text).expect("it is TOML").check()
    };
    let authorities = "lease.authorities_file = \"a\"\n";
    for (more, missing) in [
        ("lease.key_file = \"k\"", "lease.authorities_file"),
        (
            &*format!("{authorities}lease.key_file = \"k\""),
            "lease.certificate_file",
        ),
        (
            &*format!("{authorities}lease.certificate_file = \"c\""),
            "lease.key_file",
        ),
    ] {
        let refused = with(more);
        let is_named = matches!(&refused, Err(ConfigError::Missing { key, .. }) if key == missing);
        assert!(is_named, "{more}: {refused:?}");
    }
    assert!(with(authorities).is_ok());
}

#[test]
fn a_store_that_cannot_be_opened_is_blamed_on_its_key() {
    let folder = TempDir::with_prefix("register-").expect("a temporary folder can be made");
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
