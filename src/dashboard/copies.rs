//! The forms in which a page exports a run: a recording, diagrams, commands, and a test.
//!
//! Decided here: the forms, their names and their types. Not here: the contents of each form
//! ([`record`](crate::record)), and the choice of the run (`routes.rs`).

use crate::{
    protocol::Time,
    record::{BoundedText, Recording, Untold},
};

/// Largest size of an exported recording, in bytes. It is the same as the limit for a recording that is opened.
const MOST_COPIED: usize = 64 << 20;

/// Form of a copied run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyForm {
    Recording,
    Mermaid,
    /// A drawing of one moment.
    Svg,
    /// Commands of the example `cluster`.
    Script,
    RustTest,
}

impl CopyForm {
    /// Returns the form for the name of an exported file.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        Some(match name {
            "run.jsonl" => Self::Recording,
            "run.mmd" => Self::Mermaid,
            "moment.svg" => Self::Svg,
            "script.txt" => Self::Script,
            "recorded_run.rs" => Self::RustTest,
            _ => return None,
        })
    }

    /// Returns the content type for a browser. Most forms are plain text, of which a browser executes nothing.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Svg => "image/svg+xml",
            Self::Recording | Self::Mermaid | Self::Script | Self::RustTest => {
                "text/plain; charset=utf-8"
            }
        }
    }
}

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

    /// Returns the run in this form. A drawing shows the moment `at`, or the last moment.
    pub(super) fn copy(&self, form: CopyForm, at: Option<Time>) -> Result<String, Untold> {
        let commands = self.commands.as_ref().unwrap_or(&self.whole);
        Ok(match form {
            CopyForm::Recording => {
                let mut text = BoundedText::new(MOST_COPIED);
                // The only possible error is that the text is too long, and `whole` reports it.
                self.whole.write(&mut text).ok();
                text.whole()?
            }
            CopyForm::Mermaid => self.whole.to_mermaid(),
            CopyForm::Svg => self.whole.to_svg(at.unwrap_or_else(|| self.whole.ended())),
            CopyForm::Script => commands.to_script()?,
            CopyForm::RustTest => commands.to_rust_test()?,
        })
    }
}
