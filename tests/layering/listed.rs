//! The lists of guides, tables and tools are complete: each preset is offered, each planted defect has a test, each
//! package is in the workspace and the guide, and each named file exists.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::touches::{Missing, all_of, is_published, read, root, variants};

/// Returns the text of a file that a patch adds.
fn added(patch: &str, file: &str) -> String {
    let beginning = format!("+++ b/{file}\n");
    let of_file = patch.split_once(&beginning).map_or("", |(_, rest)| rest);
    let lines = of_file.lines().skip(1);
    let lines = lines.map_while(|line| line.strip_prefix('+'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The elections in which the patch plants defects. The tests of an election look for all of its defects.
const ELECTIONS_WITH_DEFECTS: &[(&str, &str)] = &[
    ("core", "astra"),
    ("core", "bully"),
    ("core", "lease"),
    ("core", "quorum"),
    ("core", "quorum/diskless"),
    ("classics", "ballot"),
    ("classics", "invitation"),
    ("classics", "reorganization"),
    ("classics", "ring"),
];

#[test]
fn a_planted_defect_is_found_by_a_test_that_exists() {
    let mut missing = Missing::default();
    let readme = read("tests/README.md");
    let patch = read("tests/planted/defects.patch");
    let files = ["src/planted.rs", "crates/bully-register/src/planted.rs"];
    let defects = files.map(|file| variants(&added(&patch, file), "enum Defect {"));
    assert!(defects.iter().all(|named| !named.is_empty()), "{defects:?}");
    let core = "crates/bully-core/src/elections";
    let classics = "crates/bully-classics/src";
    for (folder, election) in ELECTIONS_WITH_DEFECTS {
        let folder = if *folder == "core" { core } else { classics };
        let list = added(&patch, &format!("{folder}/{election}/defect.rs"));
        let defects = variants(&list, "defects! {");
        assert!(!defects.is_empty(), "{election}");
        for defect in defects {
            let switch = [
                format!("(super::Defect::{defect})"),
                format!("has(Defect::{defect})"),
            ];
            if !switch.iter().any(|switch| patch.contains(switch)) {
                missing.add(&defect, "the rules that tests/planted/defects.patch breaks");
            }
        }
    }
    for defect in defects.iter().flatten() {
        if !patch.contains(&format!("has(Defect::{defect})")) {
            missing.add(defect, "the rules that tests/planted/defects.patch breaks");
        }
        if !readme.contains(&format!("| `{defect}` | ")) {
            missing.add(defect, "the table of planted defects in tests/README.md");
        }
    }
    let found_by = |row: &str| {
        let (binary, test) = row.strip_suffix("` |")?.rsplit_once("`: `")?;
        Some((binary.rsplit_once('`')?.1.to_owned(), test.to_owned()))
    };
    for (binary, test) in readme.lines().filter_map(found_by) {
        let folder = match binary.as_str() {
            "lib" => "src".to_owned(),
            "bully-register" => "crates/bully-register/src".to_owned(),
            other => format!("tests/{other}"),
        };
        let name = test.rsplit("::").next().unwrap_or_default();
        let test_of = format!("fn {name}(");
        if !all_of(&folder).contains(&test_of) && !patch.contains(&test_of) {
            missing.add(
                &test,
                &format!("{folder}: tests/README.md says that it is there"),
            );
        }
    }
    missing.report();
}

#[test]
fn a_package_is_a_member_of_the_workspace_and_in_the_guide() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let (manifest, guide) = (read("Cargo.toml"), read("CONTRIBUTING.md"));
    let root = root();
    let folders = ["benches", "benches/peers", "fuzz"].map(PathBuf::from);
    let below = ["crates", "tests", "examples"]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(root.join(folder)).expect("the folder is there");
            entries.map(move |entry| Path::new(folder).join(entry.expect("an entry").file_name()))
        });
    for folder in folders.into_iter().chain(below) {
        if !root.join(&folder).join("Cargo.toml").exists() {
            continue;
        }
        let name = folder.to_string_lossy().replace('\\', "/");
        let is_workspace = manifest.contains("[workspace]");
        if is_workspace && !manifest.contains(&format!("\"{name}\"")) {
            missing.add(&name, "the members of the workspace in Cargo.toml");
        }
        if !guide.contains(&format!("`{name}`")) && !guide.contains(&format!("`{name}/`")) {
            missing.add(&name, "the packages in CONTRIBUTING.md");
        }
    }
    missing.report();
}

#[test]
fn the_guide_names_files_that_exist() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let pages = [
        "CONTRIBUTING.md",
        "tests/layering/PLACES.md",
        "tests/planted/README.md",
    ];
    let guide = pages.map(read).join("\n");
    let patch = read("tests/planted/defects.patch");
    let is_planted = |name: &str| patch.contains(&format!("\n+++ b/{name}\n"));
    let quoted = guide.split('`').skip(1).step_by(2);
    let is_path = |name: &&str| {
        let ends = [".rs", ".md", ".txt", "/"]
            .iter()
            .any(|end| name.ends_with(end));
        ends && !name.contains([' ', '*', '<', '('])
    };
    for name in quoted.filter(is_path) {
        if !root().join(name).exists() && !is_planted(name) {
            missing.add(name, &format!("the repository: one of {pages:?} names it"));
        }
    }
    missing.report();
}

/// The places of each preset: its own table, the test that it is valid, its cost, and the tools that offer presets.
/// Some places leave presets out; the reason stands beside them.
const PRESETS: &[(&str, &[&str])] = &[
    ("crates/bully-core/src/protocol/timings.rs", &[]),
    ("benches/failover.rs", &["astra"]), // no failure detector, so no bound on a failover
    ("examples/simulate/history.rs", &["astra"]), // only drawn with its own election
    ("examples/node/args.rs", &["astra", "in_process"]), // not for hosts
    ("src/config/value.rs", &["astra"]), // no failure detector: no agent would notice a crash
];

#[test]
fn a_preset_is_offered_and_measured() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let source = read("crates/bully-core/src/protocol/timings.rs");
    let made = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const fn "));
    let named = made.filter_map(|line| Some(line.strip_suffix("() -> Self {")?.to_owned()));
    let presets: Vec<String> = named.chain(["default".to_owned()]).collect();
    for preset in &presets {
        if !source.contains(&format!("| [`{preset}`](Self::{preset}) |")) {
            missing.add(preset, "the table of `Timings`");
        }
        for (file, without) in PRESETS {
            let calls = read(file).contains(&format!("Timings::{preset}()"));
            if calls == without.contains(&preset.as_str()) {
                missing.add(preset, file);
            }
        }
    }
    missing.report();
}
