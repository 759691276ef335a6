//! Faults of a Lease, its etcd, a Role and a token, while three processes elect a leader by the Lease. Their clocks
//! differ by a minute.
//!
//! `REGISTER_ROUNDS` is the number of rounds, for a long run.

use std::path::PathBuf;

use actix_bully_register_tests::{
    judge::Said,
    kubernetes::server::{Cluster, LEASES, object_of},
    processes::{Processes, nanoseconds},
    rounds::{lease, long, number},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The API server of process 0 loses its etcd. The other processes use another API server.
    CutFromEtcd,
    Compacted,
    Deleted,
    RoleTaken,
    TokenEnded,
}

const FATES: [Fate; 5] = [
    Fate::CutFromEtcd,
    Fate::Compacted,
    Fate::Deleted,
    Fate::RoleTaken,
    Fate::TokenEnded,
];

const MAY: &[&str] = &["get", "list", "watch", "create", "update", "delete"];
/// Key of the election's record.
const HOLDER: &str = "default/jobs/lease";

#[test]
fn processes_never_lead_twice_whatever_befalls_the_lease() {
    let Some(cluster) = Cluster::of(2) else {
        return;
    };
    cluster.may(MAY);
    let files = [0, 1, 1].map(|server| cluster.kubeconfig("plain-token", &cluster.address(server)));
    let processes = files.iter().enumerate().map(|(process, file)| {
        let ahead = format!("HOLDER_CLOCK_AHEAD={}", process * 60);
        let store = format!("kubernetes:{}", file.display());
        let program = env!("CARGO_BIN_EXE_holder");
        let name = format!("api-{process}");
        ["env", &ahead, program, &name, &store]
            .map(str::to_owned)
            .into()
    });
    let mut story = Story {
        processes: Processes::run(processes),
        cluster,
        files: files.into(),
    };
    let mut leader = story.processes.wait_for_leader(0);
    for round in 0..number("REGISTER_ROUNDS", FATES.len()) {
        leader = story.befall(FATES[round % FATES.len()], leader);
    }
    let tenures = story.processes.judge();
    println!("{tenures} tenures");
}

struct Story {
    processes: Processes,
    cluster: Cluster,
    files: Vec<PathBuf>,
}

impl Story {
    /// Applies a fault, and returns the next leader.
    fn befall(&mut self, fate: Fate, leader: Said) -> Said {
        let same = leader.token - 1;
        match fate {
            Fate::CutFromEtcd => {
                self.cluster.server(0).wire().cut();
                let cut = nanoseconds();
                self.processes.listen(long());
                self.processes
                    .expect_silence(Some(0), (cut + lease(), nanoseconds()));
                self.cluster.server(0).wire().mend();
                self.processes.wait_for_leader(same)
            }
            Fate::Compacted => {
                let revision = self.cluster.done("GET", LEASES, "");
                let revision = text_of(&revision, "resourceVersion").expect("a list has a version");
                self.cluster.etcd().ctl(&["compact", &revision]);
                self.processes.listen(long());
                self.processes.wait_for_leader(same)
            }
            Fate::Deleted => {
                let name = object_of(&self.cluster, HOLDER).expect("it is listed");
                let path = format!("{LEASES}/{name}");
                self.cluster.done("DELETE", &path, "");
                self.processes.listen(long());
                self.processes.wait_for_leader(same)
            }
            Fate::RoleTaken => {
                self.cluster.may(&[]);
                self.listen_without_server();
                self.cluster.may(MAY);
                self.processes.wait_for_leader(same)
            }
            Fate::TokenEnded => {
                self.write_tokens("ended-token");
                // The API server checks a token at each request, and a client reads its kubeconfig only now and then.
                // The restart of the servers ends the connections of the clients, so that they read the file again.
                self.cluster.server(0).crash();
                self.cluster.server(1).crash();
                self.cluster.server(0).restart();
                self.cluster.server(1).restart();
                self.listen_without_server();
                self.write_tokens("plain-token");
                self.processes.wait_for_leader(same)
            }
        }
    }

    /// Waits, and expects that no process leads after the end of a lease.
    fn listen_without_server(&mut self) {
        // The API server keeps a Role and a token in its memory for a moment, so the silence begins later.
        self.processes.listen(long());
        let from = nanoseconds();
        self.processes.listen(long());
        self.processes
            .expect_silence(None, (from + lease(), nanoseconds()));
    }

    fn write_tokens(&self, token: &str) {
        for (file, server) in self.files.iter().zip([0, 1, 1]) {
            self.cluster
                .write_kubeconfig(file, token, &self.cluster.address(server));
        }
    }
}

/// Returns the text with this name in a JSON text without escapes.
fn text_of(json: &str, name: &str) -> Option<String> {
    let begin = format!("\"{name}\":\"");
    let rest = &json[json.find(&begin)? + begin.len()..];
    rest.split('"').next().map(str::to_owned)
}
