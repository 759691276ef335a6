//! The paths of the facade for the examples in the documentation of the core.
#![forbid(unsafe_code)]

pub use bully_core::{protocol, record};

/// The elections.
pub mod elections {
    pub use bully_classics::{ballot, invitation, reorganization, ring};
    pub use bully_core::elections::{astra, bully, lease, quorum};
}

/// The faults of the network of a cluster.
pub mod testkit {
    pub use bully_sim::faults;
}
