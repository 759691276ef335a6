//! The double answers as Kubernetes 1.36 does.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use actix_bully_register_tests::kubernetes::double::KubeDouble;
use serde_json::{Value, json};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/jobs/leases";

/// A client that can send any request to the double.
struct Plain(KubeDouble);

impl Plain {
    /// Sends a request, and returns the code and the object.
    fn asks(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.0.address()).expect("it listens");
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: it\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(body.as_bytes()).expect("it reads");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it answers");
        let (head, body) = said.split_once("\r\n\r\n").expect("a head");
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let object = serde_json::from_str(body).unwrap_or_default();
        (code.expect("a code"), object)
    }

    /// Sends a request that must be refused, and returns the code and the reason.
    fn refused(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let (code, said) = self.asks(method, path, body);
        assert_eq!(said["code"], code, "{said}");
        (code, said["reason"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a request that must succeed, and returns the version and the uid in the answer.
    fn done(&self, expected: u16, method: &str, path: &str, body: &Value) -> (String, String) {
        let (code, said) = self.asks(method, path, body);
        assert_eq!(code, expected, "{method} {body}: {said}");
        let part = |name: &str| {
            said["metadata"][name]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        (part("resourceVersion"), part("uid"))
    }
}

fn lease(metadata: &Value) -> Value {
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "x1"}, "spec": {"holderIdentity": "a"},
    });
    for (name, value) in metadata.as_object().into_iter().flatten() {
        lease["metadata"][name] = value.clone();
    }
    lease
}

fn refusal(code: u16, reason: &str) -> (u16, String) {
    (code, reason.to_owned())
}

#[test]
fn each_write_does_what_a_real_server_does() {
    let server = Plain(KubeDouble::start());
    let one = format!("{LEASES}/x1");
    let (conflict, none) = (refusal(409, "Conflict"), Value::Null);
    let (first, uid) = server.done(201, "POST", LEASES, &lease(&json!({})));
    let again = server.refused("POST", LEASES, &lease(&json!({})));
    assert_eq!(again, refusal(409, "AlreadyExists"));
    let versions = json!({"resourceVersion": first, "uid": uid, "annotations": {"k": "1"}});
    let (second, same) = server.done(200, "PUT", &one, &lease(&versions));
    assert_eq!(same, uid);
    let number = |version: &str| version.parse::<u64>().expect("a number");
    assert!(number(&second) > number(&first));
    let unchanged = json!({"resourceVersion": second, "annotations": {"k": "1"}});
    let stays = server.done(200, "PUT", &one, &lease(&unchanged));
    assert_eq!(stays.0, second);
    assert_eq!(
        server.refused("PUT", &one, &lease(&versions)),
        conflict,
        "an old version"
    );
    let bare = server.refused("PUT", &one, &lease(&json!({})));
    assert_eq!(bare, refusal(422, "Invalid"), "no version");
    let other = json!({"resourceVersion": second, "uid": "another"});
    assert_eq!(
        server.refused("PUT", &one, &lease(&other)),
        conflict,
        "another uid"
    );
    let old = json!({"preconditions": {"resourceVersion": first, "uid": uid}});
    assert_eq!(server.refused("DELETE", &one, &old), conflict);
    let now = json!({"preconditions": {"resourceVersion": second, "uid": uid}});
    server.done(200, "DELETE", &one, &now);
    let both = json!({"resourceVersion": second, "uid": uid});
    assert_eq!(
        server.refused("PUT", &one, &lease(&both)),
        conflict,
        "it is gone"
    );
    assert_eq!(server.refused("GET", &one, &none), refusal(404, "NotFound"));
    for metadata in [json!({"resourceVersion": second}), json!({})] {
        let (_, anew) = server.done(201, "PUT", &one, &lease(&metadata));
        assert_ne!(anew, uid);
        server.done(200, "DELETE", &one, &none);
    }
}

#[test]
fn what_no_server_takes_is_refused() {
    let server = Plain(KubeDouble::start());
    let invalid = refusal(422, "Invalid");
    for name in ["X-1", "x_1"] {
        let named = lease(&json!({"name": name}));
        assert_eq!(server.refused("POST", LEASES, &named), invalid);
    }
    let annotated = |len: usize| lease(&json!({"annotations": {"v": "x".repeat(len)}}));
    assert_eq!(server.refused("POST", LEASES, &annotated(300_000)), invalid);
    server.done(201, "POST", LEASES, &annotated(262_143));
    let elsewhere = LEASES.replace("jobs", "nope");
    let (code, said) = server.asks("POST", &elsewhere, &lease(&json!({})));
    assert_eq!(
        (code, &said["details"]["kind"]),
        (404, &json!("namespaces"))
    );
    let watch = format!("{LEASES}?watch=true&resourceVersion=7&timeoutSeconds=1");
    server.0.forget();
    let (code, _) = server.asks("GET", &watch, &Value::Null);
    assert_eq!(code, 200, "it says in the stream that this is gone");
    server.0.require_token("sesame");
    let unknown = server.refused("GET", LEASES, &Value::Null);
    assert_eq!(unknown, refusal(401, "Unauthorized"));
}
