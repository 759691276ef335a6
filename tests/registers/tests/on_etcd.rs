//! The register in etcd: the suite, and what befalls a server.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use actix_bully::config::{Config, RunError};
use actix_bully::register::{
    EtcdBuilder, EtcdRegister, Register, RegisterError, RegisterKey, RegisterRefusal, RegisterTls,
    Swap,
};
use actix_bully_register_tests::many::{elections, play as play_many};
use actix_bully_register_tests::{
    DEADLINE, block_on, conforms, done,
    etcd::{Etcd, JOBS_MAY_WRITE},
    hosts::{Hosts, SERVER},
    key, read, refusal,
    rounds::{play, play_over},
    settled, swap,
    wire::Wire,
    works,
};
use actix_bully_tls_tests::{Authority, Leaf};
use futures::{StreamExt, future::join_all};
use tempfile::TempDir;

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
        // Asked for together, it hides nothing that is ours.
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

/// A store that went back to its backup gives a revision again, to another value.
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

/// The write waits in the frozen server, and may be done when that goes on: the register has said that it cannot tell.
#[test]
fn a_frozen_server_leaves_a_write_unknown_and_the_connection_given_up() {
    let server = Etcd::start();
    let register = server.open();
    let holder = key("group/holder");
    assert_eq!(works(&register, &holder), None);
    server.freeze();
    let begun = Instant::now();
    let unknown = block_on(register.swap(&holder, None, b"late".to_vec()));
    assert!(
        matches!(&unknown, Err(error) if error.is_unknown()),
        "{unknown:?}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "it is not waited for"
    );
    let away = block_on(register.read(&holder));
    assert!(
        matches!(away, Err(RegisterError::Unreachable(_))),
        "{away:?}"
    );
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
    // Of two endpoints the first one is used, until it is silent.
    let either = open(&EtcdRegister::builder([&*cut, server.endpoint()]));
    assert_eq!(works(&either, &holder), None);
    wire.cut();
    let unknown = block_on(register.swap(&holder, None, b"late".to_vec()));
    assert!(
        matches!(&unknown, Err(error) if error.is_unknown()),
        "{unknown:?}"
    );
    let read = block_on(either.read(&holder));
    assert!(
        matches!(read, Err(RegisterError::Unreachable(_))),
        "{read:?}"
    );
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
    // Where no login is asked for, one is none the less no fault.
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
    // Rights of one key: the others are refused, and no change is told.
    let one = logged_in("one", "one");
    assert_eq!(works(&one, &key("group/one")), None);
    block_on(async { done(swap(&one, &key("group/one"), None, b"mine").await) });
    assert_eq!(refusal(&settled(&one, &key("group/two"))), refused);
    // Asked for together, what it may read is not refused with the rest.
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
    // The login ends with the user's password.
    server.ctl(&["--user", "root:root", "user", "delete", "jobs"]);
    assert_eq!(refusal(&settled(&jobs, &holder)), refused);
}

/// Two writers see and hear each other.
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
            // A busy machine: the answer came too late.
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

/// A member that is full the moment it writes has written, and says that it is full.
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

/// The endpoint of what answers every write as a full etcd does, and has one entry, `a/fill`, whose revision grows with a
/// write if it `applies` one.
fn full_member(applies: bool) -> String {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        let mut revision = 7;
        // One that is closed with a question's end unread would be reset, and its answer lost.
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
                // `actix-bully/a/fill` and `x` in base64.
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

#[test]
fn by_tls_only_a_server_of_the_authority_that_names_the_host_is_asked() {
    let authority = Authority::new("etcd's");
    let server = Etcd::secure(&authority.node("localhost"));
    let with = |endpoint: &str, pem: &str| {
        EtcdRegister::builder([endpoint]).tls(RegisterTls::authorities_pem(pem))
    };
    let right = with(server.endpoint(), &authority.pem);
    server.wait_until_it_works(&right);
    let (one, other) = (open(&right), open(&right));
    conforms_enough(&one, &other, &key("tls/holder"));

    let refused = Some(RegisterRefusal::Credentials);
    let wrong = open(&with(server.endpoint(), &Authority::new("another").pem));
    assert_eq!(refusal(&settled(&wrong, &key("tls/holder"))), refused);
    let by_address = server.endpoint().replace("localhost", "127.0.0.1");
    let unnamed = open(&with(&by_address, &authority.pem));
    assert_eq!(refusal(&settled(&unnamed, &key("tls/holder"))), refused);

    let plain = Etcd::start();
    let asked = plain
        .endpoint()
        .replace("http://127.0.0.1", "https://localhost");
    let plain = block_on(open(&with(&asked, &authority.pem)).read(&key("tls/holder")));
    assert!(
        plain.is_err(),
        "a server without TLS is not asked: {plain:?}"
    );
    let half = with("http://localhost:1", &authority.pem).open();
    assert_eq!(refusal(&half), refused, "not all endpoints are by TLS");
}

/// A cluster that asks for certificates, which are renewed while a register is in use.
#[test]
fn a_client_without_its_certificate_is_refused_and_a_renewed_one_is_used_without_a_restart() {
    let (authority, clients) = (Authority::new("etcd's"), Authority::new("its clients'"));
    let both = authority.pem.clone() + &clients.pem;
    let server = Etcd::mutual(&authority.node("localhost"), &both);
    let trusting = || RegisterTls::authorities_pem(authority.pem.as_str());
    let with = |tls: RegisterTls| EtcdRegister::builder([server.endpoint()]).tls(tls);
    let own = clients.node("jobs");
    let right = with(trusting().identity_pem(own.certificate.as_str(), own.key.as_str()));
    server.wait_until_it_works(&right);
    let holder = key("tls/holder");
    conforms_enough(&open(&right), &open(&right), &holder);

    let refused = Some(RegisterRefusal::Credentials);
    let none = settled(&open(&with(trusting())), &holder);
    assert_eq!(refusal(&none), refused, "no certificate: {none:?}");
    let stranger = Authority::new("another").node("jobs");
    let folder = TempDir::with_prefix("etcd-").expect("a temporary folder can be made");
    let (certificate, secret) = (folder.path().join("pem"), folder.path().join("key"));
    let put = |leaf: &Leaf| {
        fs::write(&certificate, &leaf.certificate).expect("it can be written");
        fs::write(&secret, &leaf.key).expect("it can be written");
    };
    put(&stranger);
    let renewed = open(&with(trusting().identity_files(&certificate, &secret)));
    let wrong = settled(&renewed, &holder);
    assert_eq!(refusal(&wrong), refused, "another authority: {wrong:?}");
    put(&own);
    let begun = Instant::now();
    while block_on(renewed.read(&holder)).is_err() {
        assert!(begun.elapsed() < DEADLINE, "it is not read again");
        thread::yield_now();
    }
    let mixed = trusting().identity_pem(own.certificate, stranger.key);
    assert_eq!(refusal(&with(mixed).open()), refused, "another's key");
}

/// The write is done before its answer is spoilt: TLS ends the connection then, which says nothing of the write.
#[test]
fn a_write_whose_answer_tls_refuses_is_unknown() {
    let authority = Authority::new("etcd's");
    let server = Etcd::secure(&authority.node("localhost"));
    let tls = || RegisterTls::authorities_pem(authority.pem.as_str());
    let direct = EtcdRegister::builder([server.endpoint()]).tls(tls());
    server.wait_until_it_works(&direct);
    let wire = Wire::to(server.endpoint().trim_start_matches("https://"));
    let endpoint = format!("https://localhost:{}", wire.address().port());
    let register = open(&EtcdRegister::builder([endpoint]).tls(tls()));
    let holder = key("group/holder");
    assert_eq!(works(&register, &holder), None);
    wire.spoil();
    let unknown = block_on(register.swap(&holder, None, b"done".to_vec()));
    assert!(
        matches!(&unknown, Err(error) if error.is_unknown()),
        "{unknown:?}"
    );
    let found = works(&open(&direct), &holder).expect("it was done");
    assert_eq!(found.value, b"done");
}

/// Whichever member is asked: one that is gone, the leader of etcd itself among them, costs a while; two of three cost the
/// store.
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
        // What is unknown is read, and may be done later still; what was confirmed is there.
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
    // Eight for operations, and one for changes.
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

/// All keys of a configuration together: by TLS, with a login.
#[test]
fn nodes_lead_by_a_configuration_that_names_etcd() {
    let authority = Authority::new("etcd's");
    let server = Etcd::secure(&authority.node("localhost"));
    let folder = TempDir::with_prefix("etcd-").expect("a temporary folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    };
    let secret = |name: &str, text: &str| {
        let path = file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        path
    };
    let (pem, login) = (
        file("pem", &authority.pem),
        secret("login", "jobs:ses:ame\n"),
    );
    let right =
        EtcdRegister::builder([server.endpoint()]).tls(RegisterTls::authorities_pem(authority.pem));
    server.wait_until_it_works(&right);
    for words in [
        &["user", "add", "root:root"][..],
        &["user", "add", "jobs:ses:ame"],
        &["role", "add", "jobs"],
        JOBS_MAY_WRITE,
        &["user", "grant-role", "jobs", "jobs"],
        &["auth", "enable"],
    ] {
        server.ctl(&[&["--cacert", &*pem], words].concat());
    }
    let config = |login: &str| {
        let text = format!(
            "node = \"api-1\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\n\
             etcd_endpoints = [{:?}]\netcd_login_file = {login:?}\nauthorities_file = {pem:?}",
            server.endpoint()
        );
        Config::from_toml(&text).expect("it is TOML")
    };
    actix::System::new().block_on(async {
        let node = config(&login).start().expect("it starts");
        let leader = node
            .agent()
            .wait_for_leader(DEADLINE)
            .await
            .expect("it leads");
        assert_eq!(leader.id, "api-1");
        node.leave(DEADLINE).await.expect("it ends");
        let no_login = secret("none", "jobs");
        let refused = config(&no_login)
            .start()
            .expect_err("there is no password in it");
        assert!(
            matches!(refused, RunError::Register { key, .. } if key == "lease.etcd_login_file"),
            "{refused}"
        );
    });
}
