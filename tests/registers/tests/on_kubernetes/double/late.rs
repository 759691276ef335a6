//! A write that is done late, and writes of an entry that is gone.

use actix_bully::register::Swap;
use actix_bully_register_tests::{assert_away, assert_unknown};
use tokio::time::timeout;

use super::*;

#[test]
fn a_frozen_server_leaves_a_write_unknown_and_is_asked_again_on_a_new_connection() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let entry = written(&register, &holder, b"one");
    let connections = server.connections();
    server.freeze();
    let late = register.swap(&holder, Some(&entry), b"late".to_vec());
    let late = block_on(async { timeout(Duration::from_secs(10), late).await });
    assert_unknown(&late.expect("it does not wait for the server"));
    let away = block_on(register.read(&holder));
    assert_away(&away);
    server.resume();
    works(&register, &holder);
    assert!(server.connections() > connections);
    block_on(until("it is done late", || {
        let lease = server.lease_of(holder.as_str()).expect("it is there");
        lease["metadata"]["resourceVersion"]
            != entry.version.as_str().split_once('/').expect("two parts").1
    }));
    let late = works(&register, &holder).expect("it is there");
    assert_eq!(late.value, b"late");
    block_on(async { done(swap(&register, &holder, Some(&late), b"next").await) });
}

/// By an update without its uid, the server would make a deleted Lease again.
#[test]
fn a_removed_entry_is_not_made_again_by_a_swap_of_it() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let entry = written(&register, &holder, b"one");
    let name = server.name_of(holder.as_str());
    server.delete(&name);
    block_on(async {
        let gone = swap(&register, &holder, Some(&entry), b"two").await;
        assert_eq!(gone, Swap::Conflict(None));
        let gone = removed(&register, &holder, &entry).await;
        assert!(matches!(gone, Ok(Removal::Conflict(None))), "{gone:?}");
    });
    assert_eq!(server.lease(&name), None);
}
