//! The real API server: the suite, and faults of the server.

use std::time::Duration;

use actix_bully::register::{Change, KubernetesRegister, Register as _, RegisterRefusal, Swap};
use actix_bully_register_tests::{
    DEADLINE, assert_away, assert_foreign, assert_unknown, block_on, conforms, done, key,
    kubernetes::server::{Cluster, LEASES, User, object_of},
    read, refusal,
    rounds::play,
    settled, swap, works,
};
use futures::StreamExt as _;

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
fn a_lease_of_another_client_is_foreign_and_left_alone() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let register = cluster.open(User::Admin);
    let holder = key("jobs/holder");
    block_on(async { done(swap(&register, &holder, None, b"mine").await) });
    let name = object_of(&cluster, "jobs/holder").expect("it is listed");
    let entry = block_on(read(&register, &holder));
    let path = format!("{LEASES}/{name}");
    cluster.done("DELETE", &path, "");
    // A late write must not bring the deleted entry back.
    let late = block_on(register.swap(&holder, entry.as_ref(), b"late".to_vec()));
    assert!(matches!(late, Ok(Swap::Conflict(None))), "{late:?}");
    // The object that client-go makes.
    let other = format!(
        r#"{{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"{name}"}},"spec":{{"holderIdentity":"other","leaseDurationSeconds":15}}}}"#
    );
    cluster.done("POST", LEASES, &other);
    let before = cluster.done("GET", &path, "");
    for expected in [None, entry.as_ref()] {
        let written = block_on(register.swap(&holder, expected, b"mine".to_vec()));
        assert_foreign(&written);
    }
    let found = block_on(register.read(&holder));
    assert_foreign(&found);
    assert_eq!(cluster.done("GET", &path, ""), before);
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
        assert_eq!(refusal(&refused), Some(RegisterRefusal::Credentials));
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
    assert_eq!(refusal(&written), Some(RegisterRefusal::Credentials));
    assert!(words.contains("create"), "{words}");
    cluster.may(&["get", "create", "update"]);
    until(|| block_on(register.swap(&holder, None, b"one".to_vec())).is_ok());
    cluster.may(&[]);
    until(|| block_on(register.read(&holder)).is_err());
    read_is_refused();
}

/// The API server drops versions from its memory if no watch uses them. A watch from the version of a quiet Lease
/// would then be refused.
#[test]
fn a_quiet_record_is_heard_while_many_others_change() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let register = cluster.open(User::Admin);
    let quiet = key("quiet/holder");
    block_on(async { done(swap(&register, &quiet, None, b"one").await) });
    let mut changes = register.changes(&quiet).expect("it tells");
    block_on(async {
        let loud: Vec<_> = (0..20)
            .map(|number| key(&format!("loud/{number}")))
            .collect();
        for round in 0..20_u8 {
            for key in &loud {
                let entry = read(&register, key).await;
                done(swap(&register, key, entry.as_ref(), &[round]).await);
            }
        }
    });
    cluster.server(0).crash();
    cluster.server(0).restart();
    let entry = works(&register, &quiet);
    block_on(async {
        // Skips the changes from before the write.
        let told = |changes: &mut actix_bully::register::ChangeStream| {
            let mut all = Vec::new();
            while let Some(Some(change)) = futures::FutureExt::now_or_never(changes.next()) {
                all.push(change);
            }
            all
        };
        told(&mut changes);
        let version = done(swap(&register, &quiet, entry.as_ref(), b"two").await);
        let heard = tokio::time::timeout(DEADLINE, async {
            loop {
                match changes.next().await {
                    Some(Change::Written { entry, .. }) => return entry.version,
                    Some(_) => {
                        if let Some(found) = read(&register, &quiet).await
                            && found.value == b"two"
                        {
                            return found.version;
                        }
                    }
                    None => panic!("it goes on"),
                }
            }
        });
        assert_eq!(heard.await.expect("it is heard"), version);
    });
}

#[test]
fn a_token_that_ends_is_read_again() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let file = cluster.kubeconfig("no-token", &cluster.address(0));
    let register = KubernetesRegister::builder().kubeconfig_file(&file).open();
    let register = register.expect("the kubeconfig is right");
    let holder = key("jobs/holder");
    until(|| refusal(&block_on(register.read(&holder))) == Some(RegisterRefusal::Credentials));
    cluster.write_kubeconfig(&file, "admin-token", &cluster.address(0));
    until(|| block_on(register.read(&holder)).is_ok());
}

#[test]
fn a_server_cut_off_from_its_etcd_leaves_writes_unknown_and_the_other_one_is_asked() {
    let Some(mut cluster) = Cluster::of(2) else {
        return;
    };
    let (first, second) = (cluster.address(0), cluster.address(1));
    let file = cluster.kubeconfig("admin-token", &first);
    let register = KubernetesRegister::builder().kubeconfig_file(&file).open();
    let register = register.expect("the kubeconfig is right");
    let holder = key("jobs/holder");
    works(&register, &holder);
    cluster.server(0).wire().cut();
    let written = block_on(register.swap(&holder, None, b"one".to_vec()));
    assert_unknown(&written);
    let found = block_on(register.read(&holder));
    assert_away(&found);
    // The kubeconfig names the second server from now on, as a shared address that leads elsewhere would.
    cluster.write_kubeconfig(&file, "admin-token", &second);
    let entry = works(&register, &holder);
    block_on(async { done(swap(&register, &holder, entry.as_ref(), b"two").await) });
    cluster.server(0).wire().mend();
}

#[test]
fn what_is_written_reads_well() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let register = cluster.open(User::Admin);
    let record = "actix-bully lease 1\ncluster shop\ngroup jobs\nterm 4\nholder api-1 1 0 0 0 0\nlease 1200000\nnonce api-1 1 1\nnext -\n";
    let holder = key("shop/jobs/holder");
    block_on(async { done(swap(&register, &holder, None, record.as_bytes()).await) });
    let name = object_of(&cluster, "shop/jobs/holder").expect("it is listed");
    assert!(name.starts_with("shop-jobs-holder-"), "{name}");
    let shown = cluster.done("GET", &format!("{LEASES}/{name}"), "");
    for part in [
        r#""holderIdentity":"api-1""#,
        r#""leaseDurationSeconds":2"#,
        r#""leaseTransitions":0"#,
        r#""renewTime":"2"#,
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
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
