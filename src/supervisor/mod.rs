//! Restarts crashed actors.
