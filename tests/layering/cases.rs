//! Examples of imports and calls: some that the checks report, with the reported text, and some that they accept.

use super::{loops::Calls, violations};

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
fn an_allowed_import_is_not_reported() {
    for [file, source] in cases(RIGHT) {
        let found = violations(file, &source.replace("\\n", "\n"));
        assert!(found.is_empty(), "{file}, {source}: {found:?}");
    }
}

/// A file, its content, and the line and the text of the reported violation.
const WRONG: &str = r"
bully_core/protocol/id.rs    | use tokio::time::sleep;              | :1: bully_core::protocol never says tokio
bully_core/protocol/id.rs    | \n\n use std::time::Instant;         | :3: bully_core::protocol never says Instant
bully_core/protocol/id.rs    | fn f() { std::net::lookup() }        | :1: bully_core::protocol must not use std::net::lookup
bully_core/protocol/id.rs    | fn f() -> crate::elections::Bully {} | :1: bully_core::protocol must not know bully_core::elections
bully_core/protocol/id.rs    | #[cfg(test)] mod tests { use crate::group::A; } | :1: bully_core::protocol must not know bully_core
bully_core/elections/mod.rs  | use std::{\n fmt,\n fs::File,\n};    | :3: bully_core::elections must not use std::fs::File
bully_core/elections/lease/mod.rs   | use crate::elections::bully::A; | :1: lease must not know bully
bully_core/elections/lease/tests.rs | use super::super::bully::A;     | :1: lease must not know bully
bully_classics/ring/mod.rs   | use crate::ballot::A;                | :1: ring must not know ballot
bully_classics/ring/mod.rs   | use bully_core::elections::bully::A; | :1: ring must not know bully
bully_classics/ring/mod.rs   | use bully_sim::sim::World;           | :1: bully_classics must not know bully_sim::sim
bully_sim/sim/mod.rs | use crate::{faults::A, group::B};            | :1: bully_sim::sim must not know bully_sim
bully_sim/sim/mod.rs | #[actix::test] fn f() {}                     | :1: bully_sim::sim never says actix
agent/mod.rs      | use tokio::{sync::watch, time};      | :1: agent must not use tokio::time
agent/mod.rs      | #[cfg(test)] use crate::testkit::sim::A; use crate::testkit::sim::B; | :1: agent must not know testkit
agent/mod.rs      | use crate::testkit::Inject;          | :1: agent must not know testkit
agent/mod.rs      | use crate::NodeId;                   | :1: agent must not know NodeId
agent/mod.rs      | use crate::*;                        | :1: agent must not know *
leader/mod.rs     | use bully_core::driver::MemberReports; | :1: leader must not know bully_core::driver
supervisor/mod.rs | /* \n */ type A = super::store::B;   | :2: supervisor must not know store
lib.rs            | pub mod agent;\nfn helper() {}       | :2: no fn here
gossip/mod.rs     | use crate::clock; use crate::agent::A; | :1: gossip is not in the table
";

const RIGHT: &str = r#"
bully_core/protocol/id.rs   | //! No tokio here, nor [`crate::agent`].\n /* HashMap */ use std::fmt;
bully_core/protocol/id.rs   | const A: (&str, &str, char) = (r"tokio\", "\"rand", '"'); // fastrand
bully_core/elections/bully/mod.rs | use crate::elections::bully::Elect; use crate::{elections::message::Ok, parts::Participant};
bully_core/elections/lease/mod.rs | use super::super::protocol::A; mod a { use super::super::lease::B; }
bully_core/elections/lease/mod.rs | #[cfg(test)] mod tests { use super::Lease; use crate::random::SplitMix64; }
bully_core/elections/fixture/random.rs | use crate::random::SplitMix64;
bully_classics/ring/mod.rs  | use bully_core::{parts::Participant, protocol::A}; use crate::numbered::Task;
bully_classics/ring/tests/elect.rs | use bully_core::{driver::MembersReports, elections::fixture::Kit};
agent/mod.rs         | use tokio::sync::{self, watch as w}; fn f<'a>() { actix::clock::sleep() }
agent/mod.rs         | use crate::elections::quorum::Vote; use bully_core::elections::message::Ok;
agent/tests/start.rs | use crate::testkit::cluster::Cluster;
remote/mod.rs        | pub(crate) use crate::{group::Group as G, store::*}; use std::net::TcpStream;
lib.rs               | pub use agent::A; #[cfg(doctest)] mod readme { fn f() {} }
"#;

/// Returns the rows of a table, cell by cell.
fn cases<const COLUMNS: usize>(table: &str) -> impl Iterator<Item = [&str; COLUMNS]> {
    table.trim().lines().map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        cells.try_into().expect("a row has all columns")
    })
}
