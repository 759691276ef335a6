//! A path as text: what happened, when, and what everybody believed then.

use stateright::Path;

use super::{
    Action,
    world::{Content, World},
};
use crate::{
    rules::{Rules, name},
    story::{Story, belief},
};

/// One line for each step.
pub fn trace<R: Rules>(path: Path<World<R>, Action>) -> String {
    let steps: Vec<_> = path.into();
    let Some((first, _)) = steps.first() else {
        return String::new();
    };
    let mut story = Story::new(beliefs(first));
    for pair in steps.windows(2) {
        let [(world, Some(action)), (next, _)] = pair else {
            continue;
        };
        let what = format!("{:>2}  {}", world.now, told(world, action));
        story.tell(&what, beliefs(next));
    }
    story.text()
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
        Action::Restart(who, _) => format!("{}       begins its next life", name(*who)),
        Action::Wish(who) => format!("{}       is wished to hold an election", name(*who)),
        Action::StepDown(who) => format!("{}       is asked to step down", name(*who)),
        Action::SetScore(at) => {
            let (who, score) = world.left.scores[*at];
            format!("{}       gets the score {score}", name(who))
        }
        Action::Doubt(who) => format!("{}       is suspected", name(*who)),
    }
}
