//! Each key has an effect that a test sees: on the started node, or on the settings with which the node and the client of
//! its store start, if other tests show what such a setting does.
//!
//! A table has a row for each key, with three columns: the key and its value; a part of the output without the key; a
//! part of the output with the key. Each output contains only its own part. In the first column, `->` stands between
//! the lines of both configurations if the first one needs a line too, and `peers[].node: ` names a key that is not at
//! the beginning of its line. `NODE`, `HERE` and `FOLDER` stand for the name of the node, its address and its folder.
//!
//! The settings of an election need no row: `settings.rs`.
//!
//! Decided here: how a row is read and checked, and that every key has a row. `scene.rs` starts the nodes. The other
//! files have the tables, grouped by the test of their effects.

mod agent;
mod certificates;
mod limits;
mod links;
mod quorum;
mod scene;
mod settings;
mod stores;
mod timings;

use std::{collections::BTreeSet, time::Duration};

use actix::clock::timeout;
use futures::future::LocalBoxFuture;
use toml::{Table, Value};

use crate::{
    config::{Config, RunError, tests::every_key},
    testkit::virtual_system,
};
use scene::Scene;

/// Output of the node, or the reason why it did not start.
type Seen = Result<String, RunError>;

/// Rows with the same test of their effects.
struct Rows {
    /// Further lines of the configuration.
    beside: String,
    look: fn(Scene) -> LocalBoxFuture<'static, Seen>,
    table: &'static str,
}

/// Makes rows whose output comes from `$look`.
macro_rules! rows {
    ($beside:expr, $look:ident $(($($more:expr),*))?, $table:expr) => {
        $crate::config::tests::keys::Rows {
            beside: $beside.to_string(),
            look: |scene| Box::pin($look(scene $(, $($more),*)?)),
            table: $table,
        }
    };
}
use rows;

struct Row {
    key: &'static str,
    /// Lines without the key, and with it.
    lines: [String; 2],
    seen: [&'static str; 2],
}

impl Rows {
    fn rows(&self) -> impl Iterator<Item = Row> {
        let rows = self.table.lines().map(str::trim);
        rows.filter(|row| !row.is_empty()).map(|row| {
            let columns: Vec<_> = row.split(" | ").map(str::trim).collect();
            let [set, without, with] = columns[..] else {
                panic!("three columns: {row}");
            };
            let (key, lines) = match set.split_once(": ") {
                Some((key, lines)) if !key.contains('=') => (key, lines),
                _ => (set.split(" = ").next().unwrap(), set),
            };
            let (before, after) = lines.split_once(" -> ").unwrap_or(("", lines));
            Row {
                key,
                lines: [before, after].map(|line| line.replace("\\n", "\n")),
                seen: [without, with],
            }
        })
    }

    /// Starts a node without each key, and a node with it. Returns the outputs that differ from the table.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for Row { key, lines, seen } in self.rows() {
            let texts = lines.each_ref().map(|line| self.text(key, line));
            let both = texts.each_ref().map(|text| settings(text));
            let differs = both[0].symmetric_difference(&both[1]);
            let differs: BTreeSet<_> = differs.map(|(key, _)| key.as_str()).collect();
            let (root, _) = key.split_once("[]").unwrap_or((key, ""));
            assert_eq!(differs, [root].into(), "a row sets one key");
            for (at, text) in texts.into_iter().enumerate() {
                let look = (self.look)(Scene::new(text, &self.beside));
                let found = virtual_system().block_on(async { timeout(DAY, look).await });
                let found = found.expect("it ends");
                let found = found.unwrap_or_else(|refused| refused.to_string());
                if !found.contains(seen[at]) || found.contains(seen[1 - at]) {
                    let (line, beside, seen) = (&lines[at], &self.beside, seen[at]);
                    wrong.push(format!("{line:?} beside {beside}: not {seen:?}: {found}"));
                }
            }
        }
        wrong
    }

    fn text(&self, key: &str, line: &str) -> String {
        let own = [("node", "node = \"a\"\n"), ("group", "group = \"jobs\"\n")];
        let own = own.iter().filter(|(name, _)| *name != key);
        let own: String = own.map(|(_, line)| *line).collect();
        format!("{own}{}\n{line}", self.beside)
    }
}

fn check(tables: &[Rows]) {
    let wrong: Vec<_> = tables.iter().flat_map(Rows::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns all keys with their values.
fn settings(text: &str) -> BTreeSet<(String, String)> {
    let config = Config::from_toml(text).unwrap_or_else(|wrong| panic!("{wrong}: {text}"));
    let mut all = BTreeSet::new();
    for (key, value) in Table::try_from(&config).unwrap() {
        if let Value::Table(section) = value {
            let inner = section.into_iter();
            all.extend(inner.map(|(name, value)| (format!("{key}.{name}"), format!("{value:?}"))));
        } else {
            all.insert((key, format!("{value:?}")));
        }
    }
    all
}

/// Limit for a row in virtual time. No row needs this long.
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn every_key_has_a_row() {
    let tables = [
        agent::rows(),
        limits::rows(),
        links::rows(),
        quorum::rows(),
        stores::rows(),
        timings::rows(),
    ];
    let rows = tables.iter().flatten().flat_map(Rows::rows);
    let mut seen: BTreeSet<_> = rows.map(|row| row.key.to_owned()).collect();
    seen.extend(settings::keys().into_iter().map(|(key, ..)| key));
    let all = every_key();
    // A build without the client of a store cannot show the keys of that store.
    let has_stores = cfg!(all(
        feature = "etcd",
        feature = "kubernetes",
        feature = "postgres"
    ));
    let is_unseen = |key: &&String| {
        !seen.contains(*key) && (has_stores || !key.starts_with("lease.") || *key == "lease.folder")
    };
    let unseen: Vec<_> = all.iter().filter(is_unseen).collect();
    assert!(unseen.is_empty(), "no row shows the effect of {unseen:?}");
}
