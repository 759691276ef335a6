//! The keys of the sections `lease` and `zenoh`: the store of the lease, the way to the store, and the node's account
//! there.
//!
//! A server in the test stands for each store, and writes down the requests; these rows run in real time. The crate
//! `actix-bully-zenoh` decides the use of the endpoints of zenoh.

#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "kubernetes")]
mod kubernetes;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "etcd", feature = "kubernetes", feature = "postgres"))]
mod server;

use super::{Rows, Seen, check, rows, scene::Scene};

pub(super) fn rows() -> Vec<Rows> {
    [
        vec![rows!(
            "",
            here,
            r#"
            lease.folder = "FOLDER/leases" | [] | "leases"
            zenoh.listen = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
            zenoh.connect = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
            zenoh.routers = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
        "#
        )],
        #[cfg(feature = "etcd")]
        etcd::rows(),
        #[cfg(feature = "kubernetes")]
        kubernetes::rows(),
        #[cfg(feature = "postgres")]
        postgres::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn each_key_of_a_store_shows() {
    check(&rows());
}

/// Starts the node, and returns its files.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn here(s: Scene) -> Seen {
    let _a = s.own().start()?;
    Ok(format!("{:?}", s.files()))
}
