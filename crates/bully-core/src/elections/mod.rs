//! The machines, one folder for each; no machine uses another machine. All machines use the same [parts](crate::parts).
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`bully`] | the highest-ranked agent that can be reached leads | deadline > 2 × the longest delay |
//! | [`astra`] | the same by the rules of the ASTRA agent, which need no heartbeats: some agent has to start | deadline > 2 × the longest delay |
//! | [`quorum`] | at most one leader per term, and at most one that considers itself leader | a majority of voters, a durable record, a clock that counts suspend |
//! | [`lease`] | the same, if the store's compare-and-swap is linearizable | a store that the application runs, a clock that counts suspend |
//!
//! The quorum has its own messages; bully and ASTRA have the same messages. Agents of a lease send each other no
//! messages.

pub mod astra;
pub mod bully;
#[cfg(any(test, feature = "testkit"))]
#[doc(hidden)]
pub mod fixture;
pub mod lease;
#[doc(hidden)]
pub mod message;
mod policy;
pub mod quorum;
mod step;
#[doc(hidden)]
pub mod timer;
#[doc(hidden)]
pub mod vote;
