//! Elections of the literature as pure state machines, for the interface of [`bully_core`].
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`ballot`] | after some time one leader, with higher and higher ballots | a majority of voters, a durable record |
//! | [`ring`] | the highest-ranked agent leads all agents that a token can visit | a hop > 2 × the longest delay |
//! | [`reorganization`] | the paper's: two working agents have the same coordinator and task, at every instant | deadline > 2 × the longest delay, no loss, no pause, a durable record |
//! | [`invitation`] | agreement in each group; if messages are in time, one group under the highest-ranked agent | a durable record |
//!
//! Use these machines to learn, to teach and to compare. If two leaders would do harm, use the quorum or the lease of
//! `bully_core`. [actix-bully](https://docs.rs/actix-bully) runs these machines in actix actors, with its feature
//! `classics`, as `actix_bully::elections::ring` and so on.
//!
//! `invitation` and `reorganization` are two algorithms of one paper. They share their numbers, their safe storage and
//! their status (`numbered`). Each has its own `match` over roles and inputs. The two look alike, but their rules
//! differ: which agent may ask, what an agent must do after an answer, and how long each wait is. So each machine can
//! be compared with its own pages of the paper.
#![forbid(unsafe_code)]
// The lints below hold in builds with `testkit`, which include all tests.
#![cfg_attr(
    not(feature = "testkit"),
    allow(
        unreachable_pub,
        unnameable_types,
        reason = "what tests alone name is public for them alone"
    )
)]

pub mod ballot;
pub mod invitation;
mod numbered;
pub mod reorganization;
pub mod ring;
