//! Effects are carried out in order. Timers have names. Some messages are dropped.

use actix::clock;
use actix_bully::{
    group::Envelope,
    operate::Operated,
    protocol::{AgentId, Incarnation},
    testkit::Inject,
};

use crate::{
    stage::{MS, Stage, id, play, play_toy, settle},
    toy::{Act, Said, Toy},
};

#[test]
fn effects_leave_in_the_order_in_which_they_came() {
    play_toy(async |stage, toy, _| {
        let acts = [Act::Say("one"), Act::Repeat("two"), Act::Say("three")];
        stage.prompt(&toy, &acts).await;
        assert_eq!(stage.heard.take(), ["one", "two", "three"]);
        assert_eq!(
            stage.group.counters().sent,
            3,
            "an agent sends nothing to itself"
        );
    });
}

#[test]
fn a_timer_fires_once_and_its_name_replaces_or_cancels_it() {
    play_toy(async |stage, toy, _| {
        settle().await;
        stage.inputs.take();
        let acts = [
            Act::Set('a', MS(10)),
            Act::Set('b', MS(5)),
            Act::Set('c', MS(7)),
            Act::Set('a', MS(20)),
            Act::Cancel('c'),
            Act::Cancel('x'),
        ];
        stage.prompt(&toy, &acts).await;
        clock::sleep(MS(100)).await;
        let fired = ["toy.1 timer b at 6.000", "toy.1 timer a at 21.000"];
        assert_eq!(stage.inputs.take(), fired);
    });
}

#[test]
fn timers_that_are_late_fire_in_their_order_and_may_still_be_cancelled() {
    play(async {
        let stage = Stage::new();
        let builder = Toy::scripted("toy", &stage, |script| {
            script.at_timer = vec![('b', Act::Cancel('c')), ('b', Act::Set('e', MS(0)))];
        });
        let toy = builder.start().unwrap();
        let set = |(timer, after)| Act::Set(timer, MS(after));
        stage
            .prompt(&toy, &[('d', 9), ('c', 5), ('b', 5), ('a', 5)].map(set))
            .await;
        stage.inputs.take();
        toy.addr().do_send(Inject::hang(clock::sleep(MS(50))));
        clock::sleep(MS(100)).await;
        let fired = ["a", "b", "d", "e"].map(|t| format!("toy.1 timer {t} at 51.000"));
        assert_eq!(stage.inputs.take(), fired, "c was cancelled by b");
    });
}

#[test]
fn a_timer_that_is_set_to_nothing_again_and_again_starves_no_other() {
    play(async {
        let stage = Stage::new();
        let builder = Toy::scripted("toy", &stage, |script| {
            script.at_timer = vec![('a', Act::Set('a', MS(0)))];
        });
        let toy = builder.start().unwrap();
        stage.tell(&toy, &[Act::Set('a', MS(0))]);
        // Virtual time cannot pass while the timer fires without end, so the test counts turns.
        while stage.inputs.take().is_empty() {
            actix_rt::task::yield_now().await;
        }
        stage.tell(&toy, &[Act::Say("still here"), Act::Cancel('a')]);
        settle().await;
        assert_eq!(stage.heard.take(), ["still here"]);
    });
}

#[test]
fn messages_of_strangers_and_of_ended_incarnations_never_reach_the_machine() {
    play_toy(async |stage, toy, _| {
        let peer = Toy::builder("peer", &stage).start().unwrap();
        settle().await;
        peer.addr().do_send(Inject::Crash);
        clock::sleep(MS(200)).await;
        assert_eq!(peer.current().incarnation, Incarnation(2));
        stage.inputs.take();

        let envelope = |from: AgentId, incarnation, text| Envelope {
            from,
            incarnation: Incarnation(incarnation),
            message: Said::Text(text),
        };
        for envelope in [
            envelope(id("stranger"), 1, "a stranger"),
            envelope(id("peer"), 1, "a former incarnation"),
            envelope(id("toy"), 1, "oneself"),
            envelope(id("peer"), 2, "the present incarnation"),
            envelope(id("peer"), 3, "an incarnation not yet known"),
        ] {
            toy.addr().do_send(envelope);
        }
        settle().await;
        let received = [
            "toy.1 peer says the present incarnation",
            "toy.1 peer says an incarnation not yet known",
        ];
        assert_eq!(stage.inputs.take(), received);
        let counts = stage.group.counters();
        assert_eq!((counts.strangers, counts.stale), (2, 1));
        let report = Operated::new(&toy).report();
        let reported = serde_json::to_value(&report.agents[0].messages).unwrap();
        assert_eq!(reported, serde_json::to_value(counts).unwrap());
    });
}

#[test]
fn a_message_of_a_newcomer_comes_after_the_membership_that_names_it() {
    play_toy(async |stage, toy, _| {
        settle().await;
        stage.inputs.take();
        let newcomer = Toy::scripted("newcomer", &stage, |s| s.at_start = vec![Act::Say("hi")]);
        let newcomer = newcomer.start().unwrap();
        settle().await;
        let seen = [
            "newcomer.1 born Started, score 0, None",
            "toy.1 3 of 3 up",
            "newcomer.1 start among 3",
            "toy.1 newcomer says hi",
        ];
        assert_eq!(stage.inputs.take(), seen);
        drop((toy, newcomer));
    });
}

#[test]
fn only_a_repeated_message_is_dropped_where_the_mailbox_is_full() {
    play(async {
        let stage = Stage::untapped();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let other = Toy::builder("other", &stage).start().unwrap();
        settle().await;
        stage.inputs.take();
        stage.heard.take();
        let mut acts = vec![Act::Say("kept"); 40];
        acts.extend(vec![Act::Repeat("dropped"); 40]);
        stage.prompt(&toy, &acts).await;
        let heard = stage.heard.take();
        let count = |text| heard.iter().filter(|line| *line == text).count();
        let (kept, dropped) = (count("kept"), count("dropped"));
        // A mailbox holds 16 messages, and one more for each address.
        assert_eq!(kept, 40);
        assert!(dropped <= 1, "{dropped} got through");
        let counts = stage.group.counters();
        assert!((78..=80).contains(&counts.full), "{counts:?}");
        assert_eq!(counts.closed, 0);
        drop(other);
    });
}
