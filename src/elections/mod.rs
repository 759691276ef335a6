//! The machines, a folder each; none knows another.
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`bully`] | the highest-ranked agent that can be reached leads | deadline > 2 × the longest delay |
//! | [`quorum`] | at most one leader per term, and at most one that believes it leads | a majority of voters, a durable record, a clock that counts suspend |
//! | [`ballot`] | in the end one leader, of ever higher ballots | a majority of voters, a durable record |
//! | [`ring`] | the highest-ranked agent leads those whom a token can visit | a hop > 2 × the longest delay |
//! | [`reorganization`] | the paper's: two at work have the same coordinator and task, at every instant | deadline > 2 × the longest delay, no loss, no pause, a durable record |
//! | [`invitation`] | agreement in each group; one group, under the highest-ranked, once messages are on time | a durable record |
//!
//! The bully and the quorum share their messages, so that a user sees one type; [`any`] joins them.

pub mod any;
pub mod ballot;
pub mod bully;
pub mod invitation;
pub mod message;
pub mod numbered;
pub mod policy;
pub mod quorum;
pub mod reorganization;
pub mod ring;
pub mod timer;
pub mod vote;
