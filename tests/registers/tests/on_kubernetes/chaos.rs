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
    Edited,
    /// The Lease gets an earlier value back, as from a backup.
    Restored,
    RoleTaken,
    TokenEnded,
}

const FATES: [Fate; 7] = [
    Fate::CutFromEtcd,
    Fate::Compacted,
    Fate::Deleted,
    Fate::Edited,
    Fate::Restored,
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
        backup: None,
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
    /// An earlier value of the Lease.
    backup: Option<String>,
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
                self.cluster.done("DELETE", &self.path(), "");
                self.processes.listen(long());
                self.processes.wait_for_leader(same)
            }
            Fate::Edited => {
                self.write(&self.shown());
                self.processes.listen(long());
                self.processes.wait_for_leader(same)
            }
            Fate::Restored => {
                self.backup = Some(self.shown());
                self.processes.leave(leader.process);
                self.processes.restart(leader.process);
                self.processes.wait_for_leader(leader.token);
                let backup = self.backup.take().expect("it was made");
                self.write(&backup);
                self.processes.listen(long());
                self.processes.wait_for_leader(leader.token)
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

    fn path(&self) -> String {
        let name = object_of(&self.cluster, HOLDER).expect("it is listed");
        format!("{LEASES}/{name}")
    }

    /// Returns the value of the record.
    fn shown(&self) -> String {
        let shown = self.cluster.done("GET", &self.path(), "");
        text_of(&shown, "actix-bully/value").expect("it has a value")
    }

    /// Writes this value, whatever value the record has now.
    fn write(&self, value: &str) {
        let path = self.path();
        for _ in 0..1_000 {
            let shown = self.cluster.done("GET", &path, "");
            let old = text_of(&shown, "actix-bully/value").expect("it has a value");
            let new = shown.replace(&old, value).replace(
                "\"metadata\":{",
                "\"metadata\":{\"generateName\":\"edited\",",
            );
            match self.cluster.ask("PUT", &path, &new) {
                (200, _) => return,
                (409, _) => {}
                (status, said) => panic!("{status} {said}"),
            }
        }
        panic!("the leader always comes first");
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
