//! The environment of a command, the refusals before it runs, and the exit codes of `run`: `--once` and `--try`.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use rustix::process::{Signal, kill_process};

use crate::host::{Host, Place, bullyctl, wait_until};

/// Runs `bullyctl run`, and returns its exit code and its output.
fn run(place: &Place, options: &[&str], command: &[&str]) -> (Option<i32>, String, String) {
    let command: Vec<_> = command.iter().map(|&word| word.to_owned()).collect();
    let done = bullyctl(&place.config("a"), options, &command).output();
    let done = done.unwrap();
    (
        done.status.code(),
        String::from_utf8(done.stdout).unwrap(),
        String::from_utf8(done.stderr).unwrap(),
    )
}

#[test]
fn once_exits_with_the_status_of_the_command() {
    let place = Place::new();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 3", 3),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
    ] {
        let (found, _, said) = run(&place, &["--once"], &["sh", "-c", script]);
        assert_eq!(found, Some(code), "{script}: {said}");
        assert!(!said.contains("WARN"), "{said}");
    }
}

#[test]
fn the_command_gets_its_names_its_fence_and_the_standard_input() {
    let place = Place::new();
    let script = "echo $BULLY_NODE $BULLY_GROUP; echo $BULLY_FENCE; cat";
    let command = ["sh", "-c", script].map(str::to_owned);
    let mut fences = Vec::new();
    for _ in 0..2 {
        let mut child = bullyctl(&place.config("a"), &["--once"], &command);
        let mut child = child
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"passed on").unwrap();
        let said = child.wait_with_output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let lines: Vec<_> = said.lines().collect();
        let [names, fence, input] = *lines else {
            panic!("{said}");
        };
        assert_eq!((names, input), ("a jobs", "passed on"));
        fences.push(fence.parse::<u64>().unwrap());
    }
    assert!(fences.is_sorted() && fences[0] < fences[1], "{fences:?}");
}

#[test]
fn a_configuration_that_can_never_run_is_refused_in_words() {
    let place = Place::new();
    let lease = format!("[lease]\nfolder = \"{}\"", place.path().join("x").display());
    for (more, command, code, words) in [
        ("", "true", 125, "promises no fence: set"),
        (
            "[quorum]\nvoters = [\"refused\"]\ndiskless = true",
            "true",
            125,
            "promises no fence without a condition: set",
        ),
        (
            &*format!("role = \"voter\"\n{lease}"),
            "true",
            125,
            "never leads",
        ),
        (&*lease, "no-such-command", 127, "is not found"),
        ("nonsense = 1", "true", 2, "nonsense"),
    ] {
        let config = place.config_with("refused", more);
        let done = bullyctl(&config, &["--once"], &[command.to_owned()]).output();
        let done = done.unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    }
    // The system refuses to start a folder, and a script whose interpreter is missing.
    let script = place.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (program, code) in [(place.path(), 126), (&*script, 127)] {
        let (found, _, said) = run(&place, &["--once"], &[&program.display().to_string()]);
        assert_eq!(found, Some(code), "{said}");
        assert!(said.contains("cannot be started"), "{said}");
    }
}

#[test]
fn without_a_fence_the_command_has_none_in_its_environment() {
    let place = Place::new();
    let config = place.config_with("a", "");
    let command = ["sh", "-c", "exit ${BULLY_FENCE-17}"].map(str::to_owned);
    let mut bullyctl = bullyctl(&config, &["--no-fence", "--once"], &command);
    let done = bullyctl.env("BULLY_FENCE", "3").status().unwrap();
    assert_eq!(done.code(), Some(17));
}

/// A job of cron on two hosts: the leader does the work, and the other host gives up soon.
#[test]
fn a_host_that_does_not_lead_in_time_gives_up() {
    let place = Place::new();
    let leader = place.unruly("a", &[]);
    place.wait_for_ready(1);
    let command = ["true".to_owned()];
    let options = ["--once", "--try", "500ms"];
    let other = bullyctl(&place.config("b"), &options, &command).output();
    assert_eq!(other.unwrap().status.code(), Some(124));
    drop(leader);
}

#[test]
fn a_command_that_ends_by_itself_is_run_again_after_a_pause() {
    let place = Place::new();
    let file = place.path().join("runs");
    let command = ["sh", "-c", "echo x >>\"$0\""].map(str::to_owned);
    let command = [&command[..], &[file.display().to_string()]].concat();
    let mut host = Host::spawn(bullyctl(&place.config("a"), &[], &command));
    for _ in 0..2 {
        host.wait_for("a leads jobs with fence");
        host.wait_for("the command ended with status 0");
    }
    assert_eq!(place.lines("runs").len(), 2);
    assert_eq!(host.end(Signal::TERM), Some(0));
}

/// The orphans come from a shell in the container, not from a command. Process 1 adopts them.
#[test]
fn as_process_1_it_reaps_orphans() {
    let place = Place::new();
    let own = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let tried = Command::new("unshare").args(own).arg("true").status();
    if !tried.is_ok_and(|tried| tried.success()) {
        writeln!(std::io::stderr(), "skipped: it needs a pid namespace").ok();
        return;
    }
    let command = ["sleep", "1000"].map(str::to_owned);
    let inner = bullyctl(&place.config("a"), &[], &command);
    let mut outer = Command::new("unshare");
    outer
        .args(own)
        .arg(inner.get_program())
        .args(inner.get_args());
    let mut host = Host::spawn(outer);
    let command = host.wait_for_command().as_raw_nonzero(); // the number in the namespace
    let first = host.guard(); // process 1 of the namespace: `bullyctl`
    let inside = |script: &str| {
        let mut enter = Command::new("nsenter");
        let target = first.as_raw_nonzero().to_string();
        enter.args(["--target", &target, "--pid", "--mount", "sh", "-c", script]);
        let said = enter.output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let orphan = inside("sleep 0.5 >/dev/null 2>&1 & echo $!");
    let orphan = orphan.trim();
    let status = inside(&format!("cat /proc/{orphan}/status"));
    assert!(status.contains("\nPPid:\t1\n"), "{status}");
    wait_until("the orphan is reaped", || {
        inside(&format!("ls -d /proc/{orphan}")).is_empty()
    });
    // The end of a command ends no orphan, unless the guard of the command was killed.
    let orphan = inside("sleep 1000 >/dev/null 2>&1 & echo $!");
    let orphan = orphan.trim();
    inside(&format!("kill {command}"));
    host.wait_for("signal 15 ended the command");
    host.wait_for("the command runs as process");
    assert!(!inside(&format!("ls -d /proc/{orphan}")).is_empty());
    // A signal without a handler does not end process 1.
    kill_process(first, Signal::TERM).unwrap();
    wait_until("it has ended", || !crate::host::is_alive(first));
}
