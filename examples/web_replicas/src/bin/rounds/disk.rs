//! Small disks that can be filled: in memory, mounted in a namespace that ends with this program.

use std::{
    env, fs,
    io::{ErrorKind, Write},
    path::Path,
    process::{Command, ExitCode},
};

use super::Wrong;

const INSIDE: &str = "WEB_REPLICAS_NAMESPACE";

/// Runs this program again in a namespace where it may mount. Returns `None` if it runs there already, or cannot.
pub(crate) fn in_own_namespace() -> Option<ExitCode> {
    if env::var_os(INSIDE).is_some() {
        return None;
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
        return None;
    }
    let status = own(&env::current_exe().ok()?)
        .args(env::args_os().skip(1))
        .env(INSIDE, "1")
        .status()
        .ok()?;
    Some(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Mounts a disk of 2 MiB, of which a vote takes half. Returns whether the mount was allowed.
pub(crate) fn mount(at: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
        .arg(at);
    env::var_os(INSIDE).is_some() && mount.output().is_ok_and(|tried| tried.status.success())
}

/// Fills the disk.
pub(crate) fn fill(disk: &Path) -> Result<(), Wrong> {
    let mut file = fs::File::create(disk.join(FILLER))?;
    loop {
        match file.write(&[0; 4096]) {
            Ok(_) => {}
            Err(full) if full.kind() == ErrorKind::StorageFull => return Ok(()),
            Err(wrong) => return Err(wrong.into()),
        }
    }
}

/// Makes room again.
pub(crate) fn make_room(disk: &Path) -> Result<(), Wrong> {
    Ok(fs::remove_file(disk.join(FILLER))?)
}

const FILLER: &str = "filler";
