//! The register in a SQLite file: the suite, and what befalls a file.
#![expect(
    clippy::disallowed_methods,
    reason = "how long a locked file is waited for"
)]

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use actix_bully::register::{Register, RegisterError, RegisterRefusal, SqliteRegister, Swap};
use actix_bully_register_tests::{DEADLINE, block_on, conforms, disk, done, key, read, swap};
use rusqlite::Connection;
use tempfile::TempDir;

struct File {
    path: PathBuf,
    _folder: TempDir,
}

impl File {
    fn new() -> Self {
        let folder = TempDir::with_prefix("register-").expect("a temporary folder can be made");
        let path = folder.path().join("leases.db");
        Self {
            path,
            _folder: folder,
        }
    }

    fn open(&self) -> SqliteRegister {
        SqliteRegister::open(&self.path).expect("it can be opened")
    }

    /// As another program opens it.
    fn sql(&self) -> Connection {
        Connection::open(&self.path).expect("it can be opened")
    }
}

#[test]
fn it_conforms() {
    let file = File::new();
    conforms("sqlite", &|| Arc::new(file.open()));
}

#[test]
fn what_was_written_is_there_after_all_have_ended() {
    let file = File::new();
    let holder = key("group/holder");
    block_on(async { done(swap(&file.open(), &holder, None, b"kept").await) });
    let entry = block_on(async { read(&file.open(), &holder).await });
    assert_eq!(entry.expect("it was synced").value, b"kept");
}

/// By whichever path it is opened: agents of one group have to find that they name the same store.
#[test]
fn one_file_has_one_name() {
    let file = File::new();
    let one = file.open();
    let other = file.path.with_file_name("other");
    std::os::unix::fs::symlink(&file.path, &other).expect("a link can be made");
    let same = SqliteRegister::open(&other).expect("it can be opened");
    assert_eq!(one.name(), same.name());
    assert!(one.name().ends_with("leases.db"), "{}", one.name());
}

#[test]
fn what_no_register_wrote_is_refused_and_left_alone() {
    let file = File::new();
    let register = file.open();
    let sql = file.sql();
    for (name, row) in [
        ("a/large", "1, zeroblob(100000000)"),
        ("a/text", "1, 'hello'"),
        ("a/number", "1, 7"),
        ("a/negative", "-1, x'00'"),
        ("a/fraction", "1.5, x'00'"),
        ("a/word", "'one', x'00'"),
    ] {
        sql.execute_batch(&format!(
            "INSERT INTO bully_register VALUES ('{name}', {row})"
        ))
        .expect("SQLite takes anything");
        let before = dump(&sql, name);
        let found = block_on(register.read(&key(name)));
        assert!(
            matches!(&found, Err(RegisterError::Foreign { key }) if key.as_str() == name),
            "{name}: {found:?}"
        );
        let written = block_on(register.swap(&key(name), None, b"mine".to_vec()));
        assert!(
            matches!(written, Err(RegisterError::Foreign { .. })),
            "{name}: {written:?}"
        );
        assert_eq!(dump(&sql, name), before);
    }
}

fn dump(sql: &Connection, name: &str) -> String {
    sql.query_row(
        "SELECT typeof(version) || version || typeof(value) || length(value)
         FROM bully_register WHERE key = ?1",
        [name],
        |row| row.get(0),
    )
    .expect("it is there")
}

#[test]
fn the_last_version_is_not_counted_on() {
    let file = File::new();
    let register = file.open();
    let most = i64::MAX;
    file.sql()
        .execute_batch(&format!(
            "INSERT INTO bully_register VALUES ('a/last', {most}, x'00')"
        ))
        .expect("SQLite takes it");
    let last = key("a/last");
    let entry = block_on(read(&register, &last)).expect("it is there");
    let written = block_on(register.swap(&last, Some(&entry), b"next".to_vec()));
    assert!(
        matches!(written, Err(RegisterError::Foreign { .. })),
        "{written:?}"
    );
}

#[test]
fn a_file_that_another_process_holds_is_waited_for_and_no_longer() {
    let file = File::new();
    let register = file.open();
    let holder = key("group/holder");
    let sql = file.sql();
    sql.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let begun = Instant::now();
    let busy = block_on(register.swap(&holder, None, b"mine".to_vec()));
    assert!(
        matches!(busy, Err(RegisterError::Unreachable(_))),
        "{busy:?}"
    );
    assert!(begun.elapsed() >= Duration::from_millis(400), "it waits");
    assert!(begun.elapsed() < Duration::from_secs(10), "and gives up");
    assert_eq!(block_on(read(&register, &holder)), None, "it can be read");
    sql.execute_batch("ROLLBACK").expect("it was open");
    block_on(async { done(swap(&register, &holder, None, b"mine").await) });
}

#[test]
fn a_file_that_another_process_makes_just_now_is_waited_for_longer() {
    let file = File::new();
    let sql = file.sql();
    sql.execute_batch("BEGIN EXCLUSIVE").expect("it is free");
    let (done, opened) = mpsc::channel();
    let path = file.path.clone();
    let opens = thread::spawn(move || done.send(SqliteRegister::open(path)));
    let second = Duration::from_secs(1);
    let early = opened.recv_timeout(second);
    assert!(early.is_err(), "it waits: {early:?}");
    sql.execute_batch("ROLLBACK").expect("it was open");
    let open = opened.recv_timeout(DEADLINE).expect("it ends");
    assert!(open.is_ok(), "{open:?}");
    opens
        .join()
        .expect("it does not panic")
        .expect("it is heard");
}

#[test]
fn a_file_that_is_missing_or_replaced_is_no_longer_written() {
    let file = File::new();
    let register = file.open();
    let holder = key("group/holder");
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
    let entry = block_on(read(&register, &holder)).expect("it is there");

    remove(&file.path);
    let missing = block_on(register.swap(&holder, Some(&entry), b"lost".to_vec()));
    assert!(
        matches!(missing, Err(RegisterError::Unreachable(_))),
        "{missing:?}"
    );
    assert!(!file.path.exists(), "nothing is begun anew by itself");

    // An operator puts another one there: what counts is what it holds.
    let other = file.open();
    assert_eq!(block_on(read(&register, &holder)), None);
    let replaced = block_on(register.swap(&holder, Some(&entry), b"lost".to_vec()));
    assert!(matches!(replaced, Ok(Swap::Conflict(None))), "{replaced:?}");
    block_on(async { done(swap(&other, &holder, None, b"two").await) });
    let entry = block_on(read(&register, &holder)).expect("it is there");
    assert_eq!(entry.value, b"two");
}

/// The version of the record is the same again, and the record another one.
#[test]
fn a_restored_backup_does_not_let_an_old_entry_be_replaced() {
    let file = File::new();
    let register = file.open();
    let holder = key("group/holder");
    let backup = file.path.with_file_name("backup");
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
    let first = block_on(read(&register, &holder)).expect("it is there");
    file.sql()
        .execute("VACUUM INTO ?1", [backup.to_str().expect("text")])
        .expect("a backup can be made");
    block_on(async { done(swap(&register, &holder, Some(&first), b"two").await) });
    let second = block_on(read(&register, &holder)).expect("it is there");

    remove(&file.path);
    fs::rename(&backup, &file.path).expect("it can be restored");
    assert_eq!(block_on(read(&register, &holder)), Some(first.clone()));
    block_on(async { done(swap(&register, &holder, Some(&first), b"other").await) });
    let other = block_on(read(&register, &holder)).expect("it is there");
    assert_eq!(other.version, second.version, "the same number");
    let refused = block_on(register.swap(&holder, Some(&second), b"three".to_vec()));
    assert!(
        matches!(refused, Ok(Swap::Conflict(Some(_)))),
        "{refused:?}"
    );
}

#[test]
fn a_full_disk_is_told_from_one_that_is_away_and_can_be_read() {
    if disk::in_own_namespace("a_full_disk_is_told_from_one_that_is_away_and_can_be_read") {
        return;
    }
    let file = File::new();
    let folder = file.path.parent().expect("it is in a folder");
    disk::mount(folder, "512k");
    let register = file.open();
    let holder = key("group/holder");
    block_on(async { done(swap(&register, &holder, None, b"kept").await) });
    let kept = block_on(read(&register, &holder));
    let filler = folder.join("filler");
    let mut filling = fs::File::create(&filler).expect("there is room");
    let full = loop {
        if let Err(full) = filling.write_all(&[0; 512]) {
            break full;
        }
    };
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    let refused = block_on(async {
        // What room its own files have is used up first.
        for number in 0_u32..1_000 {
            let key = key(&format!("filler/{number}"));
            match register.swap(&key, None, vec![b'x'; 4_096]).await {
                Ok(Swap::Done(_)) => {}
                other => return other,
            }
        }
        panic!("it has room for more than the disk has");
    });
    let is_full = matches!(
        refused,
        Err(RegisterError::Refused {
            refusal: RegisterRefusal::Full,
            ..
        })
    );
    assert!(is_full, "{refused:?}");
    assert_eq!(block_on(read(&register, &holder)), kept, "it can be read");
    fs::remove_file(filler).expect("it is there");
    drop(filling);
    block_on(async { done(swap(&register, &holder, kept.as_ref(), b"next").await) });
}

#[test]
fn a_file_that_may_not_be_written_is_refused_in_words() {
    if disk::in_own_namespace("a_file_that_may_not_be_written_is_refused_in_words") {
        return;
    }
    let file = File::new();
    let folder = file.path.parent().expect("it is in a folder");
    disk::mount(folder, "4m");
    let holder = key("group/holder");
    block_on(async { done(swap(&file.open(), &holder, None, b"kept").await) });
    // The thread of a register that was dropped closes the file soon.
    let begun = Instant::now();
    while !disk::make_read_only(folder) {
        assert!(begun.elapsed() < DEADLINE, "the file stays open");
        thread::yield_now();
    }
    let refused = SqliteRegister::open(&file.path);
    let is_read_only = matches!(
        refused,
        Err(RegisterError::Refused {
            refusal: RegisterRefusal::ReadOnly,
            ..
        })
    );
    assert!(is_read_only, "{refused:?}");
}

#[test]
fn what_is_no_database_or_in_no_folder_is_refused_in_words() {
    let file = File::new();
    fs::write(&file.path, vec![b'x'; 4_096]).expect("it can be written");
    let refused = SqliteRegister::open(&file.path).expect_err("it is no database");
    let is_layout = matches!(
        refused,
        RegisterError::Refused {
            refusal: RegisterRefusal::Layout,
            ..
        }
    );
    assert!(is_layout, "{refused:?}");
    let nowhere = file.path.join("below/leases.db");
    let refused = SqliteRegister::open(nowhere).expect_err("there is no such folder");
    assert!(
        matches!(refused, RegisterError::Unreachable(_)),
        "{refused:?}"
    );
}

#[test]
fn a_table_of_that_name_and_another_form_is_refused() {
    let file = File::new();
    file.sql()
        .execute_batch("CREATE TABLE bully_register (key TEXT PRIMARY KEY, note TEXT)")
        .expect("SQLite takes it");
    let register = file.open();
    let refused = block_on(register.read(&key("group/holder")));
    let is_layout = matches!(
        refused,
        Err(RegisterError::Refused {
            refusal: RegisterRefusal::Layout,
            ..
        })
    );
    assert!(is_layout, "{refused:?}");
}

fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        drop(fs::remove_file(name));
    }
    assert!(!path.exists());
}
