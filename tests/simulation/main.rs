//! What whole histories show: seeded chaos and its planted defects, the promises of every election, the
//! comparison with others, and recorded runs.

mod comparison;
mod histories;
mod notes;
#[cfg(feature = "planted")]
mod planted;
mod promises;
