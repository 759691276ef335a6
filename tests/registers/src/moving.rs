//! Three processes move from a quorum to a lease in a store and back, by the steps in the documentation of the lease
//! (`src/elections/moving.md`).
//!
//! Decided here: the two configurations, which differ only in the election, and the actions of the operator. Each
//! process writes rows behind a fence while it leads.

use std::{
    fs,
    path::{Path, PathBuf},
};

use actix_bully::{
    elections::quorum::Vote,
    protocol::Term,
    store::{FileStore, StoreIdentity},
};
use actix_bully_database_tests::free_port;
use tempfile::TempDir;

use crate::{
    block_on,
    fenced::{self, Fenced},
    processes::{Processes, nanoseconds, words},
    raise::raise,
    rounds::long,
};

const NAMES: [&str; 3] = ["api-0", "api-1", "api-2"];

/// The files of both elections, in one folder.
#[derive(Debug)]
pub struct Move {
    program: &'static str,
    folder: TempDir,
    quorum: Vec<PathBuf>,
    lease: Vec<PathBuf>,
}

impl Move {
    /// Prepares a move between a quorum and a lease. `lease` is the line of a configuration that names the store.
    pub fn between_quorum_and(lease: &str, program: &'static str) -> Self {
        let folder = TempDir::with_prefix("moving-").expect("a temporary folder can be made");
        let ports = NAMES.map(|_| format!("127.0.0.1:{}", free_port()));
        let peers = NAMES.iter().zip(&ports);
        let peers: Vec<_> = peers
            .map(|(name, at)| format!("[[peers]]\nnode = \"{name}\"\naddress = \"{at}\"\n"))
            .collect();
        let peers = peers.concat();
        let file = |kind: &str, name: &str, text: &str| {
            let common = format!(
                "node = \"{name}\"\ngroup = \"jobs\"\npreemption = \"never\"\ntimings.preset = \"lan\"\n"
            );
            let path = folder.path().join(format!("{name}-{kind}.toml"));
            fs::write(&path, format!("{common}{text}")).expect("it can be written");
            path
        };
        let quorum = NAMES.iter().zip(&ports).map(|(name, at)| {
            let store = vote_of(folder.path(), name);
            drop(FileStore::<Vote>::create(&store, identity(name)).expect("it is new"));
            let store = store.display();
            let text = format!(
                "listen = \"{at}\"\npeers_name_all = true\n[quorum]\nvoters = {NAMES:?}\nstore_file = \"{store}\"\n{peers}"
            );
            file("quorum", name, &text)
        });
        let quorum = quorum.collect();
        let lease = NAMES.map(|name| file("lease", name, &format!("[lease]\n{lease}\n")));
        Fenced::make(&folder.path().join(ROWS));
        Self {
            program,
            quorum,
            lease: lease.into(),
            folder,
        }
    }

    /// Moves to the lease and back. Fails if two processes lead at one time, if a process leads between the two
    /// elections, or if the tokens do not increase.
    pub fn there_and_back(&self) {
        let mut processes = Processes::run(self.commands(&self.quorum));
        let first = self.withdraw_and_stop(&mut processes);
        processes.run_instead(self.commands(&self.lease));
        let second = self.withdraw_and_stop(&mut processes);
        assert!(second > first, "{second} after {first}");
        for name in NAMES {
            let store = FileStore::open(vote_of(self.folder.path(), name), identity(name));
            let store = store.expect("its process has ended");
            block_on(raise(&store, Term(second))).expect("it can be written");
        }
        processes.run_instead(self.commands(&self.quorum));
        let third = self.withdraw_and_stop(&mut processes);
        assert!(third > second, "{third} after {second}");
        let tenures = processes.judge();
        let rows = fenced::rows(&self.rows());
        println!(
            "moved by the tokens {first}, {second} and {third}: {tenures} tenures, {rows} rows"
        );
    }

    /// Breaks the recipe: the lease begins while the quorum still has its leader.
    ///
    /// # Errors
    /// The rule that the processes broke.
    pub fn at_once(&self) -> Result<usize, String> {
        let both = self
            .commands(&self.quorum)
            .chain(self.commands(&self.lease));
        let mut processes = Processes::run(both);
        processes.wait_for_one_of(0..NAMES.len());
        processes.wait_for_one_of(NAMES.len()..2 * NAMES.len());
        processes.listen(long());
        processes.verdict()
    }

    /// Takes the first two steps, and returns the highest token that the fence has seen.
    fn withdraw_and_stop(&self, processes: &mut Processes) -> u64 {
        processes.wait_until_all_know_one();
        // The leader prints its first line when its work has begun.
        processes.wait_for_leader(0);
        processes.withdraw();
        let withdrawn = nanoseconds();
        for process in 0..NAMES.len() {
            processes.leave(process);
        }
        processes.expect_silence(None, (withdrawn, nanoseconds()));
        fenced::highest(&self.rows())
    }

    fn commands<'a>(&self, configs: &'a [PathBuf]) -> impl Iterator<Item = Vec<String>> + use<'a> {
        let (program, rows) = (self.program, self.rows().display().to_string());
        configs.iter().enumerate().map(move |(process, config)| {
            let mut words = words(program, process, &format!("config:{}", config.display()));
            words.push(rows.clone());
            words
        })
    }

    fn rows(&self) -> PathBuf {
        self.folder.path().join(ROWS)
    }
}

const ROWS: &str = "rows.sqlite";

fn vote_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.vote"))
}

fn identity(name: &str) -> StoreIdentity {
    let valid = |name: &str| name.parse().expect("a name");
    StoreIdentity {
        cluster: valid("default"),
        group: valid("jobs"),
        node: valid(name),
    }
}
