//! A small disk of a test's own, mounted where that test alone sees it.

use std::{env, path::Path, process::Command};

const INSIDE: &str = "REGISTER_NAMESPACE";

/// Runs the test of that name again where it may mount; `false` where it should go on, since it is there.
pub fn in_own_namespace(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return false;
    }
    let own = |program: &Path| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount"])
            .arg(program);
        command
    };
    let can = own(Path::new("true"))
        .output()
        .is_ok_and(|tried| tried.status.success());
    if !can {
        println!("skipped: {test} needs a namespace in which it may mount a disk");
        return true;
    }
    let program = env::current_exe().expect("this program has a path");
    let status = own(&program)
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("it can be run");
    assert!(status.success(), "{test} fails in a namespace of its own");
    true
}

/// A disk of that size there.
pub fn mount(at: &Path, size: &str) {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
    let done = mount.arg(at).output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{mount:?}: {said}");
}

/// From now on it can be read only; `false` while anything on it is open to be written.
pub fn make_read_only(at: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-o", "remount,ro"]).arg(at);
    mount.output().is_ok_and(|done| done.status.success())
}
