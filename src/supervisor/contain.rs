//! Contains panics: runs code of the user and turns its panic into text.
//!
//! Decided here: the text of a panic payload. Not here: the consequence of the panic (`guardian.rs`).

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`; if it panics, returns the panic's text.
///
/// After a panic, data that `f` had borrowed may be half changed: the caller drops or rebuilds that data.
pub(crate) fn contain<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(text)
}

/// Returns the text of a payload. A payload of an unknown type is leaked, because its own `Drop` could panic.
fn text(payload: Box<dyn Any + Send>) -> String {
    let payload = match payload.downcast::<String>() {
        Ok(text) => return *text,
        Err(other) => other,
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(other) => {
            mem::forget(other);
            "panic payload that is not text".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::contain;

    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            resume_unwind(Box::new("dropped"));
        }
    }

    #[test]
    fn a_value_passes_through() {
        assert_eq!(contain(|| 7), Ok(7));
    }

    #[test]
    fn both_kinds_of_text_are_kept() {
        let literal = contain(|| resume_unwind(Box::new("literal")));
        let formatted = contain(|| resume_unwind(Box::new(String::from("formatted"))));
        assert_eq!(literal, Err::<(), _>("literal".to_owned()));
        assert_eq!(formatted, Err::<(), _>("formatted".to_owned()));
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_harmless() {
        let outcome = contain(|| resume_unwind(Box::new(Bomb)));
        assert_eq!(
            outcome,
            Err::<(), _>("panic payload that is not text".to_owned())
        );
    }
}
