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

#[test]
fn an_epoch_belongs_to_voters_and_is_checked_with_them() {
    let set = BullyAgent::builder("a").quorum(["a", "b"]).epoch(7);
    assert!(matches!(&set.config, AnyConfig::Quorum(config) if config.epoch == 7));
    assert!(set.refused.is_none());
    for (wrong, expected) in [
        (BullyAgent::builder("a").epoch(7), "there are no voters"),
        (
            BullyAgent::builder("a").epoch(7).quorum(["a"]),
            "there are no voters",
        ),
        (
            BullyAgent::builder("a").quorum(["a"]).epoch(1 << 24),
            "epoch 16777216 exceeds the limit of 16777215",
        ),
    ] {
        let refused = wrong.refused.map(|refused| refused.to_string());
        assert!(
            refused.as_ref().is_some_and(|said| said.contains(expected)),
            "{refused:?}"
        );
    }
}
