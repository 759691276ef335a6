//! The keys of the sections `lease` and `zenoh`: which store keeps the lease, how it is reached, and who the node is
//! there.
//!
//! A server in the test stands for each store, and writes down what it is asked; these rows run in real time. The crate
//! `actix-bully-zenoh` decides what the endpoints of zenoh are for.

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

/// The files of the node.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn here(s: Scene) -> Seen {
    let _a = s.own().start()?;
    Ok(format!("{:?}", s.files()))
}
