//! The story: what happens to the agents, in which order.

use actix_bully::{protocol::Election, testkit::cluster::Command};

use crate::session::{Session, Wrong};

/// Tells it, as far as there are enough agents for it.
pub(crate) async fn tell<E: Election>(session: &mut Session<E>, agents: u32) -> Result<(), Wrong> {
    session.status();
    let top = agents;
    if agents >= 2 {
        let name = format!("agent-{top}");
        session
            .act(&format!("{name} crashes"), crash([top]))
            .await?;
        session
            .act(&format!("{name} recovers"), restart([top]))
            .await?;
    }
    if agents >= 3 {
        let next = top - 1;
        let names = format!("agent-{next} and agent-{top}");
        session
            .act(&format!("{names} crash at once"), crash([next, top]))
            .await?;
        session
            .act(&format!("{names} recover"), restart([next, top]))
            .await?;

        let few = (agents - 1) / 2;
        let side = match few {
            1 => String::from("agent-1"),
            2 => String::from("agent-1 and agent-2"),
            _ => format!("agent-1 to agent-{few}"),
        };
        let sides = vec![numbered(1..=few), numbered(few + 1..=top)];
        let what = format!("partition: {side} | the others");
        session.act(&what, Command::Partition(sides)).await?;
        session.status();
        session.act("the partition heals", Command::Heal).await?;
    }
    session.status();
    Ok(())
}

fn crash<const N: usize>(agents: [u32; N]) -> Command {
    Command::Crash(numbered(agents))
}

fn restart<const N: usize>(agents: [u32; N]) -> Command {
    Command::Restart(numbered(agents))
}

fn numbered(agents: impl IntoIterator<Item = u32>) -> Vec<actix_bully::protocol::AgentId> {
    let name = |number| format!("agent-{number}").parse();
    agents
        .into_iter()
        .filter_map(|number| name(number).ok())
        .collect()
}
