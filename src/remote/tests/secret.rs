//! Secrets: their form, their sources, and their proofs.

use std::{fs, io};

use crate::remote::{
    Credential, Proof,
    secret::{Secret, SecretError},
};

const WORD: &[u8] = b"sixteen bytes or";

fn secret(bytes: &[u8]) -> Secret {
    Secret::new(bytes).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// RFC 4231, test cases 1 and 6: a key that is shorter than a block, and a key that is longer.
#[test]
fn a_proof_is_hmac_sha_256() {
    for (key, data, mac) in [
        (
            vec![0x0b; 20],
            &b"Hi There"[..],
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            vec![0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ] {
        let right = Proof(hex(mac).try_into().unwrap());
        assert_eq!(secret(&key).prove(data), [right]);
        assert!(secret(&key).accepts(data, &[right]));
    }
}

#[test]
fn only_the_right_proof_of_the_right_statement_is_accepted() {
    let secret = secret(WORD);
    let right = secret.prove(b"this")[0];
    assert!(secret.accepts(b"this", &[right]));
    assert!(secret.accepts(b"this", &[Proof([0; 32]), right]));
    assert!(!secret.accepts(b"that", &[right]));
    assert!(!secret.accepts(b"this", &[]));
    for bit in 0..256 {
        let mut wrong = right;
        wrong.0[bit / 8] ^= 1 << (bit % 8);
        assert!(!secret.accepts(b"this", &[wrong]), "bit {bit}");
    }
}

#[test]
fn a_secret_that_takes_the_place_of_another_proves_both() {
    let [old, new, other] = [b'o', b'n', b'x'].map(|byte| secret(&[byte; 16]));
    let changing = new
        .clone()
        .also_accept(old.clone().also_accept(other.clone()));
    let proofs = changing.prove(b"this");
    assert_eq!(proofs, [new.prove(b"this"), old.prove(b"this")].concat());
    assert_eq!(proofs.len(), Proof::MOST);
    for known in [&old, &new] {
        assert!(changing.accepts(b"this", &known.prove(b"this")));
        assert!(known.accepts(b"this", &proofs));
    }
    assert!(
        !changing.accepts(b"this", &other.prove(b"this")),
        "the one before the old one"
    );
    assert!(!new.accepts(b"this", &old.prove(b"this")));
}

#[test]
fn challenges_differ() {
    let secret = secret(WORD);
    let [one, other] = [(); 2].map(|()| secret.challenge().unwrap());
    assert_ne!(one, other);
}

#[test]
fn a_secret_that_is_too_short_or_too_long_is_refused() {
    let Err(SecretError::TooShort { len: 15, min: 16 }) = Secret::new(&WORD[..15]) else {
        panic!("15 bytes");
    };
    assert!(Secret::new(WORD).is_ok());
    assert!(Secret::new(vec![7; 4_096]).is_ok());
    let refused = Secret::new(vec![7; 4_097]);
    assert!(matches!(refused, Err(SecretError::TooLong { max: 4_096 })));
}

#[test]
fn no_secret_is_shown() {
    let shown = format!(
        "{:?}",
        secret(WORD).also_accept(secret(b"another sixteen "))
    );
    assert_eq!(shown, "Secret { .. }");
    let refused = format!("{:?}", Secret::new(b"short").unwrap_err());
    assert!(!refused.contains("short\""), "{refused}");
}

/// Creates a file with these bytes that only its owner may read.
fn file(folder: &tempfile::TempDir, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.path().join("secret");
    fs::write(&path, bytes).unwrap();
    allow(&path, 0o600);
    path
}

#[cfg(unix)]
fn allow(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn allow(_: &std::path::Path, _: u32) {}

#[test]
fn a_secret_is_read_from_a_file_without_its_line_end() {
    let folder = tempfile::tempdir().unwrap();
    let expected = secret(WORD).prove(b"this");
    for end in ["", "\n", "\r\n"] {
        let path = file(&folder, &[WORD, end.as_bytes()].concat());
        assert_eq!(Secret::read_file(&path).unwrap().prove(b"this"), expected);
    }
    let path = file(&folder, b"fifteen bytes..\n");
    let refused = Secret::read_file(&path);
    assert!(matches!(
        refused,
        Err(SecretError::TooShort { len: 15, .. })
    ));
    let path = file(&folder, &vec![7; 1 << 20]);
    assert!(matches!(
        Secret::read_file(&path),
        Err(SecretError::TooLong { .. })
    ));
    let path = file(&folder, &[&[7; 4_096][..], b"\r\n"].concat());
    assert!(Secret::read_file(&path).is_ok());
    let missing = Secret::read_file(folder.path().join("none"));
    let Err(SecretError::Unreadable { reason, .. }) = missing else {
        panic!("there is no such file");
    };
    assert_eq!(reason.kind(), io::ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_holds_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, WORD);
    for mode in [0o640, 0o604, 0o620, 0o602, 0o644] {
        allow(&path, mode);
        let refused = Secret::read_file(&path);
        assert!(
            matches!(refused, Err(SecretError::OpenToOthers { .. })),
            "{mode:o}"
        );
    }
    allow(&path, 0o400);
    assert!(Secret::read_file(&path).is_ok());
}
