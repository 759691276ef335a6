//! A task that ends with its holder.

use actix_rt::task::JoinHandle;

pub(crate) struct TaskGuard(Option<JoinHandle<()>>);

impl TaskGuard {
    pub(crate) fn spawn(task: impl Future<Output = ()> + 'static) -> Self {
        Self(Some(actix_rt::spawn(task)))
    }

    /// Lets the task end by itself from now on.
    pub(crate) fn detach(mut self) {
        self.0 = None;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        // Without the abort, the old connections of a crashed bridge would continue beside the new connections.
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_rt::test]
    async fn a_task_ends_with_its_guard_unless_it_was_detached() {
        let task = || {
            let (sender, ended) = tokio::sync::oneshot::channel();
            let task = async {
                actix_rt::task::yield_now().await;
                sender.send(()).ok();
            };
            (TaskGuard::spawn(task), ended)
        };
        let (guard, ended) = task();
        drop(guard);
        assert!(ended.await.is_err());
        let (guard, ended) = task();
        guard.detach();
        assert!(ended.await.is_ok());
    }
}
