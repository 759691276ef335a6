//! Errors of real servers. A register outlasts some of them without help, and names the others.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command, thread, time::Instant};

use actix_bully::register::{
    Entry, EtcdRegister, PostgresRegister, Register, RegisterKey, RegisterRefusal, Swap, Version,
};
use actix_bully_database_tests::{Server, give};
use actix_bully_register_tests::{
    DEADLINE, assert_refused, block_on, etcd::Etcd, key, pooler::Pooler, refusal, settled, works,
};
use tempfile::TempDir;

fn open(address: &str) -> PostgresRegister {
    let opened = PostgresRegister::builder(address).create_table().open();
    opened.expect("the address is right")
}

/// Writes until the write succeeds, and ignores errors until the deadline.
fn written(register: &dyn Register, key: &RegisterKey, value: &[u8]) -> Version {
    let begun = Instant::now();
    let mut expected: Option<Entry> = None;
    loop {
        match block_on(register.swap(key, expected.as_ref(), value.to_vec())) {
            Ok(Swap::Done(version)) => return version,
            Ok(Swap::Conflict(entry)) => expected = entry,
            Err(error) => assert!(begun.elapsed() < DEADLINE, "{error}"),
        }
        thread::yield_now();
    }
}

#[test]
fn a_session_leaves_a_server_that_became_read_only_for_another_host_of_the_url() {
    let (primary, holder) = (Server::on_tcp(), key("group/holder"));
    let ports = |other: &Server| {
        let (one, other) = (primary.port(), other.port());
        format!("host=127.0.0.1,127.0.0.1 port={one},{other} user=postgres dbname=postgres")
    };
    written(&open(&primary.address()), &holder, b"one");
    let standby = primary.standby();
    let at_standby = open(&standby.tcp_address("127.0.0.1"));
    let refused = refusal(&settled(&at_standby, &holder));
    assert_eq!(refused, Some(RegisterRefusal::ReadOnly));
    drop(at_standby);
    // The URL does not ask for a `read-write` server. The register asks for it.
    let register = open(&ports(&standby));
    written(&register, &holder, b"two");
    let mut sql = primary.connect();
    sql.batch_execute("ALTER SYSTEM SET default_transaction_read_only = on")
        .expect("it may");
    sql.batch_execute("SELECT pg_reload_conf()")
        .expect("it may");
    standby.promote();
    written(&register, &holder, b"three");
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'actix-bully'";
    let sessions = standby.connect().query_one(sessions, &[]).expect("one");
    assert_eq!(sessions.get::<_, i64>(0), 1, "it is at the new server");
}

/// Returns the state of the pool's sessions as another application finds it: their time limits, and the number of
/// channels on which each of them listens.
fn left_behind(pooler: &Pooler) -> Vec<String> {
    let connect = || {
        let client = postgres::Client::connect(&pooler.address(), postgres::NoTls);
        client.expect("the pooler accepts connections")
    };
    // Each client holds its session until all sessions were seen, so no session is seen twice.
    let mut clients: Vec<_> = (0..3).map(|_| connect()).collect();
    let state = "SELECT current_setting('statement_timeout') || ', ' || count(*) FROM pg_listening_channels()";
    let seen = clients.iter_mut().map(|client| {
        client.batch_execute("BEGIN").expect("it may");
        let found = client.simple_query(state).expect("it may");
        let row = found.iter().find_map(|message| match message {
            postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        row.expect("one").to_owned()
    });
    seen.collect()
}

#[test]
fn a_pooler_that_shares_sessions_is_refused_before_anything_is_set_in_them() {
    let (server, holder) = (Server::on_tcp(), key("group/holder"));
    let sharing = Pooler::before(&server, "transaction");
    let untouched = left_behind(&sharing);
    let register = open(&sharing.address());
    for _ in 0..3 {
        let refused = settled(&register, &holder);
        assert_refused(&refused, RegisterRefusal::Pooled);
    }
    assert_eq!(left_behind(&sharing), untouched);
    let own = Pooler::before(&server, "session");
    let register = open(&own.address());
    written(&register, &holder, b"one");
}

#[test]
fn a_table_that_is_dropped_is_made_again_where_the_register_makes_tables() {
    let (server, holder) = (Server::start(), key("group/holder"));
    let user = PostgresRegister::builder(&server.address()).open();
    let user = user.expect("the address is right");
    let is_missing = || {
        let missing = settled(&user, &holder);
        let refused = refusal(&missing);
        assert_eq!(refused, Some(RegisterRefusal::Layout), "{missing:?}");
    };
    let run = |sql: &str| server.connect().batch_execute(sql).expect("it may");
    is_missing();
    run(&PostgresRegister::table_sql("public"));
    written(&user, &holder, b"by hand");
    run("DROP TABLE bully_register");
    is_missing();
    let makers: Vec<_> = (0..8).map(|_| open(&server.address())).collect();
    for maker in &makers {
        assert_eq!(works(maker, &holder), None);
    }
    run("DROP TABLE bully_register");
    is_missing();
    written(&makers[0], &holder, b"two");
    assert_eq!(works(&user, &holder).expect("it is there").value, b"two");
}

/// Writes a file that only its owner can read.
fn put(path: &Path, text: &str) {
    fs::write(path, text).expect("it can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

#[test]
fn a_password_is_read_again_when_the_database_asks_for_it() {
    let server = Server::with(|data| {
        let rules = "local all all trust\nhost all all all scram-sha-256\n";
        give(data, "pg_hba.conf", rules);
        Vec::new()
    });
    let (folder, holder) = (TempDir::new().expect("a folder"), key("group/holder"));
    let file = folder.path().join("url");
    let change = |password: &str| {
        let port = server.port();
        put(
            &file,
            &format!("postgres://postgres:{password}@127.0.0.1:{port}/postgres\n"),
        );
        let change = format!(
            "ALTER ROLE postgres PASSWORD '{password}';
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'actix-bully'"
        );
        server.connect().batch_execute(&change).expect("it may");
    };
    change("one");
    let builder = PostgresRegister::builder_from_file(&file).create_table();
    let register = builder.open().expect("the URL is right");
    written(&register, &holder, b"one");
    change("two");
    written(&register, &holder, b"two");
}

#[test]
fn a_change_of_users_and_a_changed_password_end_a_login_and_no_election() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let (private, public) = (folder.path().join("key"), folder.path().join("pub"));
    for words in [&["genrsa", "-out"][..], &["rsa", "-pubout", "-in"]] {
        let mut openssl = Command::new("openssl");
        openssl.args(words).arg(&private);
        if words[0] == "rsa" {
            openssl.arg("-out").arg(&public);
        }
        let made = openssl.output().expect("Debian's package openssl is there");
        assert!(made.status.success(), "{made:?}");
    }
    let token = format!(
        "jwt,pub-key={},priv-key={},sign-method=RS256,ttl=8h",
        public.display(),
        private.display()
    );
    let server = Etcd::with(&["--auth-token", &token]);
    server.wait_until_it_works(&EtcdRegister::builder([server.endpoint()]));
    server.make_users();
    server.ctl(&["auth", "enable"]);
    let login = folder.path().join("login");
    put(&login, "jobs:sesame\n");
    let builder = EtcdRegister::builder([server.endpoint()]).credentials_file(&login);
    let register = builder.open().expect("the endpoint is right");
    let holder = key("group/holder");
    written(&register, &holder, b"one");
    let root = |words: &[&str]| server.ctl(&[&["--user", "root:root"], words].concat());
    root(&["role", "add", "unrelated"]);
    written(&register, &holder, b"two");
    root(&["user", "delete", "jobs"]);
    put(&login, "jobs:barley\n");
    root(&["user", "add", "jobs:barley"]);
    root(&["user", "grant-role", "jobs", "jobs"]);
    written(&register, &holder, b"three");
}

#[test]
fn etcd_without_its_gateway_is_named() {
    let server = Etcd::with(&["--enable-grpc-gateway=false"]);
    let register = server.open();
    let refused = settled(&register, &key("group/holder"));
    assert_refused(&refused, RegisterRefusal::Gateway);
    let words = refused.err().map(|refused| refused.to_string());
    assert!(words.is_some_and(|words| words.contains("--enable-grpc-gateway")));
}
