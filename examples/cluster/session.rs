//! One cluster, what is done to it, and what there is to see.

use std::{
    error::Error,
    fs,
    io::{self, BufRead, IsTerminal},
    path::Path,
    thread,
    time::Duration,
};

use actix_bully::{
    protocol,
    testkit::{
        cluster::{Cluster, ClusterBuilder, ClusterError, Condition},
        faults::Conditions,
    },
};
use futures::{StreamExt, channel::mpsc};

use crate::{
    args::Args,
    command::{self, Answer, Command},
    screen::{self, Election, Screen},
};

pub(crate) type Wrong = Box<dyn Error>;

/// See the [module's page](self).
pub(crate) struct Session<E: protocol::Election> {
    cluster: Cluster<E>,
    screen: Screen,
    /// Whether agents have to be told to campaign.
    awaits_campaign: bool,
}

impl<E: protocol::Election> Session<E> {
    /// Starts the agents, and lets them elect.
    pub(crate) async fn begin(args: &Args, cluster: ClusterBuilder<E>) -> Result<Self, Wrong> {
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_millis(3));
        let network = Conditions::builder().delay(shortest..=longest).build()?;
        let cluster = cluster.seed(args.seed).network(network).start()?;
        let mut screen = Screen::new(args.json);
        screen.head(args);
        let s = if args.agents == 1 { "" } else { "s" };
        let what = format!(
            "{} agent{s} start{}",
            args.agents,
            if s.is_empty() { "s" } else { "" }
        );
        let mut session = Self {
            cluster,
            screen,
            awaits_campaign: args.protocol.awaits_campaign(),
        };
        session.tell_to_campaign()?;
        session.settle(&what).await?;
        Ok(session)
    }

    /// Does something, and shows the election that follows.
    pub(crate) async fn act(&mut self, what: &str, command: &str) -> Result<(), Wrong> {
        command.parse::<Command>()?.run(&mut self.cluster).await?;
        self.tell_to_campaign()?;
        Ok(self.settle(what).await?)
    }

    /// Tells every agent that is up, where none begins by itself.
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
        let ended = self.cluster.now();
        self.screen.election(&Election {
            what,
            ended,
            settled: &settled,
        });
        Ok(())
    }

    pub(crate) fn status(&mut self) {
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

    /// Runs the lines that are typed; an error is shown, and the next line is read.
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
                self.screen.prompt();
            }
            let Some(line) = lines.next().await? else {
                return Ok(());
            };
            match command::read(&line) {
                Err(wrong) => screen::error(&*Wrong::from(wrong)),
                Ok(script) => {
                    for command in script {
                        match self.obey(command, &mut last).await {
                            Ok(true) => {}
                            Ok(false) => return Ok(()),
                            Err(wrong) => {
                                screen::error(&wrong);
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Says whether to go on. `last` is what was done since the last settlement.
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
                let ended = self.cluster.now();
                let settled = &settled;
                self.screen.election(&Election {
                    what: &what,
                    ended,
                    settled,
                });
            }
            Answer::Status(status) => self.screen.status(&status),
            Answer::Quit => return Ok(false),
            Answer::Text(text) => self.screen.text(&text),
        }
        Ok(true)
    }

    /// Writes the run as a diagram.
    pub(crate) fn draw(&self, file: &Path) -> Result<(), Wrong> {
        let diagram = self.cluster.trace().to_mermaid();
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        let text = if is_page {
            format!("```mermaid\n{diagram}```\n")
        } else {
            diagram
        };
        fs::write(file, text).map_err(|wrong| {
            format!(
                "the diagram cannot be written to {}: {wrong}",
                file.display()
            )
        })?;
        Ok(())
    }
}

/// What is typed, line by line.
enum Lines {
    /// No time passes between two lines.
    Between,
    /// Time goes on while nothing is typed.
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
