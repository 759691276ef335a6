//! The files of an authority, and certificates that it issued. They were made in advance, because a library for
//! certificates needs nine crates. They are valid until 4096, and the key of the authority was not kept.

use super::scene::Scene;

/// Writes the certificate of the authority as `ca.pem`, and the certificates of all hosts with their keys.
pub(super) fn certify(s: &Scene) {
    let files = [
        ("ca.pem", include_str!("certificates/ca.pem")),
        ("a.pem", include_str!("certificates/a.pem")),
        ("a.key", include_str!("certificates/a.key")),
        ("b.pem", include_str!("certificates/b.pem")),
        ("b.key", include_str!("certificates/b.key")),
    ];
    for (name, text) in files {
        s.write(name, text);
    }
}
