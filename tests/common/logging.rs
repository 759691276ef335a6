//! The log of a scene, for a test that is about its lines: [`logged`].

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tracing::{Dispatch, Level, subscriber::NoSubscriber};

/// The lines that were logged since they were taken last.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Takes all lines, and returns those with this word, in the order of their text: agents of one process hear of a
    /// change in an order that means nothing.
    pub(crate) fn about(&self, word: &str) -> Vec<String> {
        let bytes = mem::take(&mut *self.bytes());
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| line.contains(word));
        let mut lines: Vec<_> = lines.map(|line| line.trim().to_owned()).collect();
        lines.sort();
        lines
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a scene on this thread, which reads the lines up to that level. They have neither a time nor a target.
pub(crate) fn logged<T>(level: Level, scene: impl FnOnce(Lines) -> T) -> T {
    beside_others();
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .finish();
    tracing::subscriber::with_default(subscriber, || scene(lines))
}

/// Lets a test read what its own thread logs; to be called before its subscriber is set.
///
/// While a process has one subscriber, `tracing` settles what becomes of a line, for all threads, by the thread that
/// comes to the line first, and a test beside this one has no subscriber. With more of them it asks each.
pub(crate) fn beside_others() {
    static KEPT: OnceLock<[Dispatch; 2]> = OnceLock::new();
    KEPT.get_or_init(|| [0; 2].map(|_| Dispatch::new(NoSubscriber::default())));
}
