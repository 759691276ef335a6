//! The register in a PostgreSQL table: the suite, and faults of a server.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{sync::Arc, time::Instant};

use actix_bully::register::{
    Entry, PostgresRegister, Register, RegisterError, RegisterKey, RegisterRefusal, Swap,
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::many::{elections, play};
use actix_bully_register_tests::{
    DEADLINE, assert_away, assert_soon_unknown, block_on, conforms, done, key, read, refusal, swap,
    works,
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
fn the_table_is_made_by_hand_or_on_request_and_missed_in_words() {
    let server = Server::start();
    let holder = key("group/holder");
    let without = with(&server, "");
    assert_eq!(
        refusal(&first(&without, &holder)),
        Some(RegisterRefusal::Layout)
    );
    server
        .connect()
        .batch_execute(&PostgresRegister::table_sql("public"))
        .expect("the printed statement is one");
    block_on(async { done(swap(&without, &holder, None, b"one").await) });

    server
        .connect()
        .batch_execute("DROP TABLE bully_register")
        .expect("it is there");
    let makers: Vec<_> = (0..8).map(|_| open(&server)).collect();
    for maker in &makers {
        assert_eq!(works(maker, &holder), None);
    }
}

#[test]
fn the_clock_is_that_of_the_server() {
    let server = Server::shared();
    let register = open(&server);
    works(&register, &key("group/clock"));
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
    assert_eq!(
        refusal(&first(&stranger, &holder)),
        Some(RegisterRefusal::Credentials)
    );
    let reader = with(&server, "user=reader");
    assert_eq!(first(&reader, &holder).expect("it may read"), None);
    let written = block_on(reader.swap(&holder, None, b"x".to_vec()));
    assert_eq!(refusal(&written), Some(RegisterRefusal::Credentials));
    let nowhere = with(&server, "dbname=nowhere");
    assert_eq!(
        refusal(&first(&nowhere, &holder)),
        Some(RegisterRefusal::Layout)
    );
    let absent = PostgresRegister::builder("host=/nonexistent user=postgres").open();
    let absent = first(&absent.expect("it may come"), &holder);
    assert_away(&absent);
    assert!(!owner.name().contains("postgres user"), "{}", owner.name());
}

#[test]
fn a_database_that_takes_no_writes_says_so() {
    let server = Server::start();
    let holder = key("group/holder");
    assert_eq!(first(&open(&server), &holder).expect("it works"), None);
    let read_only = with(&server, "options='-c default_transaction_read_only=on'");
    let written = block_on(read_only.swap(&holder, None, b"x".to_vec()));
    assert_eq!(refusal(&written), Some(RegisterRefusal::ReadOnly));
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
            "CREATE ROLE other LOGIN; CREATE SCHEMA other AUTHORIZATION other;
             CREATE TABLE other.bully_register (LIKE public.bully_register INCLUDING ALL);
             ALTER TABLE other.bully_register OWNER TO other;
             GRANT ALL ON public.bully_register TO other",
        )
        .expect("the owner may");
    let same = with(&server, "user=other");
    let entry = first(&same, &holder).expect("it may read");
    assert_eq!(entry.expect("the owner wrote it").value, b"one");
    let moved = with(&server, "options='-c search_path=other'");
    assert!(first(&moved, &holder).expect("it may read").is_some());

    let elsewhere = |schema: &str| {
        let address = format!("{} user=other", server.address());
        let builder = PostgresRegister::builder(&address).schema(schema);
        builder.create_table().open()
    };
    let other = elsewhere("other").expect("a schema");
    assert_eq!(first(&other, &holder).expect("it may read"), None);
    assert_ne!(other.name(), same.name());
    assert!(other.name().ends_with("/other"), "{}", other.name());
    let missing = elsewhere("missing").expect("it may come");
    assert_eq!(
        refusal(&first(&missing, &holder)),
        Some(RegisterRefusal::Layout)
    );
    for wrong in [String::new(), "x".repeat(64), "a\0b".to_owned()] {
        assert_eq!(
            refusal(&elsewhere(&wrong)),
            Some(RegisterRefusal::Other),
            "{wrong:?}"
        );
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

#[test]
fn a_server_that_crashes_keeps_what_it_confirmed() {
    let mut server = Server::start();
    let register = open(&server);
    let holder = key("group/holder");
    block_on(async { done(swap(&register, &holder, None, b"kept").await) });
    let entry = block_on(read(&register, &holder));
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
    block_on(async { done(swap(&register, &holder, entry.as_ref(), b"next").await) });
}

/// The write waits in the frozen server, which carries it out later. So the register must report the outcome as
/// unknown.
#[test]
fn a_frozen_server_leaves_a_write_unknown_and_the_connection_given_up() {
    let server = Server::start();
    let register = open(&server);
    let holder = key("group/holder");
    assert_eq!(first(&register, &holder).expect("it works"), None);
    server.freeze();
    assert_soon_unknown(&register, &holder, None);
    server.resume();
    let begun = Instant::now();
    while works(&register, &holder).is_none() {
        assert!(
            begun.elapsed() < DEADLINE,
            "the server goes on with what it was asked"
        );
    }
    let taken = block_on(register.swap(&holder, None, b"again".to_vec()));
    assert!(matches!(taken, Ok(Swap::Conflict(Some(_)))), "{taken:?}");
}

#[test]
fn several_hundred_elections_share_one_connection() {
    let server = Server::start();
    let register: Arc<dyn Register> = Arc::new(open(&server));
    play(async {
        let all = elections(300, &register).await;
        assert!(all.iter().all(|(_, agent)| agent.is_leader()));
    });
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'actix-bully'";
    let sessions = server.connect().query_one(sessions, &[]).expect("one");
    assert_eq!(sessions.get::<_, i64>(0), 1);
}
