//! The words that commands begin with, each with an example and what it does.

use std::fmt;

/// A word that a command begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) word: &'static str,
    /// Every way to say it.
    pub(super) usage: &'static str,
    pub(super) meaning: &'static str,
}

const fn verb(word: &'static str, usage: &'static str, meaning: &'static str) -> Verb {
    Verb {
        word,
        usage,
        meaning,
    }
}

pub(super) const VERBS: &[Verb] = &[
    verb("crash", "crash 5", "panics; several at once: crash 4 5"),
    verb("stop", "stop 5", "ends without handing over"),
    verb("restart", "restart 5", "begins a new life"),
    verb("hang", "hang 5", "stands still, and hears nothing"),
    verb("resume", "resume 5", "goes on after a hang"),
    verb("join", "join 6 [SCORE|none]", "a new agent"),
    verb("leave", "leave 5", "hands over, then leaves for good"),
    verb("partition", "partition 1 2 | 3 4 5", "separates sides"),
    verb(
        "cut",
        "cut 1 2, cut 1 > 2",
        "cuts a link, both ways or one way",
    ),
    verb("isolate", "isolate 3", "cuts off from everybody"),
    verb("heal", "heal", "ends every separation"),
    verb("delay", "delay 5ms..20ms", "how long a message takes"),
    verb("loss", "loss 10%", "how many messages are lost"),
    verb("duplicate", "duplicate 10%", "how many arrive twice"),
    verb("score", "score 2 50, score 2 none", "another importance"),
    verb(
        "step-down",
        "step-down 5 [HEIR]",
        "the leader hands over and rests",
    ),
    verb("campaign", "campaign 1", "holds an election"),
    verb("settle", "settle", "waits until it is settled who leads"),
    verb("wait", "wait 500ms", "lets time pass"),
    verb("status", "status", "who is there, and who leads"),
    verb("trace", "trace", "what happened so far"),
    verb("help", "help", "this list"),
    verb("quit", "quit", "ends"),
];

/// All commands, a line each; made by [`Command::help`](super::Command::help).
#[derive(Clone, Copy, Debug)]
pub struct Help;

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = VERBS.iter().map(|verb| verb.usage.len()).max().unwrap_or(0);
        for verb in VERBS {
            writeln!(f, "  {:<width$}  {}", verb.usage, verb.meaning)?;
        }
        f.write_str("  5 stands for agent-5; separate commands by ; or lines, # begins a remark")
    }
}
