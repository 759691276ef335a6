//! The real API server: the suite, and faults of the server.

use std::time::Duration;

use actix_bully::register::{KubernetesRegister, Register as _, RegisterRefusal};
use actix_bully_register_tests::{
    DEADLINE, assert_refused, block_on, conforms, key,
    kubernetes::server::{Cluster, User},
    rounds::play,
    settled,
};

#[test]
fn it_conforms() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    conforms(|| cluster.open(User::Admin));
}

#[test]
fn processes_never_lead_twice_whatever_befalls_the_server() {
    if let Some(mut cluster) = Cluster::start() {
        play(&mut cluster, env!("CARGO_BIN_EXE_holder"));
    }
}

#[test]
fn a_role_that_is_missing_is_named_and_may_come_back() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let register = cluster.open(User::Plain);
    let holder = key("jobs/holder");
    let read_is_refused = || {
        let refused = settled(&register, &holder);
        assert_refused(&refused, RegisterRefusal::Credentials);
        refused
            .map_err(|error| error.to_string())
            .expect_err("it is refused")
    };
    let words = read_is_refused();
    assert!(words.contains("get") && words.contains("leases"), "{words}");
    cluster.may(&["get"]);
    until(|| block_on(register.read(&holder)).is_ok());
    let written = block_on(register.swap(&holder, None, b"one".to_vec()));
    let words = written
        .as_ref()
        .map_err(ToString::to_string)
        .expect_err("it may not");
    assert_refused(&written, RegisterRefusal::Credentials);
    assert!(words.contains("create"), "{words}");
    cluster.may(&["get", "create", "update"]);
    until(|| block_on(register.swap(&holder, None, b"one".to_vec())).is_ok());
    cluster.may(&[]);
    until(|| block_on(register.read(&holder)).is_err());
    read_is_refused();
}

#[test]
fn a_service_leads_to_the_last_leader_whichever_comes_late() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let file = cluster.kubeconfig("admin-token", &cluster.address(0));
    let service = KubernetesRegister::builder()
        .kubeconfig_file(&file)
        .service("jobs");
    let service = service.port("http", 8080);
    let leads_to = |address: &str, term| {
        let address = address.parse().expect("an address");
        block_on(service.lead_to(address, term)).expect("it is written")
    };
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/jobs";
    let shown = || cluster.done("GET", path, "");
    assert!(leads_to("10.0.0.1", 4));
    assert!(leads_to("10.0.0.2", 7));
    assert!(!leads_to("10.0.0.1", 4), "it comes late");
    assert!(shown().contains("10.0.0.2"), "{}", shown());
    assert!(
        leads_to("10.0.0.3", 7),
        "the same leader at another address"
    );
    assert!(shown().contains("10.0.0.3"), "{}", shown());
    cluster.done("DELETE", path, "");
    assert!(leads_to("10.0.0.3", 7), "it is made anew");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "it never comes");
        std::thread::sleep(Duration::from_millis(20));
    }
}
