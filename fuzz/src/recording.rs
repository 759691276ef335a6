//! The bytes of a file that may be a recording of a run.
//!
//! A recording that was read is equal after it was written and read again. It can be shown in every form: as text, as
//! drawings, as commands and as a test.

use actix_bully::record::Recording;

/// Reads one file.
pub fn check(data: &[u8]) {
    let Ok(recording) = Recording::read(data) else {
        return;
    };
    let written = recording.to_jsonl();
    let again = Recording::read(written.as_bytes()).expect("a written recording can be read");
    assert!(recording.first_difference(&again).is_none());
    assert_eq!(again.to_jsonl(), written);
    drop((recording.to_text(), recording.to_mermaid()));
    // A browser opens a drawing, so the content of the file must be plain text in it.
    let drawing = recording.to_svg(recording.ended());
    assert!(!drawing.contains("<script"));
    // A run may contain events for which there is no command.
    drop(recording.to_script());
    drop(recording.to_rust_test());
}
