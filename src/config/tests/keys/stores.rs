//! The keys of the sections `lease` and `zenoh`: each key changes the settings of the client of its store.
//!
//! The tests of registers start nodes with such a section beside real servers. The crate `actix-bully-zenoh` decides the
//! use of the endpoints of zenoh.

use super::{Rows, Seen, check, rows, scene::Scene};

pub(super) fn rows() -> Vec<Rows> {
    [
        vec![rows!(
            "",
            here,
            r#"
            lease.folder = "FOLDER/leases" | [] | "leases"
            lease.folder = "FOLDER/missing/leases" | [] | `lease.folder` cannot be used
            zenoh.listen = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
            zenoh.connect = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
            zenoh.routers = ["tcp/127.0.0.1:1"] | [] | `zenoh` needs the crate
        "#
        )],
        #[cfg(feature = "postgres")]
        vec![
            rows!(
                "",
                here,
                r#"lease.postgres_url_file = "FOLDER/url" | [] | `lease.postgres_url_file` cannot be used"#
            ),
            rows!(
                "lease.postgres_url_file = \"FOLDER/url\"",
                of_postgres,
                r#"
                lease.postgres_schema = "jobs" | schema: "public" | schema: "jobs"
                lease.create_table = true | creates: false | creates: true
                lease.authorities_file = "/ca.pem" | security: Plain | authorities: "/ca.pem"
            "#
            ),
        ],
        #[cfg(feature = "etcd")]
        etcd_rows(),
        #[cfg(feature = "kubernetes")]
        vec![
            rows!(
                "lease.kubeconfig_file = \"/config\"",
                of_kubernetes,
                "lease.kubernetes = true | `lease.kubeconfig_file` contradicts `lease.kubernetes` | kubeconfig: Some"
            ),
            rows!(
                "lease.kubernetes = true",
                of_kubernetes,
                r#"
                lease.kubeconfig_file = "/config" | kubeconfig: None | kubeconfig: Some("/config")
                lease.kubernetes_namespace = "mine" | namespace: None | namespace: Some("mine")
            "#
            ),
        ],
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(feature = "etcd")]
fn etcd_rows() -> Vec<Rows> {
    vec![
        rows!(
            "",
            of_etcd,
            r#"lease.etcd_endpoints = ["http://127.0.0.1:1"] | endpoints: [] | endpoints: ["http://127.0.0.1:1"]"#
        ),
        rows!(
            "lease.etcd_endpoints = [\"http://127.0.0.1:1\"]",
            of_etcd,
            r#"
                lease.etcd_login_file = "FOLDER/login" | made: None | made: Some(File(
                lease.authorities_file = "/ca.pem" | security: Plain | authorities: "/ca.pem"
            "#
        ),
        rows!(
            SECURED.to_owned()
                + "lease.certificate_file = \"/me.pem\"\nlease.key_file = \"/me.key\"",
            of_etcd,
            r#"lease.authorities_file = "/ca.pem" | `lease.authorities_file` is missing | authorities: "/ca.pem""#
        ),
        rows!(
            TRUSTING.to_owned() + "lease.key_file = \"/me.key\"",
            of_etcd,
            r#"lease.certificate_file = "/me.pem" | `lease.certificate_file` is missing | certificate: "/me.pem""#
        ),
        rows!(
            TRUSTING.to_owned() + "lease.certificate_file = \"/me.pem\"",
            of_etcd,
            r#"lease.key_file = "/me.key" | `lease.key_file` is missing | key: "/me.key""#
        ),
    ]
}

#[test]
fn each_key_of_a_store_shows() {
    check(&rows());
}

#[cfg(feature = "etcd")]
const SECURED: &str = "lease.etcd_endpoints = [\"https://localhost:1\"]\n";

#[cfg(feature = "etcd")]
const TRUSTING: &str =
    "lease.etcd_endpoints = [\"https://localhost:1\"]\nlease.authorities_file = \"/ca.pem\"\n";

/// Starts the node, and returns its files.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn here(s: Scene) -> Seen {
    let _a = s.own().start()?;
    Ok(format!("{:?}", s.files()))
}

#[cfg(feature = "postgres")]
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn of_postgres(s: Scene) -> Seen {
    let own = s.own();
    own.check()?;
    Ok(format!("{:?}", own.postgres()))
}

#[cfg(feature = "etcd")]
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn of_etcd(s: Scene) -> Seen {
    s.write("login", "me:sesame");
    let own = s.own();
    own.check()?;
    Ok(format!("{:?}", own.etcd()?))
}

#[cfg(feature = "kubernetes")]
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn of_kubernetes(s: Scene) -> Seen {
    let own = s.own();
    own.check()?;
    Ok(format!("{:?}", own.kubernetes()))
}
