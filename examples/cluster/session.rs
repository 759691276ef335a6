//! One cluster, the commands to it, and its output.

use std::{
    error::Error,
    io::{self, BufRead, IsTerminal},
    thread,
    time::Duration,
};

use actix_bully::{
    record::Recording,
    testkit::{
        cluster::{Cluster, ClusterBuilder, ClusterError, Condition},
        faults::Conditions,
    },
};
use bully_core::protocol;
use futures::{StreamExt, channel::mpsc};

use crate::{
    args::Args,
    board,
    command::{self, Answer, Command},
    replay,
    screen::{self, Election, Screen},
};

pub(crate) type Wrong = Box<dyn Error>;

/// See the [module's page](self).
pub(crate) struct Session<E: protocol::Election> {
    cluster: Cluster<E>,
    screen: Screen,
    /// Whether agents need a command to campaign before the first election.
    awaits_campaign: bool,
    protocol: String,
    /// Number of lines of the recording that have been printed.
    printed: usize,
}

impl<E: protocol::Election> Session<E> {
    /// Starts the agents.
    pub(crate) fn start(args: &Args, cluster: ClusterBuilder<E>) -> Result<Self, Wrong> {
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_millis(3));
        let usual = Conditions::builder().delay(shortest..=longest).build()?;
        let recorded = args.header.as_ref().and_then(|header| header.network);
        let network = recorded.map_or(Ok(usual), Conditions::try_from)?;
        let mut cluster = cluster.seed(args.seed).network(network);
        if let Some(trace) = &args.trace {
            cluster = cluster.trace(trace.clone());
        }
        let cluster = cluster.start()?;
        let mut screen = Screen::new(args);
        screen.head(args);
        Ok(Self {
            cluster,
            screen,
            awaits_campaign: args.protocol.awaits_campaign(),
            protocol: args.protocol.to_string(),
            printed: 0,
        })
    }

    /// Starts the agents, and lets them elect.
    pub(crate) async fn begin(args: &Args, cluster: ClusterBuilder<E>) -> Result<Self, Wrong> {
        let mut session = Self::start(args, cluster)?;
        let s = if args.agents == 1 { "" } else { "s" };
        let what = format!(
            "{} agent{s} start{}",
            args.agents,
            if s.is_empty() { "s" } else { "" }
        );
        session.tell_to_campaign()?;
        session.settle(&what).await?;
        Ok(session)
    }

    /// Gives some commands, and shows the election that follows.
    pub(crate) async fn act(&mut self, what: &str, script: &str) -> Result<(), Wrong> {
        for command in command::read(script)? {
            command.run(&mut self.cluster).await?;
        }
        self.tell_to_campaign()?;
        Ok(self.settle(what).await?)
    }

    /// Tells every agent that is up to campaign, if none begins by itself.
    fn tell_to_campaign(&mut self) -> Result<(), ClusterError> {
        if !self.awaits_campaign {
            return Ok(());
        }
        let status = self.cluster.status();
        let up = status
            .agents()
            .iter()
            .filter(|agent| agent.condition == Condition::Up);
        for agent in up {
            self.cluster.campaign(agent.name.as_str())?;
        }
        Ok(())
    }

    async fn settle(&mut self, what: &str) -> Result<(), ClusterError> {
        let settled = self.cluster.settle().await?;
        self.print(false);
        self.screen.election(&Election {
            what,
            settled: &settled,
        });
        Ok(())
    }

    pub(crate) fn status(&mut self) {
        self.print(false);
        self.screen.status(&self.cluster.status());
    }

    /// Runs commands until one fails, or is `quit`.
    pub(crate) async fn run(&mut self, script: Vec<Command>) -> Result<(), Wrong> {
        let mut last = String::new();
        for command in script {
            if !self.obey(command, &mut last).await? {
                break;
            }
        }
        Ok(())
    }

    /// Runs the typed lines. After an error it shows the error, and reads the next line.
    pub(crate) async fn interact(&mut self, real_time: bool) -> Result<(), Wrong> {
        let prompts = io::stdin().is_terminal();
        let mut lines = if real_time {
            Lines::beside()
        } else {
            Lines::between()
        };
        let mut last = String::new();
        loop {
            if prompts {
                self.screen.prompt(|| table(&self.cluster));
            }
            let Some(line) = self.next(&mut lines).await? else {
                return Ok(());
            };
            match command::read(&line) {
                Err(wrong) => self.screen.complain(&*Wrong::from(wrong)),
                Ok(script) => {
                    for command in script {
                        match self.obey(command, &mut last).await {
                            Ok(true) => {}
                            Ok(false) => return Ok(()),
                            Err(wrong) => {
                                self.screen.complain(&wrong);
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the next typed line. If time goes on in the meantime, the table follows.
    async fn next(&mut self, lines: &mut Lines) -> io::Result<Option<String>> {
        loop {
            match actix::clock::timeout(REFRESHED, lines.next()).await {
                Ok(line) => return line,
                Err(_) => self.screen.refresh(|| table(&self.cluster)),
            }
        }
    }

    /// Runs a command; returns whether to go on. `last` has the commands since the last settlement.
    async fn obey(&mut self, command: Command, last: &mut String) -> Result<bool, ClusterError> {
        let said = command.to_string();
        match command.run(&mut self.cluster).await? {
            Answer::Done => {
                if !last.is_empty() {
                    last.push_str("; ");
                }
                last.push_str(&said);
            }
            Answer::Settled(settled) => {
                let what = std::mem::take(last);
                self.print(false);
                self.screen.election(&Election {
                    what: &what,
                    settled: &settled,
                });
            }
            Answer::Status(status) => self.screen.status(&status),
            Answer::Quit => return Ok(false),
            Answer::Text(text) => self.screen.text(&text),
        }
        Ok(true)
    }

    /// Gives the commands of a recording again, and shows the new run, which has to be the same.
    pub(crate) async fn repeat(&mut self, recording: &Recording) -> Result<(), Wrong> {
        let compared = self.again(recording).await;
        let again = self.recording();
        self.screen.repeated(&again);
        compared?;
        self.screen.equal(again.entries().len());
        Ok(())
    }

    /// Gives the commands of a recording again, and compares.
    pub(crate) async fn again(&mut self, recording: &Recording) -> Result<(), Wrong> {
        replay::must_begin_as(self.recording().header(), recording.header())?;
        self.cluster.repeat(recording).await?;
        match recording.first_difference(&self.recording()) {
            None => Ok(()),
            Some(difference) => {
                Err(format!("the replay is not the recording: {difference}").into())
            }
        }
    }

    /// Returns the run so far.
    pub(crate) fn recording(&self) -> Recording {
        self.cluster.recording(&self.protocol)
    }

    /// Prints the rest of the recording, if it is printed.
    pub(crate) fn end(&mut self) {
        self.print(true);
    }

    /// Prints the new entries of the recording, if it is printed.
    fn print(&mut self, is_over: bool) {
        if self.screen.is_json() {
            let lines = self.recording().to_jsonl();
            // The last line is the end of the run, which is not over yet.
            let until = lines.lines().count() - usize::from(!is_over);
            for line in lines.lines().take(until).skip(self.printed) {
                screen::line(line);
            }
            self.printed = until;
        }
    }
}

/// Returns the table of the agents at this moment.
fn table<E: protocol::Election>(cluster: &Cluster<E>) -> Vec<String> {
    let status = cluster.status();
    let why = |name: &protocol::AgentId| {
        let handle = cluster.handle(name.as_str()).ok()?;
        let text = handle.diagnosis().to_string();
        // The line that names the leader, or else the worst finding.
        let finding = text
            .lines()
            .nth(1)
            .map(|line| line.trim_start_matches("- "));
        finding.or_else(|| text.lines().next()).map(str::to_owned)
    };
    let agents = status.agents().iter();
    let why: Vec<String> = agents
        .map(|agent| why(&agent.name).unwrap_or_default())
        .collect();
    board::table(&status, &why, MOST_ROWS)
}

/// The source of the typed lines.
enum Lines {
    /// No time passes between two lines.
    Between,
    /// Time goes on while the user types nothing.
    Beside(mpsc::UnboundedReceiver<io::Result<String>>),
}

impl Lines {
    fn between() -> Self {
        Self::Between
    }

    fn beside() -> Self {
        let (lines, typed) = mpsc::unbounded();
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                if lines.unbounded_send(line).is_err() {
                    break;
                }
            }
        });
        Self::Beside(typed)
    }

    async fn next(&mut self) -> io::Result<Option<String>> {
        match self {
            Self::Beside(typed) => typed.next().await.transpose(),
            Self::Between => {
                let mut line = String::new();
                let read = io::stdin().lock().read_line(&mut line)?;
                Ok((read > 0).then_some(line))
            }
        }
    }
}

/// Time between two updates of the table.
const REFRESHED: Duration = Duration::from_millis(250);

/// Largest number of agents in the table: more agents do not fit above the typed lines.
const MOST_ROWS: usize = 12;
