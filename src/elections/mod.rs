//! The machines, a folder each; none knows another.

pub mod bully;
