//! Tests of messages between the applications of a cluster's agents. These messages meet the same faults as the agents'
//! messages.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    error::Error,
    rc::Rc,
    time::Duration,
};

use actix::{Actor, Context, Handler, Message};
use actix_bully::{
    agent::{BullyAgent, BullyBuilder, BullyHandle},
    group::Envelope,
    leader::{Channel, LeaderProxy, Messages, ProxyCounts, ProxyError, Untaken},
    protocol::{AgentId, Timings},
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_sim::trace::Trace;
use serde::{Deserialize, Serialize};

use super::{MS, leaders_after, test};

const NAMES: [&str; 3] = ["api-1", "api-2", "api-3"];

/// Time for which a proxy of these tests waits for a leader's answer.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "String")]
struct Job(u64);

/// The handled jobs, each with the agent that handled it.
type Done = Rc<RefCell<Vec<(String, u64)>>>;

struct Worker {
    at: String,
    done: Done,
}

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Job> for Worker {
    type Result = String;

    fn handle(&mut self, Job(number): Job, _: &mut Context<Self>) -> String {
        self.done.borrow_mut().push((self.at.clone(), number));
        format!("{} did {number}", self.at)
    }
}

/// Three replicas that send their jobs to the leader.
struct Scene {
    cluster: Cluster,
    proxies: Rc<RefCell<BTreeMap<String, LeaderProxy<Job>>>>,
    done: Done,
}

/// Starts an agent and its proxy in the same way as an application.
fn serve(
    agent: BullyBuilder,
    done: &Done,
) -> Result<(BullyHandle, LeaderProxy<Job>), Box<dyn Error + Send + Sync>> {
    let agent = agent.timings(Timings::lan()).quorum(NAMES).start()?;
    let (at, done) = (agent.id().to_string(), Rc::clone(done));
    let jobs = LeaderProxy::builder(&agent, "job")
        .deliver_to(Worker { at, done }.start().recipient())
        .unknown_after(PATIENCE)
        .start()?;
    Ok((agent, jobs))
}

impl Scene {
    async fn new(seed: u64, conditions: Conditions) -> Self {
        let (proxies, done) = (Rc::default(), Done::default());
        let mut builder = Cluster::builder()
            .seed(seed)
            .network(conditions)
            .trace(Trace::new())
            .needs_voters(2)
            .timeout(Duration::from_secs(60));
        for name in NAMES {
            let (proxies, done): (Rc<RefCell<BTreeMap<_, _>>>, _) =
                (Rc::clone(&proxies), Rc::clone(&done));
            builder = builder.wired(name, move |node| {
                let agent = node.prepare(BullyAgent::builder(node.name()));
                let (agent, jobs) = serve(agent, &done)?;
                proxies.borrow_mut().insert(node.name().to_owned(), jobs);
                Ok(agent)
            });
        }
        let cluster = builder.start().unwrap();
        cluster.settle().await.unwrap();
        Self {
            cluster,
            proxies,
            done,
        }
    }

    async fn calm() -> Self {
        Self::new(1, Conditions::default()).await
    }

    fn jobs(&self, name: &str) -> LeaderProxy<Job> {
        let proxies = self.proxies.borrow();
        proxies.get(name).expect("one of the three").clone()
    }

    async fn ask(&self, name: &str, number: u64) -> Result<String, ProxyError> {
        self.jobs(name).send(Job(number), MS(100)).await
    }

    fn counts(&self, name: &str) -> ProxyCounts {
        self.jobs(name).counts()
    }

    /// Takes the jobs that were handled since the last call.
    fn take(&self) -> Vec<(String, u64)> {
        self.done.take()
    }
}

fn done(at: &str, numbers: &[u64]) -> Vec<(String, u64)> {
    let one = |number: &u64| (at.to_owned(), *number);
    numbers.iter().map(one).collect()
}

async fn sleep(millis: u64) {
    actix::clock::sleep(MS(millis)).await;
}

#[test]
fn the_proxy_of_an_isolated_agent_says_so_keeps_messages_and_delivers_each_once() {
    test(|| async {
        let mut scene = Scene::calm().await;
        assert_eq!(scene.ask("api-1", 0).await.unwrap(), "api-3 did 0");
        assert_eq!(scene.take(), done("api-3", &[0]));
        sleep(50).await; // until the job is acknowledged

        scene.cluster.isolate("api-1").unwrap();
        // The agent does not know yet that no other agent hears it.
        let lost = scene.ask("api-1", 1).await.unwrap_err();
        assert_eq!(lost, ProxyError::Unknown);
        sleep(2_000).await;
        let waited = scene.ask("api-1", 2).await.unwrap_err();
        let (within, why) = (MS(100), Untaken::NoLeader);
        assert_eq!(waited, ProxyError::NotTaken { within, why });
        scene.jobs("api-1").do_send(Job(3));
        scene.jobs("api-1").do_send(Job(4));
        sleep(2_000).await;
        assert_eq!(scene.counts("api-1").waiting, 2);
        assert_eq!(scene.take(), [], "nothing crosses");
        // The other agents go on.
        assert_eq!(scene.ask("api-2", 5).await.unwrap(), "api-3 did 5");

        scene.cluster.heal();
        scene.cluster.settle().await.unwrap();
        sleep(2_000).await;
        assert_eq!(scene.take(), done("api-3", &[5, 3, 4]));
        let ProxyCounts {
            delivered,
            unknown,
            waiting,
            ..
        } = scene.counts("api-1");
        assert_eq!((delivered, unknown, waiting), (3, 1, 0));
    });
}

#[test]
fn messages_leave_an_isolated_leader_for_the_next_one_and_its_own_wait() {
    test(|| async {
        let mut scene = Scene::calm().await;
        scene.cluster.isolate("api-3").unwrap();
        for number in 0..3 {
            scene.jobs("api-1").do_send(Job(number)); // in transit to a leader that is out of reach
            scene.jobs("api-3").do_send(Job(10 + number)); // `api-3` still leads and handles its own jobs
        }
        assert_eq!(scene.take(), []);
        assert_eq!(leaders_after(&scene.cluster).await, "api-2");
        assert_eq!(scene.take(), done("api-3", &[10, 11, 12]));
        scene.jobs("api-1").do_send(Job(3));
        scene.jobs("api-3").do_send(Job(13));
        sleep(2_000).await;
        let taken = scene.take();
        assert_eq!(taken.last(), done("api-2", &[3]).last(), "{taken:?}");
        assert!(!taken.contains(&("api-3".to_owned(), 13)), "{taken:?}");
        assert_eq!(scene.counts("api-3").waiting, 1);

        scene.cluster.heal();
        scene.cluster.settle().await.unwrap();
        sleep(2_000).await;
        assert_eq!(scene.take(), done("api-2", &[13]));
        // The messages in transit were lost. The leader may have handled them, so the proxy does not send them again.
        let counts = scene.counts("api-1");
        assert_eq!(counts.delivered + counts.unknown, 4, "{counts:?}");
        assert_eq!(counts.unknown, 3, "{counts:?}");
    });
}

#[test]
fn an_answer_takes_the_way_back_and_a_cut_one_way_loses_it() {
    test(|| async {
        let mut scene = Scene::new(1, Conditions::delayed(MS(5))).await;
        let began = scene.cluster.now();
        assert_eq!(scene.ask("api-1", 1).await.unwrap(), "api-3 did 1");
        let took = scene.cluster.now().since(began);
        assert!(took >= MS(10) && took < MS(15), "{took:?}");

        scene.cluster.cut_one_way("api-3", "api-1").unwrap();
        let lost = scene.ask("api-1", 2).await.unwrap_err();
        assert_eq!(lost, ProxyError::Unknown);
        assert_eq!(scene.take(), done("api-3", &[1, 2]), "it was handled");
        scene.cluster.heal();
        scene.cluster.settle().await.unwrap();
        sleep(2_000).await;
        assert_eq!(scene.take(), [], "and is not sent again");
        assert_eq!(scene.ask("api-1", 3).await.unwrap(), "api-3 did 3");

        let lost = scene.cluster.trace().count_of("application").lost;
        assert!(lost > 0, "the trace has what applications say");
    });
}

#[test]
fn a_frozen_leader_handles_nothing_and_a_killed_one_is_known_to_be_gone() {
    test(|| async {
        let mut scene = Scene::calm().await;
        scene.cluster.freeze("api-3").await.unwrap();
        let asked = scene.ask("api-1", 1).await.unwrap_err();
        assert_eq!(asked, ProxyError::Unknown);
        assert_eq!(leaders_after(&scene.cluster).await, "api-2");
        sleep(1_000).await;
        assert_eq!(scene.ask("api-1", 2).await.unwrap(), "api-2 did 2");
        scene.cluster.resume("api-3").unwrap();
        scene.cluster.settle().await.unwrap();
        sleep(1_000).await;
        assert_eq!(
            scene.take(),
            done("api-2", &[2]),
            "what waited for the frozen one came too late"
        );

        scene.cluster.kill("api-2").await.unwrap();
        assert_eq!(leaders_after(&scene.cluster).await, "api-3");
        assert_eq!(scene.ask("api-1", 3).await.unwrap(), "api-3 did 3");
        scene.cluster.restart("api-2").unwrap();
        scene.cluster.settle().await.unwrap();
        assert_eq!(scene.ask("api-2", 4).await.unwrap(), "api-3 did 4");
        assert_eq!(scene.take(), done("api-3", &[3, 4]));
    });
}

/// Sends jobs from all sides while links lose, repeat and delay messages and leaders are cut off. Returns the trace of
/// the run, and the handled jobs.
async fn storm(seed: u64) -> (String, Vec<(String, u64)>) {
    let bad = Conditions::builder()
        .delay(MS(0)..=MS(8))
        .loss(30)
        .duplication(200);
    let mut scene = Scene::new(seed, bad.build().unwrap()).await;
    let mut jobs = (0..).zip(NAMES.into_iter().cycle());
    for victim in NAMES.into_iter().rev() {
        for round in 0..4 {
            for (number, name) in jobs.by_ref().take(40) {
                scene.jobs(name).do_send(Job(number));
                sleep(7).await;
            }
            // The cut lasts longer than a proxy waits for an answer.
            match round {
                0 if victim == "api-2" => scene.cluster.partition([[victim]]).unwrap(),
                0 => scene.cluster.isolate(victim).unwrap(),
                2 => scene.cluster.heal(),
                _ => {}
            }
        }
    }
    scene.cluster.heal();
    scene.cluster.set_network(Conditions::default());
    scene.cluster.settle().await.unwrap();
    sleep(5_000).await;
    for name in NAMES {
        let ProxyCounts {
            delivered,
            unknown,
            waiting,
            ..
        } = scene.counts(name);
        assert_eq!((delivered + unknown, waiting), (160, 0), "{name}");
    }
    let text = scene.cluster.trace().to_text();
    (text, scene.take())
}

#[test]
fn each_message_is_handled_once_at_most_and_in_order_and_two_runs_are_the_same() {
    test(|| async {
        let mut leaders = BTreeSet::new();
        let mut lost = 0;
        for seed in 0..5 {
            let (text, handled) = storm(seed).await;
            for sender in 0..3 {
                let numbers = handled.iter().map(|(_, number)| number);
                let numbers: Vec<_> = numbers.filter(|number| *number % 3 == sender).collect();
                assert!(
                    numbers.is_sorted_by(|a, b| a < b),
                    "seed {seed}: {numbers:?}"
                );
                lost += 160 - numbers.len();
            }
            leaders.extend(handled.iter().map(|(at, _)| at.clone()));
            assert_eq!((text, handled), storm(seed).await, "seed {seed}");
        }
        assert!((1..400).contains(&lost), "{lost} of 2400");
        assert!(leaders.len() > 1, "{leaders:?}");
    });
}

#[test]
fn what_is_sent_by_name_meets_the_faults_as_well() {
    test(|| async {
        let mut cluster = Cluster::builder().agents(3).start().unwrap();
        cluster.settle().await.unwrap();
        let (channels, heard) = notes(&cluster);
        cluster.isolate("3").unwrap();
        assert_eq!(channels[0].send_to_all(&Note(1)).unwrap(), 2);
        sleep(10).await;
        assert_eq!(heard.take(), [("2", 1)]);
        // Messages to the sender's own agent need no network.
        let own = AgentId::new("agent-3").unwrap();
        channels[2].send_to(&own, &Note(2)).unwrap();
        cluster.heal();
        cluster.with_network(|network| network.ignore("application"));
        channels[0].send_to_all(&Note(3)).unwrap();
        sleep(10).await;
        assert_eq!(heard.take(), [("3", 2)]);
    });
}

#[test]
fn messages_arrive_once_at_most_and_in_order_whatever_the_network_does_to_the_agents() {
    test(|| async {
        let mut cluster = Cluster::builder().agents(2).start().unwrap();
        cluster.settle().await.unwrap();
        let (channels, heard) = notes(&cluster);
        let bad = Conditions::builder()
            .delay(MS(0)..=MS(30))
            .in_any_order()
            .loss(100)
            .duplication(500);
        cluster.set_network(bad.build().unwrap());
        for number in 0..200 {
            channels[0].send_to_all(&Note(number)).unwrap();
            sleep(number % 3).await;
        }
        sleep(100).await;
        let heard = heard.take();
        assert!(
            heard.is_sorted_by(|(_, one), (_, next)| one < next),
            "{heard:?}"
        );
        let lost = cluster.trace().count_of("application").lost;
        assert!(lost > 0 && heard.len() + usize::try_from(lost).unwrap() == 200);
    });
}

type Heard = Rc<RefCell<Vec<(&'static str, u64)>>>;

/// Registers a channel for notes at each agent. Returns the channels and the notes that arrive.
fn notes(cluster: &Cluster) -> (Vec<Channel<Note>>, Heard) {
    let heard = Heard::default();
    let mut channels = Vec::new();
    for at in ["1", "2", "3"] {
        if let Ok(agent) = cluster.handle(at) {
            let heard = Rc::clone(&heard);
            let to = Listener { at, heard }.start().recipient();
            let messages = Messages::of(agent).unwrap();
            channels.push(messages.register("note", to).unwrap());
        }
    }
    (channels, heard)
}

#[derive(Serialize, Deserialize)]
struct Note(u64);

struct Listener {
    at: &'static str,
    heard: Heard,
}

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<Envelope<Note>> for Listener {
    type Result = ();

    fn handle(&mut self, note: Envelope<Note>, _: &mut Context<Self>) {
        self.heard.borrow_mut().push((self.at, note.message.0));
    }
}
