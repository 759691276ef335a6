//! The node example, whose processes the programs here measure.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use super::wrong::Wrong;

/// Variable that names a program that is built already.
const NODE: &str = "BULLY_NODE";

/// Returns the path of the program: the value of `BULLY_NODE`, or a release build, made now.
pub(super) fn program() -> Result<PathBuf, Wrong> {
    if let Some(node) = env::var_os(NODE) {
        return Ok(node.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env::var("CARGO").unwrap_or_else(|_| String::from("cargo")));
    command.args(["build", "--quiet", "--release", "--example", "node"]);
    command.arg("--manifest-path").arg(root.join("Cargo.toml"));
    let target = env::var("CARGO_TARGET_DIR").map_or_else(|_| root.join("target"), PathBuf::from);
    if command.status()?.success() {
        Ok(target.join("release").join("examples").join("node"))
    } else {
        Err(Wrong(String::from("the node example cannot be built")))
    }
}
