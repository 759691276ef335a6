//! Each error of the server, through a real request.

use std::fs;

use actix_bully::register::RegisterRefusal::{self, Credentials, Full, Layout, Other};
use actix_bully_register_tests::{
    assert_away,
    kubernetes::double::{KubeFault, KubeStatus, WatchEnd},
    refusal, settled,
};
use actix_bully_tls_tests::Authority;
use serde_json::json;

use super::*;
use Failure::{Refused, Unknown, Unreachable};

/// Checks the fault with one request of each kind.
fn fails_as(fault: &KubeFault, write: Failure, read: Failure) {
    for operation in OPERATIONS {
        let expected = if operation.writes() { write } else { read };
        fails_once(fault, operation, expected);
    }
}

/// Asserts that the operation fails as expected, makes one request and changes nothing, and that the register works
/// afterwards.
fn fails_once(fault: &KubeFault, operation: Operation, expected: Failure) {
    let server = KubeDouble::start();
    let register = server.open();
    let entry = written(&register, &holder(), b"one");
    let asked = server.asked(operation.verb());
    server.plan(&[operation.verb()], 1, fault.clone());
    let row = format!("{operation:?} {fault:.200?}");
    let error = operation.run(&register, &entry).expect_err(&row);
    assert_eq!(failure(&error), expected, "{row}: {error}");
    assert_eq!(server.asked(operation.verb()), asked + 1, "{row}: once");
    let found = works(&register, &operation.key());
    let found = found.as_ref().map(|entry| &*entry.value);
    assert_eq!(found, operation.leaves(false), "{row}");
    operation.run(&register, &entry).expect(&row);
}

/// Code, reason, message and kind of a status; the failure of a write, and the failure of a read.
type StatusRow = (
    u16,
    &'static str,
    &'static str,
    &'static str,
    Failure,
    Failure,
);
#[rustfmt::skip]
const STATUSES: &[StatusRow] = &[
    (401, "Unauthorized", "Unauthorized", "", Unreachable, Unreachable),
    (403, "Forbidden", "User \"me\" cannot update resource \"leases\"", "leases", Refused(Credentials), Refused(Credentials)),
    (403, "Forbidden", "exceeded quota: leases, requested: 1", "leases", Refused(Full), Refused(Full)),
    (403, "Forbidden", "unable to create new content in namespace jobs because it is being terminated", "leases", Refused(Layout), Refused(Layout)),
    (404, "NotFound", "namespaces \"jobs\" not found", "namespaces", Refused(Layout), Refused(Layout)),
    (410, "Expired", "too old resource version", "", Unreachable, Unreachable),
    (500, "InternalError", "failed calling webhook \"x\": timeout", "", Unknown, Unreachable),
    (500, "InternalError", "etcdserver: leader changed", "", Unknown, Unreachable),
    (503, "ServiceUnavailable", "the server is shutting down", "", Unknown, Unreachable),
    (504, "Timeout", "request did not complete within the allotted timeout", "", Unknown, Unreachable),
    (400, "BadRequest", "a field", "", Refused(Other), Refused(Other)),
    (405, "MethodNotAllowed", "", "", Refused(Other), Refused(Other)),
    (413, "RequestEntityTooLarge", "", "", Refused(Other), Refused(Other)),
    (415, "UnsupportedMediaType", "", "", Refused(Other), Refused(Other)),
    (422, "Invalid", "a policy", "leases", Refused(Other), Refused(Other)),
    (418, "", "a teapot", "", Refused(Other), Refused(Other)),
];

#[test]
fn each_answer_of_the_table_is_reported_and_the_register_goes_on() {
    for (code, reason, message, kind, write, read) in STATUSES {
        let status = KubeStatus::new(*code, reason, message).of_kind(kind);
        fails_as(&KubeFault::Status(status), *write, *read);
    }
}

/// Answers of a proxy between the register and the server: code and text; the failure of a write, and the failure of
/// a read.
#[rustfmt::skip]
const BODIES: &[(u16, &str, Failure, Failure)] = &[
    (403, PAGE, Refused(Credentials), Refused(Credentials)),
    (404, PAGE, Refused(Other), Refused(Other)),
    (409, PAGE, Refused(Other), Refused(Other)),
    (502, PAGE, Unknown, Unreachable),
    (504, "{\"message\":\"Endpoint request timed out\"}", Unknown, Unreachable),
    (500, "{}", Unknown, Unreachable),
    (200, PAGE, Unknown, Unreachable),
    (302, PAGE, Unknown, Unreachable),
    (200, "[]", Unknown, Unreachable),
    (200, "{}", Unknown, Unreachable),
    (200, "", Unknown, Unreachable),
];
const PAGE: &str = "<html><body>an ingress</body></html>";

#[test]
fn an_answer_that_is_not_the_servers_is_reported_and_the_register_goes_on() {
    let long = " ".repeat(9 << 20);
    let long = (200, &*long, Unknown, Unreachable);
    for (code, text, write, read) in BODIES.iter().chain([&long]) {
        let fault = KubeFault::Body(*code, "text/html", (*text).to_owned());
        fails_as(&fault, *write, *read);
    }
}

#[test]
fn a_server_that_is_busy_is_asked_nothing_before_its_time_is_over() {
    let server = KubeDouble::start();
    let (register, holder) = (server.open(), holder());
    let entry = written(&register, &holder, b"one");
    let _changes = register.changes(&holder);
    block_on(until("it watches", || server.watches() == 1));
    let begun = Instant::now();
    let busy = KubeStatus::new(429, "TooManyRequests", "slow down").retry_after(1);
    server.plan(&[KubeVerb::Update], 1, KubeFault::Status(busy));
    let refused = block_on(register.swap(&holder, Some(&entry), b"two".to_vec()));
    assert_away(&refused);
    let asked = server.asked_at_all();
    server.end_watches(WatchEnd::Ordinary);
    let mut tries = 0;
    while let Err(error) = block_on(register.read(&holder)) {
        assert_eq!(failure(&error), Unreachable, "{error}");
        // The requests are counted before the clock is read, since the waiting time may end at any moment.
        let is_asked = server.asked_at_all() > asked;
        assert!(!is_asked || begun.elapsed() >= Duration::from_secs(1));
        assert!(begun.elapsed() < DEADLINE);
        tries += 1;
    }
    assert!(tries > 0 && begun.elapsed() >= Duration::from_secs(1));
    block_on(async {
        done(swap(&register, &holder, Some(&entry), b"two").await);
        until("it watches again", || server.watches() == 1).await;
    });
}

#[test]
fn a_new_connection_waits_for_a_busy_server_as_well() {
    let server = KubeDouble::start();
    let busy = KubeStatus::new(429, "TooManyRequests", "slow down").retry_after(1);
    server.plan(&[KubeVerb::Version], 1, KubeFault::Status(busy));
    let register = server.open();
    let begun = Instant::now();
    settled(&register, &holder()).expect("it works afterwards");
    assert!(begun.elapsed() >= Duration::from_millis(900));
    assert_eq!(server.asked(KubeVerb::Version), 1);
}

#[test]
fn a_watch_that_finds_the_server_busy_stops_the_operations_as_well() {
    let server = KubeDouble::start();
    let (register, holder) = (server.open(), holder());
    let begun = Instant::now();
    let busy = KubeStatus::new(429, "TooManyRequests", "slow down").retry_after(1);
    server.plan(&[KubeVerb::Watch], 1, KubeFault::Status(busy));
    let _changes = register.changes(&holder);
    block_on(until("it asks", || server.asked(KubeVerb::Watch) == 1));
    loop {
        let asked = server.asked(KubeVerb::Get);
        match block_on(register.read(&holder)) {
            Ok(_) => assert!(begun.elapsed() < DEADLINE),
            Err(error) => {
                assert_eq!(failure(&error), Unreachable, "{error}");
                assert_eq!(server.asked(KubeVerb::Get), asked);
                break;
            }
        }
    }
    works(&register, &holder);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_changed_token_is_read_at_once() {
    for by_file in [false, true] {
        let (server, holder) = (KubeDouble::start(), holder());
        let log_in = |token: &str| {
            let file = server.file("token");
            fs::write(&file, token).expect("it can be written");
            let by_file = by_file.then(|| json!({"tokenFile": file}));
            server.log_in(
                &by_file.unwrap_or_else(|| json!({"token": token})),
                &json!({}),
            );
        };
        log_in("one");
        server.require_token("one");
        let register = server.open();
        let one = written(&register, &holder, b"one");
        server.require_token("two");
        log_in("two");
        let refused = block_on(register.swap(&holder, Some(&one), b"two".to_vec()));
        assert_away(&refused);
        block_on(async { done(swap(&register, &holder, Some(&one), b"two").await) });
        server.require_token("three");
        block_on(register.read(&holder)).expect_err("another token is asked for");
        // The kubeconfig still has the old token.
        assert_eq!(refusal(&settled(&register, &holder)), Some(Credentials));
        log_in("three");
        assert_eq!(eventually(&register).value, b"two");
    }
}

/// Reads until the read succeeds, and returns the holder's entry. The register may need a moment to notice the
/// repair.
fn eventually(register: &dyn Register) -> Entry {
    let begun = Instant::now();
    loop {
        match block_on(register.read(&holder())) {
            Ok(entry) => return entry.expect("it is there"),
            Err(error) => assert!(begun.elapsed() < DEADLINE, "{error}"),
        }
    }
}

#[test]
fn what_a_kubeconfig_lacks_is_named_and_read_again() {
    let (server, holder) = (KubeDouble::start(), holder());
    written(&server.open(), &holder, b"one");
    let missing = server.file("missing");
    let closed = json!({"server": "http://127.0.0.1:1"});
    for (user, cluster, expected, words) in [
        (
            json!({"tokenFile": missing}),
            json!({}),
            Some(Credentials),
            "missing",
        ),
        (
            json!({"exec": {"command": "false", "apiVersion": "client.authentication.k8s.io/v1"}}),
            json!({}),
            Some(Credentials),
            "false",
        ),
        (
            json!({"exec": {"command": "/no/such/plugin", "apiVersion": "client.authentication.k8s.io/v1"}}),
            json!({}),
            Some(Credentials),
            "exec",
        ),
        (json!({}), closed, None, "refused"),
    ] {
        server.log_in(&user, &cluster);
        let register = server.open();
        let begun = Instant::now();
        let error = loop {
            match block_on(register.read(&holder)) {
                Err(error) => break error,
                Ok(found) => assert!(begun.elapsed() < DEADLINE, "{found:?}"),
            }
        };
        let is_refused = expected.map_or(Unreachable, Refused);
        assert_eq!(failure(&error), is_refused, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        server.log_in(&json!({}), &json!({}));
        assert_eq!(eventually(&register).value, b"one");
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_refused_until_its_authority_is_named() {
    let [right, other] = ["the cluster's", "another"].map(Authority::new);
    let server = KubeDouble::secure(&right.node("localhost"));
    let trusts = |authority: &Authority| {
        let file = server.file("authorities");
        fs::write(&file, &authority.pem).expect("it can be written");
        server.log_in(&json!({}), &json!({"certificate-authority": file}));
    };
    trusts(&other);
    let register = server.open();
    let found: Result<_, RegisterError> = settled(&register, &holder());
    let refused: Option<RegisterRefusal> = refusal(&found);
    assert_eq!(refused, Some(Credentials), "{found:?}");
    trusts(&right);
    let other = server.open();
    written(&other, &holder(), b"one");
    assert_eq!(eventually(&register).value, b"one");
}
