//! The parts of an agent that need no actor; `tests/agent` has the rest.

mod tenure;
