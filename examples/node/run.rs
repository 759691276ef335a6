//! The program: a group, a bridge that joins it to other hosts, and an agent.

use std::{error::Error, fs, future::Future, path::Path, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    clock::BootClock,
    elections::{policy::Preemption, quorum::Vote},
    remote::{BridgeHandle, Peer, RemoteBridge},
    store::{FileStore, StoreIdentity},
};
use futures::{StreamExt, future::select_all};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::Args,
    commands::obey,
    screen::{Happening, Screen},
    work::work,
};

/// What an agent may take to hand over and leave.
const LEAVING: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let screen = Screen::new(BootClock::new()?, &args.name, args.json);
    let group = Group::new("node")?;
    let bridge = bridge(args, &group)?;
    let agent = agent(args, &group)?;
    screen.say(&Happening::Ready {
        listen: bridge.local_addr().map(|at| at.to_string()),
    });

    let until_asked = select_all([
        boxed(asked_to_stop()),
        boxed(async {
            if args.commands {
                obey(&agent, &screen).await;
            } else {
                futures::future::pending::<()>().await;
            }
        }),
        boxed(tell_leaders(&agent, &screen)),
        boxed(tell_links(&bridge, &screen)),
        boxed(work(&agent, &screen, args.pulse())),
    ]);
    until_asked.await;

    screen.say(&Happening::Leaving);
    let politely = agent.leave(LEAVING).await.is_ok();
    bridge.drain(LEAVING).await;
    screen.say(&Happening::Left { politely });
    Ok(())
}
