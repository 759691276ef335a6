//! A file that is said to be a recording of a run.
//!
//! What is read is written and read again without a difference, and can be told in every way: as text, as drawings, as
//! commands and as a test.

use actix_bully::record::Recording;

/// Reads one file.
pub fn check(data: &[u8]) {
    let Ok(recording) = Recording::read(data) else {
        return;
    };
    let written = recording.to_jsonl();
    let again = Recording::read(written.as_bytes()).expect("what was written is read");
    assert!(recording.first_difference(&again).is_none());
    assert_eq!(again.to_jsonl(), written);
    drop((recording.to_text(), recording.to_mermaid()));
    // A drawing is opened in a browser: what a file says is text in it.
    let drawing = recording.to_svg(recording.ended());
    assert!(!drawing.contains("<script"));
    // A run may have had what no command can do.
    drop(recording.to_script());
    drop(recording.to_rust_test());
}
