//! The register in a folder: faults of the folder and of its files. `crates/bully-register/tests/conformance` has the
//! suite.
#![expect(
    clippy::disallowed_methods,
    reason = "how long a locked file is waited for"
)]

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use actix_bully::register::{
    Entry, FileRegister, Register, RegisterError, RegisterKey, RegisterRefusal, Swap,
};
use actix_bully_register_tests::{
    assert_away, block_on, disk, done, fuse, key, list, many, read, refusal, swap,
};
use futures::future::join;
use tempfile::TempDir;

struct Leases {
    path: PathBuf,
    above: TempDir,
}

impl Leases {
    fn new() -> Self {
        let above = TempDir::with_prefix("register-").expect("a temporary folder can be made");
        let path = above.path().join("leases");
        Self { path, above }
    }

    fn open(&self) -> FileRegister {
        FileRegister::open(&self.path).expect("it can be opened")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.above.path().join(name)
    }

    /// Returns the path of the only file.
    fn file(&self) -> PathBuf {
        let mut all = fs::read_dir(&self.path).expect("it is there");
        let one = all.next().expect("a file").expect("it can be read").path();
        assert!(all.next().is_none(), "more than one file");
        one
    }
}

fn holder() -> RegisterKey {
    key("group/holder")
}

/// Opens a register, and writes one entry.
fn with_one(leases: &Leases) -> (FileRegister, Entry) {
    let register = leases.open();
    block_on(async { done(swap(&register, &holder(), None, b"one").await) });
    let entry = block_on(read(&register, &holder())).expect("it is there");
    (register, entry)
}

#[test]
fn an_entry_is_there_after_all_registers_have_ended() {
    let leases = Leases::new();
    let (_, entry) = with_one(&leases);
    assert_eq!(block_on(read(&leases.open(), &holder())), Some(entry));
}

/// The name must not depend on the path by which a folder is opened: agents of one group compare the names of their
/// stores.
#[test]
fn one_folder_has_one_name() {
    let leases = Leases::new();
    let one = leases.open();
    let link = leases.beside("other");
    symlink(&leases.path, &link).expect("a link can be made");
    let same = FileRegister::open(&link).expect("it can be opened");
    assert_eq!(one.name(), same.name());
    assert!(one.name().ends_with("/leases"), "{}", one.name());
}

/// Processes from before the change of the link must see the same store as later processes.
#[test]
fn a_link_that_leads_to_another_folder_is_followed_at_once() {
    let leases = Leases::new();
    let (_, entry) = with_one(&leases);
    let link = leases.beside("link");
    symlink(&leases.path, &link).expect("a link can be made");
    let early = FileRegister::open(&link).expect("it can be opened");
    assert_eq!(block_on(read(&early, &holder())), Some(entry.clone()));
    fs::remove_file(&link).expect("it is there");
    fs::create_dir(leases.beside("empty")).expect("it can be made");
    symlink(leases.beside("empty"), &link).expect("a link can be made");
    assert_eq!(block_on(read(&early, &holder())), None);
    let conflict = block_on(swap(&early, &holder(), Some(&entry), b"two"));
    assert_eq!(conflict, Swap::Conflict(None));
}

#[test]
fn a_file_that_another_process_locks_holds_up_its_key_alone_and_that_process_is_named() {
    let leases = Leases::new();
    let (register, entry) = with_one(&leases);
    let mut locker = Command::new("flock")
        // The child of `flock` does not inherit the locked file.
        .arg("--close")
        .arg(leases.file())
        // The child ends with its input, and so with this test. It must end: it holds the outputs of the test, and a
        // reader of these outputs would wait for it.
        .args(["sh", "-c", "echo locked; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Debian's package util-linux is there");
    let mut line = [0; 7];
    let output = locker.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(output, &mut line).expect("it locks the file");
    signal(locker.id(), "-STOP");

    let begun = Instant::now();
    let other = key("group/other");
    let (refused, beside) = block_on(join(
        register.swap(&holder(), Some(&entry), b"two".to_vec()),
        async {
            let swap = swap(&register, &other, None, b"beside").await;
            (swap, begun.elapsed())
        },
    ));
    let took = begun.elapsed();
    assert!(matches!(beside.0, Swap::Done(_)));
    assert!(beside.1 < took, "another key is served meanwhile");
    assert!(took >= Duration::from_millis(100), "{took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    let Err(RegisterError::Unreachable(reason)) = refused else {
        panic!("{refused:?}");
    };
    let named = format!("process {}", locker.id());
    assert!(reason.to_string().contains(&named), "{reason}");
    locker.kill().expect("it runs");
    locker.wait().expect("it has ended");
    let written = block_on(swap(&register, &holder(), Some(&entry), b"two"));
    assert!(matches!(written, Swap::Done(_)), "{written:?}");
}

fn signal(process: u32, signal: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([signal, &process.to_string()]).status();
    assert!(sent.is_ok_and(|sent| sent.success()));
}

#[test]
fn a_file_or_folder_that_is_removed_or_replaced_is_a_change() {
    let leases = Leases::new();
    let (register, entry) = with_one(&leases);
    let (file, copy) = (leases.file(), leases.beside("copy"));
    let conflict = |found: Option<&Entry>| {
        let swap = block_on(swap(&register, &holder(), Some(&entry), b"lost"));
        assert_eq!(swap, Swap::Conflict(found.cloned()));
    };
    // A copy replaces the file: the same value in another file.
    fs::copy(&file, &copy).expect("it can be copied");
    fs::rename(&copy, &file).expect("it can be replaced");
    let copied = block_on(read(&register, &holder())).expect("it is there");
    assert_eq!(copied.value, entry.value);
    conflict(Some(&copied));
    // The file disappears, and no register has removed it.
    fs::rename(&file, &copy).expect("it is there");
    assert_eq!(block_on(read(&register, &holder())), None);
    conflict(None);
    fs::rename(&copy, &file).expect("it is there");
    assert_eq!(block_on(read(&register, &holder())), Some(copied.clone()));

    // Without the folder no operation works, and the register does not make a new folder by itself.
    let away = leases.beside("away");
    fs::rename(&leases.path, &away).expect("it is there");
    for outcome in [
        block_on(register.swap(&holder(), None, b"lost".to_vec())).map(drop),
        block_on(register.read(&holder())).map(drop),
        block_on(register.list(&key("group")).expect("it can list")).map(drop),
    ] {
        assert_away(&outcome);
    }
    assert!(!leases.path.exists());
    // An operator makes a new folder, and its content counts from then on.
    let other = leases.open();
    conflict(None);
    block_on(async { done(swap(&other, &holder(), None, b"two").await) });
    let now = block_on(read(&register, &holder())).expect("it is there");
    assert_eq!(now.value, b"two");
}

/// After the restore the next record has a number that was used before, but it is another record.
#[test]
fn a_restored_backup_does_not_let_an_old_entry_be_replaced() {
    let leases = Leases::new();
    let (register, first) = with_one(&leases);
    let backup = fs::read(leases.file()).expect("it is there");
    block_on(async { done(swap(&register, &holder(), Some(&first), b"two").await) });
    let second = block_on(read(&register, &holder())).expect("it is there");
    // The backup is written into the same file, so the device and the inode stay equal.
    fs::write(leases.file(), backup).expect("it can be restored");
    assert_eq!(block_on(read(&register, &holder())), Some(first.clone()));
    block_on(async { done(swap(&register, &holder(), Some(&first), b"two").await) });
    let refused = block_on(swap(&register, &holder(), Some(&second), b"three"));
    assert!(matches!(refused, Swap::Conflict(Some(_))), "{refused:?}");
}

#[test]
fn a_full_disk_refuses_new_keys_in_words_and_keeps_those_that_are_there() {
    if disk::in_own_namespace(
        "a_full_disk_refuses_new_keys_in_words_and_keeps_those_that_are_there",
    ) {
        return;
    }
    let leases = Leases::new();
    disk::mount(leases.above.path(), "512k");
    let (register, mut kept) = with_one(&leases);
    let mut filling = File::create(leases.beside("filler")).expect("there is room");
    let full = loop {
        if let Err(full) = filling.write_all(&[0; 512]) {
            break full;
        }
    };
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    let other = key("group/other");
    for _ in 0..3 {
        let refused = block_on(register.swap(&other, None, b"x".to_vec()));
        assert_eq!(
            refusal(&refused),
            Some(RegisterRefusal::Full),
            "{refused:?}"
        );
        assert_eq!(block_on(read(&register, &other)), None);
        // The file of this key has had its space since it was made, so a renewal needs no new space.
        block_on(async { done(swap(&register, &holder(), Some(&kept), b"renewed").await) });
        kept = block_on(read(&register, &holder())).expect("it is there");
    }
    let names = fs::read_dir(&leases.path).expect("it is there").count();
    assert_eq!(names, 1, "nothing stays behind");
    fs::remove_file(leases.beside("filler")).expect("it is there");
    drop(filling);
    block_on(async { done(swap(&register, &other, None, b"x").await) });
}

#[test]
fn a_folder_that_may_not_be_written_is_refused_in_words() {
    if disk::in_own_namespace("a_folder_that_may_not_be_written_is_refused_in_words") {
        return;
    }
    let leases = Leases::new();
    disk::mount(leases.above.path(), "4m");
    let (register, entry) = with_one(&leases);
    while !disk::make_read_only(leases.above.path()) {
        thread::yield_now();
    }
    let refused = FileRegister::open(&leases.path);
    assert_eq!(refusal(&refused), Some(RegisterRefusal::ReadOnly));
    let written = block_on(register.swap(&holder(), Some(&entry), b"x".to_vec()));
    assert_eq!(refusal(&written), Some(RegisterRefusal::ReadOnly));
    let missing = FileRegister::open(leases.beside("other"));
    assert_eq!(refusal(&missing), Some(RegisterRefusal::ReadOnly));
}

#[test]
fn a_folder_on_a_file_system_that_other_hosts_may_share_is_refused_in_words() {
    let name = "a_folder_on_a_file_system_that_other_hosts_may_share_is_refused_in_words";
    if disk::in_own_namespace(name) {
        return;
    }
    let leases = Leases::new();
    let (register, entry) = with_one(&leases);
    let Some(_mounted) = fuse::mount(&leases.path) else {
        println!("skipped: {name} needs /dev/fuse");
        return;
    };
    let refused = FileRegister::open(&leases.path).map(drop);
    let mounted_over = block_on(register.swap(&holder(), Some(&entry), b"x".to_vec())).map(drop);
    for refused in [refused, mounted_over] {
        assert_eq!(refusal(&refused), Some(RegisterRefusal::Other));
        let words = refused.expect_err("it is refused").to_string();
        assert!(
            words.contains("is on FUSE, which other hosts may share"),
            "{words}"
        );
    }
}

#[test]
fn a_path_that_is_no_folder_or_in_none_is_refused() {
    let leases = Leases::new();
    fs::write(&leases.path, "x").expect("it can be written");
    let refused = FileRegister::open(&leases.path).map(drop);
    let register = FileRegister::open(leases.beside("missing/leases")).map(drop);
    assert_away(&register);
    let words = refused.expect_err("it is a file").to_string();
    assert!(words.contains("leases"), "{words}");
}

#[test]
fn several_hundred_elections_share_one_register() {
    let leases = Leases::new();
    let register: Arc<dyn Register> = Arc::new(leases.open());
    many::play(async {
        let all = many::elections(300, &register).await;
        assert!(all.iter().all(|(_, agent)| agent.is_leader()));
    });
    let all = block_on(list(&*register, &key("default")));
    assert!(all.len() >= 300, "{} records", all.len());
}
