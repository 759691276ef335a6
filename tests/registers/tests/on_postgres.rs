//! The register in a PostgreSQL table: the suite, and faults of a server.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of this host, beside that of the server"
)]

#[path = "on_postgres/secured.rs"]
mod secured;

use std::sync::Arc;

use actix_bully::register::{
    Entry, PostgresRegister, Register, RegisterError, RegisterKey, RegisterRefusal,
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    assert_away, assert_refused, block_on, conforms, done, key, read, refusal, swap, works,
};
use futures::StreamExt;

fn unix_millis() -> u128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.expect("it is after 1970").as_millis()
}

fn open(server: &Server) -> PostgresRegister {
    let builder = PostgresRegister::builder(&server.address()).create_table();
    builder.open().expect("the address is right")
}

fn with(server: &Server, more: &str) -> PostgresRegister {
    let address = format!("{} {more}", server.address());
    let register = PostgresRegister::builder(&address).open();
    register.expect("the address is right")
}

/// Returns the outcome of the first operation. A register that has no connection yet opens it first.
fn first(register: &PostgresRegister, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
    block_on(register.read(key))
}

#[test]
fn it_conforms() {
    let server = Server::shared();
    conforms(|| open(&server));
}

#[test]
fn the_clock_is_that_of_the_server() {
    let server = Server::shared();
    let register = Arc::new(open(&server)); // behind a pointer too
    works(&*register, &key("group/clock"));
    let clock = || block_on(register.clock().expect("it has one")).expect("it answers");
    let (before, shown, after) = (unix_millis(), clock().into(), unix_millis());
    // The server runs on this host. It rounds its time, and the two clocks are read at different moments.
    assert!(
        (before - 2..=after + 2).contains(&shown),
        "{before}, {shown}, {after}"
    );
}

#[test]
fn credentials_and_rights_are_told_apart_from_an_absence() {
    let server = Server::start();
    let holder = key("group/holder");
    let owner = open(&server);
    assert_eq!(first(&owner, &holder).expect("it works"), None);
    server
        .connect()
        .batch_execute("CREATE ROLE reader LOGIN; GRANT SELECT ON bully_register TO reader")
        .expect("the owner may");
    let stranger = with(&server, "user=stranger");
    assert_refused(&first(&stranger, &holder), RegisterRefusal::Credentials);
    let reader = with(&server, "user=reader");
    assert_eq!(first(&reader, &holder).expect("it may read"), None);
    let written = block_on(reader.swap(&holder, None, b"x".to_vec()));
    assert_refused(&written, RegisterRefusal::Credentials);
    let read_only = with(&server, "options='-c default_transaction_read_only=on'");
    let written = block_on(read_only.swap(&holder, None, b"x".to_vec()));
    assert_refused(&written, RegisterRefusal::ReadOnly);
    let nowhere = with(&server, "dbname=nowhere");
    assert_refused(&first(&nowhere, &holder), RegisterRefusal::Layout);
    let absent = PostgresRegister::builder("host=/nonexistent user=postgres").open();
    let absent = first(&absent.expect("it may come"), &holder);
    assert_away(&absent);
    assert!(!owner.name().contains("postgres user"), "{}", owner.name());
}

#[test]
fn what_no_register_wrote_is_refused_and_left_alone() {
    let server = Server::start();
    let register = open(&server);
    assert_eq!(first(&register, &key("a/none")).expect("it works"), None);
    let mut sql = server.connect();
    for (name, row) in [
        ("a/large", "1, convert_to(repeat('x', 10000000), 'UTF8')"),
        ("a/negative", "-1, 'x'"),
    ] {
        sql.batch_execute(&format!(
            "INSERT INTO bully_register VALUES ('{name}', {row})"
        ))
        .expect("the table takes it");
        let found = first(&register, &key(name));
        assert!(
            matches!(found, Err(RegisterError::Foreign { .. })),
            "{name}: {found:?}"
        );
        let written = block_on(register.swap(&key(name), None, b"mine".to_vec()));
        assert!(
            matches!(written, Err(RegisterError::Foreign { .. })),
            "{name}: {written:?}"
        );
    }
}

/// If the statements did not name the schema, each of the two users would have a table and a leader of its own.
#[test]
fn users_of_different_search_paths_meet_in_one_table() {
    let server = Server::start();
    let owner = open(&server);
    let holder = key("group/holder");
    block_on(async { done(swap(&owner, &holder, None, b"one").await) });
    server
        .connect()
        .batch_execute(
            "CREATE SCHEMA other; CREATE TABLE other.bully_register (LIKE public.bully_register INCLUDING ALL)",
        )
        .expect("the owner may");
    let moved = with(&server, "options='-c search_path=other'");
    assert!(first(&moved, &holder).expect("it may read").is_some());

    let elsewhere = |schema: &str| {
        let builder = PostgresRegister::builder(&server.address()).schema(schema);
        builder.create_table().open()
    };
    let other = elsewhere("other").expect("a schema");
    assert_eq!(first(&other, &holder).expect("it may read"), None);
    assert!(other.name().ends_with("/other"), "{}", other.name());
    let missing = elsewhere("missing").expect("it may come");
    assert_refused(&first(&missing, &holder), RegisterRefusal::Layout);
    for wrong in [String::new(), "x".repeat(64), "a\0b".to_owned()] {
        let refused = refusal(&elsewhere(&wrong));
        assert_eq!(refused, Some(RegisterRefusal::Other), "{wrong:?}");
    }
}

#[test]
fn a_lost_connection_is_made_anew_and_tells_of_changes_again() {
    let server = Server::start();
    let (register, other) = (open(&server), open(&server));
    let holder = key("group/holder");
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
    let mut changes = register.changes(&holder).expect("it tells");
    let mut sql = server.connect();
    for round in 0_u32..3 {
        sql.batch_execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'actix-bully'",
        )
        .expect("it may");
        let entry = works(&register, &holder);
        works(&other, &holder);
        block_on(async {
            done(swap(&other, &holder, entry.as_ref(), &round.to_be_bytes()).await);
            while read(&register, &holder).await.expect("it is there").value != round.to_be_bytes()
            {
                changes.next().await.expect("it goes on");
            }
        });
    }
}
