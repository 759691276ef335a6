//! Runs a test once more in Linux namespaces, where it may make changes that a test must not make to the machine.

use std::{env, process::Command};

const INSIDE: &str = "REGISTER_NAMESPACE";

/// Runs the test with this name again in new namespaces, which `unshare` makes with the given arguments. Returns
/// `false` if the caller already runs in the namespaces and should go on. If the namespaces cannot be made, or the
/// command `tried` fails inside them, the test is skipped.
pub fn is_elsewhere(test: &str, namespaces: &[&str], tried: &[&str]) -> bool {
    if env::var_os(INSIDE).is_some() {
        return false;
    }
    let own = || {
        let mut command = Command::new("unshare");
        command.args(namespaces);
        command
    };
    let can = own().args(tried).output();
    if !can.is_ok_and(|tried| tried.status.success()) {
        let tried = tried.join(" ");
        println!(
            "skipped: {test} needs namespaces of its own ({namespaces:?}), and `{tried}` in them"
        );
        return true;
    }
    let program = env::current_exe().expect("this program has a path");
    let status = own()
        .arg(program)
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("it can be run");
    assert!(status.success(), "{test} fails in namespaces of its own");
    true
}
