//! API servers of Kubernetes for the tests: the real one, and a double whose answers a test chooses.

pub mod double;
pub mod server;
