//! The outcomes of commands, in virtual time.

use std::time::Duration;

use actix::{Actor, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Lifecycle},
    elections::bully::Preemption,
    operate::{Command, CommandRefusal, Operated, Order, Outcome, OutcomeVerdict},
    protocol::{Leader, Score, VoterChange},
    store::MemoryStore,
    testkit::{Inject, VirtualClock},
};

use crate::stage::{Log, MS, Scribe, id, play, settle};

/// Starts three agents, and waits until `c` leads.
pub(super) async fn trio() -> [BullyHandle; 3] {
    let group = Group::new("orders").unwrap();
    let agents = [("c", 3), ("b", 2), ("a", 1)].map(|(name, score)| {
        let agent = BullyAgent::builder(name).score(score);
        // Without preemption an agent of lower rank keeps the leadership that it was handed.
        let agent = agent.preemption(Preemption::Never);
        agent.join(&group).start().unwrap()
    });
    settle().await;
    assert!(agents[0].is_leader());
    agents
}

async fn ask(agent: &BullyHandle, command: Command) -> Outcome {
    Operated::new(agent).carry_out(Order::new(command)).await
}

fn step_down(to: Option<&str>) -> Command {
    Command::StepDown { to: to.map(id) }
}

/// Returns the leader that the agent knows, and asserts its name.
fn led_by(agent: &BullyHandle, name: &str) -> Leader {
    let leader = agent.leader().unwrap();
    assert_eq!(leader.id, id(name));
    leader
}

#[test]
fn a_leader_that_steps_down_names_its_successor_and_the_term() {
    play(async {
        let [c, b, a] = trio().await;
        let before = c.current().term;
        let outcome = ask(&c, step_down(Some("a"))).await;
        let leader = led_by(&a, "a");
        assert!(a.is_leader() && leader.term > before);
        assert_eq!(outcome, Outcome::HandedOver { leader });
        assert_eq!(outcome.verdict(), OutcomeVerdict::Done);
        // Without a name the election chooses the successor.
        let outcome = ask(&a, step_down(None)).await;
        assert_eq!(
            outcome,
            Outcome::HandedOver {
                leader: led_by(&b, "b")
            }
        );
    });
}

#[test]
fn a_refused_command_is_not_given_to_the_agent() {
    play(async {
        let alone = BullyAgent::builder("a").score(1);
        let alone = alone.join(&Group::new("g").unwrap()).start().unwrap();
        settle().await;
        let term = alone.current().leading;
        let outcome = ask(&alone, step_down(None)).await;
        assert_eq!(outcome, Outcome::Refused(CommandRefusal::NoOther));
        settle().await;
        assert!(term.is_some() && alone.current().leading == term);
    });
}

#[test]
fn a_score_counts_when_the_outcome_says_so() {
    play(async {
        let [c, b, _a] = trio().await;
        let score = Score::from(9);
        let leader = Some(led_by(&b, "c"));
        let outcome = ask(&b, Command::SetScore { score }).await;
        assert_eq!(outcome, Outcome::ScoreSet { score, leader });
        let members = Operated::new(&c).report().agents.remove(0).members;
        let shown = members
            .iter()
            .map(|member| (member.agent.as_str(), member.score));
        let first = shown.take(1).collect::<Vec<_>>();
        assert_eq!(first, [("b", Some(score))], "highest rank first");

        let outcome = ask(&c, Command::WithdrawScore).await;
        assert_eq!(
            outcome,
            Outcome::ScoreWithdrawn {
                leader: Some(led_by(&b, "b"))
            }
        );
        assert!(b.is_leader());
        let outcome = ask(&c, Command::WithdrawScore).await;
        assert_eq!(outcome.verdict(), OutcomeVerdict::Done, "twice is once");

        let gone = Scribe(Log::default()).start();
        b.tie_to(&gone).unwrap();
        drop(gone);
        clock::sleep(MS(200)).await;
        let outcome = ask(&b, Command::SetScore { score }).await;
        assert_eq!(outcome, Outcome::ScoreWaits { score });
        assert_eq!(outcome.verdict(), OutcomeVerdict::Otherwise);
    });
}

#[test]
fn a_drained_node_has_handed_over_before_it_left() {
    play(async {
        let [c, b, a] = trio().await;
        let node = Operated::new(&c);
        let outcome = node.carry_out(Order::new(Command::Drain)).await;
        assert_eq!(
            outcome,
            Outcome::Left {
                leader: Some(led_by(&b, "b")),
                lacks: None,
            }
        );
        assert_eq!(c.current().lifecycle, Lifecycle::Ended);
        let members = Operated::new(&a).report().agents.remove(0).members;
        assert_eq!(members.len(), 2, "it is no member any more");
        assert!(node.is_alive().await, "it ended on purpose");
        assert!(Operated::new(&c).is_alive().await, "by the other route too");
        let again = node.carry_out(Order::new(Command::Drain)).await;
        assert_eq!(again, Outcome::Refused(CommandRefusal::AgentEnded));
        // A follower can leave by this command, too.
        let outcome = ask(&a, Command::Drain).await;
        assert_eq!(
            outcome,
            Outcome::Left {
                leader: Some(led_by(&b, "b")),
                lacks: None,
            }
        );
        // The last agent has no successor, and does not wait for one.
        let began = clock::Instant::now();
        let outcome = ask(&b, Command::Drain).await;
        let (leader, lacks) = (None, None);
        assert_eq!(outcome, Outcome::Left { leader, lacks });
        assert!(began.elapsed() < MS(100));
    });
}

#[test]
fn a_drain_says_when_it_leaves_no_quorum() {
    play(async {
        let group = Group::new("orders").unwrap();
        let clock = VirtualClock::new();
        let names = ["a", "b", "c"];
        let [a, b, _c] = names.map(|name| {
            let agent = BullyAgent::builder(name).score(1).quorum(names);
            let agent = agent.store(MemoryStore::new()).clock(clock.clone());
            agent.join(&group).start().unwrap()
        });
        a.wait_for_leader(MS(60_000)).await.unwrap();
        let outcome = ask(&a, Command::Drain).await;
        let is_whole = matches!(outcome, Outcome::Left { lacks: None, .. });
        assert!(is_whole, "two of three are a quorum: {outcome:?}");
        let outcome = ask(&b, Command::Drain).await.to_string();
        let says = "which has no quorum now: 1 of its voters can be reached, and 2 are needed";
        assert!(outcome.contains(says), "{outcome}");
    });
}

#[test]
fn a_drain_ends_in_time_although_the_work_does_not() {
    play(async {
        let [c, b, _a] = trio().await;
        let work = Scribe(Log::default()).start();
        let _token = c.subscribe_draining(work.clone().recipient()).unwrap();
        let order = Order::new(Command::Drain).within(MS(100));
        let began = clock::Instant::now();
        let outcome = Operated::new(&c).carry_out(order).await;
        assert_eq!(outcome, Outcome::Stopped);
        assert!(began.elapsed() < MS(120), "{:?}", began.elapsed());
        assert_eq!(c.current().lifecycle, Lifecycle::Ended);
        clock::sleep(Duration::from_secs(1)).await;
        assert!(b.is_leader());
    });
}

#[test]
fn a_drain_that_nobody_succeeds_leaves_in_the_second_half_of_its_time() {
    play(async {
        let [c, b, a] = trio().await;
        for agent in [&b, &a] {
            let long = clock::sleep(Duration::from_secs(3_600));
            agent.addr().do_send(Inject::hang(long));
        }
        let order = Order::new(Command::Drain).within(MS(100));
        let began = clock::Instant::now();
        let outcome = Operated::new(&c).carry_out(order).await;
        let (leader, lacks) = (None, None);
        assert_eq!(outcome, Outcome::Left { leader, lacks });
        assert!(began.elapsed() < MS(60), "{:?}", began.elapsed());
    });
}

#[test]
fn an_agent_that_ended_otherwise_is_neither_alive_nor_ready() {
    play(async {
        let [c, b, _a] = trio().await;
        let node = Operated::new(&c).agent(&b);
        assert!(node.is_alive().await && node.is_ready() && !node.is_leading());
        b.addr().do_send(Inject::Crash);
        settle().await;
        assert_eq!(b.current().lifecycle, Lifecycle::Down);
        assert!(node.is_alive().await, "its supervisor restarts it");
        assert!(!node.is_ready());
        clock::sleep(MS(1_000)).await;
        assert!(Operated::new(&c).is_leading());
        c.leave(MS(1_000)).await.unwrap();
        assert!(!node.is_alive().await && !node.is_ready());
        assert!(Operated::new(&b).is_alive().await && Operated::new(&b).is_ready());
        let mut drain = Order::new(Command::Drain);
        drain.agent = Some(b.id().clone());
        let outcome = node.carry_out(drain).await;
        assert_eq!(outcome.verdict(), OutcomeVerdict::Done, "{outcome}");
        assert!(!node.is_alive().await, "only the other agent was drained");
    });
}

#[test]
fn where_several_agents_may_be_meant_one_has_to_be_named() {
    play(async {
        let [c, b, _a] = trio().await;
        let other = Group::new("stock").unwrap();
        let stock = BullyAgent::builder("c").score(1).join(&other);
        let stock = stock.start().unwrap();
        settle().await;
        let node = Operated::new(&c).agent(&b).agent(&stock);
        let score = Score::from(5);
        let order = |group: Option<&str>, agent: Option<&str>| {
            let mut order = Order::new(Command::SetScore { score });
            order.group = group.map(str::to_owned);
            order.agent = agent.map(id);
            node.carry_out(order)
        };
        let refused = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = refused(&["orders/c", "orders/b", "stock/c"]);
        let ambiguous = |agents| Outcome::Refused(CommandRefusal::Ambiguous { agents });
        assert_eq!(order(None, None).await, ambiguous(all.clone()));
        let two = refused(&["orders/c", "orders/b"]);
        assert_eq!(order(Some("orders"), None).await, ambiguous(two));
        let unknown = Outcome::Refused(CommandRefusal::NoAgent { agents: all });
        assert_eq!(order(Some("stock"), Some("b")).await, unknown);
        for (group, agent) in [
            (Some("stock"), None),
            (None, Some("b")),
            (Some("orders"), Some("c")),
        ] {
            assert_eq!(order(group, agent).await.verdict(), OutcomeVerdict::Done);
        }
    });
}

#[test]
fn a_change_of_voters_is_late_without_an_answer_and_refused_without_a_list() {
    play(async {
        let remove = || Command::ChangeVoters(VoterChange::Remove(id("b")));
        let [c, _b, _a] = trio().await;
        let refused = Outcome::Refused(CommandRefusal::NoVoters);
        assert_eq!(ask(&c, remove()).await, refused);

        // One of three voters cannot elect a leader, and cannot decide a change.
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").score(1).quorum(["a", "b", "c"]);
        let agent = agent.clock(VirtualClock::new()).store(MemoryStore::new());
        let alone = agent.join(&group).start().unwrap();
        let outcome = ask(&alone, remove()).await;
        assert_eq!(outcome.verdict(), OutcomeVerdict::Late);
        assert_eq!(outcome, Outcome::VotersUnknown);
        alone.leave(MS(100)).await.unwrap();
        let refused = Outcome::Refused(CommandRefusal::AgentEnded);
        assert_eq!(ask(&alone, remove()).await, refused);
    });
}
