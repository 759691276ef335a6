//! Tests of the histories: each history is repeatable, and the histories notice broken rules.
//!
//! These tests are a program of their own and not unit tests of the library, so that a release build can run them. A
//! debug build needs ten times as long.

mod tests;
