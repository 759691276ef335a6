//! `Agent<Ring>`: the ring under actix, in virtual time.

use std::sync::Arc;

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::{Incarnation, Term},
    testkit::cluster::Cluster,
};
use bully_classics::ring::Coordinator;

use crate::ring::{common::virtual_system, kit::id, strangers::are_dropped};

#[test]
fn s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped() {
    virtual_system().block_on(async {
        let builder = Cluster::<Ring>::with_config(Arc::new(RingConfig::default()));
        let mut cluster = builder.agents(5).start().unwrap();
        let message = || {
            let announcement = Coordinator {
                leader: id("agent-4"),
                incarnation: Incarnation(1),
                score: 99.into(),
                term: Term(99),
                beat: 0,
            };
            announcement.into()
        };
        are_dropped(&mut cluster, message).await;
    });
}
