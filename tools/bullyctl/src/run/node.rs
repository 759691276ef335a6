//! Runs the node: it elects, runs the command while it leads, and ends in order.
//!
//! Decided here: the steps of a run and of its end, in their order, and the next step when the command has ended. Not
//! here: the start and the end of the command itself (`guarded.rs`).

use std::{
    cell::Cell,
    future::{Future, pending},
    io,
    path::Path,
    pin::{Pin, pin},
    time::Duration,
};

use actix::System;
use actix_bully::{
    agent::{LeadError, LeaderGuard, Tokens},
    clock::BootClock,
    config::{Config, ConfigError, RunningNode},
    leader::fence::FenceNumber,
    operate::{SocketGuard, serve_socket},
    remote::MayBe,
};
use rustix::process::Pid;
use tokio::{signal::unix::Signal, sync::Notify, time::sleep};

use super::{
    Run,
    children::{adopt_orphans, children, reap_others},
    error::RunFailure,
    guarded::{Guarded, GuardedCommand},
    limits::Limits,
    messages::tell,
    outcome::{CommandEnd, code},
    signals::{self, EndSignals},
};

/// Runs the command whenever this host leads; returns the exit code.
pub(super) fn run(run: &Run, socket: Option<&Path>, config: &Config) -> Result<u8, RunFailure> {
    let refused = |error: ConfigError| RunFailure::Start(Box::new(error.into()));
    if config.role != MayBe::Leader {
        let node = config.node.clone();
        return Err(RunFailure::Role { node });
    }
    let clock =
        BootClock::new().map_err(|error| host("CLOCK_BOOTTIME")(io::Error::other(error)))?;
    children().map_err(host("/proc"))?;
    // If the guard is killed, the command's orphans become children of this process.
    adopt_orphans().map_err(host("the right to be a subreaper"))?;
    System::new().block_on(async {
        let signals = EndSignals::listen().map_err(host("a runtime with signals"))?;
        let starter = config.starter().map_err(refused)?;
        let limits = Limits::new(starter.timings().lease(), starter.drain());
        let starter = patient(config, &limits).starter().map_err(refused)?;
        let node = starter
            .start()
            .map_err(|error| RunFailure::Start(Box::new(error)))?;
        let service = Service {
            run,
            config,
            limits,
            clock,
            has_led: Cell::new(false),
            guard: Cell::new(None),
            last_end: Cell::new(None),
            ended: Notify::new(),
        };
        let ended = match service.prepare(&node, socket) {
            Ok(socket) => {
                let ended = service.serve(&node, signals).await;
                drop(socket);
                ended
            }
            Err(failure) => Err(failure),
        };
        if ended.is_err() {
            node.leave(SOON).await.ok();
        }
        ended
    })
}

/// Returns the configuration of a node that waits for the end of a killed command before it hands over. The kernel may
/// need longer than the margin, for example for a command with much memory.
pub(super) fn patient(config: &Config, limits: &Limits) -> Config {
    let mut patient = config.clone();
    patient.drain = Some(limits.drain.saturating_add(HAND_OVER));
    patient
}

pub(super) struct Service<'a> {
    pub(super) run: &'a Run,
    pub(super) config: &'a Config,
    pub(super) limits: Limits,
    pub(super) clock: BootClock,
    pub(super) has_led: Cell<bool>,
    /// The guard of the running command, if one runs.
    pub(super) guard: Cell<Option<Pid>>,
    /// The last end of the command, if it has ended before.
    pub(super) last_end: Cell<Option<CommandEnd>>,
    /// Notified when the command has ended.
    pub(super) ended: Notify,
}

impl Service<'_> {
    /// Refuses a configuration whose promises cannot be kept, before anything runs.
    fn prepare(
        &self,
        node: &RunningNode,
        socket: Option<&Path>,
    ) -> Result<Option<SocketGuard>, RunFailure> {
        let tokens = node.agent().offers().tokens;
        if tokens != Tokens::Fence && !self.run.no_fence {
            let is_conditional = tokens == Tokens::Conditional;
            return Err(RunFailure::NoFence { is_conditional });
        }
        let socket = socket.map(|path| serve_socket(path, node.operated()));
        let socket = socket.transpose()?;
        let Config { node, group, .. } = self.config;
        tell(&format!(
            "{node} waits to lead {group}; its command ends {:?} before a lease that is not renewed",
            self.limits.margin
        ));
        Ok(socket)
    }

    /// Runs until the node has ended in order; returns the exit code.
    async fn serve(&self, node: &RunningNode, signals: EndSignals) -> Result<u8, RunFailure> {
        let lead = node.agent().lead(|leader| self.work(leader));
        let mut session = Session {
            lead: Lead::Goes(Box::pin(lead)),
            signals,
            orphans: signals::children().map_err(host("a runtime with signals"))?,
        };
        let signal = self.elect(&mut session).await?;
        self.end(node, &mut session, signal).await;
        // Dropping the work ends a running command.
        session.lead = Lead::Over;
        Ok(code(signal, self.last_end.get(), self.run.once))
    }

    /// Waits until a signal asks the node to end, or the command of `--once` has ended.
    async fn elect<F: WorkFuture>(
        &self,
        session: &mut Session<F>,
    ) -> Result<Option<u8>, RunFailure> {
        let mut too_late = pin!(self.until_too_late());
        loop {
            tokio::select! {
                biased;
                signal = session.signals.next() => return Ok(Some(signal)),
                _ = session.orphans.recv() => reap_others(self.guard.get()),
                () = self.ended.notified() => {
                    if self.is_done() {
                        return Ok(None);
                    }
                }
                left = session.lead.ends() => {
                    left?;
                    let node = self.config.node.clone();
                    return Err(RunFailure::Ended { node });
                }
                () = &mut too_late => {
                    let Config { node, group, .. } = self.config.clone();
                    return Err(RunFailure::NotLeading { node, group });
                }
            }
        }
    }

    /// Leaves the group. Meanwhile the command ends; another signal ends it at once.
    pub(super) async fn end<F: WorkFuture>(
        &self,
        node: &RunningNode,
        session: &mut Session<F>,
        signal: Option<u8>,
    ) {
        let deadline = match (signal, self.guard.get()) {
            (Some(_), None) => {
                // This host may begin to lead before it has left. The work must not start a command then, because the
                // command would have no time to end.
                session.lead = Lead::Over;
                SOON
            }
            _ => self.limits.drain.saturating_add(HAND_OVER * 2),
        };
        let mut left = pin!(self.leave(node, deadline));
        loop {
            tokio::select! {
                biased;
                () = &mut left => return,
                // Dropping the work ends the command.
                _ = session.signals.next() => session.lead = Lead::Over,
                _ = session.lead.ends() => session.lead = Lead::Over,
                _ = session.orphans.recv() => reap_others(self.guard.get()),
            }
        }
    }

    /// Leaves the group, and hands over if it leads.
    async fn leave(&self, node: &RunningNode, deadline: Duration) {
        if let Err(error) = node.leave(deadline).await {
            tell(&error.to_string());
        }
    }

    /// Ends when the time of `--try` is over and this node has not led.
    async fn until_too_late(&self) {
        if let Some(span) = self.run.within {
            sleep(span).await;
            if !self.has_led.get() {
                return;
            }
        }
        pending::<()>().await;
    }

    /// Runs the command for one leadership.
    async fn work(&self, leader: LeaderGuard) {
        let Config { node, group, .. } = self.config;
        let fence = match FenceNumber::of(&leader) {
            Ok(fence) => Some(fence.to_string()),
            Err(_) if self.run.no_fence => None,
            Err(error) => return tell(&error.to_string()),
        };
        self.has_led.set(true);
        match &fence {
            Some(fence) => tell(&format!("{node} leads {group} with fence {fence}")),
            None => tell(&format!("{node} leads {group}, without a fence")),
        }
        let command = GuardedCommand {
            words: &self.run.command,
            variables: vec![
                (FENCE, fence),
                (NODE, Some(node.clone())),
                (GROUP, Some(group.clone())),
            ],
        };
        loop {
            if self.is_done() {
                // Work that ends at once counts as failed, so it waits: the node leaves its group now, and hands over.
                // The agent has its own thread, so it may already lead again.
                return leader.stepping_down().await;
            }
            let started = Guarded::start(&command, &leader, self.limits, self.clock);
            let guarded = match started.await {
                Ok(Some(guarded)) => guarded,
                Ok(None) => return,
                Err(error) => return tell(&format!("the command cannot be started: {error}")),
            };
            self.guard.set(Some(guarded.process()));
            let mut running = RunningCommand {
                service: self,
                guarded,
            };
            let end = running.guarded.attend(&leader).await;
            drop(running);
            if self.is_done() {
                continue;
            }
            if !end.is_repeated(self.run.once) {
                return;
            }
            // The command starts again once the lease is renewed. This future is dropped when the lease runs out.
            tokio::select! {
                biased;
                () = leader.stepping_down() => return,
                () = self.until_renewed(&leader) => {}
            }
        }
    }

    /// Returns whether the command of `--once` has run.
    fn is_done(&self) -> bool {
        let end = self.last_end.get();
        self.run.once && end.is_some_and(|end| !end.is_repeated(true))
    }

    /// Waits until the lease has room for a command again.
    async fn until_renewed(&self, leader: &LeaderGuard) {
        while self.limits.is_short(leader.holds_for()) {
            sleep(self.limits.patience()).await;
        }
    }
}

/// A running command. The drop of this value reports the end of the command, for every end of the leadership.
struct RunningCommand<'a> {
    service: &'a Service<'a>,
    guarded: Guarded,
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        let end = self.guarded.finish();
        self.service.guard.set(None);
        self.service.last_end.set(Some(end));
        self.service.ended.notify_one();
        tell(&end.to_string());
    }
}

/// The events that a run waits for.
pub(super) struct Session<F> {
    pub(super) lead: Lead<F>,
    pub(super) signals: EndSignals,
    pub(super) orphans: Signal,
}

/// The future of `lead`.
pub(super) trait WorkFuture: Future<Output = Result<(), LeadError>> {}
impl<F: Future<Output = Result<(), LeadError>>> WorkFuture for F {}

/// The future that leads, until it is over.
pub(super) enum Lead<F> {
    Goes(Pin<Box<F>>),
    Over,
}

impl<F: WorkFuture> Lead<F> {
    async fn ends(&mut self) -> Result<(), LeadError> {
        match self {
            Self::Goes(lead) => lead.await,
            Self::Over => pending().await,
        }
    }
}

fn host(what: &'static str) -> impl Fn(io::Error) -> RunFailure {
    move |error| RunFailure::Host { what, error }
}

/// Names of the command's environment variables.
const FENCE: &str = "BULLY_FENCE";
const NODE: &str = "BULLY_NODE";
const GROUP: &str = "BULLY_GROUP";
/// Time in which the node leaves its group, if no command runs.
const SOON: Duration = Duration::from_secs(1);
/// Time for the end of a killed command, and then for a hand-over, in addition to the time of the command. Chosen: the
/// kernel needs 0.4 s to end a command with 10 GB of memory.
const HAND_OVER: Duration = Duration::from_secs(5);
