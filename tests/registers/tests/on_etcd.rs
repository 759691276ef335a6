//! The register in etcd: the suite, and faults of a server.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

#[path = "on_etcd/secured.rs"]
mod secured;

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
    time::Instant,
};

use actix_bully::register::{
    EtcdBuilder, EtcdRegister, Register, RegisterError, RegisterKey, RegisterRefusal, Swap,
};
use actix_bully_register_tests::{
    DEADLINE, assert_away, assert_refused, assert_unknown, block_on, conforms, done, etcd::Etcd,
    key, read, refusal, rounds::play, settled, swap, wire::Wire, works,
};
use futures::{StreamExt, future::join_all};

fn open(builder: &EtcdBuilder) -> EtcdRegister {
    builder.clone().open().expect("the settings are right")
}

#[test]
fn it_conforms() {
    let server = Etcd::start();
    conforms(|| server.open());
}

#[test]
fn many_writes_at_once_share_a_few_connections() {
    let server = Etcd::start();
    let wire = Wire::to(server.endpoint().trim_start_matches("http://"));
    let register = open(&EtcdRegister::builder([format!(
        "http://{}",
        wire.address()
    )]));
    assert_eq!(works(&register, &key("many/0")), None);
    let keys: Vec<_> = (0..100).map(|it| key(&format!("many/{it}"))).collect();
    let swaps = keys.iter().map(|key| swap(&register, key, None, b"one"));
    for swap in block_on(join_all(swaps)) {
        done(swap);
    }
    // Eight connections are for operations, and one is for changes.
    assert!(wire.clients() <= 9, "{} connections", wire.clients());
}

#[test]
fn what_no_register_wrote_is_refused_and_left_alone() {
    let server = Etcd::start();
    let register = server.open();
    let good = key("a/good");
    block_on(async { done(swap(&register, &good, None, b"good").await) });
    for (name, len) in [("a/large", 4_097), ("a/largest", 100_000)] {
        let value = "x".repeat(len);
        let full = format!("actix-bully/{name}");
        server.ctl(&["put", &full, &value]);
        let found = block_on(register.read(&key(name)));
        assert!(
            matches!(&found, Err(RegisterError::Foreign { key }) if key.as_str() == name),
            "{name}: {found:?}"
        );
        // Reads at the same time share a request. The foreign entry must not spoil the reads of the good entry.
        let wrong = key(name);
        let asked = [&good, &wrong].repeat(10);
        let all = block_on(join_all(asked.iter().map(|key| register.read(key))));
        for (asked, found) in asked.into_iter().zip(all) {
            assert_eq!(found.is_ok(), *asked == good, "{asked}: {found:?}");
        }
        let written = block_on(register.swap(&key(name), None, b"mine".to_vec()));
        assert!(
            matches!(written, Err(RegisterError::Foreign { .. })),
            "{name}: {written:?}"
        );
        let after = server.ctl(&["get", "--print-value-only", &full]);
        assert_eq!(after.trim_end(), value);
    }
}

#[test]
fn a_server_that_is_killed_keeps_what_it_confirmed_and_tells_of_changes_again() {
    let mut server = Etcd::start();
    let (register, other) = (server.open(), server.open());
    let holder = key("group/holder");
    block_on(async { done(swap(&register, &holder, None, b"kept").await) });
    let entry = block_on(read(&register, &holder));
    let mut changes = register.changes(&holder).expect("it tells");
    server.crash();
    let gone = block_on(register.swap(&holder, entry.as_ref(), b"lost".to_vec()));
    assert!(
        matches!(
            gone,
            Err(RegisterError::Unreachable(_) | RegisterError::Unknown(_))
        ),
        "{gone:?}"
    );
    server.restart();
    assert_eq!(works(&register, &holder), entry);
    works(&other, &holder);
    block_on(async {
        done(swap(&other, &holder, entry.as_ref(), b"next").await);
        while read(&register, &holder).await.expect("it is there").value != b"next" {
            changes.next().await.expect("it goes on");
        }
    });
}

#[test]
fn a_cut_network_leaves_a_write_unknown_and_the_next_endpoint_is_asked() {
    let server = Etcd::start();
    let wire = Wire::to(server.endpoint().trim_start_matches("http://"));
    let cut = format!("http://{}", wire.address());
    let register = open(&EtcdRegister::builder([&*cut]));
    let holder = key("group/holder");
    assert_eq!(works(&register, &holder), None);
    // A register with two endpoints uses the first one until it does not answer.
    let either = open(&EtcdRegister::builder([&*cut, server.endpoint()]));
    assert_eq!(works(&either, &holder), None);
    wire.cut();
    let unknown = block_on(register.swap(&holder, None, b"late".to_vec()));
    assert_unknown(&unknown);
    let read = block_on(either.read(&holder));
    assert_away(&read);
    let entry = works(&either, &holder);
    assert_eq!(entry, None, "nothing has arrived");
    wire.mend();
    works(&register, &holder);
}

#[test]
fn credentials_and_rights_are_told_apart_from_an_absence() {
    let server = Etcd::start();
    server.make_users();
    let before = server.open();
    let logged_in = |user: &str, password: &str| {
        open(&EtcdRegister::builder([server.endpoint()]).credentials(user, password))
    };
    let holder = key("group/holder");
    // If the server asks for no login, a login is not an error.
    assert_eq!(works(&logged_in("jobs", "anything"), &holder), None);
    assert_eq!(works(&before, &holder), None);
    server.ctl(&["auth", "enable"]);

    let refused = Some(RegisterRefusal::Credentials);
    assert_eq!(refusal(&settled(&before, &holder)), refused, "no login");
    for (user, password) in [("jobs", "wrong"), ("nobody", "sesame")] {
        let wrong = logged_in(user, password);
        assert_eq!(refusal(&settled(&wrong, &holder)), refused, "{user}");
        let written = block_on(wrong.swap(&holder, None, b"x".to_vec()));
        assert_eq!(refusal(&written), refused, "{user}");
    }
    let jobs = logged_in("jobs", "sesame");
    conforms_enough(&jobs, &logged_in("jobs", "sesame"), &holder);
    // The user `one` has rights for single keys. Reads of other keys are refused.
    let one = logged_in("one", "one");
    assert_eq!(works(&one, &key("group/one")), None);
    block_on(async { done(swap(&one, &key("group/one"), None, b"mine").await) });
    assert_eq!(refusal(&settled(&one, &key("group/two"))), refused);
    // Reads at the same time share a request. The allowed reads must not be refused together with the forbidden ones.
    let asked = ["group/one", "group/two"].repeat(10);
    let found = block_on(join_all(asked.iter().map(|name| one.read(&key(name)))));
    for (name, found) in asked.into_iter().zip(found) {
        let expected = refused.filter(|_| name == "group/two");
        assert_eq!(refusal(&found), expected, "{name}: {found:?}");
        assert_eq!(found.is_ok(), expected.is_none(), "{name}: {found:?}");
    }
    let entry = works(&one, &holder);
    let written = block_on(one.swap(&holder, entry.as_ref(), b"x".to_vec()));
    assert_eq!(refusal(&written), refused, "it may only read");
    // The login ends when its user is deleted.
    server.ctl(&["--user", "root:root", "user", "delete", "jobs"]);
    assert_eq!(refusal(&settled(&jobs, &holder)), refused);
}

/// Checks that the register `one` hears a write of the register `other`, and reads it.
fn conforms_enough(one: &EtcdRegister, other: &EtcdRegister, key: &RegisterKey) {
    assert_eq!(works(one, key), None);
    works(other, key);
    let mut changes = one.changes(key).expect("it tells");
    block_on(async {
        done(swap(other, key, None, b"one").await);
        while read(one, key).await.is_none() {
            changes.next().await.expect("it goes on");
        }
    });
}

/// Each member is killed in turn, also the leader of etcd. Without one member writes only take longer. Without two of
/// three members the store is away.
#[test]
fn a_cluster_of_three_keeps_what_it_confirmed_when_each_member_is_killed_in_turn() {
    let mut members = Etcd::cluster();
    let endpoints = members
        .each_ref()
        .map(|member| member.endpoint().to_owned());
    let builder = EtcdRegister::builder(endpoints);
    for member in &members {
        member.wait_until_it_works(&EtcdRegister::builder([member.endpoint()]));
    }
    let (register, holder) = (open(&builder), key("group/holder"));
    let mut kept = works(&register, &holder);
    for (victim, member) in members.iter_mut().enumerate() {
        member.crash();
        let begun = Instant::now();
        let mut round = 0_u32;
        let mut unknown = Vec::new();
        // A write with an unknown outcome may still be done later. A confirmed write must be present.
        let written = loop {
            let value = format!("{victim}/{round}").into_bytes();
            match block_on(register.swap(&holder, kept.as_ref(), value.clone())) {
                Ok(Swap::Done(_)) => break value,
                Ok(Swap::Conflict(entry)) => {
                    let late = entry.as_ref().is_some_and(|it| unknown.contains(&it.value));
                    assert!(late, "nobody else writes: {entry:?}");
                    kept = entry;
                }
                Err(error) if error.is_unknown() => {
                    unknown.push(value);
                    kept = works(&register, &holder);
                }
                Err(RegisterError::Unreachable(_)) => {}
                Err(error) => panic!("a member that is gone refuses nothing: {error}"),
            }
            assert!(begun.elapsed() < DEADLINE, "two of three write");
            round += 1;
        };
        kept = works(&register, &holder);
        assert_eq!(kept.as_ref().map(|entry| &*entry.value), Some(&*written));
        member.restart();
        let alone = EtcdRegister::builder([member.endpoint()]);
        member.wait_until_it_works(&alone);
        assert_eq!(works(&open(&alone), &holder), kept, "it has caught up");
    }
    let [one, other, _] = &mut members;
    one.crash();
    other.crash();
    for _ in 0..3 {
        let read = block_on(register.read(&holder));
        assert!(
            matches!(read, Err(RegisterError::Unreachable(_))),
            "one of three answers nothing: {read:?}"
        );
    }
    one.restart();
    assert_eq!(works(&register, &holder), kept);
}

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
    assert_refused(&full, RegisterRefusal::Full);
    assert_eq!(works(&register, &key("a/fill")), known, "it can be read");
}

/// Starts a server that gives each client one answer, and returns its endpoint.
fn answering(mut answer: impl FnMut(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        // The connections stay open. If a connection is closed before its request was read to the end, TCP resets it,
        // and the client may lose the answer.
        let mut held = Vec::new();
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut question = [0; 4_096];
            let len = client.read(&mut question).unwrap_or_default();
            let question = String::from_utf8_lossy(&question[..len]);
            client.write_all(answer(&question).as_bytes()).ok();
            held.push(client);
        }
    });
    format!("http://{address}")
}

/// If a write fills the store, etcd may have carried the write out, and answers that the space is exceeded.
#[test]
fn a_write_that_filled_a_store_is_unknown_and_one_that_it_refused_is_not_done() {
    for applies in [true, false] {
        let mut revision = 7;
        let endpoint = answering(move |question| {
            let (status, body) = if question.starts_with("POST /v3/watch") {
                let begun = "{\"result\":{\"header\":{},\"created\":true}}\n";
                return format!("HTTP/1.1 200 OK\r\n\r\n{begun}");
            } else if question.starts_with("POST /v3/kv/txn") {
                revision += i32::from(applies);
                let full = r#"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#;
                ("429 Too Many Requests", full.to_owned())
            } else {
                // The key is `actix-bully/a/fill` and the value is `x`, both in base64.
                let found = format!(
                    r#"{{"header":{{"revision":"9"}},"kvs":[{{"key":"YWN0aXgtYnVsbHkvYS9maWxs","mod_revision":"{revision}","value":"eA=="}}],"count":"1"}}"#
                );
                ("200 OK", found)
            };
            let len = body.len();
            format!("HTTP/1.1 {status}\r\ncontent-length: {len}\r\nconnection: close\r\n\r\n{body}")
        });
        let register = open(&EtcdRegister::builder([endpoint]));
        let fill = key("a/fill");
        let known = works(&register, &fill);
        assert!(known.is_some());
        let written = block_on(register.swap(&fill, known.as_ref(), b"x".to_vec()));
        if applies {
            assert_unknown(&written);
        } else {
            assert_refused(&written, RegisterRefusal::Full);
        }
        assert_eq!(works(&register, &fill) == known, !applies);
    }
}

#[test]
fn a_server_that_speaks_another_protocol_is_away() {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx",
    ] {
        let endpoint = answering(|_| answer.to_owned());
        let register = open(&EtcdRegister::builder([endpoint]));
        assert_away(&block_on(register.read(&key("a/b"))));
    }
}

#[test]
fn of_processes_on_etcd_one_leads_whatever_befalls_the_server() {
    play(&mut Etcd::start(), env!("CARGO_BIN_EXE_holder"));
}
