//! An etcd without free space.

use std::thread;

use actix_bully::register::{EtcdRegister, Register, RegisterError, RegisterRefusal, Swap};
use actix_bully_register_tests::{block_on, etcd::Etcd, key, refusal, works};

use super::open;

#[test]
fn a_full_store_is_told_from_one_that_is_away_and_can_be_read() {
    let server = Etcd::with(&["--quota-backend-bytes", "65536"]);
    server.wait_until_it_works(&EtcdRegister::builder([server.endpoint()]));
    let register = server.open();
    let mut known = works(&register, &key("a/fill"));
    let mut number = 0_u32;
    let full = loop {
        let value = vec![b'x'; 4_000];
        match block_on(register.swap(&key("a/fill"), known.as_ref(), value)) {
            Ok(Swap::Done(_)) => known = works(&register, &key("a/fill")),
            Ok(Swap::Conflict(entry)) => panic!("nobody else writes: {entry:?}"),
            // On a busy machine the answer may come too late.
            Err(RegisterError::Unreachable(_) | RegisterError::Unknown(_)) => {
                known = works(&register, &key("a/fill"));
            }
            Err(error) => break Err::<(), _>(error),
        }
        number += 1;
        assert!(number < 1_000, "it has room for more than it may have");
    };
    assert_eq!(refusal(&full), Some(RegisterRefusal::Full));
    assert_eq!(works(&register, &key("a/fill")), known, "it can be read");
}

/// If a write fills the store, etcd has carried the write out, and answers that the space is exceeded.
#[test]
fn a_write_that_filled_a_store_is_unknown_and_one_that_it_refused_is_not_done() {
    for applies in [true, false] {
        let register = open(&EtcdRegister::builder([full_member(applies)]));
        let known = works(&register, &key("a/fill"));
        assert!(known.is_some());
        let written = block_on(register.swap(&key("a/fill"), known.as_ref(), b"x".to_vec()));
        if applies {
            assert!(
                matches!(written, Err(RegisterError::Unknown(_))),
                "{written:?}"
            );
            assert_ne!(works(&register, &key("a/fill")), known);
        } else {
            assert_eq!(refusal(&written), Some(RegisterRefusal::Full));
            assert_eq!(works(&register, &key("a/fill")), known);
        }
    }
}

/// Starts a server that answers every write as a full etcd does, and returns its endpoint. The server has one entry,
/// `a/fill`. If `applies` is true, a write increases the revision of the entry.
fn full_member(applies: bool) -> String {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        let mut revision = 7;
        // The connections stay open. If a connection is closed before its request was read to the end, TCP resets it,
        // and the client may lose the answer.
        let mut held = Vec::new();
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut question = [0; 4_096];
            let len = client.read(&mut question).unwrap_or_default();
            let question = String::from_utf8_lossy(question.get(..len).unwrap_or_default());
            if question.starts_with("POST /v3/watch") {
                let begun =
                    "HTTP/1.1 200 OK\r\n\r\n{\"result\":{\"header\":{},\"created\":true}}\n";
                client.write_all(begun.as_bytes()).ok();
                held.push(client);
                continue;
            }
            let (status, body) = if question.starts_with("POST /v3/kv/txn") {
                revision += i32::from(applies);
                (
                    "429 Too Many Requests",
                    r#"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#
                        .to_owned(),
                )
            } else {
                // The key is `actix-bully/a/fill` and the value is `x`, both in base64.
                (
                    "200 OK",
                    format!(
                        r#"{{"header":{{"revision":"9"}},"kvs":[{{"key":"YWN0aXgtYnVsbHkvYS9maWxs","mod_revision":"{revision}","value":"eA=="}}],"count":"1"}}"#
                    ),
                )
            };
            let len = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {len}\r\nconnection: close\r\n\r\n{body}"
            );
            client.write_all(answer.as_bytes()).ok();
            held.push(client);
        }
    });
    format!("http://{address}")
}
