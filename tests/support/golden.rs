//! The golden texts beside the tests, which a reviewer has read.

/// Compares `text` with the file at `path` in the folder of the package. `BLESS=1` writes the file.
pub(crate) fn golden(path: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        let written = std::fs::write(&file, text);
        assert!(written.is_ok(), "{path}: {written:?}");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let mut heading = "";
    for (line, reviewed) in text.lines().zip(expected.lines()) {
        if !line.starts_with(' ') {
            heading = line;
        }
        assert!(
            line == reviewed,
            "{path} differs below\n{heading}\n{line}\nwas reviewed as\n{reviewed}\nBLESS=1 rewrites it"
        );
    }
    assert!(
        text == expected,
        "{path} has another length; BLESS=1 rewrites it"
    );
}
