//! The machines, a folder each; none knows another.
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`bully`] | the highest-ranked agent that can be reached leads | deadline > 2 × the longest delay |
//! | [`quorum`] | at most one leader per term, and at most one that believes it leads | a majority of voters, a durable record, a clock that counts suspend |
//! | [`ring`] | the highest-ranked agent leads those whom a token can visit | a hop > 2 × the longest delay |
//!
//! The first two share their messages, so that a user sees one type; [`any`] joins them.

pub mod any;
pub mod bully;
pub mod message;
pub mod policy;
pub mod quorum;
pub mod ring;
pub mod timer;
pub mod vote;
