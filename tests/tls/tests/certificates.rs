//! The bridge accepts the files that the example `certificates` makes. The test runs the example as a user runs it.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use actix_bully::remote::tls::TlsConfig;
use actix_bully_tls_tests::ends::pair;

/// Runs the example with this folder and these nodes.
fn make(folder: &Path, nodes: &[&str]) -> Output {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/certificates/Cargo.toml")
        .canonicalize()
        .expect("the example is there");
    let mut cargo = Command::new(env!("CARGO"));
    // The example must not be built with the environment of this test's build.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    cargo
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .arg(folder)
        .args(nodes)
        .output()
        .expect("cargo can be run")
}

fn config(folder: &Path, node: &str) -> TlsConfig {
    TlsConfig::builder()
        .authorities_file(folder.join("ca.pem"))
        .certificate_file(folder.join(format!("{node}.pem")))
        .key_file(folder.join(format!("{node}.key")))
        .build()
        .unwrap_or_else(|error| panic!("{node}: {error}"))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("ASCII"))
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path)
        .expect("the file is there")
        .permissions()
        .mode()
        & 0o777
}

#[tokio::test]
async fn nodes_meet_with_what_the_example_made() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("certificates");
    let made = make(&folder, &["node-a"]);
    let said = String::from_utf8(made.stdout).expect("text");
    assert!(made.status.success(), "{said}");
    assert!(said.contains("[tls]\n"), "{said}");
    // A later run adds a certificate of the same authority.
    assert!(make(&folder, &["node-b"]).status.success());
    assert_eq!(names(&folder).len(), 6, "a key and a certificate for each");
    #[cfg(unix)]
    for name in names(&folder).iter().filter(|name| name.ends_with(".key")) {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    let (a, b) = (config(&folder, "node-a"), config(&folder, "node-b"));
    pair(&a, &b).await;

    // No run overwrites a file.
    let read = || -> Vec<_> {
        let read = |name: String| fs::read(folder.join(name)).expect("readable");
        names(&folder).into_iter().map(read).collect()
    };
    let before = read();
    let again = make(&folder, &["node-d", "node-a"]);
    assert!(!again.status.success());
    let why = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(why.contains("is there already"), "{why}");
    assert_eq!(read(), before);
}
