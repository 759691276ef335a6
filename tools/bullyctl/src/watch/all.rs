//! Asks every node of a cluster, and keeps their last answers.
//!
//! Decided here: the first node reports which nodes exist; the other nodes are asked at the same time, each for a
//! second at most; an answer of a node with another name is ignored; a node that no longer answers, or is no longer
//! asked, keeps its last answer, with its age. Not here: the places of the other nodes (`node/beside.rs`), and the
//! table (`show/all.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use actix_bully::operate::Report;

use super::known::{KnownNode, beside, known, name_of, report_of};
use crate::{failure::Failure, node::Node};

/// All nodes that the first node knows.
pub(crate) struct Everyone<'a> {
    first: &'a Node,
    /// The name of the first node, once it has answered.
    name: String,
    heard: BTreeMap<String, HeardNode>,
    /// The reasons why nodes did not answer when they were asked last, or were not asked.
    failures: BTreeMap<String, String>,
}

/// The last answer of a node.
struct HeardNode {
    report: Report,
    at: Instant,
}

/// A node, as far as it is known.
pub(crate) struct SeenNode<'a> {
    pub(crate) name: &'a str,
    /// The last answer of the node; `None` if it never answered.
    pub(crate) report: Option<&'a Report>,
    /// Time since the last answer; `None` if the node answered when it was asked last.
    pub(crate) age: Option<Duration>,
    /// The reason why the node did not answer when it was asked last, or was not asked; `None` if it answered.
    pub(crate) failure: Option<&'a str>,
    /// The facts that the first node knows about this node.
    pub(crate) known: KnownNode<'a>,
}

impl SeenNode<'_> {
    /// Returns whether the node answered when it was asked last.
    pub(crate) fn answers(&self) -> bool {
        self.report.is_some() && self.age.is_none()
    }
}

impl<'a> Everyone<'a> {
    pub(crate) const fn new(first: &'a Node) -> Self {
        Self {
            first,
            name: String::new(),
            heard: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// Asks all nodes. Fails if the first node has never answered.
    #[expect(clippy::disallowed_methods, reason = "it times answers for a person")]
    pub(crate) fn look(&mut self) -> Result<(), Failure> {
        self.failures.clear();
        match self.first.report() {
            Ok(report) => {
                name_of(&report)
                    .unwrap_or_default()
                    .clone_into(&mut self.name);
                let at = Instant::now();
                self.heard
                    .insert(self.name.clone(), HeardNode { report, at });
            }
            Err(failure @ Failure::Unreachable { .. }) if !self.heard.is_empty() => {
                self.failures.insert(self.name.clone(), failure.to_string());
            }
            Err(failure) => return Err(failure),
        }
        let Some(HeardNode { report, .. }) = self.heard.get(&self.name) else {
            return Ok(());
        };
        let others = known(report);
        let answers = ask_all(self.first, report, &others);
        let names: BTreeSet<String> = others.into_keys().map(str::to_owned).collect();
        let at = Instant::now();
        self.heard
            .retain(|name, _| *name == self.name || names.contains(name));
        for name in self.heard.keys().filter(|name| **name != self.name) {
            self.failures.insert(name.clone(), NO_PLACE.to_owned());
        }
        for (name, answer) in answers {
            match answer {
                Ok(report) => {
                    self.failures.remove(&name);
                    self.heard.insert(name, HeardNode { report, at });
                }
                Err(failure) => drop(self.failures.insert(name, failure)),
            }
        }
        Ok(())
    }

    /// Returns the nodes: the first node, then the other nodes by name.
    pub(crate) fn nodes(&self) -> Vec<SeenNode<'_>> {
        let Some(HeardNode { report, .. }) = self.heard.get(&self.name) else {
            return Vec::new();
        };
        let mut nodes = vec![self.seen(&self.name, KnownNode::default())];
        let others = known(report).into_iter();
        nodes.extend(others.map(|(name, node)| self.seen(name, node)));
        nodes
    }

    fn seen<'s>(&'s self, name: &'s str, known: KnownNode<'s>) -> SeenNode<'s> {
        let heard = self.heard.get(name);
        let failure = self.failures.get(name);
        SeenNode {
            name,
            report: heard.map(|heard| &heard.report),
            age: failure.and(heard).map(|heard| heard.at.elapsed()),
            failure: failure.map(String::as_str),
            known,
        }
    }
}

type Answer = (String, Result<Report, String>);

/// Asks the nodes whose places are known, all at the same time.
fn ask_all(first: &Node, report: &Report, others: &BTreeMap<&str, KnownNode<'_>>) -> Vec<Answer> {
    thread::scope(|scope| {
        let asked = others.iter().filter_map(|(name, node)| {
            let places = first.beside(&beside(report, name, node));
            (!places.is_empty()).then_some((*name, node, places))
        });
        let asked = asked.enumerate().map(|(number, (name, node, places))| {
            let answer = (number < MOST).then(|| scope.spawn(move || ask(name, node, &places)));
            (name.to_owned(), answer)
        });
        let asked: Vec<_> = asked.collect();
        let answered = asked.into_iter().filter_map(|(name, answer)| {
            let answer =
                answer.map_or_else(|| Ok(Err(TOO_MANY.to_owned())), ScopedJoinHandle::join);
            Some((name, answer.ok()?))
        });
        answered.collect()
    })
}

/// Asks a node at one place after the other, until the right node answers.
fn ask(name: &str, node: &KnownNode<'_>, places: &[Node]) -> Result<Report, String> {
    let mut why = String::new();
    for place in places {
        let failure = match place.report_within(WITHIN) {
            Ok(report) => match report_of(report, name, node) {
                Some(report) => return Ok(report),
                None => format!("another node answers at {}", place.place()),
            },
            Err(failure) => failure.to_string(),
        };
        // Only the failure of the first place is kept, because this place is the likeliest.
        if why.is_empty() {
            why = failure;
        }
    }
    Err(why)
}

/// Longest time for an answer of another node.
const WITHIN: Duration = Duration::from_secs(1);

/// Largest number of other nodes that are asked.
const MOST: usize = 64;
const TOO_MANY: &str = "not asked: there are more than 64 other nodes";
const NO_PLACE: &str = "no socket or URL is known here any more";
