//! Writes whose answer is lost, or that are done late.

use actix_bully::register::Swap;
use actix_bully_register_tests::{
    assert_away, assert_soon_unknown,
    kubernetes::double::{KubeFault, KubeVerb::Update},
    read,
};
use futures::future::join;

use super::*;

#[test]
fn a_write_whose_answer_is_lost_is_unknown_and_is_sent_once() {
    for (fault, is_done) in [
        (KubeFault::ClosedBefore, false),
        (KubeFault::ClosedAfter, true),
        (KubeFault::HalfAnswered, true),
        (KubeFault::Misanswered("<html>".to_owned()), true),
        (
            KubeFault::Misanswered("{\"kind\":\"Lease\"}".to_owned()),
            true,
        ),
    ] {
        for operation in OPERATIONS {
            let server = KubeDouble::start();
            let register = server.open();
            let entry = written(&register, &holder(), b"one");
            let asked = server.asked(operation.verb());
            server.plan(&[operation.verb()], 1, fault.clone());
            let row = format!("{operation:?} {fault:?}");
            let error = operation.run(&register, &entry);
            if operation == Operation::Remove && error.is_ok() {
                // A success is enough for a removal, whatever JSON the answer contains.
                assert!(
                    matches!(&fault, KubeFault::Misanswered(said) if said.starts_with('{')),
                    "{row}"
                );
                continue;
            }
            let error = error.expect_err(&row);
            let lost = if operation.writes() {
                Failure::Unknown
            } else {
                Failure::Unreachable
            };
            assert_eq!(failure(&error), lost, "{row}: {error}");
            assert_eq!(server.asked(operation.verb()), asked + 1, "{row}: once");
            let found = works(&register, &operation.key());
            let found = found.as_ref().map(|entry| &*entry.value);
            assert_eq!(found, operation.leaves(is_done), "{row}");
        }
    }
}

#[test]
fn a_frozen_server_leaves_a_write_unknown_and_is_asked_again_on_a_new_connection() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let entry = written(&register, &holder, b"one");
    let connections = server.connections();
    server.freeze();
    assert_soon_unknown(&register, &holder, Some(&entry));
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

/// Swaps an entry while the server holds the request. Runs `meanwhile`, and then lets the request go on.
fn swapped_late(
    server: &KubeDouble,
    register: &dyn Register,
    entry: &Entry,
    meanwhile: impl AsyncFnOnce(),
) -> Result<Swap, RegisterError> {
    let asked = server.asked(Update);
    server.plan(&[Update], 1, KubeFault::Held);
    let holder = holder();
    let (late, ()) = block_on(join(
        register.swap(&holder, Some(entry), b"late".to_vec()),
        async {
            until("it is asked", || server.asked(Update) > asked).await;
            meanwhile().await;
            server.release();
        },
    ));
    late
}

/// Returns whether the swap found the entry `found`, or ended with an unknown outcome.
fn is_late(swap: &Result<Swap, RegisterError>, found: Option<&Entry>) -> bool {
    match swap {
        Ok(swap) => *swap == Swap::Conflict(found.cloned()),
        Err(error) => error.is_unknown(),
    }
}

#[test]
fn a_late_write_does_not_bring_back_a_removed_entry() {
    let (server, holder) = (KubeDouble::start(), holder());
    let (register, other) = (server.open(), server.open());
    let entry = written(&register, &holder, b"one");
    let late = swapped_late(&server, &register, &entry, async || {
        let removal = removed(&other, &holder, &entry).await;
        assert!(matches!(removal, Ok(Removal::Done)), "{removal:?}");
    });
    assert!(is_late(&late, None), "{late:?}");
    assert_eq!(server.lease_of(holder.as_str()), None);
    let entry = written(&other, &holder, b"two");
    let late = swapped_late(&server, &register, &entry, async || {
        removed(&other, &holder, &entry)
            .await
            .expect("it is removed");
        done(swap(&other, &holder, None, b"three").await);
    });
    let found = works(&register, &holder);
    assert_eq!(
        found.as_ref().map(|entry| &*entry.value),
        Some(&b"three"[..])
    );
    assert!(is_late(&late, found.as_ref()), "{late:?}");
}

#[test]
fn a_removed_entry_is_not_made_again_by_a_swap_of_it() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let entry = written(&register, &holder, b"one");
    let name = server.name_of(holder.as_str());
    let made = server.asked(KubeVerb::Create);
    block_on(async {
        for is_ours in [true, false] {
            if is_ours {
                removed(&register, &holder, &entry)
                    .await
                    .expect("it is removed");
            } else {
                done(swap(&register, &holder, None, b"two").await);
                server.delete(&name);
            }
            let gone = swap(&register, &holder, Some(&entry), b"three").await;
            assert_eq!(gone, Swap::Conflict(None));
            let gone = removed(&register, &holder, &entry).await;
            assert!(matches!(gone, Ok(Removal::Conflict(None))), "{gone:?}");
            assert_eq!(read(&register, &holder).await, None);
            assert_eq!(server.lease(&name), None);
        }
    });
    assert_eq!(server.asked(KubeVerb::Create), made + 1);
}

#[test]
fn a_restored_backup_is_read_as_it_is() {
    let (server, holder) = (KubeDouble::start(), holder());
    let register = server.open();
    let one = written(&register, &holder, b"one");
    let backup = server.back_up();
    block_on(async { done(swap(&register, &holder, Some(&one), b"two").await) });
    let two = works(&register, &holder).expect("it is there");
    server.restore(&backup);
    block_on(async {
        let lost = swap(&register, &holder, Some(&two), b"three").await;
        assert_eq!(lost, Swap::Conflict(Some(one.clone())));
        done(swap(&register, &holder, Some(&one), b"four").await);
    });
}
