//! API servers of Kubernetes for the tests: the real one, and a double that answers as a test wants.

pub mod double;
pub mod server;
