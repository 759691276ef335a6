//! Chooses the primary of a database: the replica of the highest priority; among equals the replica that lags least;
//! among equals in that too, the last by name. A replica that lags too far is not eligible.
//!
//! ```text
//! $ cargo run --example database_primary
//! ```
//!
//! Expected output: `examples/expected/database_primary.txt`. The rule is one function,
//! [`Replica::score`]; the other functions try it out on a cluster in this process.
//!
//! Try next: make both limits the same, and let a lag swing around it; then read `examples/load_balanced_score.rs`,
//! where a margin replaces the second limit.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix_bully::{
    protocol::Score,
    testkit::cluster::{Cluster, Condition},
};

/// Lag above which a replica is not eligible as the primary.
const TOO_FAR: Duration = Duration::from_secs(5);
/// A replica that was not eligible becomes eligible again when it lags less than this. With one limit for both, each
/// small change of the lag could cause a hand-over.
const CAUGHT_UP: Duration = Duration::from_secs(2);

struct Replica {
    name: &'static str,
    priority: i32,
    lag: Duration,
    eligible: bool,
}

impl Replica {
    fn new(name: &'static str, priority: i32) -> Self {
        let (lag, eligible) = (Duration::ZERO, true);
        Self {
            name,
            priority,
            lag,
            eligible,
        }
    }

    /// The rule: priority first, then the lag, less is better; `None`: not eligible.
    fn score(&mut self) -> Option<Score> {
        let limit = if self.eligible { TOO_FAR } else { CAUGHT_UP };
        self.eligible = self.lag < limit;
        let lag = i64::try_from(self.lag.as_millis()).unwrap_or(i64::MAX);
        self.eligible.then(|| Score::from((self.priority, -lag)))
    }
}

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut db = Database::start([("db-1", 3), ("db-2", 2), ("db-3", 2)])?;
    println!("WHAT HAPPENS                              LAG: db-1     db-2     db-3  PRIMARY");
    db.lags("replicas report their lag", [0, 40, 20]).await?;

    db.cluster.crash("db-1").await?;
    db.lags("db-1 is offline, the others are equal", [9_000, 40, 20])
        .await?;
    db.cluster.restart("db-1")?;
    db.lags("db-1 is back, far behind", [8_000, 40, 20]).await?;
    db.lags("it catches up, not enough yet", [2_000, 40, 20])
        .await?;
    db.lags("it has caught up: priority decides", [1_999, 40, 20])
        .await?;

    db.lags("the primary falls behind", [4_999, 40, 20]).await?;
    db.lags("too far: it hands over", [5_000, 40, 20]).await?;
    db.lags("as far: the least lag takes over", [5_000, 40, 600])
        .await?;
    Ok(())
}

struct Database {
    cluster: Cluster,
    replicas: [Replica; 3],
}

impl Database {
    fn start(replicas: [(&'static str, i32); 3]) -> Result<Self, Box<dyn Error>> {
        let replicas = replicas.map(|(name, priority)| Replica::new(name, priority));
        let mut cluster = Cluster::builder();
        for replica in &replicas {
            cluster = cluster.agent(replica.name, (replica.priority, 0));
        }
        let cluster = cluster.start()?;
        Ok(Self { cluster, replicas })
    }

    /// Sets the lags, in milliseconds; each replica computes its score from its lag.
    async fn lags(&mut self, what: &str, lags: [u64; 3]) -> Result<(), Box<dyn Error>> {
        for (replica, lag) in self.replicas.iter_mut().zip(lags) {
            replica.lag = Duration::from_millis(lag);
            match replica.score() {
                Some(score) => self.cluster.set_score(replica.name, score)?,
                None => self.cluster.withdraw_score(replica.name)?,
            }
        }
        let settled = self.cluster.settle().await?;
        let primary = settled.leader().map_or("none", |leader| leader.as_str());
        let here = self.cluster.status();
        let mut cells = here.agents().iter().zip(lags).map(|(replica, lag)| {
            if replica.condition == Condition::Up {
                format!("{lag} ms")
            } else {
                replica.condition.to_string()
            }
        });
        let mut next = || cells.next().unwrap_or_default();
        let (one, two, three) = (next(), next(), next());
        println!("{what:<40}  {one:>10}  {two:>7}  {three:>7}  {primary}");
        Ok(())
    }
}
