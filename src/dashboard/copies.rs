//! The forms in which a page exports a run: a recording, diagrams, commands, and a test.
//!
//! Decided here: the forms, their names and their types. Not here: the contents of each form
//! ([`record`](crate::record)), and the choice of the run (`routes.rs`).

use crate::{
    protocol::Time,
    record::{BoundedText, Recording, Untold},
};

/// Largest size of an exported recording, in bytes. A recording that is opened has the same limit.
const MOST_COPIED: usize = 64 << 20;

/// A form of a copied run: the name of its file, its content type for a browser, and its text. A drawing shows the
/// given moment, or the last moment. Most forms are plain text, of which a browser executes nothing.
pub(super) type CopyForm = (
    &'static str,
    &'static str,
    fn(&RecordedRun, Option<Time>) -> Result<String, Untold>,
);

pub(super) const FORMS: [CopyForm; 5] = [
    ("run.jsonl", TEXT, |run, _| {
        let mut text = BoundedText::new(MOST_COPIED);
        // The only possible error is that the text is too long, and `whole` reports it.
        run.whole.write(&mut text).ok();
        Ok(text.whole()?)
    }),
    ("run.mmd", TEXT, |run, _| Ok(run.whole.to_mermaid())),
    ("moment.svg", "image/svg+xml", |run, at| {
        Ok(run.whole.to_svg(at.unwrap_or_else(|| run.whole.ended())))
    }),
    // Commands of the example `cluster`.
    ("script.txt", TEXT, |run, _| run.commands().to_script()),
    ("recorded_run.rs", TEXT, |run, _| {
        run.commands().to_rust_test()
    }),
];

const TEXT: &str = "text/plain; charset=utf-8";

/// A run that can be copied.
#[derive(Clone, Debug)]
pub(super) struct RecordedRun {
    pub(super) whole: Recording,
    /// The commands of the run, if they were kept separately because the record of the whole run may lack some of them.
    pub(super) commands: Option<Recording>,
}

impl RecordedRun {
    pub(super) const fn new(whole: Recording) -> Self {
        let commands = None;
        Self { whole, commands }
    }

    fn commands(&self) -> &Recording {
        self.commands.as_ref().unwrap_or(&self.whole)
    }
}
