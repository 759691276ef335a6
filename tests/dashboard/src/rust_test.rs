//! Compiles and runs a test that a page wrote. The test is linked with the library of the present test.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::SystemTime,
};

/// Asserts that the written test compiles and passes.
pub fn passes(text: &str) {
    let told = run(text);
    let said = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{said}\n{text}");
    assert!(said.contains("1 passed"), "{said}");
}

/// Asserts that the written test compiles and fails.
pub fn fails(text: &str) {
    let told = run(text);
    assert!(!told.status.success(), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stdout).contains("1 failed"));
}

fn run(text: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("recorded_run.rs");
    let built = folder.path().join("built");
    fs::write(&source, text).expect("a file");
    compile(&source, &built);
    Command::new(&built).output().expect("the test runs")
}

/// Compiles the test. The folder may have several builds of the library, and a build without the testkit does not
/// work, so each build is tried.
fn compile(file: &Path, to: &Path) {
    let exe = env::current_exe().expect("this test");
    let deps = exe.parent().expect("a folder");
    let mut last = String::from("there is no build of the library");
    for library in builds(deps) {
        let compiled = Command::new("rustc")
            .args(["--edition", "2024", "--test", "-o"])
            .arg(to)
            .arg("--extern")
            .arg(format!("actix_bully={}", library.display()))
            .arg("-L")
            .arg(format!("dependency={}", deps.display()))
            .arg(file)
            .output()
            .expect("rustc");
        if compiled.status.success() {
            return;
        }
        last = String::from_utf8_lossy(&compiled.stderr).into_owned();
    }
    panic!("{last}\n{}", fs::read_to_string(file).unwrap_or_default());
}

/// Returns the builds of the library, the newest first.
fn builds(deps: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(deps).expect("the folder of the builds");
    let mut builds: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|file| {
            let file = file.ok()?;
            let path = file.path();
            let is_library = path.extension().is_some_and(|kind| kind == "rlib");
            let is_ours = is_library && path.file_stem()?.to_str()?.starts_with("libactix_bully-");
            is_ours.then_some((file.metadata().ok()?.modified().ok()?, path))
        })
        .collect();
    builds.sort_unstable_by(|one, other| other.cmp(one));
    builds.into_iter().map(|(_, path)| path).collect()
}
