//! New certificates without a restart: they serve new connections, and half a pair is never used.

use std::{fs, path::Path};

use actix_bully::remote::tls::{PemError, TlsConfig, TlsError};
use actix_bully_tls_tests::{
    Authority, Leaf,
    authority::valid,
    ends::{is_open, pair},
};

/// The files of one node.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(authorities: &str, leaf: &Leaf) -> Self {
        let files = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        files.put(authorities, leaf);
        files
    }

    fn put(&self, authorities: &str, leaf: &Leaf) {
        let write = |name, text: &str| fs::write(self.path().join(name), text).expect("written");
        write("ca.pem", authorities);
        write("own.pem", &leaf.certificate);
        write("own.key", &leaf.key);
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn config(&self) -> TlsConfig {
        TlsConfig::builder()
            .authorities_file(self.path().join("ca.pem"))
            .certificate_file(self.path().join("own.pem"))
            .key_file(self.path().join("own.key"))
            .build()
            .expect("good files")
    }
}

#[tokio::test]
async fn a_reload_reads_the_files_and_a_bad_one_changes_nothing() {
    let trust = Authority::new("ours");
    let good = trust.node("a");
    let files = Files::new(&trust.pem, &good);
    let (a, b) = (files.config(), trust.config("b"));
    let before = a.expires_at();
    let half = Leaf {
        key: trust.node("a").key,
        ..good
    };
    files.put(&trust.pem, &half);
    let error = a.reload().expect_err("the key is another");
    assert!(matches!(error, TlsError::KeyMismatch), "{error:?}");

    files.put(&trust.pem, &trust.node("c"));
    let error = a.reload().expect_err("the node is another");
    assert!(matches!(error, TlsError::OtherNode { .. }), "{error:?}");

    fs::remove_file(files.path().join("own.pem")).expect("removed");
    let error = a.reload().expect_err("nothing to read");
    assert!(
        matches!(error, TlsError::Pem(PemError::Unreadable { .. })),
        "{error:?}"
    );

    assert_eq!(a.expires_at(), before);
    let (mut at_a, mut at_b) = pair(&a, &b).await;
    assert!(is_open(&mut at_a, &mut at_b).await);

    // `reload` reads good files at once, and does not wait for the next handshake.
    files.put(&trust.pem, &trust.odd("a", |params| valid(params, -1, 40)));
    a.reload().expect("good again");
    assert_ne!(a.expires_at(), before);
}

#[tokio::test]
async fn parts_from_memory_can_be_replaced() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let a = old.config("a");
    a.reload().expect("what was good stays good");
    let wrong = new.builder(&new.node("c"));
    assert!(matches!(a.replace(wrong), Err(TlsError::OtherNode { .. })));
    pair(&a, &old.config("b")).await;
    a.replace(new.builder(&new.node("a"))).expect("good parts");
    pair(&a, &new.config("b")).await;
    a.reload().expect("the new parts are the ones that stay");
    pair(&a, &new.config("b")).await;
}
