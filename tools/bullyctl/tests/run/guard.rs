//! The guard and the wrapper of a command as processes: their start, their end, and the descriptors that they inherit.

use std::{
    fs,
    io::IoSlice,
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio, id},
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        SocketFlags, SocketType, recv, sendmsg, socketpair,
    },
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};

use crate::host::{Host, Place, bullyctl, is_alive, wait_until, wait_until_gone};

/// Runs a guard of the process `parent`. Its command creates the file. Returns the end of the guard, and its reports.
fn guard(parent: u32, prepare: &str, order: &Value, file: &Path) -> (ExitStatus, Vec<Value>) {
    let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (own, theirs) = socketpair(kind.0, kind.1, SocketFlags::CLOEXEC, None).unwrap();
    let input = fs::File::open("/dev/null").unwrap();
    let descriptors = [input.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut more = SendAncillaryBuffer::new(&mut space);
    more.push(SendAncillaryMessage::ScmRights(&descriptors));
    let order = order.to_string();
    let order = [IoSlice::new(order.as_bytes())];
    sendmsg(&own, &order, &mut more, SendFlags::empty()).unwrap();
    let script = format!("{prepare} exec \"$0\" \"$@\"");
    let mut sh = Command::new("sh");
    sh.args(["-c", &script, env!("CARGO_BIN_EXE_bullyctl"), "run-guard"]);
    sh.args(["--parent", &parent.to_string(), "--margin", "0", "--"]);
    let ended = sh
        .arg("touch")
        .arg(file)
        .stdin(Stdio::from(theirs))
        .status();
    drop(sh);
    (ended.unwrap(), reports(&own))
}

fn reports(socket: &OwnedFd) -> Vec<Value> {
    let mut reports = Vec::new();
    let mut bytes = [0; 128];
    loop {
        match recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((len @ 1.., _)) => {
                let report = bytes.get(..len).unwrap_or_default();
                reports.push(serde_json::from_slice(report).unwrap());
            }
            // The guard has not read the order.
            Err(Errno::CONNRESET) => {}
            Ok(_) | Err(_) => return reports,
        }
    }
}

/// Returns an order without a request to end.
fn until(deadline: u64) -> Value {
    json!({ "deadline": deadline, "asks_to_end": false })
}

fn late() -> Value {
    json!({ "Ended": { "status": "Unknown", "cause": "Late" } })
}

fn exited(status: u8) -> Value {
    json!({ "Ended": { "status": { "Exited": status }, "cause": "Itself" } })
}

#[test]
fn a_guard_starts_the_command_for_its_own_parent_alone() {
    let place = Place::new();
    let file = place.path().join("file");
    let (ended, reports) = guard(1, "", &until(u64::MAX), &file);
    assert!(ended.success() && !file.exists());
    assert_eq!(reports, [late()]);
    let (ended, reports) = guard(id(), "", &until(u64::MAX), &file);
    assert!(ended.success() && file.exists());
    assert_eq!(reports.last(), Some(&exited(0)));
}

#[test]
fn a_guard_whose_first_order_comes_too_late_starts_no_command() {
    let place = Place::new();
    let file = place.path().join("file");
    let end = json!({ "deadline": u64::MAX, "asks_to_end": true });
    for order in [end, until(1)] {
        let (ended, reports) = guard(id(), "", &order, &file);
        assert!(ended.success() && !file.exists());
        assert_eq!(reports, [late()]);
    }
}

#[test]
fn a_guard_that_cannot_start_the_command_reports_that() {
    let place = Place::new();
    let file = place.path().join("file");
    // The guard may open only one descriptor, and needs more.
    let (ended, reports) = guard(id(), "ulimit -n 4;", &until(u64::MAX), &file);
    assert!(!ended.success() && !file.exists());
    assert_eq!(reports, [exited(126)]);
}

#[test]
fn a_wrapper_becomes_the_command_of_its_own_guard_alone() {
    let place = Place::new();
    let file = place.path().join("file");
    for (guard, is_run) in [(1, false), (id(), true)] {
        let mut wrapper = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
        wrapper.args(["run-command", "--guard", &guard.to_string(), "--"]);
        let ended = wrapper.arg("touch").arg(&file).status().unwrap();
        assert_eq!((ended.success(), file.exists()), (is_run, is_run));
    }
}

#[test]
fn a_signal_to_the_guard_does_not_reach_the_command() {
    let place = Place::new();
    let sleep = ["sleep", "1000"].map(str::to_owned);
    let mut host = Host::spawn(bullyctl(&place.config("a"), &["--once"], &sleep));
    let command = host.wait_for_command();
    let guard = host.guard();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        kill_process(guard, signal).unwrap();
    }
    let before = waits(guard);
    wait_until("the guard has seen the signals", || {
        waits(guard) > before + 2
    });
    assert!(is_alive(guard) && is_alive(command));
    kill_process(command, Signal::USR1).unwrap();
    assert_eq!(host.wait().code(), Some(128 + 10));
    wait_until_gone(&[guard]);
}

/// Returns how often the process has waited.
fn waits(process: Pid) -> u64 {
    let status = format!("/proc/{}/status", process.as_raw_nonzero());
    let status = fs::read_to_string(status).unwrap();
    let mut lines = status.lines();
    let number = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    number.unwrap().trim().parse().unwrap()
}

/// The command inherits only the descriptors that `bullyctl` itself has inherited.
#[test]
fn the_command_inherits_no_descriptor_of_bullyctl_or_its_guard() {
    let place = Place::new();
    let sleep = ["sleep", "1000"].map(str::to_owned);
    let mut plain = Command::new("sleep").arg("1000").spawn().unwrap();
    let mut host = Host::spawn(bullyctl(&place.config("a"), &[], &sleep));
    let command = host.wait_for_command();
    let numbers = |process| {
        let paths = listed(process, "fd");
        let mut names: Vec<_> = paths
            .map(|path| path.file_name().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    // Until then, the wrapper and the child still have other descriptors: they close them just before they become the
    // command.
    wait_until("the command has the descriptors of a plain process", || {
        numbers(command) == numbers(Pid::from_child(&plain))
    });
    plain.kill().unwrap();
    plain.wait().unwrap();
    assert_eq!(host.end(Signal::TERM), Some(0));
}

#[test]
fn a_guard_waits_by_the_clock_that_counts_a_suspend() {
    let place = Place::new();
    let sleep = ["sleep", "1000"].map(str::to_owned);
    let mut host = Host::spawn(bullyctl(&place.config("a"), &[], &sleep));
    host.wait_for_command();
    let infos =
        listed(host.guard(), "fdinfo").map(|path| fs::read_to_string(path).unwrap_or_default());
    let timers: Vec<_> = infos.filter(|info| info.contains("clockid:")).collect();
    // The number of CLOCK_BOOTTIME.
    assert!(
        timers.len() == 1 && timers[0].contains("clockid: 7\n"),
        "{timers:?}"
    );
    assert_eq!(host.end(Signal::TERM), Some(0));
}

fn listed(process: Pid, folder: &str) -> impl Iterator<Item = PathBuf> {
    let folder = format!("/proc/{}/{folder}", process.as_raw_nonzero());
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
}
