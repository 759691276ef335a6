//! The story: the events that happen to the agents, in order.

use bully_core::protocol::Election;

use crate::session::{Session, Wrong};

/// Tells the story, as far as there are enough agents for it.
pub(crate) async fn tell<E: Election>(session: &mut Session<E>, agents: u32) -> Result<(), Wrong> {
    session.status();
    let top = agents;
    if agents >= 2 {
        for (what, verb) in [("crashes", "crash"), ("recovers", "restart")] {
            let command = format!("{verb} {top}");
            session
                .act(&format!("agent-{top} {what}"), &command)
                .await?;
        }
    }
    if agents >= 3 {
        let next = top - 1;
        for (what, script) in [
            ("crash at once", format!("crash {next} {top}")),
            ("recover", format!("restart {next}; restart {top}")),
        ] {
            let what = format!("agent-{next} and agent-{top} {what}");
            session.act(&what, &script).await?;
        }

        let few = (agents - 1) / 2;
        let side = match few {
            1 => String::from("agent-1"),
            2 => String::from("agent-1 and agent-2"),
            _ => format!("agent-1 to agent-{few}"),
        };
        let what = format!("partition: {side} | the others");
        let side: Vec<_> = (1..=few).map(|number| number.to_string()).collect();
        session
            .act(&what, &format!("partition {}", side.join(" ")))
            .await?;
        session.status();
        session.act("the partition heals", "heal").await?;
    }
    session.status();
    Ok(())
}
