//! A path as text: what happened, when, and what everybody believed then.

use std::fmt::Write;

use actix_bully::protocol::{AgentId, Role, View};
use stateright::Path;

use super::{Action, Rules, World, name, world::Content};

/// One line for each step.
pub fn trace<R: Rules>(path: Path<World<R>, Action>) -> String {
    let steps: Vec<_> = path.into();
    let mut text = String::new();
    let mut before = None;
    for pair in steps.windows(2) {
        let [(world, Some(action)), (next, _)] = pair else {
            continue;
        };
        let believed = before.get_or_insert_with(|| beliefs(world)).clone();
        let now = beliefs(next);
        let changes: Vec<&str> = now
            .iter()
            .zip(&believed)
            .filter(|(now, before)| now != before)
            .map(|(now, _)| now.as_str())
            .collect();
        let line = format!("{:>2}  {}", world.now, told(world, action));
        let line = format!("{line:<54}  {}", changes.join("; "));
        writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
        before = Some(now);
    }
    text
}

fn beliefs<R: Rules>(world: &World<R>) -> Vec<String> {
    let of = |who| {
        let me = name(who);
        match world.view(who) {
            None => format!("{me} is down"),
            Some(view) => belief(&me, &view),
        }
    };
    (0..world.nodes.len()).map(of).collect()
}

/// What somebody believes, in a few words.
pub fn belief(me: &AgentId, view: &View) -> String {
    match (&view.leading, &view.leader, view.role) {
        (Some(term), _, _) => format!("{me} LEADS in term {term}"),
        (None, Some(leader), Role::Follower) => format!("{me} follows {}", leader.id),
        (None, Some(leader), _) => format!("{me} asks, and follows {}", leader.id),
        (None, None, Role::Candidate) => format!("{me} asks"),
        (None, None, Role::Waiting) => format!("{me} stands back"),
        (None, None, Role::Leader | Role::Follower) => format!("{me} has no leader"),
    }
}

fn told<R: Rules>(world: &World<R>, action: &Action) -> String {
    match action {
        Action::Deliver(at) | Action::Lose(at) => {
            let letter = &world.wire[*at];
            let what = match &letter.content {
                Content::Said(message) => message.to_string(),
                Content::Members => "is no longer what it was".into(),
            };
            let lost = if matches!(action, Action::Lose(_)) {
                " (lost)"
            } else {
                ""
            };
            format!("{} <- {}  {what}{lost}", name(letter.to), name(letter.from))
        }
        Action::Fire(who, at) => {
            let armed = world.nodes[*who].host.timers[*at];
            format!("{}       {:?} is due", name(*who), armed.timer)
        }
        Action::Tick(None) => "time passes".into(),
        Action::Tick(Some(who)) => format!("time passes, but not by the clock of {}", name(*who)),
        Action::Crash(who) => format!("{}       crashes", name(*who)),
        Action::Restart(who) => format!("{}       begins its next life", name(*who)),
        Action::Wish(who) => format!("{}       is wished to hold an election", name(*who)),
        Action::StepDown(who) => format!("{}       is asked to step down", name(*who)),
        Action::SetScore(at) => {
            let (who, score) = world.left.scores[*at];
            format!("{}       gets the score {score}", name(who))
        }
        Action::Doubt(who) => format!("{}       is suspected", name(*who)),
    }
}
