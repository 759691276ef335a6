//! A path as text: each step with its time, and every agent's view of the leader after it.

use bully_core::protocol::{AgentId, Role, View};
use stateright::Path;

use super::{
    Action,
    world::{Content, World},
};
use crate::rules::{Rules, name};

/// Returns the path as text, one line for each step.
pub fn trace<R: Rules>(path: Path<World<R>, Action>) -> String {
    let steps: Vec<_> = path.into();
    let Some((first, _)) = steps.first() else {
        return String::new();
    };
    let (mut text, mut believed) = (String::new(), beliefs(first));
    for pair in steps.windows(2) {
        let [(world, Some(action)), (next, _)] = pair else {
            continue;
        };
        let before = std::mem::replace(&mut believed, beliefs(next));
        let pairs = believed.iter().zip(&before);
        let changes = pairs.filter(|(now, before)| now != before);
        let changes: Vec<&str> = changes.map(|(now, _)| now.as_str()).collect();
        let what = format!("{:>2}  {}", world.now, told(world, action));
        let line = format!("{what:<54}  {}", changes.join("; "));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Describes the view of an agent in a few words.
fn belief(me: &AgentId, view: &View) -> String {
    match (&view.leading, &view.leader, view.role) {
        (Some(term), _, _) => format!("{me} LEADS in term {term}"),
        (None, Some(leader), Role::Follower) => format!("{me} follows {}", leader.id),
        (None, Some(leader), _) => format!("{me} asks, and follows {}", leader.id),
        (None, None, Role::Candidate) => format!("{me} asks"),
        (None, None, Role::Waiting) => format!("{me} defers"),
        (None, None, Role::Leader | Role::Follower) => format!("{me} has no leader"),
    }
}

fn beliefs<R: Rules>(world: &World<R>) -> Vec<String> {
    let of = |agent| {
        let me = name(agent);
        match world.view(agent) {
            None => format!("{me} is down"),
            Some(view) => belief(&me, &view),
        }
    };
    (0..world.nodes.len()).map(of).collect()
}

fn told<R: Rules>(world: &World<R>, action: &Action) -> String {
    match action {
        Action::Deliver(_) | Action::Repeat(_) | Action::Recall(_) | Action::Lose(_) => {
            let (sent, note) = match action {
                Action::Recall(at) => (&world.past[*at], " (once more, of before)"),
                Action::Repeat(at) => (&world.wire[*at], " (and stays)"),
                Action::Lose(at) => (&world.wire[*at], " (lost)"),
                Action::Deliver(at) if world.wire[*at].is_copy => {
                    (&world.wire[*at], " (once more)")
                }
                Action::Deliver(at) => (&world.wire[*at], ""),
                _ => unreachable!("matched above"),
            };
            let what = match &sent.content {
                Content::Said(message) => message.to_string(),
                Content::Members => "is no longer what it was".into(),
                Content::Notice => format!("has ended ({})", sent.incarnation),
            };
            format!("{} <- {}  {what}{note}", name(sent.to), name(sent.from))
        }
        Action::Fire(agent, at) => {
            let armed = world.nodes[*agent].host.timers[*at];
            format!("{}       {:?} is due", name(*agent), armed.timer)
        }
        Action::Call(agent, at, deaf) => {
            let armed = world.nodes[*agent].host.timers[*at];
            let deaf = (0..world.nodes.len()).filter(|to| deaf & (1 << to) != 0);
            let deaf: Vec<_> = deaf.map(|to| name(to).to_string()).collect();
            let unheard = match &deaf[..] {
                [] => String::new(),
                deaf => format!(", unheard by {}", deaf.join(", ")),
            };
            format!("{}       {:?} is due{unheard}", name(*agent), armed.timer)
        }
        Action::Tick(None) => "time passes".into(),
        Action::Tick(Some(agent)) => {
            format!("time passes, but not by the clock of {}", name(*agent))
        }
        Action::Crash(agent) => format!("{}       crashes", name(*agent)),
        Action::CrashWriting(agent) => format!("{}       crashes while it writes", name(*agent)),
        Action::Restart(agent, _) => format!("{}       begins its next incarnation", name(*agent)),
        Action::Campaign(agent) => format!("{}       is told to hold an election", name(*agent)),
        Action::StepDown(agent) => format!("{}       is asked to step down", name(*agent)),
        Action::SetScore(at) => {
            let (agent, score) = world.left.scores[*at];
            format!("{}       gets the score {score}", name(agent))
        }
        Action::ChangeVoters(agent, at) => {
            let change = &world.left.changes[*at];
            format!("{}       is asked to {change}", name(*agent))
        }
        Action::Doubt(agent) => format!("{}       is suspected", name(*agent)),
    }
}
