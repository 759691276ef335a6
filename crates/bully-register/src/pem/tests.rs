//! The certificates and keys of a source, and the sources that are refused.

use super::*;

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAECAwQF\n-----END PRIVATE KEY-----\n";

fn bytes(text: &str) -> PemSource {
    PemSource::bytes(text)
}

#[test]
fn a_source_has_exactly_one_key() {
    assert!(bytes(KEY).key().is_ok());
    let several = bytes(&KEY.repeat(2)).key().err().unwrap();
    assert!(matches!(several, PemError::SeveralKeys { count: 2 }));
    let empty = bytes("").key().err().unwrap();
    assert!(matches!(empty, PemError::Empty { part: super::KEY }));
}

#[test]
fn a_text_may_be_as_long_as_the_limit() {
    let key = |len: usize| bytes(&format!("{KEY}{}", "\n".repeat(len - KEY.len()))).key();
    assert!(key(MAX_LEN).is_ok());
    let longer = key(MAX_LEN + 1).err().unwrap();
    assert!(matches!(longer, PemError::TooLong { max: MAX_LEN, .. }));
}

/// The system opens a folder like a file, and fails only when it is read.
#[cfg(unix)]
#[test]
fn a_folder_in_the_place_of_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = PemSource::File(folder.path().to_path_buf());
    let refused = source.key().err().unwrap();
    assert!(matches!(refused, PemError::Unreadable { .. }), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_key_that_every_user_may_read_or_that_others_may_change_is_open() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    assert!(!is_open_to_all(&path), "there is no file");
    std::fs::write(&path, KEY).unwrap();
    for (mode, is_open) in [
        (0o600, false),
        (0o400, false),
        (0o640, false),
        (0o440, false),
        (0o644, true),
        (0o602, true),
        (0o660, true),
    ] {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(is_open_to_all(&path), is_open, "{mode:o}");
    }
}

#[test]
fn a_file_that_is_replaced_has_another_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    let source = PemSource::File(path.clone());
    assert_eq!((source.stamp(), bytes(KEY).stamp()), (None, None));
    std::fs::write(&path, KEY).unwrap();
    let before = source.stamp();
    assert!(before.is_some() && source.stamp() == before);
    std::fs::write(&path, KEY.repeat(2)).unwrap();
    assert_ne!(source.stamp(), before);
}
