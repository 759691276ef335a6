//! A small disk of one test, mounted where only this test sees it.

use std::{path::Path, process::Command};

use crate::namespace::is_elsewhere;

/// Runs the test with this name again in a namespace where it may mount. Returns `false` if the caller is already
/// there and should go on.
pub fn in_own_namespace(test: &str) -> bool {
    is_elsewhere(test, &["--user", "--map-root-user", "--mount"], &["true"])
}

/// Mounts an empty disk of this size at `at`.
pub fn mount(at: &Path, size: &str) {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
    let done = mount.arg(at).output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{mount:?}: {said}");
}

/// Makes the disk read-only. Returns `false` while a file on the disk is open for writing.
pub fn make_read_only(at: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-o", "remount,ro"]).arg(at);
    mount.output().is_ok_and(|done| done.status.success())
}
