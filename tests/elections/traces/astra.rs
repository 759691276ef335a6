//! Plays the twelve faults of the ASTRA seed: the same story by its rules word for word, and by the repaired rules.
//!
//! The tests assert the beliefs of the agents in the end; the golden texts show the steps. An agent that follows the
//! rules as written may believe in several leaders.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    protocol::{Event, Score},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::astra::{Astra, AstraConfig},
    protocol::Election,
};
use bully_sim::sim::{Reaction, TermOrder, Trap, World};

use crate::traces::{
    kit::{DELAY, Story, builder, golden, seconds, with_beliefs, world},
    support::astra::{AsWritten, Participants},
};

/// Both worlds after a story: the rules as written, and this crate's rules.
struct Both {
    written: World<AsWritten>,
    ours: World<Astra>,
}

impl Both {
    /// Asserts the leaders in which each running agent believes by the rules as written, in the order of the agents.
    fn believes(&self, leaders: &[&str]) -> &Self {
        let running = self.written.agents();
        let running = running.filter_map(|id| self.written.machine(id));
        let found: Vec<String> = running.map(AsWritten::leaders).collect();
        assert_eq!(found, leaders, "as written");
        self
    }

    /// Asserts that by this crate's rules only `leader` leads, and all running agents follow it.
    fn all_follow(&self, leader: &str) -> &Self {
        assert_eq!(self.ours.agreed().unwrap().id, leader, "ours");
        assert_eq!(self.ours.believers(), [leader]);
        self
    }

    /// Asserts the number of messages of this kind, by the rules as written and by this crate's rules.
    fn sent(&self, kind: &str, written: u64, ours: u64) -> &Self {
        let found = self.written.trace().count_of(kind).sent;
        let repaired = self.ours.trace().count_of(kind).sent;
        assert_eq!((found, repaired), (written, ours), "{kind}");
        self
    }
}

fn repaired(scores: &[i32]) -> World<Astra> {
    world(scores, &Arc::<AstraConfig>::default())
}

/// Plays a story by the rules as written and by the repaired rules, and compares both traces with their texts.
fn side_by_side(name: &str, scores: &[i32], old: Story<AsWritten>, new: Story<Astra>) -> Both {
    side_by_side_among(Participants::All, name, scores, old, new)
}

fn side_by_side_among(
    participants: Participants,
    name: &str,
    scores: &[i32],
    old: Story<AsWritten>,
    new: Story<Astra>,
) -> Both {
    let mut written = world(scores, &participants);
    old(&mut written);
    assert_eq!(written.violation().map(ToString::to_string), None);
    let beliefs = written.agents().map(|id| {
        let leaders = written
            .machine(id)
            .map(AsWritten::leaders)
            .unwrap_or_default();
        format!("{id} believes in {leaders}\n")
    });
    let text = written.trace().to_text() + &beliefs.collect::<String>();
    golden(&format!("{name}.as-written"), &text);

    let mut ours = repaired(scores);
    new(&mut ours);
    assert_eq!(ours.violation().map(ToString::to_string), None);
    golden(&format!("{name}.astra"), &with_beliefs(&ours));
    Both { written, ours }
}

/// Makes an agent crash as soon as it has sent an "ok".
fn dies_of_its_ok<E: Election>(world: &mut World<E>, name: &str) {
    world.arm(&Trap {
        by: Some(name.parse().unwrap()),
        kind: "ok",
        spared: 0,
        then: Reaction::Crash,
    });
}

#[test]
fn fault_1_equal_scores_elect_two_leaders() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.campaign("b");
        seconds(world, 3);
    }
    let both = side_by_side("1-equal-scores", &[7, 7, 1], story, story);
    both.believes(&["{a, b}"; 3]).all_follow("b");
    assert_eq!(both.written.believers(), ["a", "b"]);
}

#[test]
fn fault_2_the_winner_stays_silent_when_asked_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("b");
        seconds(world, 3);
        world.campaign("a");
        seconds(world, 3);
    }
    let mut both = side_by_side("2-asked-again", &[1, 2], story, story);
    both.believes(&["{}", "{b}"]).all_follow("b");
    seconds(&mut both.written, 600);
    both.believes(&["{}", "{b}"]);
}

#[test]
fn fault_3_a_new_leader_is_added_to_the_old_one() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("c");
        seconds(world, 3);
        world.crash("c");
        world.campaign("b");
        seconds(world, 6);
    }
    let both = side_by_side("3-two-beliefs", &[1, 2, 3], story, story);
    both.believes(&["{b, c}", "{b}"]).all_follow("b");
}

#[test]
fn fault_4_no_agent_leads_when_the_superior_dies_after_its_ok() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.run_for(DELAY * 2);
        world.crash("b");
        seconds(world, 8);
    }
    let mut both = side_by_side("4-superior-dies", &[1, 2], story, story);
    both.believes(&["{}"]).all_follow("a");
    seconds(&mut both.written, 600);
    both.believes(&["{}"]);
}

/// If the lowest of three agents begins, an election needs at least 1.5 n (n - 1) = 9 messages.
#[test]
fn fault_5_those_known_to_rank_below_are_asked_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        seconds(world, 3);
    }
    let both = side_by_side("5-asks-all", &[1, 2, 3], story, story);
    both.believes(&["{c}"; 3]).all_follow("c");
    both.sent("elect", 6, 4).sent("ok", 3, 3);
    assert_eq!(both.ours.tally().sent, 9);
}

#[test]
fn fault_6_an_agent_that_was_told_ok_starts_again_and_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.run_for(DELAY * 2 + DELAY / 2);
        world.campaign("b");
        world.run_for(DELAY * 2 + DELAY / 2);
        world.campaign("a");
        seconds(world, 4);
    }
    let both = side_by_side("6-restarts", &[1, 2, 3, 4], story, story);
    both.believes(&["{d}"; 4]).all_follow("d");
    both.sent("elect", 27, 9).sent("ok", 15, 6);
    let elections = |told: &(_, Event)| matches!(told.1, Event::NewLeader(_));
    for agent in ["a", "b", "c"] {
        let told = both.ours.events(agent).iter().filter(|e| elections(e));
        assert_eq!(told.count(), 1, "{agent}");
    }
}

/// Fault 6 in a larger group. By the rules as written agent k may begin 2^(k - 1) times; by this crate's rules it
/// begins once.
#[test]
fn fault_6_multiplies_with_every_agent_more() {
    let (five, ten, fourteen) = (mean_sent(5), mean_sent(10), mean_sent(14));
    assert!(five > 30, "{five}");
    assert!(ten > 300, "{ten}, and not 135");
    assert!(fourteen > 1_500, "{fourteen}, and not 273");
}

/// Returns the mean number of messages of 20 seeds by the rules as written, if the lowest of n agents begins and a
/// message takes up to 0.5 s. This crate's rules send 1.5 n (n - 1) messages each time.
fn mean_sent(n: i32) -> u64 {
    fn sent<E: Election>(n: i32, config: &E::Config, seed: u64) -> u64 {
        let delays = Conditions::builder().delay(Duration::ZERO..=Duration::from_millis(500));
        let scores: Vec<i32> = (1..=n).collect();
        let builder = builder(seed, &scores, config).conditions(delays.build().unwrap());
        let mut world: World<E> = builder.build();
        world.run_for(Duration::ZERO);
        world.campaign("a");
        seconds(&mut world, 60);
        world.tally().sent
    }
    let least = u64::try_from(3 * n * (n - 1) / 2).unwrap();
    let config = Arc::<AstraConfig>::default();
    let mut sum = 0;
    for seed in 0..20 {
        assert_eq!(sent::<Astra>(n, &config, seed), least, "seed {seed}");
        sum += sent::<AsWritten>(n, &Participants::All, seed);
    }
    sum / 20
}

/// The first election of `a` sleeps until 2.000 s, and wakes during the second election of `a`. The elections of `b`
/// overlap in the same way.
#[test]
fn fault_7_an_old_intention_wins_the_election_of_a_newer_one() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.run_for(Duration::from_millis(1_995));
        world.campaign("a");
        seconds(world, 4);
    }
    let both = side_by_side("7-old-intention", &[1, 2, 3], story, story);
    both.believes(&["{a, b, c}"; 3]).all_follow("c");
    assert_eq!(both.written.believers(), ["a", "b", "c"]);
    let acquired = |(_, event): &(_, Event)| matches!(event, Event::Acquired { .. });
    assert!(!both.ours.events("a").iter().any(acquired));
}

/// The ok of `b` to the first election is the last message of `b`, and takes 3 s.
#[test]
fn fault_8_a_late_ok_ends_another_election() {
    fn story<E: Election>(world: &mut World<E>) {
        let slow = Conditions::delayed(Duration::from_secs(3));
        world.set_link("b", "a", Some(slow));
        dies_of_its_ok(world, "b");
        world.campaign("a");
        world.run_for(Duration::from_millis(2_100));
        assert_eq!(world.believers(), ["c"]);
        world.crash("c");
        world.run_for(Duration::from_millis(400));
        world.campaign("a");
        seconds(world, 6);
    }
    let mut both = side_by_side("8-late-ok", &[1, 2, 3], story, story);
    both.believes(&["{}"]).all_follow("a");
    seconds(&mut both.written, 600);
    both.believes(&["{}"]);
}

/// No agent hears `c` until two leaders have been elected. By this crate's rules the weaker leader gives way at once.
/// An agent that has heard only the weaker leader learns of `c` when it asks, because these rules have no heartbeats.
#[test]
fn fault_9_a_weaker_agent_is_followed() {
    fn story<E: Election>(world: &mut World<E>) {
        world.cut_one_way("c", "a");
        world.cut_one_way("c", "b");
        world.campaign("a");
        world.run_for(Duration::from_millis(2_008));
        world.heal();
        seconds(world, 1);
    }
    fn asks<E: Election>(world: &mut World<E>) {
        story(world);
        world.campaign("a");
        seconds(world, 6);
    }
    let both = side_by_side("9-weaker-elected", &[1, 2, 3], story, story);
    both.believes(&["{b}", "{b}", "{b, c}"]).all_follow("c");
    assert_eq!(both.written.believers(), ["b", "c"]);
    let both = side_by_side("9-asked-then", &[1, 2, 3], asks, asks);
    both.believes(&["{}", "{b}", "{b, c}"]).all_follow("c");
}

/// No rules can promise agreement if delays exceed the deadline of 2 s. By the rules as written, hardly any group
/// agrees on one leader then. By this crate's rules, nearly every group does.
#[test]
fn fault_10_delays_above_the_deadline_leave_no_agreed_leader() {
    let (written, ours) = without_one_leader(Duration::from_secs(3));
    assert!(
        written > 400 && ours < 25,
        "{written} as written, {ours} here"
    );
    let (written, ours) = without_one_leader(Duration::from_millis(900));
    assert_eq!(ours, 0, "less than half the deadline");
    assert!(written > 50, "{written}, by fault 7");
    assert_eq!(without_one_leader(Duration::from_millis(500)), (0, 0));
}

/// Plays 500 groups of five agents in which the lowest begins and every message takes up to `longest`. Returns the
/// number of groups without one agreed leader two minutes later: by the rules as written, and by this crate's rules.
fn without_one_leader(longest: Duration) -> (u32, u32) {
    fn played<E: Election>(config: &E::Config, seed: u64, longest: Duration) -> World<E> {
        let delays = Conditions::builder().delay(Duration::ZERO..=longest);
        let builder = builder(seed, &[1, 2, 3, 4, 5], config).conditions(delays.build().unwrap());
        let mut world = builder.term_order(TermOrder::Any).build();
        world.run_for(Duration::ZERO);
        world.campaign("a");
        seconds(&mut world, 120);
        assert_eq!(world.violation().map(ToString::to_string), None);
        world
    }
    fn agree(world: &World<AsWritten>) -> bool {
        let mut believed = world.agents().filter_map(|id| world.machine(id));
        let first = believed.next().map(AsWritten::leaders);
        world.believers().len() == 1 && believed.all(|agent| Some(agent.leaders()) == first)
    }
    let config = Arc::<AstraConfig>::default();
    let (mut written, mut ours) = (0, 0);
    for seed in 0..500 {
        written += u32::from(!agree(&played(&Participants::All, seed, longest)));
        let world: World<Astra> = played(&config, seed, longest);
        ours += u32::from(world.agreed().is_none());
    }
    (written, ours)
}

/// As written, an agent without a score ignores elections, so a leader without a score stays leader.
#[test]
fn fault_11_one_that_has_no_score_any_more_leads_on_beside_the_next() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("c");
        seconds(world, 3);
        world.set_score("c", None::<Score>);
        world.campaign("a");
        seconds(world, 8);
    }
    let both = side_by_side("11-no-score", &[1, 2, 3], story, story);
    both.believes(&["{b}", "{b}", "{b, c}"]).all_follow("b");
    assert_eq!(both.written.believers(), ["b", "c"]);
}

#[test]
fn fault_12_a_winner_that_is_no_participant_does_not_believe_itself() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("b");
        seconds(world, 3);
    }
    let others = Participants::Others;
    let both = side_by_side_among(others, "12-self-left-out", &[1, 2], story, story);
    both.believes(&["{b}", "{}"]).all_follow("b");
    assert_eq!(both.written.believers(), [""; 0]);
}
