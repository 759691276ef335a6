//! Exact counts of every model, and the traces that must be found.
