//! Values that upper layers attach to a group or to an agent: one value of each type.
//!
//! Decided here: all callers that ask for a type get the same value. Not here: what the values are for.

use std::{
    any::Any,
    sync::{Arc, Mutex, PoisonError},
};

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Attachments(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Attachments {
    /// Returns the value of the type `T`, and makes it at the first call.
    ///
    /// # Errors
    /// The error of `make`; then nothing is kept.
    pub(crate) fn find<T: Any + Send + Sync, E>(
        &self,
        make: impl FnOnce() -> Result<Arc<T>, E>,
    ) -> Result<Arc<T>, E> {
        // An entry is added in one step, so a panic under the lock cannot leave half an entry.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().find_map(|one| Arc::clone(one).downcast().ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let new: Arc<T> = make()?;
        all.push(Arc::<T>::clone(&new));
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_of_each_type_and_a_failure_leaves_nothing() {
        let kept = Attachments::default();
        assert_eq!(kept.find::<u32, _>(|| Err("none")), Err("none"));
        let first = kept.find(|| Ok::<_, &str>(Arc::new(7_u32)));
        assert_eq!(kept.find(|| Ok(Arc::new(8_u32))), first);
        assert_eq!(*kept.find(|| Ok::<_, &str>(Arc::new(9_u8))).unwrap(), 9);
    }
}
