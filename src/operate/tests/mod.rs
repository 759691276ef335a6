//! The judgement of what became of a command, moment by moment.

mod judge;
