//! A recorded run, repeated: the same commands at the same times, and the same leaders whenever it was settled.
//!
//! Written by `Recording::to_rust_test` of actix-bully, whose feature `testkit` it needs.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use actix_bully::elections::reorganization::{Reorganization, ReorganizationConfig};
use actix_bully::testkit::cluster::Cluster;
use actix_bully::testkit::faults::Conditions;
use actix_bully::testkit::virtual_system;

#[test]
fn the_recorded_run_repeats() -> Result<(), Box<dyn Error>> {
    virtual_system().block_on(async {
        let network = Conditions::builder()
            .delay(Duration::from_millis(0)..=Duration::from_millis(0))
            .build()?;
        let rules = ReorganizationConfig::default();
        let mut cluster = Cluster::<Reorganization>::with_config(Arc::new(rules))
            .agent("agent-1", 1)
            .agent("agent-2", 2)
            .agent("agent-3", 3)
            .network(network)
            .seed(3)
            .start()?;
        cluster.apply(&"campaign agent-1".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-3"]);
        cluster.apply(&"crash agent-3".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-2"]);
        Ok(())
    })
}
