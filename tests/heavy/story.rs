//! A path of a model as text: what happened, and what every agent believed then.
//!
//! Decided here: how a line looks; what is said of a step is in [`crate::timed`].

use std::fmt::Write;

use bully_core::protocol::{AgentId, Role, View};

/// Lines, each of which says what happened and which beliefs that changed.
#[derive(Debug)]
pub struct Story {
    text: String,
    believed: Vec<String>,
}

impl Story {
    /// Begins where every agent believes this.
    pub fn new(believed: Vec<String>) -> Self {
        Self {
            text: String::new(),
            believed,
        }
    }

    /// Adds one line.
    ///
    /// # Panics
    /// Never: a string takes everything.
    pub fn tell(&mut self, what: &str, believed: Vec<String>) {
        let pairs = believed.iter().zip(&self.believed);
        let changes = pairs.filter(|(now, before)| now != before);
        let changes: Vec<&str> = changes.map(|(now, _)| now.as_str()).collect();
        let line = format!("{what:<54}  {}", changes.join("; "));
        writeln!(self.text, "{}", line.trim_end()).expect("a string takes everything");
        self.believed = believed;
    }

    /// The whole of it.
    pub fn text(self) -> String {
        self.text
    }
}

/// What an agent believes, in a few words.
pub fn belief(me: &AgentId, view: &View) -> String {
    match (&view.leading, &view.leader, view.role) {
        (Some(term), _, _) => format!("{me} LEADS in term {term}"),
        (None, Some(leader), Role::Follower) => format!("{me} follows {}", leader.id),
        (None, Some(leader), _) => format!("{me} asks, and follows {}", leader.id),
        (None, None, Role::Candidate) => format!("{me} asks"),
        (None, None, Role::Waiting) => format!("{me} defers"),
        (None, None, Role::Leader | Role::Follower) => format!("{me} has no leader"),
    }
}
