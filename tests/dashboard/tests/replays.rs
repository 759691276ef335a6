//! Every kind of recording that a page can save, given to `cluster --replay`. The example plays it again to its last
//! entry, or refuses it with a reason and with advice.

use std::{thread, time::Duration};

use actix_bully::{
    Group,
    agent::BullyAgent,
    dashboard::{
        Dashboard,
        stage::{Stage, Staged},
    },
    operate::{Operated, RecordRequest},
    protocol::Timings,
    record::{RecordLimits, Recording},
    register::MemoryRegister,
    testkit::{
        cluster::{Cluster, ClusterBuilder},
        faults::Conditions,
        virtual_system,
    },
};
use actix_bully_dashboard_tests::{
    SOON, Viewer, alone, command, done, get, in_real_time, opened, run, saved,
};
use bully_core::{protocol::Election, record::RecordedAgent};
use bully_sim::trace::Trace;
use clap::{Parser, ValueEnum};
use futures::future::join;

use args::Args;
use protocol::{Play, Protocol, numbered};
use session::{Session, Wrong};

macro_rules! example {
    ($($name:ident: $file:literal),*) => { $(
        #[allow(dead_code, reason = "the example uses the other parts")]
        #[path = $file]
        mod $name;
    )* };
}

example!(
    args: "../../../examples/cluster/args.rs",
    board: "../../../examples/cluster/board.rs",
    command: "../../../examples/cluster/command.rs",
    json: "../../../examples/cluster/json.rs",
    protocol: "../../../examples/common/protocol.rs",
    replay: "../../../examples/cluster/replay.rs",
    screen: "../../../examples/cluster/screen.rs",
    session: "../../../examples/cluster/session.rs"
);

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Plays a recording as `cluster --replay` does. The error is the text that the example prints.
fn replayed(text: &str) -> Result<(), String> {
    struct Again<'a>(&'a Args, &'a Recording);

    impl Play for Again<'_> {
        type Outcome = Result<(), Wrong>;

        async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome {
            Session::start(self.0, cluster)?.again(self.1).await
        }
    }

    let read = || -> Result<(), Wrong> {
        let recording = Recording::read(text.as_bytes())?;
        let mut args = Args::parse_from(["cluster", "--json"]);
        replay::begin_as(&mut args, &recording)?;
        let again = Again(&args, &recording);
        let agents = &recording.header().agents;
        virtual_system().block_on(protocol::run(args.protocol, agents, again))
    };
    // The run needs an actix system in virtual time, which has to be on another thread.
    let read = || read().map_err(|wrong| wrong.to_string());
    thread::scope(|scope| scope.spawn(read).join().unwrap())
}

/// The start of a cluster as in the example `dashboard`.
struct Begin<'a> {
    protocol: Protocol,
    agents: &'a [RecordedAgent],
    trace: Trace,
}

impl Play for Begin<'_> {
    type Outcome = Staged;

    async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome {
        let quick = Conditions::builder().delay(MS(1)..=MS(3)).build().unwrap();
        let cluster = cluster.seed(3).network(quick).trace(self.trace);
        let mut cluster = cluster.start().unwrap();
        if self.protocol.awaits_campaign() {
            for agent in self.agents {
                cluster.campaign(agent.name.as_str()).unwrap();
            }
        }
        cluster.settle().await.ok();
        let slow = quick.to_builder().delay(MS(10)..=MS(30)).build().unwrap();
        cluster.set_network(slow);
        Staged::new(self.protocol.to_string(), cluster)
    }
}

/// Returns the page of five agents, with or without a second election beside the first.
fn page(first: Protocol, beside: Option<Protocol>, trace: Trace) -> Dashboard {
    let (stage, page) = Stage::virtual_time();
    let names = Protocol::value_variants().iter().map(Protocol::to_string);
    let mut stage = stage.elections(first.to_string(), names);
    thread::spawn(move || {
        virtual_system().block_on(async {
            let agents = numbered(5).unwrap();
            let begin = |protocol| {
                let begin = Begin {
                    protocol,
                    agents: &agents,
                    trace: trace.clone(),
                };
                protocol::run(protocol, &agents, begin)
            };
            match beside {
                None => stage.play_beside(begin(first).await, None).await,
                Some(other) => {
                    let (first, other) = join(begin(first), begin(other)).await;
                    stage.play_beside(first, Some(other)).await
                }
            }
        })
    });
    page.allow_faults()
}

/// Gives many commands, as a student does, while messages are under way.
async fn clicked(page: &Dashboard) {
    done(page, r#"{"speed":5}"#).await;
    let mut viewer = Viewer::new(page).await.unwrap();
    for words in [
        "crash agent-5",
        "cut agent-1 > agent-3",
        "isolate agent-2",
        "restart agent-5",
        "hang agent-4",
        "heal",
        "partition agent-1 agent-2",
        "network delay 5ms..15ms loss 10% duplicate 5%",
        "resume agent-4",
        "heal",
        "join agent-6 6",
        "score agent-1 9",
        "leave agent-6",
    ] {
        let told = command(page, &format!(r#"{{"command":"{words}"}}"#)).await;
        // A ballot has a fixed list of voters, so the sixth agent cannot join.
        let is_late = words.ends_with("agent-6") || words.ends_with("agent-6 6");
        assert!(told.status == 200 || is_late, "{words}: {told:?}");
        let until = viewer.moment["at_ms"].as_f64().unwrap() + 300.0;
        viewer
            .until("time passes", |v| v.moment["at_ms"].as_f64() > Some(until))
            .await;
    }
    // The stage stands still, and goes step by step.
    done(page, r#""pause""#).await;
    for words in ["campaign agent-2", "hang agent-4", "resume agent-4"] {
        command(page, &format!(r#"{{"command":"{words}"}}"#)).await;
        done(page, r#""step""#).await;
    }
}

/// Returns the trace of the example `dashboard`.
fn usual() -> Trace {
    Trace::new().bounded(10_000).with_repeated()
}

#[test]
fn the_runs_of_each_election_are_played_again() {
    run(async {
        let alone = Protocol::value_variants().iter();
        let beside = [
            (Protocol::Bully, Some(Protocol::Quorum)),
            (Protocol::Lease, Some(Protocol::Ring)),
        ];
        for (first, other) in alone.map(|one| (*one, None)).chain(beside) {
            let page = page(first, other, usual());
            clicked(&page).await;
            let text = saved(&page, "").await;
            assert_eq!(replayed(&text), Ok(()), "{first}");
            if other.is_some() {
                let text = saved(&page, "?beside=true").await;
                assert_eq!(replayed(&text), Ok(()), "beside {first}");
            }
            // The page of a recording saves this recording unchanged.
            let recording = Recording::read(text.as_bytes()).unwrap();
            assert_eq!(saved(&Dashboard::replay(recording), "").await, text);
        }
    });
}

#[test]
fn what_goes_on_from_a_moment_is_played_again_whatever_its_trace_keeps() {
    run(async {
        for (protocol, trace) in [
            (Protocol::Bully, Trace::new()),
            (
                Protocol::Bully,
                Trace::new().with_repeated().with_deliveries(),
            ),
            (Protocol::Lease, usual()),
            (Protocol::Ring, usual()),
            (Protocol::Ballot, usual()),
        ] {
            let page = page(protocol, None, trace);
            clicked(&page).await;
            let mut viewer = Viewer::new(&page).await.unwrap();
            let half = viewer.moment["at_ms"].as_f64().unwrap() / 2.0;
            // The second moment is within the first election, when the run's first command, `settle`, has not ended.
            for (at, number) in [(half.floor(), 2), (2.0, 3)] {
                done(&page, &format!(r#"{{"go_on_from":{{"at_ms":{at}}}}}"#)).await;
                viewer
                    .until("it goes on", |v| v.head["run"] == number)
                    .await;
                assert!(viewer.head["from"]["differs"].is_null(), "{}", viewer.head);
                command(&page, r#"{"command":"crash agent-3"}"#).await;
                done(&page, r#""step""#).await;
                assert_eq!(replayed(&saved(&page, "").await), Ok(()), "{protocol}");
            }
        }
    });
}

/// Asserts that the recording is refused with these texts: the reason and the advice.
fn is_refused(text: &str, says: &[&str]) {
    let refused = replayed(text).unwrap_err();
    for words in says {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    assert!(!refused.contains('\n') && refused.len() < 300, "{refused}");
}

#[test]
fn a_run_that_is_not_whole_or_not_of_this_example_is_refused() {
    run(async {
        let long = page(Protocol::Bully, None, Trace::new().bounded(50));
        clicked(&long).await;
        is_refused(&saved(&long, "").await, &["lacks its first", "its test"]);
        let told = get(&long, "/copies/recorded_run.rs").await;
        assert_eq!(told.status, 200, "that is what to do: {told:?}");

        let lan = || Cluster::builder().agents(3).timings(Timings::lan());
        let other = "in the program that recorded it";
        for (name, says) in [("bully", "other timings"), ("coin", "no election `coin`")] {
            let (stage, page) = Stage::virtual_time();
            let mut stage = stage.elections(name, [name]);
            thread::spawn(move || {
                virtual_system().block_on(async { stage.play(lan().start().unwrap()).await })
            });
            let text = saved(&page, "").await;
            is_refused(&text, &[says, other]);
            // A stage that has the election can play it.
            let told = opened(&page.allow_faults(), 0.0, text).await;
            assert_eq!(told.status, 200, "{name}: {told:?}");
        }
    });
}

#[test]
fn a_run_in_real_time_is_refused() {
    run(async {
        let (page, viewer, _thread) = in_real_time().await;
        assert!(viewer.head["unrepeatable"].is_string());
        let told = command(&page, r#"{"go_on_from":{"at_ms":1}}"#).await;
        assert!(told.message().contains("real time"), "{told:?}");
        is_refused(&saved(&page, "").await, &["real time", "--commands SCRIPT"]);
    });
}

#[test]
fn the_records_of_a_node_are_refused() {
    run(async {
        let group = Group::new("reports").unwrap();
        let leased = BullyAgent::builder("a")
            .score(1)
            .lease(MemoryRegister::new());
        let leased = leased.join(&group).start().unwrap();
        leased.wait_for_leader(SOON).await.unwrap();
        let operated = Operated::new(&alone("api-1")).agent(&leased);
        let on = RecordRequest::On(RecordLimits::default());
        assert!(!operated.record(on).is_empty());
        let page = Dashboard::new(operated).allow_faults();
        for (agent, protocol) in [("api-1", "bully"), ("a", "lease")] {
            let text = saved(&page, &format!("?agent={agent}")).await;
            let says = ["record of a running node", "play a run of a cluster again"];
            is_refused(&text, &says);
            let read = Recording::read(text.as_bytes()).unwrap();
            assert_eq!(read.header().protocol, protocol);
        }
    });
}
