//! Tests of the histories: that they are what they claim to be, and that they notice broken rules.
//!
//! A program of its own, not the library's unit tests, so that it can be asked for in a release build: a debug build
//! needs ten times as long.

mod tests;
