//! New certificates without a restart: for new connections, and never half.

use std::{fs, path::Path};

use actix_bully::remote::tls::{PemError, TlsConfig, TlsError};
use actix_bully_tls_tests::{
    Authority, Leaf,
    ends::{is_open, meet, pair, refused},
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
async fn links_outlive_a_reload_and_new_ones_use_the_new_files() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let files = Files::new(&old.pem, &old.node("a"));
    let a = files.config();
    let b = old.config("b");
    let (mut at_a, mut at_b) = pair(&a, &b).await;
    assert!(is_open(&mut at_a, &mut at_b).await);

    files.put(&new.pem, &new.node("a"));
    a.clone().reload().expect("good files"); // a clone is the same configuration
    assert!(is_open(&mut at_a, &mut at_b).await, "the link stays");

    let (accepted, _) = meet(&a, &b).await;
    assert_eq!(
        refused(accepted).why.to_string(),
        "the peer does not trust the authority of this node's certificate",
        "b does not trust the new authority"
    );
    let (mut at_a, mut at_b) = pair(&a, &new.config("b")).await;
    assert!(is_open(&mut at_a, &mut at_b).await);
    let (mut at_b, mut at_a) = pair(&new.config("b"), &a).await;
    assert!(is_open(&mut at_a, &mut at_b).await, "as the dialler, too");
}

/// How an authority is replaced without an outage: both, then the certificates, then one.
#[tokio::test]
async fn an_authority_is_replaced_without_an_outage() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let both = old.pem.clone() + &new.pem;
    let a_files = Files::new(&old.pem, &old.node("a"));
    let b_files = Files::new(&old.pem, &old.node("b"));
    let (a, b) = (a_files.config(), b_files.config());
    for (authorities, a_leaf, b_leaf) in [
        (&both, old.node("a"), old.node("b")),
        (&both, new.node("a"), old.node("b")),
        (&both, new.node("a"), new.node("b")),
        (&new.pem, new.node("a"), new.node("b")),
    ] {
        a_files.put(authorities, &a_leaf);
        a.reload().expect("good files");
        pair(&a, &b).await; // in between, too
        b_files.put(authorities, &b_leaf);
        b.reload().expect("good files");
        let (mut at_a, mut at_b) = pair(&a, &b).await;
        assert!(is_open(&mut at_a, &mut at_b).await);
    }
}

#[tokio::test]
async fn a_bad_reload_changes_nothing() {
    let trust = Authority::new("ours");
    let good = trust.node("a");
    let files = Files::new(&trust.pem, &good);
    let (a, b) = (files.config(), trust.config("b"));
    let before = a.expires_at();
    let half = Leaf {
        key: trust.node("a").key,
        ..good.clone()
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

    files.put(&trust.pem, &good);
    a.reload().expect("good again");
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
