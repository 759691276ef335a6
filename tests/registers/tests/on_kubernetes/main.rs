//! The register in Kubernetes: the suite on a double and, if its program exists, on the real API server.

mod chaos;
mod double;
mod real;
