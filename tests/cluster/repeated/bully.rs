//! A recorded run, repeated: the same commands at the same times, and the same leaders whenever it was settled.
//!
//! Written by `Recording::to_rust_test` of actix-bully, whose feature `testkit` it needs.

use std::error::Error;
use std::time::Duration;

use actix_bully::protocol::Time;
use actix_bully::testkit::cluster::Cluster;
use actix_bully::testkit::faults::Conditions;
use actix_bully::testkit::virtual_system;

#[test]
fn the_recorded_run_repeats() -> Result<(), Box<dyn Error>> {
    virtual_system().block_on(async {
        let network = Conditions::builder()
            .delay(Duration::from_millis(1)..=Duration::from_millis(3))
            .build()?;
        let mut cluster = Cluster::builder()
            .agent("agent-1", 1)
            .agent("agent-2", 2)
            .agent("agent-3", 3)
            .network(network)
            .seed(3)
            .start()?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-3"]);
        cluster.apply(&"crash agent-3".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-2"]);
        cluster.apply(&"restart agent-3".parse()?).await?;
        cluster.apply(&"hang agent-1".parse()?).await?;
        cluster.wait_until(Time::from_millis(48)).await;
        cluster.apply(&"resume agent-1".parse()?).await?;
        cluster.apply(&"partition agent-1".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(
            settled.leaders().collect::<Vec<_>>(),
            ["agent-1", "agent-3"]
        );
        cluster.apply(&"heal".parse()?).await?;
        cluster
            .apply(&"network delay 1ms..3ms loss 2%".parse()?)
            .await?;
        cluster.apply(&"join agent-4 9,-1".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-4"]);
        cluster.apply(&"step-down agent-4 agent-2".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-3"]);
        cluster.apply(&"score agent-1 50".parse()?).await?;
        cluster.apply(&"leave agent-2".parse()?).await?;
        let settled = cluster.settle().await?;
        assert_eq!(settled.leaders().collect::<Vec<_>>(), ["agent-1"]);
        Ok(())
    })
}
