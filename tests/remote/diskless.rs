//! Voters without a disk across three hosts: the cost of a restart, and two processes of one name.

use actix::clock::sleep;
use actix_bully::{
    agent::{BullyAgent, Finding},
    clock::{WallClock as _, WallTime},
    protocol::{Term, Timings},
    remote::{BridgeBuilder, transport::Pipes},
    testkit::{VirtualClock, VirtualWallClock},
};

use super::{
    kit::{Host, MS, builder, elsewhere, others, scene, until},
    voters::{VOTERS, all_follow_alone, believer},
};

/// The beginning of 2024, in milliseconds since the beginning of 1970.
const SINCE_2024: u64 = 1_704_067_200_000;

/// The beginning of 2026.
const DAWN: WallTime = WallTime::from_millis(1_767_225_600_000);

fn process(bridge: BridgeBuilder, wall: &VirtualWallClock) -> Host {
    let shown = wall.clone();
    let bridge = bridge.wall_clock(move || shown.now().as_millis());
    let mut host = Host::with(|group| bridge.carry(group));
    let name = format!("{}1", host.bridge.node());
    let agent = BullyAgent::builder(&name)
        .score(name.bytes().next().map_or(0, i32::from))
        .timings(Timings::lan())
        .quorum(VOTERS)
        .diskless()
        .clock(VirtualClock::new())
        .wall_clock(wall.clone())
        .join(&host.group)
        .start()
        .unwrap();
    host.agents.push(agent);
    host
}

fn host(pipes: &Pipes, name: &'static str, wall: &VirtualWallClock) -> Host {
    process(builder(pipes, name, &others(name)), wall)
}

fn twin(pipes: &Pipes, wall: &VirtualWallClock) -> Host {
    process(elsewhere(pipes, "b", &["a", "c"]), wall)
}

async fn elected(pipes: &Pipes, wall: &VirtualWallClock) -> ([Host; 3], Term) {
    let hosts = ["a", "b", "c"].map(|name| host(pipes, name, wall));
    all_follow_alone(&hosts.each_ref(), "c1").await;
    let term = hosts[2].agents[0].leader().unwrap().term;
    (hosts, term)
}

#[test]
fn a_later_process_of_a_name_takes_no_part_while_the_earlier_one_lives_and_says_why() {
    scene(async |pipes, _| {
        let wall = VirtualWallClock::new(DAWN);
        let ([a, b, c], term) = elected(pipes, &wall).await;
        let twin = twin(pipes, &wall);
        for _ in 0..10_000 {
            sleep(MS(1)).await;
            assert_eq!(believer(&[&a, &b, &c, &twin]).as_deref(), Some("c1"));
            assert!(!twin.is_linked("a") && !twin.is_linked("c"));
        }
        assert_eq!(c.agents[0].leader().unwrap().term, term);
        assert!(b.is_linked("a") && b.is_linked("c") && b.follows("c1"));
        for holder in [&a, &c] {
            assert!(holder.bridge.counters().get("name_held") > Some(0));
            let is_twice = |finding: &Finding| matches!(finding, Finding::PeerNameTwice { node } if node == "b");
            holder.assert_finds(is_twice);
        }
        let diagnosis = twin.agents[0].diagnosis();
        let said = diagnosis.to_string();
        assert!(
            said.contains("an earlier process with this node's name"),
            "{said}"
        );
        let is_twice = |finding: &Finding| matches!(finding, Finding::NodeNameTwice { .. });
        assert_eq!(diagnosis.findings.iter().filter(|f| is_twice(f)).count(), 2);
        let recovers = |of: &Host| of.finds(|found| matches!(found, Finding::Recovers { .. }));
        assert!(recovers(&twin) && !recovers(&b));

        // The earlier process ends. From then on the later process is the voter.
        b.stop().await;
        until("the twin is let in", || {
            twin.is_linked("a") && twin.is_linked("c")
        })
        .await;
        until("it takes part", || !recovers(&twin) && twin.follows("c1")).await;
        assert_eq!(believer(&[&a, &c, &twin]).as_deref(), Some("c1"));
        sleep(MS(61_000)).await;
        for holder in [&a, &c] {
            assert!(!holder.finds(|found| matches!(found, Finding::PeerNameTwice { .. })));
        }
    });
}

/// The host claims no term that the other hosts refuse by their clocks, so no bridge refuses such a term either. Both
/// sides report the other side's clock.
#[test]
fn a_host_whose_clock_is_an_hour_ahead_leads_in_the_terms_of_the_others() {
    scene(async |pipes, _| {
        let wall = VirtualWallClock::new(DAWN);
        let hour = 3_600_000;
        let ahead = VirtualWallClock::new(WallTime::from_millis(DAWN.as_millis() + hour));
        let [a, b] = ["a", "b"].map(|name| host(pipes, name, &wall));
        let c = host(pipes, "c", &ahead);
        all_follow_alone(&[&a, &b, &c], "c1").await;
        let term = c.agents[0].leader().unwrap().term;
        let by_theirs = DAWN.as_millis() - SINCE_2024 + 10_000;
        assert!(
            term.0 < by_theirs + 60_000,
            "{term} by the clocks of a and b, {by_theirs}"
        );
        let gap = |host: &Host| {
            let findings = host.agents[0].diagnosis().findings;
            findings.into_iter().find_map(|finding| {
                if let Finding::ClocksApart {
                    voter,
                    is_ahead,
                    by,
                } = finding
                    && by.abs_diff(MS(hour)) < MS(100)
                {
                    return Some((voter.to_string(), is_ahead));
                }
                None
            })
        };
        assert!(gap(&c).is_some_and(|(_, is_ahead)| !is_ahead), "c1 says so");
        assert_eq!(gap(&a), Some(("c1".to_owned(), true)), "a1 says so");
        for host in [&a, &b] {
            assert_eq!(host.bridge.counters().get("unvouched_term"), Some(0));
        }
    });
}

/// Two of three voters have clocks that are years ahead, and elect by these clocks.
#[test]
fn a_host_says_that_the_clock_of_another_one_is_ahead_until_it_is_right() {
    scene(async |pipes, _| {
        let wall = VirtualWallClock::new(DAWN);
        let ahead = VirtualWallClock::new(WallTime::from_millis(2 * DAWN.as_millis()));
        let [a, c] = ["a", "c"].map(|name| host(pipes, name, &ahead));
        all_follow_alone(&[&a, &c], "c1").await;
        let b = host(pipes, "b", &wall);
        let is_ahead =
            |found: &Finding| matches!(found, Finding::ClockAhead { node } if node == "c");
        until("b says so", || b.finds(is_ahead)).await;
        a.stop().await;
        c.stop().await;
        let _right = process(elsewhere(pipes, "c", &["b"]), &wall);
        until("it is back", || b.is_linked("c")).await;
        assert!(b.finds(is_ahead));
        sleep(MS(61_000)).await;
        b.assert_finds_no(is_ahead);
    });
}

/// Cuts a process of `b` off while a later process of `b` starts. Returns the three hosts and the later process,
/// which holds the name now.
async fn outlived(pipes: &Pipes, wall: &VirtualWallClock) -> ([Host; 3], Host) {
    let (hosts, _) = elected(pipes, wall).await;
    pipes.partition("a", "b");
    pipes.partition("b", "c");
    let twin = twin(pipes, wall);
    until("the twin is let in", || {
        twin.is_linked("a") && twin.is_linked("c")
    })
    .await;
    pipes.heal("a", "b");
    pipes.heal("b", "c");
    (hosts, twin)
}

#[test]
fn a_host_that_refuses_an_earlier_process_says_whose_name_two_processes_have_after_the_later_one_too()
 {
    scene(async |pipes, _| {
        let wall = VirtualWallClock::new(DAWN);
        let ([a, b, c], twin) = outlived(pipes, &wall).await;
        let says = |host: &Host| {
            let mine = host.finds(|finding| matches!(finding, Finding::NodeNameTwice { .. }));
            let of_b = host
                .finds(|finding| matches!(finding, Finding::PeerNameTwice { node } if node == "b"));
            (mine, of_b)
        };
        until("the later one takes part", || {
            believer(&[&a, &b, &c, &twin]);
            twin.follows("c1")
        })
        .await;
        until("both processes are there", || says(&b) == (true, false)).await;
        assert!(!b.is_linked("a") && !b.is_linked("c"), "a former one");
        assert_eq!([&a, &c].map(says), [(false, true); 2]);
        twin.stop().await;
        sleep(MS(90_000)).await;
        assert!(!b.is_linked("a"), "a remembers the later process");
        assert_eq!(says(&b), (true, false), "{}", b.agents[0].diagnosis());
        let said = a.agents[0].diagnosis();
        assert_eq!([&a, &c].map(says), [(false, true); 2], "{said}");
    });
}
