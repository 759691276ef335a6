//! The text that an agent publishes about itself, in one process: the text, its incarnation, and the time at which
//! members read it.

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, CommandError, StartError},
    protocol::{About, AboutError, Timings},
    testkit::Inject,
};
use futures::StreamExt;

use crate::stage::{Log, MS, play};

fn agent(group: &Group, name: &str, score: i32, about: Option<&str>) -> BullyHandle {
    let agent = BullyAgent::builder(name).score(score);
    let agent = agent.timings(Timings::lan()).join(group);
    match about {
        Some(text) => agent.about(text),
        None => agent,
    }
    .start()
    .unwrap()
}

/// Notes the leader in each change of an agent from now on: its name, its incarnation, and its text.
fn leaders(agent: &BullyHandle) -> Log {
    let (mut changes, log) = (agent.changes(), Log::default());
    let noted = log.clone();
    actix::spawn(async move {
        while let Some(status) = changes.next().await {
            let leader = status.leader.map(|leader| (leader.id, leader.incarnation));
            noted.add(format_args!("{leader:?} {:?}", status.leader_about));
        }
    });
    log
}

#[test]
fn each_member_reads_what_the_leader_says_and_hears_of_a_change() {
    play(async {
        let group = Group::new("demo").unwrap();
        let low = agent(&group, "a", 1, Some("http://a"));
        let other = BullyAgent::builder("o")
            .observer()
            .join(&group)
            .start()
            .unwrap();
        clock::sleep(MS(500)).await;
        assert_eq!(low.leader_about(), About::new("http://a").ok(), "its own");
        let high = agent(&group, "b", 2, None);
        clock::sleep(MS(500)).await;
        let (seen, observed) = (leaders(&low), leaders(&other));
        clock::sleep(MS(1)).await;
        for about in ["http://b", "http://b2"].map(|text| About::new(text).ok()) {
            high.set_about(about.clone()).unwrap();
            high.set_about(about).unwrap(); // an equal text changes nothing
            clock::sleep(MS(1)).await;
        }
        high.set_about(None).unwrap();
        clock::sleep(MS(1)).await;
        // A follower's text is not the leader's text.
        low.set_about(About::new("http://a2").ok()).unwrap();
        clock::sleep(MS(1)).await;
        let first = high.current().incarnation;
        let led = Some((high.id(), first));
        let texts = [None, Some("http://b"), Some("http://b2"), None];
        let texts = texts.map(|text| text.map(|text| About::new(text).unwrap()));
        let all = texts.map(|text| format!("{led:?} {text:?}"));
        for log in [seen, observed] {
            let mut seen = log.take();
            seen.dedup(); // another change may tell the same leader again
            assert_eq!(seen, all);
        }
        high.set_about(About::new("http://b3").ok()).unwrap();
        high.addr().do_send(Inject::Crash);
        clock::sleep(MS(2_000)).await;
        let again = high.leader().unwrap();
        assert!(again.incarnation > first, "{again:?}");
        assert_eq!(low.leader_about(), About::new("http://b3").ok());
        high.leave(MS(1_000)).await.unwrap();
        clock::sleep(MS(500)).await;
        let about = About::new("http://a2").ok();
        assert_eq!(
            (other.leader_about(), low.leader_about()),
            (about.clone(), about)
        );
    });
}

#[test]
fn a_text_that_breaks_the_rules_starts_no_agent_and_an_agent_that_ended_says_nothing() {
    play(async {
        let group = Group::new("demo").unwrap();
        let with = |text: String| BullyAgent::builder("a").about(text).join(&group).start();
        let refused = with("x".repeat(257)).unwrap_err();
        let error = AboutError::TooLong { len: 257, max: 256 };
        assert!(matches!(refused, StartError::About(why) if why == error));
        assert!(group.members().is_empty(), "nothing was changed");
        let agent = with("x".repeat(256)).unwrap();
        agent.leave(MS(1_000)).await.unwrap();
        assert_eq!(agent.set_about(None), Err(CommandError::Ended));
    });
}
