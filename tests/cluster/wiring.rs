//! Tests of agents that an application builds: a test freezes or kills an agent, and brings it back with all of its
//! actors.

use std::{cell::RefCell, error::Error, rc::Rc, time::Duration};

use actix::{Actor, AsyncContext, Context};
use actix_bully::{
    agent::{BullyAgent, BullyBuilder, BullyHandle, LeaderGuard},
    clock::WallClock,
    leader::Singleton,
    protocol::{Event, LostReason, Timings},
    testkit::{
        EventLog,
        cluster::{Cluster, Condition},
    },
};

use super::{MS, leaders_after, refusal, settled, test};

type Failed = Box<dyn Error + Send + Sync>;

const NAMES: [&str; 3] = ["api-1", "api-2", "api-3"];

/// Rows that the applications of a test have written: the name of the application and the fence.
type Rows = Rc<RefCell<Vec<(String, u64)>>>;

/// Writes a row every 10 ms.
struct Writer {
    leader: LeaderGuard,
    name: String,
    rows: Rows,
}

impl Actor for Writer {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(MS(10), |writer, _| {
            let fence = writer.leader.fence().expect("a quorum has one").number();
            writer.rows.borrow_mut().push((writer.name.clone(), fence));
        });
    }
}

/// Starts an agent and its singleton in the same way as an application.
fn serve(agent: BullyBuilder, name: &str, rows: &Rows) -> Result<BullyHandle, Failed> {
    let agent = agent
        .timings(Timings::lan())
        .quorum(NAMES)
        .score(i32::from(name != "api-1") + i32::from(name == "api-3"))
        .start()?;
    let (name, rows) = (name.to_owned(), Rc::clone(rows));
    Singleton::builder(&agent, move |leader| Writer {
        leader,
        name: name.clone(),
        rows: Rc::clone(&rows),
    })
    .start_without_handler()?;
    Ok(agent)
}

async fn trio(rows: &Rows) -> Cluster {
    let mut builder = Cluster::builder()
        .needs_voters(2)
        .timeout(Duration::from_secs(60));
    for name in NAMES {
        let rows = Rc::clone(rows);
        builder = builder.wired(name, move |node| {
            serve(node.prepare(BullyAgent::builder(node.name())), name, &rows)
        });
    }
    settled(builder).await
}

fn last(rows: &Rows) -> String {
    rows.borrow()
        .last()
        .map_or_else(String::new, |row| row.0.clone())
}

/// Starts an agent with a schedule in the same way as an application, without any setting of a clock.
fn remind(agent: BullyBuilder, ticks: &Rows) -> Result<BullyHandle, Failed> {
    let agent = agent.timings(Timings::lan()).quorum(NAMES).start()?;
    let ticks = Rc::clone(ticks);
    agent
        .every("mail", Duration::from_secs(60))
        .start(move |tick| {
            let due = (tick.leader.token().node.to_string(), tick.due.as_millis());
            ticks.borrow_mut().push(due);
            std::future::ready(())
        })?;
    Ok(agent)
}

#[test]
fn the_ticks_of_a_schedule_are_due_by_the_time_of_the_cluster() {
    test(|| async {
        let ticks = Rows::default();
        let mut builder = Cluster::builder().needs_voters(2);
        for name in NAMES {
            let ticks = Rc::clone(&ticks);
            builder = builder.wired(name, move |node| {
                remind(node.prepare(BullyAgent::builder(node.name())), &ticks)
            });
        }
        let mut cluster = settled(builder).await;
        actix::clock::sleep(Duration::from_secs(600)).await;
        let due: Vec<_> = ticks.take().into_iter().map(|(_, due)| due).collect();
        assert!(due.len() >= 9, "{due:?}");
        assert!(
            due.windows(2).all(|two| two[1] - two[0] == 60_000),
            "{due:?}"
        );
        let passed = cluster.wall_clock().now().as_millis() - due[due.len() - 1];
        assert!(passed < 61_000, "{passed}");
        // A process that comes back also has the time of the cluster.
        cluster.kill("api-3").await.unwrap();
        cluster.restart("api-3").unwrap();
        actix::clock::sleep(Duration::from_secs(600)).await;
        assert!(ticks.borrow().len() >= 9, "{ticks:?}");
    });
}

fn assert_fences_rise(rows: &Rows) {
    let rows = rows.borrow();
    assert!(rows.is_sorted_by_key(|row| row.1), "{rows:?}");
}

#[test]
fn a_process_that_is_frozen_writes_nothing_and_its_actor_is_dropped_before_it_writes_again() {
    test(|| async {
        let rows = Rows::default();
        let mut cluster = trio(&rows).await;
        actix::clock::sleep(MS(100)).await;
        assert_eq!(last(&rows), "api-3");
        cluster.freeze("api-3").await.unwrap();
        let written = rows.borrow().len();
        assert_eq!(cluster.status().agents()[2].condition, Condition::Hung);
        assert_eq!(
            refusal(cluster.freeze("api-3").await),
            "api-3 hangs: resume it first"
        );
        assert_eq!(leaders_after(&cluster).await, "api-2");
        actix::clock::sleep(MS(100)).await;
        let others = rows.borrow()[written..].iter().all(|row| row.0 == "api-2");
        assert!(others, "{rows:?}");
        cluster.resume("api-3").unwrap();
        actix::clock::sleep(MS(1_000)).await;
        assert_fences_rise(&rows);
        assert_eq!(last(&rows), "api-2", "a healthy leader is left in place");
    });
}

#[test]
fn a_crashed_agent_comes_back_behind_the_same_handle_and_its_singleton_with_it() {
    test(|| async {
        let rows = Rows::default();
        let mut cluster = trio(&rows).await;
        let handle = cluster.handle("api-3").unwrap().clone();
        let before = handle.current().incarnation;
        cluster.crash("api-3").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "api-2");
        actix::clock::sleep(Duration::from_secs(1)).await;
        assert!(
            handle.current().incarnation > before,
            "{:?}",
            handle.current()
        );
        cluster.step_down("api-2", Some("api-3")).unwrap();
        assert_eq!(leaders_after(&cluster).await, "api-3");
        assert!(handle.is_leader());
        actix::clock::sleep(MS(100)).await;
        assert_eq!(last(&rows), "api-3");
        assert_fences_rise(&rows);
    });
}

#[test]
fn a_process_that_is_killed_is_wired_anew_and_keeps_its_votes() {
    test(|| async {
        let rows = Rows::default();
        let mut cluster = trio(&rows).await;
        let dead = cluster.handle("api-3").unwrap().clone();
        cluster.kill("api-3").await.unwrap();
        let written = rows.borrow().len();
        assert!(!dead.is_leader());
        assert_eq!(
            refusal(cluster.kill("api-3").await),
            "api-3 is down: restart it first"
        );
        assert_eq!(leaders_after(&cluster).await, "api-2");
        cluster.restart("api-3").unwrap();
        // The cluster would refuse a store here that had forgotten the votes.
        assert_eq!(leaders_after(&cluster).await, "api-2");
        // A frozen agent can be killed, too.
        cluster.freeze("api-2").await.unwrap();
        cluster.kill("api-2").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "api-3");
        actix::clock::sleep(MS(100)).await;
        assert!(rows.borrow().len() > written, "nobody writes");
        assert_eq!(last(&rows), "api-3");
        assert_fences_rise(&rows);
    });
}

#[test]
fn a_lease_runs_out_on_command() {
    test(|| async {
        let rows = Rows::default();
        let mut cluster = trio(&rows).await;
        assert_eq!(
            refusal(cluster.expire("api-1")),
            "api-1 does not lead: command an agent that considers itself leader (api-3)"
        );
        let handle = cluster.handle("api-3").unwrap().clone();
        let mut events = EventLog::of(&handle).unwrap();
        let term = handle.current().term;
        cluster.expire("api-3").unwrap();
        assert!(!handle.is_leader(), "at once, without a step of the agent");
        let lost = |event: &Event| matches!(event, Event::Lost { term: of, reason: LostReason::LeaseExpired } if *of == term);
        events
            .expect(MS(500), "the lease ends", lost)
            .await
            .unwrap();
        cluster.settle().await.unwrap();
        assert_fences_rise(&rows);

        let astra = Cluster::builder().agents(2).astra();
        let mut astra = astra.start().unwrap();
        astra.campaign("2").unwrap();
        astra.settle().await.unwrap();
        assert_eq!(
            refusal(astra.expire("2")),
            "agent-2 leads without an end, because its election has no lease: crash or stop the agent instead"
        );
    });
}

#[test]
fn an_expectation_that_is_not_met_says_what_came() {
    test(|| async {
        let rows = Rows::default();
        let mut cluster = trio(&rows).await;
        let mut events = EventLog::of(cluster.handle("api-2").unwrap()).unwrap();
        cluster.kill("api-3").await.unwrap();
        cluster.settle().await.unwrap();
        let lost = |event: &Event| matches!(event, Event::Lost { .. });
        let wrong = events.expect(MS(50), "a loss", lost).await.unwrap_err();
        let text = wrong.to_string();
        assert!(
            text.starts_with("expected of api-2 in 50ms: a loss; reported:\n"),
            "{text}"
        );
        assert!(text.contains("acquired the leadership in term 2"), "{text}");
        cluster.step_down("api-2", None).unwrap();
        let wrong = events
            .expect_none(MS(1_000), "a loss", lost)
            .await
            .unwrap_err();
        assert!(
            wrong.came.last().is_some_and(|last| lost(&last.1)),
            "{wrong}"
        );
        let expected = "no event such as: a loss";
        assert!(wrong.to_string().contains(expected), "{wrong}");
        events.take();
        events.expect_none(MS(100), "a loss", lost).await.unwrap();
        let nothing = events.expect(MS(1), "a loss", lost).await.unwrap_err();
        assert!(
            nothing.to_string().ends_with("a loss; reported nothing"),
            "{nothing}"
        );
    });
}

#[test]
fn a_start_that_fails_says_why_and_one_of_another_agent_is_refused() {
    test(|| async {
        let failing = Cluster::builder().wired("api-1", |node| {
            let agent = node.prepare(BullyAgent::builder(node.name()));
            Ok(agent.quorum(["api-2", "api-2"]).start()?)
        });
        let text = refusal(failing.start());
        assert!(
            text.starts_with("api-1 cannot be started: the settings of the election are refused: "),
            "{text}"
        );
        let other = Cluster::builder().wired("api-1", |node| {
            Ok(node.prepare(BullyAgent::builder("api-2")).start()?)
        });
        assert_eq!(
            refusal(other.start()),
            "api-1 cannot be started: its start returned an agent with the name api-2: build the agent with the name that it is given"
        );
    });
}
