//! New certificates without a restart: they serve new connections, and parts of another node are never used.

use std::fs;

use actix_bully::remote::tls::{PemError, TlsError};
use actix_bully_tls_tests::{Authority, ends::pair};

#[tokio::test]
async fn parts_can_be_replaced_by_parts_of_the_same_node() {
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
    // Files that cannot be read change nothing.
    let folder = tempfile::tempdir().expect("a folder");
    let c = new.files(folder.path(), &new.node("c"));
    fs::remove_file(folder.path().join("own.pem")).expect("removed");
    let error = c.reload().expect_err("nothing to read");
    let is_unreadable = matches!(error, TlsError::Pem(PemError::Unreadable { .. }));
    assert!(is_unreadable, "{error:?}");
    pair(&c, &new.config("b")).await;
}
