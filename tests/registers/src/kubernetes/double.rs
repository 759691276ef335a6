//! An API server in the process of a test.
