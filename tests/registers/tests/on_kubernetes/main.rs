//! The register in Kubernetes: the suite on a double and, where its program is there, on the real API server.

mod chaos;
mod double;
mod real;
