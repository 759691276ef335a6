//! The credential plugin of an account, and the Leases of a real election.

use actix_bully::protocol::Timings;
use actix_bully_register_tests::{
    assert_refused,
    many::{agents, play},
    settled,
};
use serde_json::json;
use std::{fs, sync::Arc};

use super::*;

/// The plugin waits for a service that does not exist.
#[test]
fn a_plugin_that_hangs_is_named_and_of_many_attempts_one_runs_it() {
    let server = KubeDouble::start();
    let runs = server.file("runs");
    let script = format!("echo run >>'{}'; sleep 60", runs.display());
    let plugin = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "sh", "args": ["-c", script],
    }});
    server.log_in(&plugin, &json!({}));
    let register = server.open();
    for _ in 0..3 {
        let refused = settled(&register, &holder());
        assert_refused(&refused, RegisterRefusal::Credentials);
        let words = refused.expect_err("it hangs").to_string();
        assert!(words.contains("plugin"), "{words}");
    }
    let runs = fs::read_to_string(runs).expect("it was run");
    assert_eq!(runs.lines().count(), 1, "{runs}");
    assert_eq!(server.asked_at_all(), 0);
}

/// The test reads the fields that `kubectl get lease` shows, in a real election.
#[test]
fn a_leader_is_shown_as_the_holder_with_its_lease() {
    let server = KubeDouble::start();
    let register: Arc<dyn Register> = Arc::new(server.open());
    let leader = play(async {
        let (_group, all) = agents(3, &Timings::default(), &register).await;
        let leader = all.iter().find(|agent| agent.is_leader());
        let leader = leader.expect("one leads").id().to_string();
        until("it is shown", || {
            let lease = server.lease_of("default/one/lease");
            lease.is_some_and(|lease| lease["spec"]["holderIdentity"] == json!(leader))
        })
        .await;
        leader
    });
    let lease = server.lease_of("default/one/lease").expect("it is there");
    let spec = &lease["spec"];
    assert_eq!(spec["holderIdentity"], json!(leader));
    assert_eq!(spec["leaseDurationSeconds"], json!(1));
    let present = server.lease_of(&format!("default/one/present/{leader}"));
    let present = present.expect("it says that it is there");
    assert_eq!(present["spec"]["holderIdentity"], json!(leader));
}
