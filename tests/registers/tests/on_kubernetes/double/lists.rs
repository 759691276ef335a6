//! Lists and their pages, and many writes at once.

use actix_bully_register_tests::{
    assert_away,
    kubernetes::double::{KubeFault, KubeVerb::List},
    list,
};
use futures::future::{join, join_all};
use serde_json::{Value, json};

use super::*;

/// Returns a register with `count` entries below `group`, and the Lease of the first entry.
fn with_entries(server: &KubeDouble, count: usize) -> (impl Register + use<>, Value) {
    let register = server.open();
    let keys: Vec<_> = (0..count)
        .map(|number| key(&format!("group/{number}")))
        .collect();
    // A busy machine does not make a thousand writes in the time of one answer.
    for some in keys.chunks(100) {
        let written = some.iter().map(|key| swap(&register, key, None, b"one"));
        for swap in block_on(join_all(written)) {
            done(swap);
        }
    }
    let lease = server.lease_of("group/0").expect("it was written");
    (register, lease)
}

/// Makes Leases that have the labels of the register, and no annotations of the register.
fn labelled(server: &KubeDouble, lease: &Value, count: u32) {
    for number in 0..count {
        let mut lease = lease.clone();
        lease["metadata"]["name"] = json!(format!("another-{number}"));
        lease["metadata"]["annotations"] = json!({"who": "wrote it"});
        server.create(lease);
    }
}

#[test]
fn many_writes_at_once_share_a_few_connections() {
    let server = KubeDouble::start();
    let (_register, _) = with_entries(&server, 100);
    // Sixteen requests are under way at once, and the client may keep one more connection.
    let connections = server.connections();
    assert!(connections <= 17, "{connections} connections");
}

/// A list without its last page must not be taken for the whole list. A list leaves out Leases that no register wrote.
#[test]
fn a_list_whose_rest_the_server_has_forgotten_fails_and_begins_anew_the_next_time() {
    let server = KubeDouble::start();
    let (register, lease) = with_entries(&server, 600);
    labelled(&server, &lease, 10);
    for fault in [KubeFault::Held, KubeFault::ClosedBefore] {
        let asked = server.asked(List);
        server.plan(&[List], 1, KubeFault::Spared);
        server.plan(&[List], 1, fault);
        let listing = register.list(&key("group")).expect("it lists");
        let (failed, ()) = block_on(join(listing, async {
            until("the rest is asked for", || server.asked(List) == asked + 2).await;
            server.forget();
            server.release();
        }));
        assert_away(&failed);
        works(&register, &key("group/0"));
        assert_eq!(block_on(list(&register, &key("group"))).len(), 600);
    }
}
