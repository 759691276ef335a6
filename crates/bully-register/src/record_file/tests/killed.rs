//! A process that is killed between any two calls.
//!
//! The process is another run of this test binary. An environment variable names the call before which it kills itself.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use super::{
    create, found, names, open, place,
    tried::{Event, Tried},
};
use crate::record_file::RecordFileError;

const KILLED: &str = "RECORD_FILE_OF_A_CHILD";

fn kill_before(system: &Tried, call: usize) {
    let kill = || {
        let process = rustix::process::getpid();
        rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
        loop {
            std::thread::park();
        }
    };
    system.plan(call, Event::Before(Box::new(kill)));
}

#[test]
fn child_that_is_killed() {
    let Ok(told) = env::var(KILLED) else {
        return;
    };
    let mut told = told.splitn(3, ' ');
    let (part, call, path) = (
        told.next().unwrap(),
        told.next().unwrap(),
        told.next().unwrap(),
    );
    let (call, path) = (call.parse().expect("a number"), Path::new(path));
    let system = Arc::new(Tried::default());
    if part == "create" {
        kill_before(&system, call);
        drop(create(&system, path).expect("made"));
    } else {
        let mut file = open(&system, path).expect("whole");
        kill_before(&system, call);
        file.write(b"record 2").expect("written");
    }
    println!("\ndone");
}

/// Runs the child process. Returns whether it came to its end.
fn child(part: &str, call: usize, path: &Path) -> bool {
    let told = format!("{part} {call} {}", path.display());
    let output = Command::new(env::current_exe().expect("this binary"))
        .args([
            "record_file::tests::killed::child_that_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env(KILLED, told)
        .stdin(Stdio::null())
        .output()
        .expect("a process");
    String::from_utf8_lossy(&output.stdout).contains("\ndone")
}

#[test]
fn a_process_killed_in_create_leaves_a_whole_file_or_none() {
    let mut made = 0;
    for call in 0.. {
        let (folder, path) = place();
        let is_done = child("create", call, &path);
        match open(&Arc::default(), &path) {
            Ok(file) => {
                assert_eq!(file.record(), b"record 1");
                made += 1;
            }
            Err(RecordFileError::Missing) => {
                assert_eq!(made, 0, "the name stays");
                drop(create(&Arc::default(), &path).expect("nothing is in the way"));
            }
            Err(refused) => panic!("before call {call}: {refused:?}"),
        }
        assert_eq!(names(&folder), ["jobs"]);
        if is_done {
            assert_eq!((call, made), (14, 6));
            return;
        }
    }
}

#[test]
fn a_writer_that_is_killed_leaves_the_record_before_or_the_new_one() {
    let mut records = Vec::new();
    for call in 0.. {
        let (_folder, path) = place();
        drop(create(&Arc::default(), &path).expect("made"));
        let is_done = child("write", call, &path);
        records.push(found(&path) == b"record 2");
        let mut file = open(&Arc::default(), &path).expect("free");
        file.write(b"record 3").expect("written");
        if is_done {
            break;
        }
    }
    assert_eq!(records, [vec![false; 7], vec![true; 5]].concat());
}
