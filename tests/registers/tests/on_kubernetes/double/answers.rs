//! Each error of the server, through a real request.

use std::fs;

use actix_bully::register::RegisterRefusal::{self, Credentials, Other};
use actix_bully_register_tests::{
    assert_away,
    kubernetes::double::{KubeFault, KubeStatus, WatchEnd},
    refusal, settled,
};
use actix_bully_tls_tests::Authority;
use serde_json::json;

use super::*;
use Failure::{Refused, Unknown, Unreachable};

/// Returns the key of the operation that makes a request of this verb.
fn key_of(verb: KubeVerb) -> RegisterKey {
    key(match verb {
        KubeVerb::Create => "group/new",
        _ => "group/holder",
    })
}

/// Carries out the operation that makes a request of this verb. `entry` is the present entry of the key [`holder`].
fn run(verb: KubeVerb, register: &dyn Register, entry: &Entry) -> Result<(), RegisterError> {
    let key = key_of(verb);
    let next = || b"next".to_vec();
    block_on(async {
        match verb {
            KubeVerb::Get => register.read(&key).await.map(drop),
            KubeVerb::List => {
                let listing = register.list(&"group".parse().expect("a key"));
                listing.expect("it lists").await.map(drop)
            }
            KubeVerb::Create => register.swap(&key, None, next()).await.map(drop),
            KubeVerb::Update => register.swap(&key, Some(entry), next()).await.map(drop),
            KubeVerb::Delete => removed(register, &key, entry).await.map(drop),
            KubeVerb::Watch | KubeVerb::Version => panic!("no operation makes this request"),
        }
    })
}

/// Returns the value of the operation's key afterwards. `is_done` is whether the operation was carried out.
const fn leaves(verb: KubeVerb, is_done: bool) -> Option<&'static [u8]> {
    match (verb, is_done) {
        (KubeVerb::Create, false) | (KubeVerb::Delete, true) => None,
        (KubeVerb::Create | KubeVerb::Update, true) => Some(b"next"),
        _ => Some(b"one"),
    }
}

/// A fault; the failure of a write, and the failure of a read; and whether the server carries the request out. The
/// unit tests of the register have the meaning of every other status.
fn faults() -> Vec<(KubeFault, Failure, Failure, bool)> {
    let status = |code, reason, message| KubeFault::Status(KubeStatus::new(code, reason, message));
    let of_proxy = |code, text: &str| KubeFault::Body(code, "text/html", text.to_owned());
    let role = "User \"me\" cannot update resource \"leases\"";
    let page = "<html><body>an ingress</body></html>";
    let late = "{\"message\":\"Endpoint request timed out\"}";
    let credentials = Refused(Credentials);
    let lost = |fault, is_done| (fault, Unknown, Unreachable, is_done);
    let refused = |fault, failure| (fault, failure, failure, false);
    vec![
        refused(status(401, "Unauthorized", "Unauthorized"), Unreachable),
        refused(status(403, "Forbidden", role), credentials),
        refused(
            status(410, "Expired", "too old resource version"),
            Unreachable,
        ),
        refused(status(418, "", "a teapot"), Refused(Other)),
        lost(status(503, "ServiceUnavailable", "shutting down"), false),
        refused(of_proxy(403, page), credentials),
        refused(of_proxy(404, page), Refused(Other)),
        refused(of_proxy(409, page), Refused(Other)),
        lost(of_proxy(502, page), false),
        lost(of_proxy(504, late), false),
        lost(of_proxy(500, "{}"), false),
        lost(of_proxy(200, page), false),
        lost(of_proxy(302, page), false),
        lost(of_proxy(200, "[]"), false),
        lost(of_proxy(200, "{}"), false),
        lost(of_proxy(200, ""), false),
        lost(of_proxy(200, &" ".repeat(9 << 20)), false),
        lost(KubeFault::ClosedBefore, false),
        lost(KubeFault::ClosedAfter, true),
        lost(KubeFault::HalfAnswered, true),
        lost(KubeFault::Misanswered("<html>".to_owned()), true),
    ]
}

/// Each operation makes one request, reports the failure, and leaves the register working.
#[test]
fn each_fault_of_an_answer_is_reported_and_a_request_is_sent_once() {
    for (fault, write, read, is_done) in faults() {
        for verb in [KubeVerb::Get, KubeVerb::List]
            .into_iter()
            .chain(KubeVerb::WRITES)
        {
            let server = KubeDouble::start();
            let register = server.open();
            let entry = written(&register, &holder(), b"one");
            let asked = server.asked(verb);
            server.plan(&[verb], 1, fault.clone());
            let row = format!("{verb:?} {fault:.200?}");
            let error = run(verb, &register, &entry).expect_err(&row);
            let writes = KubeVerb::WRITES.contains(&verb);
            let expected = if writes { write } else { read };
            assert_eq!(failure(&error), expected, "{row}: {error}");
            assert_eq!(server.asked(verb), asked + 1, "{row}: once");
            let found = works(&register, &key_of(verb));
            let found = found.as_ref().map(|entry| &*entry.value);
            assert_eq!(found, leaves(verb, writes && is_done), "{row}");
        }
    }
}

/// The request that finds the server busy is a read, a watch, or the first request of a connection.
#[test]
fn a_server_that_is_busy_is_asked_nothing_before_its_time_is_over() {
    for verb in [KubeVerb::Get, KubeVerb::Watch, KubeVerb::Version] {
        let (server, holder) = (KubeDouble::start(), holder());
        let busy = KubeStatus::new(429, "TooManyRequests", "slow down").retry_after(1);
        server.plan(&[verb], 1, KubeFault::Status(busy));
        let begun = Instant::now();
        let register = server.open();
        let _changes = register.changes(&holder);
        if verb == KubeVerb::Get {
            block_on(until("it watches", || server.watches() == 1));
        }
        while block_on(register.read(&holder)).is_ok() {
            assert!(begun.elapsed() < DEADLINE, "{verb:?}");
        }
        let asked = server.asked_at_all();
        server.end_watches(WatchEnd::Ordinary);
        while let Err(error) = block_on(register.read(&holder)) {
            assert_eq!(failure(&error), Unreachable, "{error}");
            // The requests are counted before the clock is read, since the waiting time may end at any moment.
            let is_asked = server.asked_at_all() > asked;
            assert!(
                !is_asked || begun.elapsed() >= Duration::from_secs(1),
                "{verb:?}"
            );
            assert!(begun.elapsed() < DEADLINE, "{verb:?}");
        }
        assert!(begun.elapsed() >= Duration::from_secs(1), "{verb:?}");
        block_on(until("it watches again", || server.watches() == 1));
    }
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
