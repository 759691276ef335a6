//! The cost of short timings: elections although no process has ended.
//!
//! Decided here: a false election is a leadership in another term than the one before. Not here: how nodes
//! are started, and their output (`processes.rs`).

use std::{path::Path, time::Duration};

use tempfile::TempDir;

use super::{Row, Wrong, cluster::Cluster, loopback::Loopback, settled};

/// The process that is stopped.
#[derive(Clone, Copy, Debug)]
enum Who {
    Leader,
    Follower,
}

/// Length of each stop, in milliseconds.
const BURSTS: [u64; 4] = [100, 200, 300, 400];

impl Row {
    /// Stops a leader, and then a follower, `rounds` times for each length. Prints the number of elections.
    pub(super) fn bursts(&self, node: &Path, rounds: usize) -> Result<(), Wrong> {
        let secret = TempDir::new()?;
        let mut cluster = self.cluster(node, &secret)?;
        for who in [Who::Leader, Who::Follower] {
            for length in BURSTS {
                let mut elections = 0;
                for _ in 0..rounds {
                    elections += self.burst(&mut cluster, who, Duration::from_millis(length))?;
                }
                println!(
                    "SIGSTOP of {length} ms, {who:<8} {:<9} {rounds:>6} bursts {elections:>6} elections",
                    self.timings,
                    who = format!("{who:?}").to_lowercase(),
                );
            }
        }
        cluster.verdict()
    }

    fn burst(
        &self,
        cluster: &mut Cluster<Loopback>,
        who: Who,
        length: Duration,
    ) -> Result<usize, Wrong> {
        let leader = settled(cluster, self)?;
        let stopped = match who {
            Who::Leader => Some(leader),
            Who::Follower => cluster.others(leader).first().copied(),
        };
        let before = led(cluster);
        if let Some(stopped) = stopped {
            cluster.freeze(stopped)?;
            cluster.log.wait(length, |_| None::<()>);
            cluster.thaw(stopped)?;
        }
        cluster.log.wait(self.pause(), |_| None::<()>);
        settled(cluster, self)?;
        Ok(led(cluster) - before)
    }

    /// Leaves the nodes alone for `calm`. Prints the number of elections.
    pub(super) fn calm(&self, node: &Path, calm: Duration) -> Result<(), Wrong> {
        let secret = TempDir::new()?;
        let mut cluster = self.cluster(node, &secret)?;
        settled(&mut cluster, self)?;
        let before = led(&cluster);
        cluster.log.wait(calm, |_| None::<()>);
        let elections = led(&cluster) - before;
        println!(
            "calm for {} s {:<9} {elections:>6} elections",
            calm.as_secs(),
            self.timings
        );
        cluster.verdict()
    }
}

/// Returns the number of leaderships until now.
fn led(cluster: &Cluster<Loopback>) -> usize {
    cluster.beliefs().len()
}
