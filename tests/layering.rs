//! Keeps the layers apart: reads `src/` and fails, with file and line, where an import points the
//! wrong way.
//!
//! The rule is the two tables and the few lines after them. How Rust is read for it: `mentions.rs`. What a
//! new message, timer or preset has to touch: `touches.rs`; a new option of an election: `options.rs`. That
//! errors say their causes: `causes.rs`; that pages show programs that are built: `pieces.rs`; that what ignores the bounds of a
//! mailbox says why: `sends.rs`.
#![expect(clippy::expect_used, reason = "what cannot be read fails the test")]

use std::fs;
use std::path::Path;

use loops::Calls;
use mentions::{Mention, mentions};

#[path = "layering/causes.rs"]
mod causes;
#[path = "layering/loops.rs"]
mod loops;
#[path = "layering/mentions.rs"]
mod mentions;
#[path = "layering/options.rs"]
mod options;
#[path = "layering/pieces.rs"]
mod pieces;
#[path = "layering/sends.rs"]
mod sends;
#[path = "layering/touches.rs"]
mod touches;

/// A folder of `src/`, and the layers of ours that it may know.
const LAYERS: &[(&str, &str)] = &[
    ("protocol", ""),
    ("elections", "protocol"),
    ("record", "protocol"),
    ("metrics", "protocol group"),
    ("store", "protocol planted"),
    ("clock", "protocol"),
    ("group", "protocol planted"),
    ("register", "protocol elections clock group"),
    (
        "remote",
        "protocol elections store group supervisor metrics planted",
    ),
    (
        "agent",
        "protocol elections store clock group register supervisor metrics planted record",
    ),
    (
        "leader",
        "protocol elections store clock group remote supervisor metrics agent planted",
    ),
    ("operate", "protocol group remote agent record"),
    ("web", "protocol operate record"),
    (
        "dashboard",
        "protocol agent operate record web dashboard::stage",
    ),
    (
        "dashboard::stage",
        "protocol agent elections record dashboard testkit testkit::cluster testkit::faults testkit::trace",
    ),
    (
        "config",
        "protocol elections store group register remote agent leader operate",
    ),
    ("supervisor", ""),
    ("testkit::faults", "protocol record"),
    ("testkit::trace", "protocol record"),
    (
        "testkit::sim",
        "protocol record testkit::faults testkit::trace",
    ),
    (
        "testkit::cluster",
        "protocol elections clock store group supervisor agent record testkit testkit::faults testkit::trace",
    ),
    ("testkit", "protocol clock store agent remote"),
    ("planted", ""),
    ("for_tests", ""),
];

/// What a layer may use beside `std`: crates, or modules of them.
const OUTSIDE: &[(&str, &str)] = &[
    ("protocol", "serde thiserror tracing"),
    ("elections", "serde thiserror tracing"),
    (
        "store",
        "serde thiserror tracing bully_register::record_file std::fs serde_json tokio::sync tokio::runtime",
    ),
    ("record", "serde serde_json thiserror"),
    (
        "register",
        "thiserror tracing actix bully_register futures fastrand tokio",
    ),
    ("metrics", "metrics"),
    (
        "clock",
        "serde thiserror tracing rustix tokio::io::unix tokio::io::Interest tokio::time",
    ),
    ("group", "serde thiserror tracing actix"),
    (
        "remote",
        "serde thiserror tracing actix actix_rt bully_register::calls bully_register::pem bully_register::record_file tokio tokio_rustls rustls serde_json webpki zenoh x509_cert getrandom hmac sha2 zeroize bytes rmp_serde futures fastrand rustix::net rustix::event rustix::io rustix::pipe rustix::process rustix::stdio signal_hook subtle std::net std::fs::File std::fs::read_dir std::fs::read_link",
    ),
    (
        "agent",
        "serde thiserror tracing actix tokio::runtime tokio::sync tokio::task::try_id futures fastrand",
    ),
    (
        "leader",
        "serde thiserror tracing actix tokio bytes rmp_serde futures chrono croner",
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
        "serde thiserror tracing actix toml std::fs::File std::fs::read_to_string",
    ),
    (
        "supervisor",
        "tracing actix actix_rt tokio::sync tokio::task::unconstrained",
    ),
    ("testkit::faults", "serde thiserror tracing"),
    ("testkit::trace", "serde thiserror tracing"),
    ("testkit::sim", "serde thiserror tracing"),
    (
        "testkit::cluster",
        "serde thiserror tracing actix futures fastrand",
    ),
    ("testkit", "actix actix_rt tokio futures thiserror"),
];

/// Modules of `std` that a layer has to be given like a crate.
const GATED: &str = "std::fs std::net";

/// These layers know no runtime, clock or chance, and nothing whose order differs between runs.
/// Their tests may use one another's layers; other tests may use anything.
const PURE: &str = "protocol elections record testkit::faults testkit::trace testkit::sim";
const NEVER: &str = "actix tokio Instant SystemTime HashMap HashSet rand fastrand";

/// No election knows another one, but for those that exist to join some.
const JOINS: &[(&str, &str)] = &[("any", "astra bully lease quorum")];

/// What elections of one family speak: any of them may know these.
const SHARED: &str = "fixture message numbered policy shared step timer vote";

/// Files that only name what others hold.
const FRONTS: &str = "lib prelude";

#[test]
fn every_import_points_the_right_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&root) {
        let source = fs::read_to_string(root.join(&file)).expect("a source file is text");
        wrong.extend(violations(&file, &source));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Of two files that lead to each other, neither can be read alone.
#[test]
fn no_files_of_a_machine_call_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/elections");
    let files: Vec<_> = rust_files(&root)
        .into_iter()
        .filter(|file| !file.contains("/tests/"))
        .map(|file| {
            let source = fs::read_to_string(root.join(&file)).expect("it is text");
            (file, source)
        })
        .collect();
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
            "{machine}: {circle:?}\n{}",
            closing.join("\n")
        );
    }
}

#[test]
fn a_loop_through_files_is_found() {
    let mut calls = Calls::default();
    calls.read(
        "a",
        "    fn one(&self) {\n        self.two();\n        self.one();\n    }\n",
    );
    calls.read(
        "b",
        "    pub(super) fn two(&self) {\n        // self.one()\n    }\n",
    );
    assert!(calls.largest_loop().is_empty(), "a file may call itself");
    calls.read(
        "c",
        "    const fn three(&self) {\n        Self::one(self);\n    }\n",
    );
    calls.read(
        "b",
        "    fn four(&self) {\n        let it = self.three();\n    }\n",
    );
    let circle = calls.largest_loop();
    assert_eq!(circle.iter().copied().collect::<String>(), "abc");
    let closing = [
        "a calls `two` of b",
        "b calls `three` of c",
        "c calls `one` of a",
    ];
    assert_eq!(calls.among(&circle), closing);
}

#[test]
fn an_import_that_points_the_wrong_way_is_reported() {
    for [file, source, expected] in cases(WRONG) {
        let found = violations(file, &source.replace("\\n", "\n"));
        assert_eq!(found.len(), 1, "{file}, {source}: {found:?}");
        assert!(
            found.concat().ends_with(expected),
            "{file}, {source}: {found:?}"
        );
    }
}

#[test]
fn what_the_directions_allow_is_not_reported() {
    for [file, source] in cases(RIGHT) {
        let found = violations(file, &source.replace("\\n", "\n"));
        assert!(found.is_empty(), "{file}, {source}: {found:?}");
    }
}

/// A file, what stands in it, and the line and fault reported for it.
const WRONG: &str = r"
protocol/id.rs    | use tokio::time::sleep;              | :1: protocol never says tokio
protocol/id.rs    | \n\n use std::time::Instant;         | :3: protocol never says Instant
protocol/id.rs    | fn f() { std::net::lookup() }        | :1: protocol must not use std::net::lookup
protocol/id.rs    | fn f() -> crate::agent::Agent {}     | :1: protocol must not know agent
protocol/id.rs    | #[cfg(test)] mod tests { use crate::group::A; } | :1: protocol must not know group
elections/mod.rs  | use std::{\n fmt,\n fs::File,\n};    | :3: elections must not use std::fs::File
elections/ring/mod.rs   | use crate::elections::bully::A; | :1: ring must not know elections::bully
elections/ring/tests.rs | use super::super::bully::A;     | :1: ring must not know elections::bully
elections/any.rs  | use super::ring::Ring;               | :1: any must not know elections::ring
testkit/sim/mod.rs | use crate::{protocol::A, group::B}; | :1: testkit::sim must not know group
testkit/sim/mod.rs | #[actix::test] fn f() {}            | :1: testkit::sim never says actix
agent/mod.rs      | use tokio::{sync::watch, time};      | :1: agent must not use tokio::time
agent/mod.rs      | #[cfg(test)] use crate::testkit::sim::A; use crate::testkit::sim::B; | :1: agent must not know testkit::sim
agent/mod.rs      | use crate::testkit::Inject;          | :1: agent must not know testkit
agent/mod.rs      | use crate::NodeId;                   | :1: agent must not know NodeId
agent/mod.rs      | use crate::*;                        | :1: agent must not know *
supervisor/mod.rs | /* \n */ type A = super::store::B;   | :2: supervisor must not know store
lib.rs            | pub mod agent;\nfn helper() {}       | :2: no fn here
gossip/mod.rs     | use crate::clock; use crate::agent::A; | :1: gossip is not in the table
";

const RIGHT: &str = r#"
protocol/id.rs   | //! No tokio here, nor [`crate::agent`].\n /* HashMap */ use std::fmt;
protocol/id.rs   | const A: (&str, &str, char) = (r"tokio\", "\"rand", '"'); // fastrand
elections/any.rs | use super::bully::Bully; use crate::elections::quorum::Quorum;
elections/bully/mod.rs       | use crate::elections::bully::Elect;
elections/ring/mod.rs        | use super::super::protocol::A; mod a { use super::super::ring::B; }
elections/ring/mod.rs        | #[cfg(test)] mod tests { use super::Ring; use crate::testkit::sim::World; }
elections/ring/tests/elect.rs | use crate::testkit::sim::World;
elections/fixture/random.rs  | use crate::testkit::faults::SplitMix64;
agent/mod.rs         | use tokio::sync::{self, watch as w}; fn f<'a>() { actix::clock::sleep() }
agent/tests/start.rs | use crate::testkit::cluster::Cluster;
remote/mod.rs        | pub(crate) use crate::{group::Group as G, store::*}; use std::net::TcpStream;
lib.rs               | pub use agent::A; #[cfg(doctest)] mod readme { fn f() {} }
"#;

/// The rows of such a table.
fn cases<const COLUMNS: usize>(table: &str) -> impl Iterator<Item = [&str; COLUMNS]> {
    table.trim().lines().map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        cells.try_into().expect("a row has all columns")
    })
}

/// What is wrong in a file of `src/`, a line each.
fn violations(file: &str, source: &str) -> Vec<String> {
    let place = module_of(file);
    let layer = layer_of(&place);
    if row(LAYERS, &layer).is_none() && !listed(FRONTS, &layer) {
        return vec![format!("src/{file}:1: {layer} is not in the table")];
    }
    let crates = crates();
    let mut wrong = Vec::new();
    for mut mention in mentions(source) {
        mention.is_test |= ["tests", "fixture"].iter().any(|name| place.contains(name));
        if let Err(why) = judge(&place, &mention, &crates) {
            wrong.push(format!("src/{file}:{}: {why}", mention.line));
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
    if crates.iter().any(|name| name == first) {
        let allowed = row(OUTSIDE, layer).unwrap_or_default();
        return check(
            may_use(allowed, &mention.path) || (mention.is_test && !is_pure),
            || format!("{layer} must not use {}", mention.path.join("::")),
        );
    }
    let target = resolve(place, mention);
    if target.is_empty() {
        return Ok(());
    }
    let known = &*layer_of(&target);
    if known == layer {
        return judge_election(place, &target);
    }
    let may_test = mention.is_test && (!is_pure || listed(PURE, known));
    let ours = row(LAYERS, layer).unwrap_or_default();
    check(listed(ours, known) || may_test, || {
        format!("{layer} must not know {known}")
    })
}

/// Inside of one election's folder, no other election may be named.
fn judge_election(place: &[&str], target: &[&str]) -> Result<(), String> {
    let (["elections", own, ..], ["elections", other, ..]) = (place, target) else {
        return Ok(());
    };
    let joined = row(JOINS, own).unwrap_or_default();
    let is_open = own == other || listed(joined, other) || listed(SHARED, other);
    check(is_open, || {
        format!("{own} must not know elections::{other}")
    })
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

/// The first folder; of the folder for tests, also the second one, if that is a layer of its own.
fn layer_of(module: &[&str]) -> String {
    let inner = module.get(..2).unwrap_or(module).join("::");
    match row(LAYERS, &inner) {
        Some(_) => inner,
        None => (*module.first().expect("a file has a name")).to_owned(),
    }
}

/// `std` but for its gated modules, and all that the list allows.
fn may_use(allowed: &str, path: &[&str]) -> bool {
    let within = |modules: &str| {
        modules
            .split(' ')
            .any(|each| path.starts_with(&each.split("::").collect::<Vec<_>>()))
    };
    within(allowed) || (path.first() == Some(&"std") && !within(GATED))
}

/// The path from the crate's root; empty if it does not begin with `crate`, `self` or `super`.
fn resolve<'a>(place: &[&'a str], mention: &Mention<'a>) -> Vec<&'a str> {
    let (mut target, rest) = match mention.path.split_first() {
        Some((&"crate", rest)) => (Vec::new(), rest),
        Some((&("self" | "super"), _)) => {
            ([place, &mention.module].concat(), mention.path.as_slice())
        }
        _ => return Vec::new(),
    };
    for word in rest {
        match *word {
            "self" => {}
            "super" => drop(target.pop()),
            name => target.push(name),
        }
    }
    target
}

/// `elections/bully/mod.rs` is the module `elections::bully`.
fn module_of(file: &str) -> Vec<&str> {
    let mut module: Vec<_> = file.trim_end_matches(".rs").split('/').collect();
    module.pop_if(|last| *last == "mod");
    module
}

/// The crates that a path can begin with: `std` and the dependencies in `Cargo.toml`.
fn crates() -> Vec<String> {
    let mut names = vec!["std".to_owned()];
    let mut is_dependency = false;
    for line in include_str!("../Cargo.toml").lines() {
        if line.starts_with('[') {
            is_dependency = line.ends_with("dependencies]");
        } else if let (true, Some((name, _))) = (is_dependency, line.split_once([' ', '=', '.'])) {
            names.push(name.replace('-', "_"));
        }
    }
    names
}

/// All Rust files below a folder, as paths from there with `/` between.
fn rust_files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path
            .file_name()
            .expect("an entry has a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(
                rust_files(&path)
                    .iter()
                    .map(|file| format!("{name}/{file}")),
            );
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(name);
        }
    }
    found.sort();
    found
}
