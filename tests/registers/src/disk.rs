//! A small disk of a test's own, mounted where that test alone sees it.

use std::{path::Path, process::Command};

use crate::namespace::is_elsewhere;

/// Runs the test of that name again where it may mount; `false` where it should go on, since it is there.
pub fn in_own_namespace(test: &str) -> bool {
    is_elsewhere(test, &["--user", "--map-root-user", "--mount"], &["true"])
}

/// A disk of that size there.
pub fn mount(at: &Path, size: &str) {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
    let done = mount.arg(at).output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{mount:?}: {said}");
}

/// The file or folder `from` is at `to`, too.
pub fn bind(from: &Path, to: &Path) {
    let mut mount = Command::new("mount");
    let done = mount.arg("--bind").args([from, to]).output();
    let done = done.expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{mount:?}: {said}");
}

/// From now on it can be read only; `false` while anything on it is open to be written.
pub fn make_read_only(at: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-o", "remount,ro"]).arg(at);
    mount.output().is_ok_and(|done| done.status.success())
}
