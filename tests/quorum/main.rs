//! The quorum election in a simulated world.

mod chaos;
