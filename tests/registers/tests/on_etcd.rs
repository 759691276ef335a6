//! The register in etcd: the suite, and faults of a server.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

#[path = "on_etcd/full.rs"]
mod full;
#[path = "on_etcd/secured.rs"]
mod secured;

use std::{sync::Arc, thread, time::Instant};

use actix_bully::register::{
    EtcdBuilder, EtcdRegister, Register, RegisterError, RegisterKey, RegisterRefusal, Swap,
};
use actix_bully_register_tests::many::{elections, play as play_many};
use actix_bully_register_tests::{
    DEADLINE, assert_away, assert_soon_unknown, assert_unknown, block_on, conforms, done,
    etcd::Etcd,
    hosts::{Hosts, SERVER},
    key, read, refusal,
    rounds::{play, play_over},
    settled, swap,
    wire::Wire,
    works,
};
use futures::{StreamExt, future::join_all};

fn open(builder: &EtcdBuilder) -> EtcdRegister {
    builder.clone().open().expect("the settings are right")
}

#[test]
fn it_conforms() {
    let server = Etcd::shared();
    conforms(|| server.open());
}

#[test]
fn what_no_register_wrote_is_refused_and_left_alone() {
    let server = Etcd::shared();
    let register = server.open();
    let good = key("a/good");
    block_on(async { done(swap(&register, &good, None, b"good").await) });
    for (name, len) in [
        ("a/large", 4_097),
        ("a/larger", 20_000),
        ("a/largest", 100_000),
    ] {
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
fn a_deleted_entry_is_absent_and_may_be_written_anew() {
    let server = Etcd::shared();
    let register = server.open();
    let holder = key("deleted/holder");
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
    let entry = block_on(read(&register, &holder)).expect("it is there");
    server.ctl(&["del", "actix-bully/deleted/holder"]);
    let gone = block_on(register.swap(&holder, Some(&entry), b"two".to_vec()));
    assert!(matches!(gone, Ok(Swap::Conflict(None))), "{gone:?}");
    block_on(async { done(swap(&register, &holder, None, b"three").await) });
}

/// A store that went back to its backup may use a revision again, for another value.
#[test]
fn a_restored_backup_does_not_let_an_old_entry_be_replaced() {
    let (one, other) = (Etcd::start(), Etcd::start());
    let holder = key("group/holder");
    let (first, second) = (one.open(), other.open());
    let mine = block_on(async { done(swap(&first, &holder, None, b"mine").await) });
    let theirs = block_on(async { done(swap(&second, &holder, None, b"theirs").await) });
    assert_eq!(mine, theirs, "the same revision of two histories");
    let mine = block_on(read(&first, &holder));
    let refused = block_on(second.swap(&holder, mine.as_ref(), b"next".to_vec()));
    assert!(
        matches!(refused, Ok(Swap::Conflict(Some(_)))),
        "{refused:?}"
    );
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

/// The write waits in the frozen server, which may carry it out later. So the register must report the outcome as
/// unknown.
#[test]
fn a_frozen_server_leaves_a_write_unknown_and_the_connection_given_up() {
    let server = Etcd::start();
    let register = server.open();
    let holder = key("group/holder");
    assert_eq!(works(&register, &holder), None);
    server.freeze();
    assert_soon_unknown(&register, &holder, None);
    let away = block_on(register.read(&holder));
    assert_away(&away);
    server.resume();
    let entry = works(&register, &holder);
    block_on(async { done(swap(&register, &holder, entry.as_ref(), b"next").await) });
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
fn an_endpoint_that_nobody_hears_is_passed_over() {
    let server = Etcd::start();
    let endpoints = [
        "http://127.0.0.1:1",
        server.endpoint(),
        "http://127.0.0.1:2",
    ];
    let register = open(&EtcdRegister::builder(endpoints));
    let holder = key("group/holder");
    assert_eq!(works(&register, &holder), None);
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
}

#[test]
fn credentials_and_rights_are_told_apart_from_an_absence() {
    let server = Etcd::with_users();
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
fn a_server_that_is_not_etcd_is_refused_in_words() {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };
    for (answer, is_gateway) in [
        (
            "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nnot here\n",
            true,
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
            false,
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", false),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx",
            false,
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let endpoint = format!(
            "http://{}",
            listener.local_addr().expect("it has an address")
        );
        thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                if client.read(&mut [0; 4_096]).is_ok_and(|len| len > 0) {
                    client.write_all(answer.as_bytes()).ok();
                }
            }
        });
        let register = open(&EtcdRegister::builder([&*endpoint]));
        let found = block_on(register.read(&key("a/b")));
        let expected = is_gateway.then_some(RegisterRefusal::Gateway);
        assert_eq!(refusal(&found), expected, "{answer}: {found:?}");
        assert!(found.is_err());
    }
}

#[test]
fn several_hundred_elections_share_a_few_connections() {
    let server = Etcd::start();
    let wire = Wire::to(server.endpoint().trim_start_matches("http://"));
    let endpoint = format!("http://{}", wire.address());
    let register: Arc<dyn Register> = Arc::new(open(&EtcdRegister::builder([endpoint])));
    play_many(async {
        let all = elections(300, &register).await;
        assert!(all.iter().all(|(_, agent)| agent.is_leader()));
    });
    // Eight connections are for operations, and one is for changes.
    assert!(wire.clients() <= 9, "{} connections", wire.clients());
}

#[test]
fn of_processes_on_etcd_one_leads_whatever_befalls_the_server() {
    play(&mut Etcd::start(), env!("CARGO_BIN_EXE_holder"));
}

#[test]
fn of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_etcd() {
    let name = "of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_etcd";
    if let Some(hosts) = Hosts::of(name, 3) {
        let program = env!("CARGO_BIN_EXE_holder");
        play_over(&hosts, &mut Etcd::at(SERVER), program);
    }
}
