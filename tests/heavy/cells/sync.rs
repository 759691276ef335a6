//! Loom's locks and atomics, and a stand-in for the watch channel, which loom does not have.

pub use std::sync::PoisonError;

pub use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// A counter of changes, like tokio's watch channel.
pub mod watch {
    use std::sync::Arc;

    use loom::sync::Mutex;

    #[derive(Clone, Debug)]
    pub struct Sender<T>(Arc<Mutex<(u64, T)>>);

    #[derive(Debug)]
    pub struct Receiver<T> {
        shared: Arc<Mutex<(u64, T)>>,
        seen: u64,
    }

    impl<T> Sender<T> {
        pub fn new(value: T) -> Self {
            Self(Arc::new(Mutex::new((0, value))))
        }

        pub fn send_replace(&self, value: T) {
            let mut shared = self.0.lock().unwrap();
            *shared = (shared.0 + 1, value);
        }

        pub fn subscribe(&self) -> Receiver<T> {
            Receiver {
                seen: self.0.lock().unwrap().0,
                shared: Arc::clone(&self.0),
            }
        }
    }

    impl<T> Receiver<T> {
        pub fn has_changed(&self) -> bool {
            self.shared.lock().unwrap().0 != self.seen
        }
    }
}
