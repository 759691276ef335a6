//! One file per input.
