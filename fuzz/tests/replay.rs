//! The corpora as plain tests: on a stack of 512 KiB, in a debug build.

use std::{fs, path::Path};

use actix_bully_fuzz::{core, frames, hello, messages, recording, records, tls};

/// Gives every file of a corpus to its target. The corpus must not be empty.
fn replay(corpus: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(corpus);
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert!(!files.is_empty(), "the corpus of {corpus} is empty");
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let replayed = thread.spawn(move || {
        for file in files {
            println!("{}", file.display()); // shown if it is the last one
            check(&fs::read(file).expect("a file of the corpus"));
        }
    });
    let ended = replayed.expect("a thread starts").join();
    assert!(ended.is_ok(), "{corpus}: see the last file named");
}

#[test]
fn frames_are_replayed() {
    replay("frames", frames::check);
}

#[test]
fn hellos_are_replayed() {
    replay("hello", hello::check);
}

/// If the first frames of a handshake change, every file would fail at the first frame.
#[test]
fn some_hellos_become_ready() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/hello");
    let files = fs::read_dir(folder).expect("the corpus is there");
    let read = |file: std::io::Result<fs::DirEntry>| fs::read(file.expect("a file").path());
    let ready = files
        .filter_map(|file| hello::becomes_ready(&read(file).expect("it is read")).then_some(()));
    assert!(ready.count() > 0);
}

#[test]
fn messages_are_replayed() {
    replay("messages", messages::check);
}

#[test]
fn the_corpus_of_tls_is_replayed() {
    replay("tls", tls::check);
}

#[test]
fn machines_are_replayed() {
    replay("core", core::check);
}

#[test]
fn records_of_a_lease_are_replayed() {
    replay("records", records::check);
}

#[test]
fn recordings_are_replayed() {
    replay("recording", recording::check);
}
