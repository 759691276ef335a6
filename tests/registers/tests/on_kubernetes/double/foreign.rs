//! Leases that no register wrote.

use actix_bully_register_tests::{assert_unknown, kubernetes::double::KubeFault, list};
use serde_json::{Value, json};

use super::*;

/// Returns a Lease as client-go makes it for its leader election.
fn of_client_go(name: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": {
            "holderIdentity": "controller-7c9d_4f1e",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:10.000000Z",
            "leaseTransitions": 3,
        },
    })
}

/// Asserts that reads and writes refuse the Lease as foreign, and do not change it.
fn is_left_alone(server: &KubeDouble, register: &dyn Register, name: &str, old: &Entry) {
    let (holder, before) = (holder(), server.lease(name));
    let is_foreign = |found: Result<(), RegisterError>| {
        let is_foreign = matches!(&found, Err(RegisterError::Foreign { key }) if *key == holder);
        assert!(is_foreign, "{found:?}");
    };
    block_on(async {
        is_foreign(register.read(&holder).await.map(drop));
        for expected in [None, Some(old)] {
            let swap = register.swap(&holder, expected, b"mine".to_vec());
            is_foreign(swap.await.map(drop));
        }
        is_foreign(removed(register, &holder, old).await.map(drop));
        assert_eq!(list(register, &key("group")).await, []);
    });
    assert_eq!(server.lease(name), before);
    assert_eq!(
        before.map(|lease| lease["metadata"]["name"] == name),
        Some(true)
    );
}

#[test]
fn a_lease_of_client_go_is_foreign_and_left_alone() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let old = written(&register, &holder, b"one");
    let name = server.name_of(holder.as_str());
    server.delete(&name);
    server.create(of_client_go(&name));
    is_left_alone(&server, &register, &name, &old);
    server.edit(&name, |lease| {
        lease["spec"]["holderIdentity"] = json!("another");
    });
    is_left_alone(&server, &register, &name, &old);
    server.delete(&name);
    written(&register, &holder, b"two");
}

/// The update without the finalizer deletes the Lease, and the server answers as if the Lease still existed.
#[test]
fn a_lease_that_a_finalizer_holds_is_neither_renewed_nor_called_removed() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let finalize = |name: &str| {
        server.edit(name, |lease| {
            lease["metadata"]["finalizers"] = json!(["shop.example/audit"]);
        });
        works(&register, &holder).expect("it is there")
    };
    written(&register, &holder, b"one");
    let name = server.name_of(holder.as_str());
    let kept = finalize(&name);
    server.delete(&name);
    let deleted = works(&register, &holder).expect("the finalizer holds it");
    assert_ne!(deleted.version, kept.version);
    let unknown = block_on(register.swap(&holder, Some(&deleted), b"two".to_vec()));
    assert_unknown(&unknown);
    assert_eq!(works(&register, &holder), None);
    written(&register, &holder, b"three");
    let kept = finalize(&name);
    let unknown = block_on(removed(&register, &holder, &kept));
    assert_unknown(&unknown);
    assert!(works(&register, &holder).is_some());
    server.edit(&name, |lease| lease["metadata"]["finalizers"] = json!([]));
    assert_eq!(works(&register, &holder), None);
}

#[test]
fn a_write_that_a_webhook_has_changed_is_unknown() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let one = written(&register, &holder, b"one");
    let mut other = server.lease_of(holder.as_str()).expect("it is there");
    other["metadata"]["annotations"]["actix-bully/value"] = json!("b3RoZXI=");
    for fault in [other.to_string(), of_client_go("another").to_string()] {
        server.plan(&[KubeVerb::Update], 1, KubeFault::Misanswered(fault));
        let entry = works(&register, &holder);
        let unknown = block_on(register.swap(&holder, entry.as_ref(), b"two".to_vec()));
        assert_unknown(&unknown);
    }
    assert_ne!(works(&register, &holder), Some(one));
}
