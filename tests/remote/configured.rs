//! From a configuration to running agents: in one process, over pipes in virtual time, and over sockets. Also the
//! errors of configurations that cannot run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use actix::{
    System,
    clock::{Instant, sleep},
};
use actix_bully::{
    agent::{BullyBuilder, LeaveError},
    config::{Config, RunError, RunningNode},
    protocol::Timings,
    remote::{NodeIncarnation, transport::Pipes},
    store::OpenStore,
    testkit::{Inject, VirtualClock},
};

use super::kit::{MS, play, scene, until};

/// The shortest configuration that an operator can write.
const LEAST: &str = "node = \"api-1\"\ngroup = \"jobs\"\n";

/// One file for three nodes. Only their environment variables differ.
const TRIO: &str = r#"
    group = "jobs"
    cluster = "test"
    dangerous_plaintext = true
    peers_name_all = true
    [timings]
    preset = "lan"
    [quorum]
    voters = ["a", "b", "c"]
    [[peers]]
    node = "a"
    address = "a:1"
    [[peers]]
    node = "b"
    address = "b:1"
    [[peers]]
    node = "c"
    address = "c:1"
"#;

fn config(text: &str, variables: &[(&str, &str)]) -> Config {
    let pairs = variables
        .iter()
        .map(|(name, value)| (format!("T_{name}"), (*value).to_owned()));
    Config::from_toml(text)
        .unwrap()
        .with_env("T", pairs)
        .unwrap()
}

/// Returns the configuration of a node of the trio, with its store in this folder.
pub(super) fn of_trio(name: &str, folder: &Path, more: &[(&str, &str)]) -> Config {
    let (listen, score) = (
        format!("{name}:1"),
        u32::from(name.as_bytes()[0]).to_string(),
    );
    let path = folder.join(name);
    let path = path.to_str().unwrap();
    let own = [
        ("NODE", name),
        ("LISTEN", &*listen),
        ("SCORE", &*score),
        ("QUORUM_STORE_FILE", path),
    ];
    config(TRIO, &[&own, more].concat())
}

/// Starts a node in virtual time. `start` is the incarnation of its bridge, and it counts the starts of all nodes.
fn start(config: &Config, pipes: &Pipes, start: u64) -> Result<RunningNode, RunError> {
    start_with(config, pipes, start, |agent| agent)
}

/// Starts a node in virtual time, with these settings of its agent.
pub(super) fn start_with(
    config: &Config,
    pipes: &Pipes,
    start: u64,
    more: impl FnOnce(BullyBuilder) -> BullyBuilder + 'static,
) -> Result<RunningNode, RunError> {
    let host = pipes.host(&config.node);
    let starter = config.starter()?.on_this_arbiter();
    starter
        .bridge(move |bridge| {
            bridge
                .transport(host)
                .incarnation(NodeIncarnation(start))
                .seed(7)
        })
        .agent(|agent| more(agent.clock(VirtualClock::new())))
        .start()
}

fn all_follow(nodes: &[&RunningNode], leader: &str) -> bool {
    let follows = |node: &&RunningNode| {
        node.agent()
            .leader()
            .is_some_and(|found| found.id == leader)
    };
    nodes.iter().all(follows)
}

/// The leader that left may come back at once, although its wall clock was set back meanwhile. Its configuration
/// needs no key for that.
#[test]
fn a_trio_elects_by_quorum_and_a_leader_that_leaves_hands_over() {
    scene(async |pipes, folder| {
        let first = [("QUORUM_STORE", "open-or-create")];
        let begin = |name: &str| start(&of_trio(name, folder, &first), pipes, 9 << 40).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(begin);
        until("c leads", || {
            all_follow(&[&a, &b, &c], "c") && c.agent().is_leader()
        })
        .await;

        let asked = Instant::now();
        c.leave(MS(5_000)).await.unwrap();
        until("b leads", || b.agent().is_leader()).await;
        // The leader hands over. An election after silence would take longer, because it waits for a promise.
        assert!(asked.elapsed() < MS(60), "{:?}", asked.elapsed());
        until("all know", || all_follow(&[&a, &b], "b")).await;

        // A later start opens the store that exists.
        for clock in [1 << 40, 8 << 40, 10 << 40] {
            let c = start(&of_trio("c", folder, &[]), pipes, clock).unwrap();
            until("c is back", || all_follow(&[&a, &b, &c], "b")).await;
            assert!(c.bridge().unwrap().incarnation().0 >= clock);
            c.leave(MS(5_000)).await.unwrap();
        }
        for node in [a, b] {
            let counters = node.bridge().unwrap().counters();
            assert_eq!(counters.get("stale"), Some(0));
        }
    });
}

#[test]
fn a_node_whose_agent_hangs_keeps_an_eighth_of_its_time_for_the_goodbye() {
    scene(async |pipes, folder| {
        let first = [("QUORUM_STORE", "open-or-create")];
        let begin = |name: &str| start(&of_trio(name, folder, &first), pipes, 1).unwrap();
        let [a, b] = ["a", "b"].map(begin);
        until("b leads", || all_follow(&[&a, &b], "b")).await;
        b.agent().addr().do_send(Inject::hang(sleep(MS(60_000))));
        let goodbyes = || a.bridge().unwrap().counters().get("goodbye").unwrap();
        let before = goodbyes();
        let said = b.leave(MS(800)).await.unwrap_err().to_string();
        let hangs = LeaveError::TimedOut { deadline: MS(700) }.to_string();
        assert!(said.contains(&hangs), "{said}");
        assert_eq!(goodbyes(), before + 1);
    });
}

#[test]
fn a_member_that_took_part_in_an_epoch_does_not_start_in_an_older_one() {
    scene(async |pipes, folder| {
        let next = [("QUORUM_STORE", "open-or-create"), ("QUORUM_EPOCH", "1")];
        let b = start(&of_trio("b", folder, &next), pipes, 1).unwrap();
        sleep(MS(10_000)).await;
        b.leave(MS(5_000)).await.unwrap();
        drop(b);
        sleep(MS(1_000)).await;
        let refused = start(&of_trio("b", folder, &[]), pipes, 2).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the agent does not start, because of `quorum.epoch`: the election's configuration refuses the agent: \
             b has taken part with the list of voters of epoch 1, and its configuration has the older epoch 0: give it the voters and the `epoch` of the other members, 1 or higher"
        );
        // The failed start has ended all its parts, so the address and the store are free again.
        sleep(MS(1_000)).await;
        let again = of_trio("b", folder, &[("QUORUM_EPOCH", "1")]);
        start(&again, pipes, 3)
            .unwrap()
            .leave(MS(5_000))
            .await
            .unwrap();
    });
}

/// A function that sets a path or an address in a configuration.
type SetPath = fn(&mut Config, PathBuf);

#[test]
fn a_start_that_fails_names_the_key_and_the_cause() {
    System::new().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = taken
            .local_addr()
            .map(|at| (taken, at.to_string()))
            .unwrap();
        fs::write(at("file"), "no folder").unwrap();
        fs::write(at("vote"), "something else").unwrap();
        let listen = format!(
            "the bridge does not start, because of `listen`: cannot listen at {}: ",
            taken.1
        );
        let set_store: SetPath = |config, path| {
            config.quorum.voters = vec!["a".to_owned()];
            config.quorum.store_file = Some(path);
        };
        let in_store = "the store in `quorum.store_file` cannot be used: ";
        let rows: [(SetPath, PathBuf, &str); 6] = [
            (
                |config, path| config.listen = Some(path.display().to_string()),
                PathBuf::from(&taken.1),
                &listen,
            ),
            (
                |config, path| config.memory_file = Some(path),
                at("none").join("node"),
                "the bridge does not start, because of `memory_file`: ",
            ),
            (
                |config, path| config.records_folder = Some(path),
                at("file").join("records"),
                "the folder in `records_folder` cannot be used: ",
            ),
            (
                |config, path| config.secret_file = Some(path),
                at("secret"),
                "the secret in `secret_file` cannot be used: the secret cannot be read from ",
            ),
            (set_store, at("vote"), in_store),
            // A voter that lost its store must not begin with a new one.
            (set_store, at("missing"), in_store),
        ];
        for (set, path, expected) in rows {
            let mut config = Config::new("a", "g");
            config.listen = Some("127.0.0.1:0".to_owned());
            set(&mut config, path);
            let said = config.start().unwrap_err().to_string();
            assert!(said.starts_with(expected), "{said}");
        }
        assert!(!at("missing").exists());
        let refused = Config::new("a", "").start().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the configuration is refused: `group` is missing: name the election"
        );
    });
}

#[test]
fn a_folder_that_goes_while_the_parts_start_ends_them() {
    scene(async |pipes, folder| {
        let records = folder.join("records");
        let mut config = of_trio("b", folder, &[("QUORUM_STORE", "open-or-create")]);
        config.records_folder = Some(records.clone());
        let (host, replaced) = (pipes.host("b"), records.clone());
        let starter = config.starter().unwrap().on_this_arbiter();
        let starter = starter.bridge(move |bridge| {
            fs::remove_dir(&replaced).unwrap();
            fs::write(&replaced, "no folder").unwrap();
            bridge.transport(host)
        });
        let refused = starter.start().unwrap_err();
        assert!(matches!(refused, RunError::Records { .. }), "{refused}");
        sleep(MS(1_000)).await;
        fs::remove_file(&records).unwrap();
        let again = start(&config, pipes, 2).expect("its store and its address are free");
        again.leave(MS(5_000)).await.unwrap();
    });
}

#[test]
fn a_node_keeps_its_incarnation_beside_the_records_of_its_lease() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let leases = folder.path().join("leases");
        let text = format!("{LEAST}listen = \"127.0.0.1:0\"\n[lease]\nfolder = {leases:?}\n");
        let config = config(&text, &[]);
        assert_eq!(config.starter().unwrap().drain(), MS(640));
        let mut last = 0;
        for clock in [1_000, 9_000, 1_001, 900] {
            let running = start(&config, &Pipes::new(), clock << 40).unwrap();
            let begun = running.bridge().unwrap().incarnation().0;
            assert!(begun > last && begun >= clock << 40, "{begun} after {last}");
            last = begun;
            running.leave(MS(5_000)).await.unwrap();
        }
        let memory = leases.join("api-1.node");
        fs::write(&memory, "something else").unwrap();
        let said = start(&config, &Pipes::new(), 1).unwrap_err().to_string();
        let because = "the bridge does not start, because of `lease.folder`: ";
        assert!(said.starts_with(because), "{said}");
    });
}

#[test]
fn a_node_over_sockets_runs_on_a_thread_of_its_own() {
    System::new().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new("a", "jobs");
        config.listen = Some("127.0.0.1:0".to_owned());
        config.quorum.voters = vec!["a".to_owned()];
        config.quorum.store_file = Some(folder.path().join("a.vote"));
        config.quorum.store = OpenStore::Create;
        let node = config.start().unwrap();
        let leader = node.agent().wait_for_leader(MS(20_000)).await.unwrap();
        // This thread is busy for longer than any lease lasts. The node does not notice.
        #[expect(clippy::disallowed_methods, reason = "that is what is tried")]
        std::thread::sleep(Timings::default().worst_case_quorum_failover(2));
        assert!(node.agent().is_leader());
        assert_eq!(node.agent().leader(), Some(leader));
        node.leave(MS(10_000)).await.unwrap();
    });
}
