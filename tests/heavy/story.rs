//! A path of a model as text: each step, and every agent's view of the leader after it.
//!
//! Decided here: the layout of a line. [`crate::timed`] decides the text of a step.

use std::fmt::Write;

use bully_core::protocol::{AgentId, Role, View};

/// Lines of text: each has one step, and the views that the step changed.
#[derive(Debug)]
pub struct Story {
    text: String,
    believed: Vec<String>,
}

impl Story {
    /// Begins a story with the given view of every agent.
    pub fn new(believed: Vec<String>) -> Self {
        Self {
            text: String::new(),
            believed,
        }
    }

    /// Adds a line: the step `what`, and the views that changed.
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

    pub fn text(self) -> String {
        self.text
    }
}

/// Describes the view of an agent in a few words.
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
