//! The log of a scene, for a test of log lines: [`logged`].

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tracing::{Dispatch, Level, subscriber::NoSubscriber};

/// Log lines since the last call of [`about`](Self::about).
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Takes all lines, and returns the lines that contain `word`. They are sorted by their text, because the order in
    /// which the agents of one process hear of a change has no meaning.
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

/// Runs a scene on this thread, and gives it the lines up to `level`. The lines have neither a time nor a target.
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

/// Lets a test read the log of its own thread. It must be called before the test sets its subscriber.
///
/// While a process has only one subscriber, `tracing` decides once for all threads whether a line is logged: by the
/// thread that reaches the line first, and another test's thread has no subscriber. With more subscribers it asks each
/// of them.
pub(crate) fn beside_others() {
    static KEPT: OnceLock<[Dispatch; 2]> = OnceLock::new();
    KEPT.get_or_init(|| [0; 2].map(|_| Dispatch::new(NoSubscriber::default())));
}
