//! What can be copied out of a page: a run as a recording, as diagrams, as commands, and as a test.
//!
//! Decided here: the forms, their names and their types. Not here: what each form says ([`record`](crate::record)), and
//! whose run it is (`routes.rs`).

use crate::{
    protocol::Time,
    record::{BoundedText, Recording, Untold},
};

/// Most bytes of a copied recording: as many as may be read.
const MOST_COPIED: usize = 64 << 20;

/// A form in which a run can be had.
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
    /// By the name of its file.
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

    /// The type that a browser is told. What is read as text executes nothing.
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
    /// The same with nothing but its commands, where the whole one may have forgotten some of them.
    pub(super) commands: Option<Recording>,
}

impl RecordedRun {
    pub(super) const fn new(whole: Recording) -> Self {
        let commands = None;
        Self { whole, commands }
    }

    /// The run in that form; a drawing is of that moment, or of the last one.
    pub(super) fn copy(&self, form: CopyForm, at: Option<Time>) -> Result<String, Untold> {
        let commands = self.commands.as_ref().unwrap_or(&self.whole);
        Ok(match form {
            CopyForm::Recording => {
                let mut text = BoundedText::new(MOST_COPIED);
                // Nothing else can go wrong than that it is too long, which the end of it says.
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
