//! A path of a model as text: what happened, and what every agent believed then.
//!
//! Decided here: how a line looks, and what is said of a model without time; what is said of one
//! with time is in [`crate::timed`].

use std::fmt::Write;

use bully_core::protocol::{AgentId, Election, Role, View};
use stateright::{
    Path,
    actor::{ActorModelAction, ActorModelState},
};

use crate::{
    actors::{ActorState, Alarm, Player, Said},
    rules::{MessageOf, Rules, TimerOf, name},
};

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

type ActionOf<R> = ActorModelAction<Said<MessageOf<R>>, Alarm<TimerOf<R>>, ()>;

/// A path of a model without time, one line for each step.
pub fn of_actors<R: Rules>(path: Path<ActorModelState<Player<R>>, ActionOf<R>>) -> String {
    let steps: Vec<_> = path.into();
    let Some((first, _)) = steps.first() else {
        return String::new();
    };
    let mut story = Story::new(beliefs(first));
    for pair in steps.windows(2) {
        let [(_, Some(action)), (next, _)] = pair else {
            continue;
        };
        story.tell(&told::<R>(action), beliefs(next));
    }
    story.text()
}

fn beliefs<R: Rules>(state: &ActorModelState<Player<R>>) -> Vec<String> {
    let of = |(agent, actor): (usize, &std::sync::Arc<ActorState<R>>)| {
        if state.crashed[agent] {
            return format!("{} is down", name(agent));
        }
        belief(&name(agent), &actor.machine.view(actor.now))
    };
    state.actor_states.iter().enumerate().map(of).collect()
}

fn told<R: Rules>(action: &ActionOf<R>) -> String {
    let name = |id: &stateright::actor::Id| name((*id).into());
    match action {
        ActorModelAction::Deliver { src, dst, msg } => {
            format!("{} <- {}  {}", name(dst), name(src), msg.message)
        }
        ActorModelAction::Timeout(id, Alarm::Campaign) => {
            format!("{}       is told to hold an election", name(id))
        }
        ActorModelAction::Timeout(id, Alarm::Of(timer)) => {
            format!("{}       {timer:?} is due", name(id))
        }
        ActorModelAction::Crash(id) => format!("{}       crashes", name(id)),
        ActorModelAction::Recover(id) => format!("{}       begins its next incarnation", name(id)),
        ActorModelAction::Drop(_) | ActorModelAction::SelectRandom { .. } => format!("{action:?}"),
    }
}
