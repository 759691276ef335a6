//! The register in PostgreSQL when another server takes over, and by TLS.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
    thread,
    time::Instant,
};

use actix_bully::config::Config;
use actix_bully::register::{
    PostgresRegister, Register as _, RegisterError, RegisterRefusal, RegisterTls,
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    DEADLINE, assert_unknown, block_on, done, key, processes::Processes, read, refusal,
    rounds::long, settled, swap, wire::Wire,
};
use actix_bully_tls_tests::{Authority, Leaf};
use tempfile::TempDir;

/// Returns the address for a client that connects by TCP.
fn address(server: &Server, host: &str) -> String {
    let port = server.port();
    format!("host={host} port={port} user=postgres dbname=postgres")
}

/// Returns the address of both servers. A client uses the server that takes writes.
fn either(one: &Server, other: &Server) -> String {
    format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=postgres dbname=postgres target_session_attrs=read-write",
        one.port(),
        other.port()
    )
}

/// Writes the certificate and the key into the data folder, and makes the server's user their owner. Returns the
/// settings for TLS.
fn give(data: &Path, leaf: &Leaf) -> Vec<String> {
    give_file(data, "bully.pem", &leaf.certificate);
    give_file(data, "bully.key", &leaf.key);
    [
        "ssl=on",
        "ssl_cert_file=bully.pem",
        "ssl_key_file=bully.key",
    ]
    .map(str::to_owned)
    .into()
}

fn give_file(data: &Path, name: &str, text: &str) {
    let owner = fs::metadata(data).expect("it is there");
    let path = data.join(name);
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    chown(&path, Some(owner.uid()), Some(owner.gid())).expect("it can be given away");
}

/// The database knows its users by their certificates, and the configuration of the node names all files.
#[test]
fn a_user_without_the_right_certificate_is_refused_and_a_node_leads_with_its_own() {
    let (authority, clients) = (
        Authority::new("the database's"),
        Authority::new("its users'"),
    );
    let server = Server::with(|data| {
        let mut settings = give(data, &authority.node("localhost"));
        give_file(data, "users.pem", &clients.pem);
        give_file(
            data,
            "pg_hba.conf",
            "local all all trust\nhostssl all all all cert\n",
        );
        settings.push("ssl_ca_file=users.pem".to_owned());
        settings
    });
    let url = address(&server, "localhost");
    let trusting = || RegisterTls::authorities_pem(authority.pem.as_str());
    let found = |tls: RegisterTls| {
        let opened = PostgresRegister::builder(&url)
            .create_table()
            .tls(tls)
            .open();
        settled(&opened.expect("the settings are right"), &key("tls/holder"))
    };
    let with = |leaf: &Leaf| trusting().identity_pem(leaf.certificate.as_str(), leaf.key.as_str());
    let own = clients.node("postgres");
    assert_eq!(found(with(&own)).expect("it proves its user"), None);
    let stranger = Authority::new("another").node("postgres");
    for (tls, why) in [
        (trusting(), "no certificate"),
        (with(&stranger), "another authority"),
        (with(&clients.node("jobs")), "another user"),
    ] {
        let refused = found(tls);
        let expected = Some(RegisterRefusal::Credentials);
        assert_eq!(refusal(&refused), expected, "{why}: {refused:?}");
    }

    let folder = TempDir::with_prefix("register-").expect("a temporary folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    };
    let files = [
        ("postgres_url_file", file("url", &url)),
        ("authorities_file", file("ca", &authority.pem)),
        ("certificate_file", file("pem", &own.certificate)),
        ("key_file", file("key", &own.key)),
    ];
    let keys = files
        .map(|(key, path)| format!("{key} = {path:?}"))
        .join("\n");
    let text = format!("node = \"a\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\n{keys}");
    let config = Config::from_toml(&text).expect("it is TOML");
    actix::System::new().block_on(async {
        let node = config.start().expect("it starts");
        let leader = node.agent().wait_for_leader(DEADLINE).await;
        assert_eq!(leader.expect("it leads").id, "a");
        node.leave(DEADLINE).await.expect("it ends");
    });
}

#[test]
fn by_tls_only_a_server_of_the_authority_that_names_the_host_is_asked() {
    let authority = Authority::new("the database's");
    let server = Server::with(|data| give(data, &authority.node("localhost")));
    let open = |address: &str, pem: &str| {
        let builder = PostgresRegister::builder(address).create_table();
        let opened = builder.tls(RegisterTls::authorities_pem(pem)).open();
        opened.expect("the settings are right")
    };
    let holder = key("tls/holder");
    let right = open(&address(&server, "localhost"), &authority.pem);
    assert_eq!(settled(&right, &holder).expect("it is trusted"), None);
    block_on(async { done(swap(&right, &holder, None, b"one").await) });
    let spoken = "SELECT DISTINCT version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'actix-bully'";
    let spoken = server.connect().query_one(spoken, &[]).expect("one");
    assert_eq!(spoken.get::<_, String>(0), "TLSv1.3");

    let refused = Some(RegisterRefusal::Credentials);
    let another = Authority::new("another");
    let wrong = open(&address(&server, "localhost"), &another.pem);
    assert_eq!(
        refusal(&settled(&wrong, &holder)),
        refused,
        "another authority"
    );
    let unnamed = open(&address(&server, "127.0.0.1"), &authority.pem);
    assert_eq!(
        refusal(&settled(&unnamed, &holder)),
        refused,
        "another name"
    );
    let plain = Server::on_tcp();
    let plain = open(&address(&plain, "localhost"), &authority.pem);
    assert_eq!(refusal(&settled(&plain, &holder)), refused, "no TLS");
    // An address that asks for TLS is refused unless the builder gets the settings of TLS.
    let half = format!("{} sslmode=require", address(&server, "localhost"));
    assert_eq!(refusal(&PostgresRegister::builder(&half).open()), refused);
}

/// The write is done before its answer is spoilt. TLS then ends the connection, so the client cannot know whether the
/// write was done.
#[test]
fn a_write_whose_answer_tls_refuses_is_unknown() {
    let authority = Authority::new("the database's");
    let server = Server::with(|data| give(data, &authority.node("localhost")));
    let wire = Wire::to(&format!("localhost:{}", server.port()));
    let open = |port: u16| {
        let url = format!("host=localhost port={port} user=postgres dbname=postgres");
        let tls = RegisterTls::authorities_pem(authority.pem.as_str());
        let opened = PostgresRegister::builder(&url)
            .create_table()
            .tls(tls)
            .open();
        opened.expect("the settings are right")
    };
    let (register, holder) = (open(wire.address().port()), key("group/holder"));
    assert_eq!(settled(&register, &holder).expect("it works"), None);
    wire.spoil();
    let unknown = block_on(register.swap(&holder, None, b"done".to_vec()));
    assert_unknown(&unknown);
    let found = settled(&open(server.port()), &holder).expect("it works");
    assert_eq!(found.expect("it was done").value, b"done");
}

#[test]
fn a_standby_is_refused_until_it_is_promoted_and_then_has_what_was_confirmed() {
    let primary = Server::on_tcp();
    let holder = key("group/holder");
    let open = |address: &str| {
        let opened = PostgresRegister::builder(address).create_table().open();
        opened.expect("the address is right")
    };
    let register = open(&address(&primary, "127.0.0.1"));
    assert_eq!(settled(&register, &holder).expect("it works"), None);
    let standby = follow(&primary);
    block_on(async { done(swap(&register, &holder, None, b"kept").await) });
    let kept = block_on(read(&register, &holder));

    let at_standby = open(&address(&standby, "127.0.0.1"));
    let refused = settled(&at_standby, &holder);
    assert_eq!(
        refusal(&refused),
        Some(RegisterRefusal::ReadOnly),
        "{refused:?}"
    );
    let at_either = open(&either(&standby, &primary));
    assert_eq!(settled(&at_either, &holder).expect("it finds it"), kept);
    drop(primary);
    standby.promote();
    let promoted = |register| loop {
        match settled(register, &holder) {
            Err(RegisterError::Refused {
                refusal: RegisterRefusal::ReadOnly,
                ..
            }) => thread::yield_now(),
            settled => break settled.expect("it takes writes"),
        }
    };
    assert_eq!(promoted(&at_standby), kept);
    assert_eq!(promoted(&at_either), kept);
    block_on(async { done(swap(&at_either, &holder, kept.as_ref(), b"next").await) });
}

/// Starts a standby, and makes the primary wait for the standby at each commit.
fn follow(primary: &Server) -> Server {
    let standby = primary.standby();
    let mut sql = primary.connect();
    sql.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        .expect("it may");
    sql.batch_execute("SELECT pg_reload_conf()")
        .expect("it may");
    let begun = Instant::now();
    let follows = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while sql.query_one(follows, &[]).expect("one").get::<_, i64>(0) == 0 {
        assert!(begun.elapsed() < DEADLINE, "the standby does not follow");
        thread::yield_now();
    }
    standby
}

fn processes(one: &Server, other: &Server) -> Processes {
    let store = format!("postgres:{}", either(one, other));
    Processes::start(env!("CARGO_BIN_EXE_holder"), &store, 3)
}

#[test]
fn when_a_standby_takes_over_the_belief_ends_and_tokens_grow() {
    let mut primary = Server::on_tcp();
    let standby = follow(&primary);
    let mut processes = processes(&primary, &standby);
    let leader = processes.wait_for_leader(0);
    primary.crash();
    // The former leader stops to lead at the end of its lease. No process leads before the other server takes writes.
    processes.listen(long());
    standby.promote();
    let leader = processes.wait_for_leader(leader.token - 1);
    processes.kill(leader.process);
    processes.wait_for_leader(leader.token);
    assert!(processes.judge() >= 2);
}

/// The standby lacks the last writes, and shows an expired lease of an earlier term. A process that remembers the
/// later term must lead with a higher one.
#[test]
fn a_standby_that_lacks_the_last_terms_gives_none_of_them_again() {
    let mut primary = Server::on_tcp();
    let standby = primary.standby();
    let mut processes = processes(&primary, &standby);
    let first = processes.wait_for_leader(0);
    let mut sql = standby.connect();
    sql.batch_execute("ALTER SYSTEM SET primary_conninfo = ''")
        .expect("it may");
    sql.batch_execute("SELECT pg_reload_conf()")
        .expect("it may");
    let begun = Instant::now();
    let follows = "SELECT count(*) FROM pg_stat_wal_receiver";
    while sql.query_one(follows, &[]).expect("one").get::<_, i64>(0) > 0 {
        assert!(begun.elapsed() < DEADLINE, "it follows on");
        thread::yield_now();
    }
    processes.kill(first.process);
    let second = processes.wait_for_leader(first.token);
    processes.restart(first.process);
    processes.kill(second.process);
    let third = processes.wait_for_leader(second.token);
    // The process of the second term knew only the first term. After its restart it sees the third term.
    processes.restart(second.process);
    processes.listen(long());
    primary.crash();
    // If the standby took writes during the lease, the leader would write its record into the standby, and keep its
    // token.
    processes.listen(long());
    standby.promote();
    processes.wait_for_leader(third.token);
    assert!(processes.judge() >= 4);
}
