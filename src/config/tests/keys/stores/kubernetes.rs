//! A lease in Kubernetes: the path of a request has the namespace.

use std::{io::Write, net::TcpStream};

use super::server::{Asked, request};
use crate::config::tests::keys::{
    Rows, Seen, rows,
    scene::{Scene, recorded},
};

pub(super) fn rows() -> Vec<Rows> {
    vec![
        rows!(
            "lease.kubeconfig_file = \"FOLDER/jobs\"",
            asked,
            r#"
            lease.kubernetes = true | `lease.kubeconfig_file` contradicts `lease.kubernetes` | GET /version
            lease.kubernetes = true | `lease.kubeconfig_file` contradicts `lease.kubernetes` | "heartbeat":1000000000
        "#
        ),
        rows!(
            "lease.kubernetes = true",
            asked,
            r#"lease.kubeconfig_file: lease.kubeconfig_file = "FOLDER/other" -> lease.kubeconfig_file = "FOLDER/jobs" | /namespaces/other/leases | /namespaces/jobs/leases"#
        ),
        rows!(
            "lease.kubernetes = true\nlease.kubeconfig_file = \"FOLDER/jobs\"",
            asked,
            r#"lease.kubernetes_namespace = "mine" | /namespaces/jobs/leases | /namespaces/mine/leases"#
        ),
    ]
}

/// Version of a server. It is the response to every request.
const VERSION: &str = r#"{"major":"1","minor":"37","gitVersion":"","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"","platform":""}"#;

async fn asked(s: Scene) -> Seen {
    let asked = Asked::of(&s, |mut client: TcpStream, asked: &Asked| {
        while let Some(request) = request(&mut client) {
            asked.note(&request);
            let length = VERSION.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{VERSION}"
            );
            if client.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    let port = s.port.get();
    for namespace in ["jobs", "other"] {
        let kubeconfig = format!(
            r#"{{"apiVersion":"v1","kind":"Config","current-context":"here",
            "contexts":[{{"name":"here","context":{{"cluster":"it","user":"me","namespace":"{namespace}"}}}}],
            "clusters":[{{"name":"it","cluster":{{"server":"http://127.0.0.1:{port}"}}}}],
            "users":[{{"name":"me","user":{{}}}}]}}"#
        );
        s.write(namespace, &kubeconfig);
    }
    let a = s.own().start()?;
    Ok(asked.until("/leases").await + &recorded(&a))
}
