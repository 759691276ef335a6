//! A task that ends with its holder.

use actix_rt::task::JoinHandle;

/// A task that ends with its holder.
pub(crate) struct TaskGuard(Option<JoinHandle<()>>);

impl TaskGuard {
    pub(crate) fn spawn(task: impl Future<Output = ()> + 'static) -> Self {
        Self(Some(actix_rt::spawn(task)))
    }

    /// From now on the task ends by itself.
    pub(crate) fn detach(mut self) {
        self.0 = None;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        // A bridge that crashed must not leave its old connections running beside the new ones.
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
