//! Plays the programs that documents on leader election show, as written, and the same scripts by the machine that
//! replaces each program in this crate.
//!
//! `stories.txt` has the stories. A heading has the document, the story, the scores of the agents, and the script. The
//! lines below it have the outcome as written and here, one part for each `look`, `count` and `until` of the script:
//!
//! ```text
//! look    4 in 1: 4@1 -1@1      the leaders with their terms, and the leader and the term in the eyes of each running agent
//!         =                     the state is that of the look before, and no agent had an event in between
//! count   sent OK 10; led 0 4   the messages sent so far, how often each agent became leader, and the first agent's own count
//! until   led after 1.01s       the time until an agent leads
//! ```
//! By the rules of ASTRA, an agent may believe in several leaders: `{a, b}`. A script has the commands of a cluster, and
//! those of [`Playing::step`]. `BLESS=1` writes the outcomes. Only silence shows a crash, unless the document says `oracle`:
//! the Go program may read `IsAlive` of its peers.
//!
//! `fields.rs` plays the demos that have no messages, and `many.rs` counts over many seeds.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what does not hold fails the test"
)]

mod fields;
pub(crate) mod machines;
mod many;

use std::{fmt::Write as _, sync::Arc, time::Duration};

use actix_bully::{
    elections::ballot::{Ballot, BallotConfig},
    protocol::{Event, Score, Timings},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{astra::Astra, bully::Bully},
    protocol::{After, Election},
    record::read_span,
};
use bully_sim::{
    sim::{Detection, Participant, Reaction, TermOrder, Trap, World, WorldBuilder},
    trace::Trace,
};

use crate::{
    scenarios::play::apply,
    support::{astra, astra::Participants, ble, go, go::Optimizations, golden::golden},
    traces::{golden_trace, with_beliefs},
};
use machines::Told;

const AT_ONCE: After = After {
    min: Duration::ZERO,
    max: Duration::ZERO,
};
pub(crate) const SILENT: Detection = Detection::Silent(AT_ONCE);
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the builder of a world of agents with these scores, named `0`, `1`, … or `a`, `b`, … from `first` on.
pub(crate) fn builder<E: Election>(
    seed: u64,
    first: char,
    scores: &[i32],
    config: &E::Config,
) -> WorldBuilder<E> {
    let agents = (first..).zip(scores).map(|(name, score)| {
        let id = name.to_string().parse().unwrap();
        Participant::voter(id, Some(Score::from(*score)), config.clone())
    });
    World::builder(seed)
        .agents(agents)
        .conditions(Conditions::delayed(Duration::from_millis(5)))
        .detection(SILENT)
}

/// Returns five nodes of the Go program, or machines in their place. Each message takes 10 ms.
pub(crate) fn five_nodes<E: Election>(config: &E::Config, detection: Detection) -> World<E> {
    builder(1, '0', &[0, 1, 2, 3, 4], config)
        .conditions(Conditions::delayed(Duration::from_millis(10)))
        .detection(detection)
        .term_order(TermOrder::Any)
        .trace(Trace::new().with_repeated())
        .build()
}

struct Story {
    document: &'static str,
    what: &'static str,
    scores: &'static str,
    script: &'static str,
}

fn stories() -> impl Iterator<Item = Story> {
    let headings = include_str!("stories.txt").lines();
    headings.filter(|line| !line.starts_with(' ')).map(|line| {
        let [document, what, scores, script] = line.splitn(4, " | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        Story {
            document,
            what,
            scores,
            script,
        }
    })
}

impl Story {
    /// Plays the story as written and here, and returns both outcomes.
    fn outcomes(&self) -> [String; 2] {
        let scores: Vec<i32> = self
            .scores
            .split(' ')
            .map(|it| it.parse().unwrap())
            .collect();
        let astra = |participants| {
            let old = self.play::<astra::AsWritten>(named(&scores, &participants));
            [old, self.play::<Astra>(named(&scores, &Arc::default()))]
        };
        let go = |suppression, detection| {
            let old = five_nodes::<go::Node>(&Optimizations { suppression }, detection);
            [
                self.play(old),
                self.play::<Bully>(five_nodes(&Arc::default(), SILENT)),
            ]
        };
        match self.document {
            "ASTRA" => astra(Participants::All),
            "ASTRA without itself" => astra(Participants::Others),
            "Go" => go(false, SILENT),
            "Go, oracle" => go(false, Detection::Certain(AT_ONCE)),
            "Go, suppression" => go(true, SILENT),
            "gossip" => {
                let old = self.play::<ble::AsWritten>(named(&scores, &ROUND));
                [
                    old,
                    self.play::<Ballot>(named(&scores, &ballots(scores.len()))),
                ]
            }
            other => panic!("{other} is no document"),
        }
    }

    fn play<E: Told>(&self, world: World<E>) -> String {
        let mut playing = Playing {
            world,
            seen: (String::new(), 0),
            said: Vec::new(),
        };
        playing.world.run_for(Duration::ZERO);
        for command in self.script.split("; ") {
            playing.step(command);
        }
        let violation = playing.world.violation().map(ToString::to_string);
        assert_eq!(violation, None, "{}", self.what);
        playing.said.join(" / ")
    }
}

/// Duration of a round of the ballot election, as written and in this crate.
pub(crate) const ROUND: Duration = Duration::from_millis(50);

/// Returns the rules of a ballot election among `n` voters.
pub(crate) fn ballots(n: usize) -> Arc<BallotConfig> {
    let voters = ('a'..).take(n).map(|it| it.to_string().parse().unwrap());
    Arc::new(BallotConfig {
        timings: Timings::lan(),
        round: Some(ROUND),
        ..BallotConfig::new(voters)
    })
}

fn named<E: Election>(scores: &[i32], config: &E::Config) -> World<E> {
    builder(1, 'a', scores, config).trace(Trace::new()).build()
}

struct Playing<E: Election> {
    world: World<E>,
    /// The state at the last look, and the number of events until then.
    seen: (String, usize),
    said: Vec<String>,
}

impl<E: Told> Playing<E> {
    fn step(&mut self, command: &str) {
        let words: Vec<_> = command.split(' ').collect();
        let span = |word: &str| read_span(word).unwrap();
        let world = &mut self.world;
        match words[..] {
            ["wait", time] => world.run_for(span(time)),
            ["look"] => self.look(),
            ["count"] => self.count(),
            // Compares the trace with its text.
            ["trace", name] => golden_trace(&format!("{name}.{}", E::NAME), &with_beliefs(world)),
            ["until", "led"] => {
                let before = world.now();
                assert!(world.run_until(|world| !world.believers().is_empty(), LIMIT));
                self.said
                    .push(format!("led after {:?}", self.world.now().since(before)));
            }
            ["until", "dead"] => {
                assert!(world.run_until(|world| world.sprung(Reaction::Crash) == 1, LIMIT));
            }
            // The node crashes when it has sent its `n`th message of this kind.
            ["dies", name, kind, n] => {
                let trap = Trap {
                    by: Some(name.parse().unwrap()),
                    kind: E::kind(kind),
                    spared: n.parse::<u32>().unwrap() - 1,
                    then: Reaction::Crash,
                };
                assert!(world.arm(&trap));
            }
            ["ignore", kind] => world.ignore(E::kind(kind)),
            ["recover"] => world.recover(),
            // Messages from one agent to others take this time, or the usual time again.
            ["slow", from, ">", ref to @ .., time] => {
                for to in to {
                    world.set_link(from, to, Some(Conditions::delayed(span(time))));
                }
            }
            ["fast", from, ">", ref to @ ..] => {
                for to in to {
                    world.set_link(from, to, None);
                }
            }
            _ => apply(world, command),
        }
    }

    fn look(&mut self) {
        let world = &self.world;
        let leaders: Vec<_> = world
            .beliefs()
            .map(|(id, term)| format!("{id} in {}", term.0))
            .collect();
        let leaders = if leaders.is_empty() {
            "none".to_owned()
        } else {
            leaders.join(", ")
        };
        let views = world
            .views()
            .filter_map(|(id, view)| Some(world.machine(id)?.follows(&view)));
        let state = format!("{leaders}: {}", views.collect::<Vec<_>>().join(" "));
        let events = world.agents().map(|id| world.events(id).len()).sum();
        let now = (state, events);
        self.said.push(if now == self.seen {
            "=".to_owned()
        } else {
            now.0.clone()
        });
        self.seen = now;
    }

    fn count(&mut self) {
        let world = &self.world;
        let mut text = String::from("sent");
        for (kind, count) in world.trace().kinds() {
            write!(text, " {kind} {}", count.sent).unwrap();
        }
        text.push_str("; led");
        for agent in world.agents() {
            let acquired = |(_, event): &&(_, Event)| matches!(event, Event::Acquired { .. });
            let led = world.events(agent).iter().filter(acquired).count();
            write!(text, " {led}").unwrap();
        }
        let first = world.agents().find_map(|id| world.machine(id)?.counted());
        self.said.push(
            [Some(text), first]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; "),
        );
    }
}

#[test]
fn each_program_and_its_replacement_end_as_they_were_reviewed() {
    let mut text = String::new();
    for story in stories() {
        let Story {
            document,
            what,
            scores,
            script,
        } = story;
        let [old, new] = story.outcomes();
        writeln!(text, "{document} | {what} | {scores} | {script}").unwrap();
        writeln!(text, "    as written: {old}\n    here: {new}").unwrap();
    }
    golden("tests/elections/programs/stories.txt", &text);
}
