//! The parts from which every election machine is built. A part holds data and answers questions.
//!
//! | part | content |
//! |---|---|
//! | [`Participant`] | this agent, the other members, and how they compare |
//! | [`Handover`] | a leadership that is being handed over: its successor and its time limit |
//! | [`Cooldown`] | the time after a step-down in which an agent does not compete with the other agents |
//! | [`Grace`] | whether an agent may wait once more after a deadline that passed while the agent was late |
//! | [`check_listed`] | whether an agent takes part with the role that the list of voters gives it |
//! | [`slot`] | the order of the agents when the leadership is vacant, and their waits |
//! | [`detector_of`] | the failure detector of an election that needs a failure detector |
//! | [`messages!`](messages!) | how the messages of an election become one type |
//!
//! A part never calls a machine. Each machine has its own `match` over roles and inputs, so that each machine can be
//! read without the other machines. A decision that is written once in a part is the same in all machines.
//!
//! Not here: any rule of an election, and any message.

mod config;
mod cooldown;
mod grace;
mod handover;
mod messages;
mod participant;
pub mod slot;
mod untracked;
mod voters;

pub use config::{check_detector, check_range, detector_of};
pub use cooldown::Cooldown;
pub use grace::Grace;
pub use handover::{Due, Handover};
pub use messages::messages;
pub use participant::Participant;
pub use untracked::Untracked;
pub use voters::{check_listed, check_voters, in_order, majority};
