//! From a configuration to running agents: in one process, over pipes in virtual time, and over sockets. Also the
//! errors of configurations that cannot run.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use actix::{
    System,
    clock::{Instant, sleep},
};
use actix_bully::{
    agent::{BullyBuilder, LeaveError},
    config::{Config, PeerSettings, RunError, RunningNode},
    protocol::Timings,
    remote::{NodeIncarnation, transport::Pipes},
    store::OpenStore,
    testkit::{Inject, VirtualClock},
};

use super::kit::{MS, id, play, scene, until};

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
fn a_node_without_its_store_does_not_start_unless_it_is_told_that_it_never_voted() {
    scene(async |pipes, folder| {
        let refused = start(&of_trio("a", folder, &[]), pipes, 1).unwrap_err();
        let said = refused.to_string();
        let path = folder.join("a").display().to_string();
        let expected = format!(
            "the store in `quorum.store_file` cannot be used: {path} is missing: if this node never voted, create it by `FileStore::create` (in a configuration: `store = \"create\"`); if it was lost, rename the node, or create it and raise `epoch` by 1 at all voters"
        );
        assert_eq!(said, expected);
        assert!(!folder.join("a").exists());

        let first = [("QUORUM_STORE", "open-or-create")];
        let running = start(&of_trio("a", folder, &first), pipes, 1).unwrap();
        assert!(folder.join("a").exists());
        running.leave(MS(5_000)).await.unwrap();
        drop(running);
        // `open-or-create` must not create a new store if the store exists.
        sleep(MS(1_000)).await;
        let before = fs::read(folder.join("a")).unwrap();
        let running = start(&of_trio("a", folder, &first), pipes, 2).unwrap();
        assert!(fs::read(folder.join("a")).unwrap().len() >= before.len());
        running.leave(MS(5_000)).await.unwrap();
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
        let rows: [(SetPath, PathBuf, &str); 5] = [
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
            (
                |config, path| {
                    config.quorum.voters = vec!["a".to_owned()];
                    config.quorum.store_file = Some(path);
                },
                at("vote"),
                "the store in `quorum.store_file` cannot be used: ",
            ),
        ];
        for (set, path, expected) in rows {
            let mut config = Config::new("a", "g");
            config.listen = Some("127.0.0.1:0".to_owned());
            set(&mut config, path);
            let said = config.start().unwrap_err().to_string();
            assert!(said.starts_with(expected), "{said}");
        }
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

fn only_for_its_owner(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Starts a node over real sockets with a secret. It dials the peers that run already, and the other peers dial it.
fn over_tcp(name: &str, folder: &Path, peers: &[(&str, Option<&RunningNode>)]) -> RunningNode {
    let mut config = Config::new(name, "jobs");
    config.listen = Some("127.0.0.1:0".to_owned());
    config.secret_file = Some(folder.join("secret"));
    config.memory_file = Some(folder.join(format!("{name}.node")));
    config.score = u32::from(name.as_bytes()[0]).into();
    config.quorum.voters = ["a", "b", "c"].map(str::to_owned).to_vec();
    config.quorum.store_file = Some(folder.join(format!("{name}.vote")));
    config.quorum.store = OpenStore::OpenOrCreate;
    for (peer, running) in peers {
        let at = running.map(|running| running.bridge().unwrap().local_addr().unwrap());
        config.peers.push(match at {
            Some(at) => PeerSettings::new(peer, &at.to_string()),
            None => PeerSettings::inbound(peer),
        });
    }
    config.start().unwrap()
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
fn a_trio_over_sockets_runs_on_threads_of_its_own_and_leaves_in_order() {
    System::new().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, [7; 32]).unwrap();
        only_for_its_owner(&secret);
        let a = over_tcp("a", folder.path(), &[("b", None), ("c", None)]);
        let b = over_tcp("b", folder.path(), &[("a", Some(&a)), ("c", None)]);
        let c = over_tcp("c", folder.path(), &[("a", Some(&a)), ("b", Some(&b))]);
        assert!(
            format!("{a:?}").contains("arbiter: Some(ElectionArbiter"),
            "{a:?}"
        );
        // This thread is busy for longer than any lease lasts. The nodes do not notice, because they have threads of
        // their own.
        let busy = Timings::default().worst_case_quorum_failover(2);
        c.agent()
            .wait_for_leader(Duration::from_secs(20))
            .await
            .unwrap();
        let leader = |of: &RunningNode| of.agent().leader().map(|found| (found.id, found.term));
        until("all agree", || {
            let found = leader(&c);
            found.is_some() && leader(&a) == found && leader(&b) == found
        })
        .await;
        let before = leader(&c);
        #[expect(clippy::disallowed_methods, reason = "that is what is tried")]
        std::thread::sleep(busy);
        assert_eq!(leader(&c), before);
        c.leave(Duration::from_secs(10)).await.unwrap();
        until("b took over", || b.agent().is_leader()).await;
        assert!(a.group().members().get(&id("c")).is_none(), "it has left");
    });
}
