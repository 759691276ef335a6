//! `bullyctl preflight` as a process: its output and its exit codes. It leaves no file.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

#[cfg(unix)]
use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
use std::{fs, net::TcpListener, path::Path, process::Command};

use serde_json::Value;

/// Runs a preflight with this configuration for the shortest time.
fn preflight(folder: &Path, text: &str, more: &[&str]) -> (i32, String, String) {
    let file = folder.join("jobs.toml");
    fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
    #[cfg(unix)]
    command.env("OTHER_ABOUT", OsStr::from_bytes(b"\xff"));
    let output = command
        .args(["preflight", "--seconds", "0.2", "--config"])
        .arg(&file)
        .args(more)
        .env("JOBS_NODE", "api-9")
        .env("HOSTNAME", "jobs-7d4b-x2x")
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code().unwrap_or(-1), out, err)
}

/// Returns the configuration of a voter with this peer. Its votes are in the folder.
fn voter(folder: &Path, peer: &str, timings: &str) -> String {
    let store = folder.join("jobs.store");
    let store = store.display();
    format!(
        "node = \"api-1\"\ngroup = \"jobs\"\nlisten = \"127.0.0.1:0\"\n\
         [[peers]]\nnode = \"api-2\"\naddress = \"{peer}\"\n\
         [quorum]\nvoters = [\"api-1\", \"api-2\"]\nstore_file = \"{store}\"\n\
         [timings]\n{timings}\n"
    )
}

/// Timings for which every disk and every network of this host is fast enough.
const WAN: &str = "preset = \"wan\"";

/// Timings for which every part is too slow: shorter than any write or message.
const NONE: &str =
    "preset = \"in_process\"\ndelay_bound = \"1ns\"\nround = \"3ns\"\nstep = \"1ns\"";

#[test]
fn a_place_that_fits_is_a_table_and_exit_code_0_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let alive = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = alive.local_addr().unwrap().to_string();
    let (code, out, err) = preflight(folder.path(), &voter(folder.path(), &at, WAN), &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(!out.contains("left out"), "{out}");
    let lines: Vec<_> = out.lines().collect();
    let columns: Vec<_> = lines.first().unwrap().split_whitespace().collect();
    assert_eq!(columns, ["CHECK", "MEASURED", "BELOW"]);
    for part in [
        "disk: a vote is written",
        "peer: there and back api-2",
        "this process stands still",
        "clock of leases beside the timers",
    ] {
        let line = lines.iter().find(|line| line.starts_with(part));
        let line = line.unwrap_or_else(|| panic!("{part}: {out}"));
        assert!(line.contains(" ms ") && line.ends_with("  ok"), "{line}");
    }
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("the timings of the configuration fit this place; the fastest preset"),
        "{last}"
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "the configuration alone"
    );
}

#[test]
fn a_place_that_is_too_slow_is_exit_code_1_and_json_has_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let alive = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = alive.local_addr().unwrap().to_string();
    let text = voter(folder.path(), &at, NONE);
    let (code, out, err) = preflight(folder.path(), &text, &[]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let says = "this place does not fit the timings of the configuration";
    assert!(out.contains("too slow") && out.contains(says), "{out}");
    let (code, out, _) = preflight(folder.path(), &text, &["--json"]);
    assert_eq!(code, 1);
    let found: Value = serde_json::from_str(&out).unwrap();
    let disk = found.pointer("/checks/0").unwrap();
    assert_eq!(disk.pointer("/part").unwrap(), "disk");
    let figure = |name: &str| {
        disk.pointer(&format!("/found/{name}"))
            .and_then(Value::as_f64)
    };
    assert!(figure("figure_ms") > figure("bound_ms"), "{disk}");
}

#[test]
fn failures_are_reported_and_an_absent_peer_does_not_count_as_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = socket.local_addr().unwrap().to_string();
    drop(socket);
    let (code, out, _) = preflight(folder.path(), &voter(folder.path(), &nobody, WAN), &[]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.ends_with("; this leaves out the parts that were not measured\n"),
        "{out}"
    );
    assert!(
        out.contains("not measured: ") && out.contains("no process listens there"),
        "{out}"
    );
    let missing = folder.path().join("none");
    let (code, out, _) = preflight(folder.path(), &voter(&missing, &nobody, WAN), &[]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("does not work: "), "{out}");
}

#[test]
fn arguments_and_configurations_that_are_wrong_are_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = preflight(folder.path(), "node = \"api-1\"", &[]);
    assert!(
        code == 2 && err.contains("jobs.toml is refused: "),
        "{code}: {err}"
    );
    // The options of the node stand before the task. After the task they are unknown.
    let url = ["--url", "http://127.0.0.1:1"];
    let preflight_words = &["preflight", "--config", "jobs.toml"][..];
    for (node, words, says) in [
        (
            ["--socket", "s"],
            preflight_words,
            "a preflight asks no node",
        ),
        (url, preflight_words, "a preflight asks no node"),
        #[cfg(target_os = "linux")]
        (
            url,
            &["run", "--config", "jobs.toml", "--", "true"],
            "a run asks no node",
        ),
    ] {
        let asked = Command::new(env!("CARGO_BIN_EXE_bullyctl"))
            .args(node)
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8(asked.stderr).unwrap();
        assert_eq!(asked.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
    }
    // The variables of the node count if `--env` has their prefix.
    let text = "group = \"jobs\"";
    assert_eq!(preflight(folder.path(), text, &[]).0, 2);
    let (code, out, err) = preflight(folder.path(), text, &["--env", "JOBS"]);
    assert_eq!(code, 0, "{out}{err}");
    // The bytes of a variable are checked only if it is a variable of the node.
    #[cfg(unix)]
    {
        let (code, _, err) = preflight(folder.path(), text, &["--env", "OTHER"]);
        assert!(code == 2 && err.contains("`OTHER_ABOUT`"), "{err}");
    }
    // The name of a pod is the default of the node's name, also without a prefix.
    let pod = format!("{text}\nlease.kubernetes = true");
    let (_, out, err) = preflight(folder.path(), &pod, &[]);
    assert!(!err.contains("`node` is missing"), "{out}{err}");
}
