//! The register in a folder of a real disk that is full, or read-only. `crates/bully-register/src/file/tests` has the
//! other faults, and `crates/bully-register/tests/conformance` the suite.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    thread,
};

use actix_bully::register::{FileRegister, Register, RegisterRefusal};
use actix_bully_register_tests::{assert_refused, block_on, disk, done, key, read, refusal, swap};
use tempfile::TempDir;

#[test]
fn a_full_or_read_only_disk_refuses_new_keys_in_words_and_keeps_those_that_are_there() {
    if disk::in_own_namespace(
        "a_full_or_read_only_disk_refuses_new_keys_in_words_and_keeps_those_that_are_there",
    ) {
        return;
    }
    let above = TempDir::with_prefix("register-").expect("a temporary folder can be made");
    disk::mount(above.path(), "512k");
    let (path, filler) = (above.path().join("leases"), above.path().join("filler"));
    let register = FileRegister::open(&path).expect("it can be opened");
    let (holder, other) = (key("group/holder"), key("group/other"));
    block_on(async { done(swap(&register, &holder, None, b"one").await) });
    let mut kept = block_on(read(&register, &holder)).expect("it is there");
    let mut filling = File::create(&filler).expect("there is room");
    let full = loop {
        if let Err(full) = filling.write_all(&[0; 512]) {
            break full;
        }
    };
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    for _ in 0..3 {
        let refused = block_on(register.swap(&other, None, b"x".to_vec()));
        assert_refused(&refused, RegisterRefusal::Full);
        assert_eq!(block_on(read(&register, &other)), None);
        // The file of this key has had its space since it was made, so a renewal needs no new space.
        block_on(async { done(swap(&register, &holder, Some(&kept), b"renewed").await) });
        kept = block_on(read(&register, &holder)).expect("it is there");
    }
    let names = fs::read_dir(&path).expect("it is there").count();
    assert_eq!(names, 1, "nothing stays behind");
    drop(filling);
    fs::remove_file(filler).expect("it is there");
    block_on(async { done(swap(&register, &other, None, b"x").await) });

    while !disk::make_read_only(above.path()) {
        thread::yield_now();
    }
    let read_only = Some(RegisterRefusal::ReadOnly);
    assert_eq!(refusal(&FileRegister::open(&path)), read_only);
    let written = block_on(register.swap(&holder, Some(&kept), b"x".to_vec()));
    assert_eq!(refusal(&written), read_only);
    let missing = FileRegister::open(above.path().join("other"));
    assert_eq!(refusal(&missing), read_only);
}
