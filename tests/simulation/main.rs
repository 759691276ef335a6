//! Properties of whole histories: seeded chaos, the promises of every election, the comparison with others, and
//! recorded runs.

mod comparison;
#[path = "../support/golden.rs"]
mod golden;
mod histories;
mod notes;
mod promises;
