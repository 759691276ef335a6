//! The machines.
