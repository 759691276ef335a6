//! What an error shows where it is debugged.
//!
//! Decided here: that it shows its text. Rust prints an error that `main` returns by `Debug`, and an operator then reads the
//! names of fields in place of what to do. An error is compared and matched by its type, so that its fields are not missed.

/// Gives each of these errors its text as its `Debug`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_text {
    ($($error:ident),+) => { $(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    )+ };
}
