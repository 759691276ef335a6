//! An etcd with TLS, with certificates of clients, and with all keys of a configuration.

use std::{fs, os::unix::fs::PermissionsExt, thread, time::Instant};

use actix_bully::{
    config::{Config, RunError},
    register::{EtcdRegister, Register, RegisterRefusal, RegisterTls},
};
use actix_bully_register_tests::{
    DEADLINE, assert_unknown, block_on,
    etcd::{Etcd, JOBS_MAY_WRITE},
    key, refusal, settled,
    wire::Wire,
    works,
};
use actix_bully_tls_tests::{Authority, Leaf};
use tempfile::TempDir;

use super::{conforms_enough, open};

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

/// The cluster asks clients for certificates. A certificate is renewed while a register is in use.
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

/// The write is done before its answer is spoilt. TLS then ends the connection, so the client cannot know whether the
/// write was done.
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
    assert_unknown(&unknown);
    let found = works(&open(&direct), &holder).expect("it was done");
    assert_eq!(found.value, b"done");
}

/// The configuration has every key at once: TLS and a login.
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
