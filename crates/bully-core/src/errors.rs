//! The `Debug` text of errors.
//!
//! Decided here: the `Debug` text of an error is its `Display` text. Rust prints an error that `main` returns as
//! `Debug`, so an operator would otherwise read the names of fields instead of advice. Programs compare and match an
//! error by its type, so they do not need the fields in this text.

/// Makes the `Display` text of each of these errors its `Debug` text.
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
