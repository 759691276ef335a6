//! What the settings of a builder make of each other.

use crate::{
    agent::BullyAgent,
    elections::any::AnyConfig,
    protocol::{Score, Timings},
};

#[test]
fn voters_that_are_named_again_keep_the_timings_and_the_margin() {
    let margin = || Score::from(3);
    let again = BullyAgent::builder("a")
        .quorum(["a"])
        .timings(Timings::lan());
    let again = again.margin(margin()).quorum(["a", "b"]);
    let once = BullyAgent::builder("a").timings(Timings::lan());
    let once = once.margin(margin()).quorum(["a", "b"]);
    assert!(matches!(&once.config, AnyConfig::Quorum(config) if config.margin == Some(margin())));
    assert_eq!(again.config, once.config);
}
