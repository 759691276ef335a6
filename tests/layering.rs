//! Keeps the layers apart: reads the sources of every package, and fails with file and line where an import points the
//! wrong way.
//!
//! Decided here: the tables of packages, layers and outside crates. `mentions.rs` reads Rust for them. Other checks:
//! `touches.rs`, the places that a new message, timer or preset has to touch; `options.rs`, those of a new option of an
//! election; `causes.rs`, errors that show their causes; `pieces.rs`, programs on pages; `page_paths.rs`, examples that
//! need only their own crate; `do_sends.rs`, calls that ignore the bounds of a mailbox.
#![expect(
    clippy::expect_used,
    reason = "a file that cannot be read fails the test"
)]

use std::fs;

use loops::Calls;
use mentions::{Mention, mentions};
use paths::{crates, module_of, resolve, rust_files};
use touches::{MACHINES, root};

#[path = "layering/cases.rs"]
mod cases;
#[path = "layering/causes.rs"]
mod causes;
#[path = "layering/do_sends.rs"]
mod do_sends;
#[path = "layering/listed.rs"]
mod listed;
#[path = "layering/loops.rs"]
mod loops;
#[path = "layering/mentions.rs"]
mod mentions;
#[path = "layering/options.rs"]
mod options;
#[path = "layering/page_paths.rs"]
mod page_paths;
#[path = "layering/paths.rs"]
mod paths;
#[path = "layering/pieces.rs"]
mod pieces;
#[path = "layering/touches.rs"]
mod touches;

/// Our packages: the name by which other packages import it, and the folder of its sources. The name of a layer of the
/// facade is its folder alone; the name of another package's layer has the package in front.
const PACKAGES: &[(&str, &str)] = &[
    ("", "src"),
    ("bully_core", "crates/bully-core/src"),
    ("bully_classics", "crates/bully-classics/src"),
    ("bully_register", "crates/bully-register/src"),
    ("bully_sim", "crates/bully-sim/src"),
    ("actix_bully_zenoh", "crates/actix-bully-zenoh/src"),
];

/// A layer, and the other layers of ours that it may use. The facade re-exports parts of `protocol`, `elections` and
/// `record` of the core: its own layers use all of them by these names.
const LAYERS: &[(&str, &str)] = &[
    ("bully_core::protocol", "bully_core::driver"),
    (
        "bully_core::driver",
        "bully_core::protocol bully_core::record",
    ),
    ("bully_core::errors", ""),
    ("bully_core::random", "bully_core::protocol"),
    // The name of the package alone stands for its macros.
    ("bully_core::parts", "bully_core bully_core::protocol"),
    (
        "bully_core::elections",
        "bully_core bully_core::protocol bully_core::parts",
    ),
    ("bully_core::record", "bully_core::protocol"),
    (
        "bully_classics",
        "bully_core::protocol bully_core::elections bully_core::parts",
    ),
    ("bully_register::calls", ""),
    ("bully_register::pem", "bully_register::calls"),
    ("bully_register::password", ""),
    ("bully_register::outlook", ""),
    ("bully_register::record_file", ""),
    ("bully_register::conformance", "bully_register"),
    (
        "bully_register",
        "bully_core::protocol bully_register::calls bully_register::outlook bully_register::password bully_register::pem bully_register::record_file",
    ),
    (
        "bully_sim::faults",
        "bully_core::protocol bully_core::record bully_core::random",
    ),
    (
        "bully_sim::trace",
        "bully_core::protocol bully_core::driver bully_core::record",
    ),
    (
        "bully_sim::sim",
        "bully_core::protocol bully_core::driver bully_core::record bully_sim::faults bully_sim::trace",
    ),
    ("elections", "bully_core::elections bully_classics agent"),
    ("protocol", "bully_core::protocol"),
    ("record", "bully_core::record"),
    ("shown", "protocol"),
    ("similar", ""),
    ("metrics", "protocol group"),
    (
        "store",
        "protocol bully_register bully_register::record_file",
    ),
    ("clock", "protocol"),
    ("group", "protocol shown bully_core::driver"),
    ("guide", ""),
    (
        "history",
        "protocol clock group shown bully_core::elections",
    ),
    (
        "register",
        "protocol elections clock group bully_core::elections bully_register bully_register::conformance",
    ),
    (
        "remote",
        "protocol elections store clock group supervisor metrics shown bully_core::elections bully_register bully_register::calls bully_register::password bully_register::pem bully_register::record_file",
    ),
    (
        "agent",
        "protocol elections store clock group history register supervisor metrics record shown bully_core::driver bully_core::elections",
    ),
    (
        "leader",
        "protocol elections store clock group register remote supervisor metrics agent similar",
    ),
    (
        "operate",
        "protocol clock group history remote supervisor agent record shown",
    ),
    ("web", "protocol agent operate record shown"),
    (
        "dashboard",
        "protocol clock group agent operate record web shown dashboard::stage bully_core::driver",
    ),
    (
        "dashboard::stage",
        "protocol agent elections record dashboard testkit testkit::cluster bully_sim::faults bully_sim::trace",
    ),
    (
        "config",
        "protocol elections store clock group register remote agent leader operate shown similar bully_core::elections",
    ),
    ("supervisor", ""),
    (
        "testkit::cluster",
        "protocol elections clock store group supervisor agent record testkit bully_sim::faults bully_sim::trace",
    ),
    (
        "testkit",
        "protocol clock store agent remote bully_sim::faults bully_sim::sim bully_sim::trace",
    ),
    ("for_tests", ""),
    ("actix_bully_zenoh", ""),
];

/// The crates, or modules of crates, that a layer may use beside `std`.
const OUTSIDE: &[(&str, &str)] = &[
    ("bully_core::protocol", "serde thiserror tracing"),
    ("bully_core::parts", "serde tracing"),
    // The tests of the elections read messages as JSON.
    (
        "bully_core::elections",
        "serde serde_json thiserror tracing",
    ),
    ("bully_core::record", "serde serde_json thiserror"),
    ("bully_classics", "serde thiserror tracing easy_ext"),
    ("bully_register::calls", "std::fs"),
    (
        "bully_register::password",
        "thiserror std::fs::File std::os",
    ),
    (
        "bully_register::pem",
        "thiserror rustls zeroize std::fs::File",
    ),
    ("bully_register::outlook", "rustix::io"),
    (
        "bully_register::record_file",
        "thiserror crc32fast rustix::fs rustix::io std::fs std::os",
    ),
    (
        "bully_register::conformance",
        "thiserror fastrand futures tokio",
    ),
    (
        "bully_register",
        "serde serde_json thiserror tracing base64 bytes futures fastrand http_body_util hyper hyper_util k8s_openapi kube rustix::fs rustls sha2 tokio tokio_postgres tokio_rustls tower std::fs std::net::IpAddr",
    ),
    ("bully_sim::faults", "thiserror"),
    ("bully_sim::trace", ""),
    ("bully_sim::sim", "thiserror"),
    ("shown", "serde"),
    (
        "store",
        "serde thiserror tracing std::fs serde_json tokio::sync tokio::runtime",
    ),
    ("register", "thiserror tracing actix futures fastrand tokio"),
    ("metrics", "metrics"),
    (
        "clock",
        "serde thiserror tracing rustix tokio::io::unix tokio::io::Interest tokio::runtime tokio::time",
    ),
    ("group", "serde thiserror tracing actix"),
    ("history", "serde serde_json"),
    (
        "remote",
        "serde thiserror tracing actix actix_rt tokio tokio_rustls rustls serde_json webpki x509_cert getrandom hmac sha2 zeroize bytes rmp_serde futures fastrand rustix::net rustix::event rustix::io rustix::pipe rustix::process rustix::stdio signal_hook subtle std::net std::fs::File std::fs::read_dir std::fs::read_link",
    ),
    (
        "agent",
        "serde thiserror tracing actix tokio::runtime tokio::sync tokio::task::try_id futures fastrand",
    ),
    (
        "leader",
        "serde serde_json thiserror tracing actix tokio bytes rmp_serde futures chrono croner",
    ),
    (
        "operate",
        "serde serde_json thiserror tracing actix futures tokio rustix std::fs",
    ),
    ("web", "serde serde_json thiserror subtle actix_web"),
    (
        "dashboard",
        "serde serde_json thiserror actix_web bytes futures rustix::net tokio::sync std::net std::os",
    ),
    (
        "dashboard::stage",
        "serde serde_json thiserror actix actix_web futures tokio::sync tokio::task",
    ),
    (
        "config",
        "serde serde_path_to_error thiserror tracing actix futures toml std::fs::File std::fs::read_to_string",
    ),
    (
        "supervisor",
        "tracing actix actix_rt tokio::runtime::Handle tokio::sync tokio::task::unconstrained",
    ),
    (
        "testkit::cluster",
        "serde thiserror tracing actix futures fastrand",
    ),
    ("testkit", "actix actix_rt tokio futures thiserror"),
    (
        "actix_bully_zenoh",
        "actix_bully bytes fastrand serde_json thiserror tokio tracing zenoh std::net std::fs",
    ),
];

/// Modules of `std` that a layer may use only if its row of [`OUTSIDE`] has them.
const GATED: &str = "std::fs std::net";

/// The layers that use no runtime, clock or randomness, and no collection whose order differs between runs. Their tests
/// may use other pure layers, and files for golden texts. Tests of other layers may use anything.
const PURE: &str = "bully_core::protocol bully_core::driver bully_core::random bully_core::parts bully_core::elections bully_core::record bully_classics bully_sim::faults bully_sim::trace bully_sim::sim";
const NEVER: &str = "actix tokio Instant SystemTime HashMap HashSet rand fastrand";

/// The modules that several elections of one family share. An election uses no other module of another election.
const SHARED: &str = "fixture message numbered policy step timer vote";

/// Files that contain only imports and re-exports.
const FRONTS: &str = "lib prelude bully_core::lib bully_classics::lib bully_register::lib bully_sim::lib actix_bully_zenoh::lib";

#[test]
fn every_import_points_the_right_way() {
    let mut wrong = Vec::new();
    for (package, folder) in PACKAGES {
        let root = root().join(folder);
        for file in rust_files(&root) {
            let source = fs::read_to_string(root.join(&file)).expect("a source file is text");
            let found = violations(&format!("{package}/{file}"), &source);
            let place = |what: &String| format!("{folder}: {}", what.trim_start_matches('/'));
            wrong.extend(found.iter().map(place));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A reader of two files that call each other has to open both.
#[test]
fn no_files_of_a_machine_call_each_other_in_a_circle() {
    let mut files = Vec::new();
    for folder in MACHINES {
        let root = root().join(folder);
        for file in rust_files(&root) {
            let source = fs::read_to_string(root.join(&file)).expect("a source file is text");
            files.push((file, source));
        }
    }
    files.retain(|(file, _)| !file.contains("/tests/") && !file.starts_with("fixture/"));
    let is_machine = |file: &str| file.strip_suffix("/machine.rs").map(str::to_owned);
    let machines: Vec<_> = files
        .iter()
        .filter_map(|(file, _)| is_machine(file))
        .collect();
    assert!(machines.len() >= 7, "{machines:?}");
    for machine in machines {
        let mut calls = Calls::default();
        let folder = format!("{machine}/");
        for (file, source) in files.iter().filter(|(file, _)| file.starts_with(&folder)) {
            calls.read(file, source);
        }
        let circle = calls.largest_loop();
        let closing = calls.among(&circle);
        assert!(
            circle.is_empty(),
            "{machine}: {circle:?}; methods of one name count as one: rename one if there is no circle\n{}",
            closing.join("\n")
        );
    }
}

/// Returns the violations in a file, a line each.
fn violations(file: &str, source: &str) -> Vec<String> {
    let place = module_of(file);
    let layer = layer_of(&place);
    if row(LAYERS, &layer).is_none() && !listed(FRONTS, &layer) {
        return vec![format!("{file}:1: {layer} is not in the table")];
    }
    let crates = crates();
    let mut wrong = Vec::new();
    for mut mention in mentions(source) {
        mention.is_test |= ["tests", "fixture"].iter().any(|name| place.contains(name));
        if let Err(why) = judge(&place, &mention, &crates) {
            wrong.push(format!("{file}:{}: {why}", mention.line));
        }
    }
    wrong.dedup();
    wrong
}

fn judge(place: &[&str], mention: &Mention<'_>, crates: &[String]) -> Result<(), String> {
    let layer = &*layer_of(place);
    if listed(FRONTS, layer) {
        let is_logic = mention.path.iter().any(|word| listed("fn impl", word));
        return check(!is_logic || mention.is_test, || {
            format!("no {} here", mention.path.join("::"))
        });
    }
    let is_pure = listed(PURE, layer);
    if let Some(word) = mention
        .path
        .iter()
        .find(|word| is_pure && listed(NEVER, word))
    {
        return Err(format!("{layer} never says {word}"));
    }
    let [first, _, ..] = mention.path.as_slice() else {
        return Ok(());
    };
    let is_foreign = crates.iter().any(|name| name == first);
    if is_foreign && package_of(&mention.path).is_empty() {
        let allowed = row(OUTSIDE, layer).unwrap_or_default();
        let may_test = !is_pure || mention.path.starts_with(&["std", "fs"]);
        return check(
            may_use(allowed, &mention.path) || (mention.is_test && may_test),
            || format!("{layer} must not use {}", mention.path.join("::")),
        );
    }
    let target = resolve(place, mention);
    if target.is_empty() {
        return Ok(());
    }
    let known = &*layer_of(&target);
    judge_election(place, &target)?;
    if known == layer {
        return Ok(());
    }
    let may_test = mention.is_test && (!is_pure || listed(PURE, known));
    let ours = row(LAYERS, layer).unwrap_or_default();
    check(listed(ours, known) || may_test, || {
        format!("{layer} must not know {known}")
    })
}

/// Checks that an election's folder does not name another election.
fn judge_election(place: &[&str], target: &[&str]) -> Result<(), String> {
    let (Some(own), Some(other)) = (election_of(place), election_of(target)) else {
        return Ok(());
    };
    check(own == other || listed(SHARED, other), || {
        format!("{own} must not know {other}")
    })
}

/// Returns the election's folder in the path of a module.
fn election_of<'a>(module: &[&'a str]) -> Option<&'a str> {
    match module {
        ["bully_core", "elections", own, ..] | ["bully_classics", own, ..] => Some(*own),
        _ => None,
    }
}

/// Returns the name of the package with which a path begins; empty for the facade.
fn package_of<'a>(path: &[&'a str]) -> &'a str {
    let is_ours = |first: &&&str| PACKAGES.iter().any(|(name, _)| name == *first);
    path.first().filter(is_ours).copied().unwrap_or_default()
}

fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn row(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(row, _)| *row == name)
        .map(|(_, words)| *words)
}

fn listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|each| each == word)
}

/// Returns the layer of a module: the first folder, or the first two if they are a layer of their own.
fn layer_of(module: &[&str]) -> String {
    let inner = module.get(..2).unwrap_or(module).join("::");
    if row(LAYERS, &inner).is_some() || listed(FRONTS, &inner) {
        return inner;
    }
    (*module.first().expect("a file has a name")).to_owned()
}

/// Returns whether `path` is in the list, or in `std` but not in a gated module.
fn may_use(allowed: &str, path: &[&str]) -> bool {
    let within = |modules: &str| {
        modules
            .split(' ')
            .any(|each| path.starts_with(&each.split("::").collect::<Vec<_>>()))
    };
    within(allowed) || (path.first() == Some(&"std") && !within(GATED))
}
