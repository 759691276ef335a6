//! The `Debug` text of errors.
//!
//! Decided here: it is the `Display` text. Rust prints an error that `main` returns by `Debug`, and an operator would
//! read names of fields in place of advice. An error is compared and matched by its type, so the fields are not missed.

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
