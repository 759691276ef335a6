//! `bullyctl run` as a process, with every fault of it, its guard and its command.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a scene that cannot be set fails the test"
)]

#[path = "run/guard.rs"]
mod guard;
#[path = "run/host.rs"]
mod host;
#[path = "run/late.rs"]
mod late;
#[path = "run/once.rs"]
mod once;
#[path = "run/unruly.rs"]
mod unruly;

use std::{
    fs::File,
    io::{self, PipeWriter, Write},
    process::Command,
};

use host::{Host, Place, bullyctl, command, is_alive, wait_until, wait_until_gone};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Signal, kill_process},
};

/// Name of the test that becomes the unruly command if the variable `UNRULY` is set.
const COMMAND: &str = "two_commands_at_one_time_are_noticed";

/// The test is also the command of the other tests.
#[test]
fn two_commands_at_one_time_are_noticed() {
    unruly::live();
    let place = Place::new();
    let words = command();
    let start = || {
        let mut unruly = Command::new(&words[0]);
        let unruly = unruly.args(&words[1..]);
        let asked = unruly.env(unruly::UNRULY, place.unruly_by(&["fork"]));
        asked.spawn().unwrap()
    };
    let mut first = start();
    place.wait_for_ready(1);
    assert_eq!(place.lines("overlaps").len(), 0);
    first.kill().unwrap();
    first.wait().unwrap();
    // The process that the first command has started holds the lock for it.
    let mut second = start();
    let all = place.wait_for_ready(2);
    assert_eq!(place.lines("overlaps").len(), 1);
    second.kill().unwrap();
    second.wait().unwrap();
    for process in all.into_iter().filter(|it| is_alive(*it)) {
        kill_process(process, Signal::KILL).unwrap();
    }
    assert!(
        File::open(place.path().join("lock"))
            .unwrap()
            .lock()
            .is_ok()
    );
}

/// All ways of a command to outlive its end.
const ALL: &[&str] = &["ignore", "fork", "setsid", "thread", "regroup"];

/// The deadline is later than the end of the test, so only the end of `bullyctl` ends the command.
#[test]
fn a_command_and_all_that_it_started_end_with_bullyctl() {
    let place = Place::new();
    let config = place.config_with("a", "timings.detection = \"60s\"");
    let mut run = bullyctl(&config, &["--no-fence"], &command());
    run.env(unruly::UNRULY, place.unruly_by(ALL));
    let host = Host::spawn(run);
    let all = place.wait_for_ready(1);
    assert_eq!(all.len(), 5);
    let guard = host.guard();
    host.signal(Signal::KILL);
    wait_until_gone(&all);
    wait_until_gone(&[guard]);
}

#[test]
fn a_command_and_all_that_it_started_end_with_the_guard_and_bullyctl_goes_on() {
    let place = Place::new();
    let mut host = place.unruly("a", ALL);
    let first = place.wait_for_ready(1);
    kill_process(host.guard(), Signal::KILL).unwrap();
    host.wait_for("the guard ended or stood still: the command was killed");
    wait_until_gone(&first);
    let all = place.wait_for_ready(2);
    assert_eq!(host.end(Signal::TERM), Some(0));
    wait_until_gone(&all);
    place.assert_no_overlap();
}

/// Processes that the command has started may continue, because no process is left to end them.
#[test]
fn the_command_ends_although_bullyctl_and_the_guard_are_killed_at_one_moment() {
    let place = Place::new();
    let host = place.unruly("a", &["ignore"]);
    let all = place.wait_for_ready(1);
    let guard = host.guard();
    host.signal(Signal::STOP); // so that `bullyctl` does not react
    kill_process(guard, Signal::KILL).unwrap();
    host.signal(Signal::KILL);
    wait_until_gone(&all);
}

#[test]
fn a_bullyctl_that_stands_still_runs_no_command_when_another_host_leads() {
    let place = Place::new();
    let mut first = place.unruly("a", ALL);
    let of_first = place.wait_for_ready(1);
    let second = place.unruly("b", ALL);
    first.signal(Signal::STOP);
    let all = place.wait_for_ready(2);
    assert!(!of_first.iter().any(|it| is_alive(*it)));
    first.signal(Signal::CONT);
    first.wait_for(
        "the guard killed the command, since the lease or the time to hand over was nearly over",
    );
    assert_eq!(second.end(Signal::TERM), Some(0));
    drop(first);
    wait_until_gone(&all);
    place.assert_no_overlap();
}

#[test]
fn a_guard_that_stands_still_holds_up_no_hand_over() {
    let place = Place::new();
    let first = place.unruly("a", ALL);
    let of_first = place.wait_for_ready(1);
    let second = place.unruly("b", ALL);
    kill_process(first.guard(), Signal::STOP).unwrap();
    assert_eq!(first.end(Signal::TERM), Some(0));
    assert!(!of_first.iter().any(|it| is_alive(*it)));
    let all = place.wait_for_ready(2);
    second.signal(Signal::KILL);
    wait_until_gone(&all);
    place.assert_no_overlap();
}

/// The agent has its own thread, and releases the lease at the end of the drain.
#[test]
fn a_standard_error_without_a_reader_holds_up_no_hand_over() {
    let place = Place::new();
    let leases = place.path().join("leases");
    let more = format!(
        "drain = \"100ms\"\n[lease]\nfolder = \"{}\"",
        leases.display()
    );
    let config = place.config_with("a", &more);
    let socket = place.path().join("socket");
    let mut run = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
    run.arg("--socket").arg(&socket).args(["run", "--config"]);
    run.arg(config).arg("--").args(command());
    run.env(unruly::UNRULY, place.unruly_by(ALL));
    let (unread, mut full) = io::pipe().unwrap();
    let mut first = Host::unheard(run, full.try_clone().unwrap().into());
    let of_first = place.wait_for_ready(1);
    fill(&mut full);
    let second = place.unruly("b", ALL);
    wait_until("the leadership is handed over", || {
        let mut ctl = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
        ctl.arg("--socket").arg(&socket).arg("transfer");
        ctl.output().unwrap().status.success()
    });
    assert!(!of_first.iter().any(|it| is_alive(*it)));
    let all = place.wait_for_ready(2);
    first.signal(Signal::TERM);
    assert_eq!(first.wait().code(), Some(0));
    assert_eq!(second.end(Signal::TERM), Some(0));
    wait_until_gone(&all);
    place.assert_no_overlap();
    drop(unread);
}

fn fill(pipe: &mut PipeWriter) {
    let has_room = |pipe: &PipeWriter| {
        let now = Timespec::default();
        poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&now)).unwrap() == 1
    };
    while has_room(pipe) {
        pipe.write_all(&[b'x'; 4096]).unwrap();
    }
}

#[test]
fn a_standard_error_without_a_reader_holds_up_no_failure() {
    let place = Place::new();
    let (unread, mut full) = io::pipe().unwrap();
    fill(&mut full);
    let refused = bullyctl(&place.config_with("a", ""), &[], &["true".to_owned()]);
    let mut host = Host::unheard(refused, full.into());
    assert_eq!(host.wait().code(), Some(125));
    drop(unread);
}

#[test]
fn a_command_that_stands_still_ends_at_a_hand_over() {
    for words in [&[][..], &["regroup"]] {
        let place = Place::new();
        let mut host = place.unruly("a", words);
        let all = place.wait_for_ready(1);
        kill_process(all[0], Signal::STOP).unwrap();
        host.signal(Signal::TERM);
        host.wait_for("signal 15 ended the command");
        assert_eq!(host.wait().code(), Some(0));
        assert!(!is_alive(all[0]));
    }
}

#[test]
fn each_signal_hands_over_and_leaves_no_process_behind() {
    for (signal, words) in [
        (Signal::INT, &[][..]),
        (Signal::TERM, ALL),
        (Signal::HUP, &["fork"]),
        (Signal::QUIT, &["setsid"]),
    ] {
        let place = Place::new();
        let first = place.unruly("a", words);
        let of_first = place.wait_for_ready(1);
        let second = place.unruly("b", words);
        assert_eq!(first.end(signal), Some(0), "{signal:?}");
        assert!(!of_first.iter().any(|it| is_alive(*it)), "{signal:?}");
        let all = place.wait_for_ready(2);
        second.signal(Signal::KILL);
        wait_until_gone(&all);
        place.assert_no_overlap();
    }
}

#[test]
fn a_second_signal_kills_a_command_that_takes_its_time() {
    let place = Place::new();
    let more = format!(
        "drain = \"60s\"\n[lease]\nfolder = \"{}\"",
        place.path().join("leases").display()
    );
    let config = place.config_with("a", &more);
    let words = [
        "sh",
        "-c",
        "trap : TERM; touch \"$0\"; while :; do sleep 0.1; done",
    ];
    let ready = place.path().join("ready");
    let mut command: Vec<String> = words.map(str::to_owned).into();
    command.push(ready.display().to_string());
    let mut host = Host::spawn(bullyctl(&config, &[], &command));
    wait_until("the command is ready", || ready.exists());
    host.signal(Signal::TERM);
    host.wait_for("the leadership is handed over: the command has 59.");
    assert_eq!(host.end(Signal::TERM), Some(0));
}

#[test]
fn each_signal_ends_a_bullyctl_that_waits_to_lead() {
    let place = Place::new();
    let leader = place.unruly("a", &[]);
    place.wait_for_ready(1);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let mut waits = place.unruly("b", &[]);
        waits.wait_for("b waits to lead jobs");
        assert_eq!(waits.end(signal), Some(0), "{signal:?}");
    }
    assert_eq!(place.lines("starts").len(), 1);
    drop(leader);
}
