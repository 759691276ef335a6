//! A live page of an election (feature `dashboard`): which agent leads and why, the messages, and the cut links.
//!
//! Two lines mount it on an application's own server:
//!
//! ```
//! use actix_bully::{dashboard::Dashboard, operate::Operated};
//! use actix_web::{App, HttpServer, web};
//! # fn demo(handle: &actix_bully::agent::BullyHandle) -> std::io::Result<()> {
//!
//! let page = Dashboard::new(Operated::new(handle));
//! let server = HttpServer::new(move || {
//!     App::new().service(web::scope("/election").configure(|app| page.configure(app)))
//! });
//! let server = server.shutdown_timeout(1).bind(("127.0.0.1", 8080))?.run();
//! # drop(server);
//! # Ok(())
//! # }
//! ```
//!
//! or on a separate server, on this host's loopback address: `let (address, server) = page.serve(8081)?`. An open page
//! delays the end of a server by its `shutdown_timeout`, 30 s unless the application sets it.
//!
//! # Contents of the page
//! The page shows each agent of the node with its score, role, term, incarnation and the rest of its lease; the agents
//! of other hosts as their group knows them; the links of the bridge; and an explanation why the leader leads, or why
//! no agent does. With a quorum the page shows the rest of the lease of a leader on another host as well: one lease
//! from the arrival of its last announcement. From the end of this time until the leader's followers here stop
//! following it, the leader is grey. All parts of the page (document, style and script) are in the program: the page
//! loads nothing from another server. It works with a pointer, a keyboard or a screen reader, in light and dark.
//!
//! Each group has a header with the age of its trouble. The worst group is first, and its name is in the title of the
//! tab. Below the header is the history of each group, including the leaderships before the page was opened. If the
//! source has a wall clock, times are times of day with date and zone. The server sends a message each second. A page
//! that receives nothing for three seconds turns grey, shows the time since the last message, and marks a lease that
//! has expired meanwhile.
//!
//! # Rights
//! Reading needs no right: every client that reaches the port can read the page, so bind it where only permitted
//! clients reach it. Commands are disabled, unless the application [allows](Dashboard::allow_faults) them to callers of
//! this host, or [to callers with a token](Dashboard::token). Behind a proxy every caller seems to be on the proxy's
//! host: use a token behind a proxy. In both cases a page of another origin cannot send commands. A page of another
//! site cannot read anything and takes no slot of a viewer.
//!
//! # Cost
//! A node is sampled ten times a second while the page has a viewer, and not at all without a viewer. The sampler reads
//! agents through their handles: no agent waits for a viewer. There are at most [64 viewers](Dashboard::viewers). A
//! viewer that reads nothing for five seconds loses its slot, and on the dashboard's own server also its connection.
//! All tabs of a browser share a stream, which counts as a single viewer; a browser without shared workers closes the
//! stream of a hidden tab.
//!
//! A frame is written once for all viewers, and has only the differences. Measured with 200 agents whose leader crashes
//! every four seconds (`cargo run --release -p actix-bully-dashboard-tests --bin load`): the thread of the agents has
//! the same load with 50 viewers as without viewers (0.98 times, which is noise), the server's threads work for 70 ms a
//! second, and each viewer receives 40 KiB a second. With 10 agents (`-- --agents 10`) the server works for 10 ms.
//!
//! # Recordings
//! The page exports a run: as a recording, a Mermaid diagram, a drawing of the moment, commands of the example
//! `cluster`, and a test in Rust that repeats the run. For a running node the export is the
//! [record](crate::operate::RecordRequest) of its agents, if the record is on. Every page opens any recording, and
//! [`replay`](Dashboard::replay) makes a page of a recording. The page lists a [folder](Dashboard::records) of records
//! that were saved when there was no leader for too long, so you can examine this time later.
//!
//! On a stage, you can continue a run live from any moment of its timeline, or of a recording that is opened there.
//!
//! # Faults
//! With the feature `testkit` a page commands a whole cluster: `Stage` in `dashboard::stage`. It can also show two
//! clusters side by side, whose agents hold different elections and get the same commands. The example `dashboard` does
//! this.
//!
//! Decided here: the parts of a dashboard. Read on: `board.rs` is the state that all viewers share, `moment.rs` the
//! contents of a page, `judged.rs` the choice of the worst group, `access.rs` the right to command, `recorded.rs` the
//! export and import of recordings, `saved.rs` the folder, `page/` the page itself.

mod access;
mod answers;
mod board;
mod change;
mod closer;
mod copies;
mod entries;
mod film;
mod frames;
mod head;
mod hours;
mod judged;
mod log;
mod moment;
mod recorded;
mod routes;
mod running;
mod said;
mod sample;
mod saved;
mod serve;
#[cfg(feature = "testkit")]
pub mod stage;
mod stream;
mod viewers;

use std::{fmt, iter, sync::Arc};

use actix_web::{rt::time::Instant, web::ServiceConfig};
use tokio::sync::Semaphore;

use crate::{
    operate::{Operated, RecordFolder},
    record::Recording,
    web::Token,
};

use access::CommandRights;
use board::Board;
use head::Head;
use recorded::{AT_ONCE, RecordedSource};
use sample::NodeSampler;

/// A page of a running node, or of a cluster on a `Stage`. All clones are the same page; each worker of a server may
/// have a clone.
#[derive(Clone)]
pub struct Dashboard {
    board: Arc<Board>,
    /// The board of a second election beside the first, if the source can have two.
    beside: Option<Arc<Board>>,
    source: ShownSource,
    rights: CommandRights,
    /// Whether the page answers only callers of this host.
    is_local: bool,
    sampler: NodeSampler,
    since: Instant,
    /// A slot for each recording that may be opened at the same time.
    uploads: Arc<Semaphore>,
    records: Option<RecordFolder>,
}

/// The source of the page, which also receives its commands.
#[derive(Clone, Debug)]
enum ShownSource {
    Running(Operated),
    Recorded(Arc<RecordedSource>),
    #[cfg(feature = "testkit")]
    Stage(stage::link::StageLink),
}

impl Dashboard {
    /// Returns the page of a running node. It is read-only until commands are allowed.
    pub fn new(operated: Operated) -> Self {
        let title = operated.names();
        let head = Head {
            title,
            controls: "none",
            history: true,
            unrepeatable: Some("a running node cannot be played again, as a stage can"),
            ..Head::default()
        };
        Self::of(ShownSource::Running(operated), head)
    }

    /// Returns the page of a recorded run, to play and step through. If the run broke a promise, the page marks this
    /// moment, and shows it first.
    pub fn replay(recording: Recording) -> Self {
        let head = Head {
            film: true,
            ..film::head(&recording)
        };
        let source = RecordedSource::new(recording);
        Self::of(ShownSource::Recorded(Arc::new(source)), head)
    }

    fn of(source: ShownSource, head: Head) -> Self {
        Self {
            board: Arc::new(Board::new(head)),
            beside: None,
            source,
            rights: CommandRights::ReadOnly,
            is_local: false,
            sampler: NodeSampler::default(),
            since: Instant::now(),
            uploads: Arc::new(Semaphore::new(AT_ONCE)),
            records: None,
        }
    }

    /// Lets callers of this host send commands: to a running node the commands of [`Order`](crate::operate::Order), to
    /// a simulated cluster also faults. If a [`token`](Self::token) is set, before or after this call, callers of this
    /// host also need the token.
    #[must_use]
    pub fn allow_faults(self) -> Self {
        self.allow(CommandRights::Loopback)
    }

    /// Lets callers with this token send commands, from any host. The page asks for the token and keeps it until the
    /// page is closed. Plain HTTP exposes the token on the network: put a server with TLS in front of the page.
    #[must_use]
    pub fn token(self, token: Token) -> Self {
        self.allow(CommandRights::Token(token))
    }

    fn allow(mut self, rights: CommandRights) -> Self {
        if let (CommandRights::Token(_), CommandRights::Loopback) = (&self.rights, &rights) {
            return self; // a later call takes no token away
        }
        let controls = match &self.source {
            ShownSource::Running(_) => "operate",
            // A recording runs nothing, so it takes no commands.
            ShownSource::Recorded(_) => "none",
            #[cfg(feature = "testkit")]
            ShownSource::Stage(_) => "cluster",
        };
        let token = matches!(rights, CommandRights::Token(_));
        self.board.set_head(|head| {
            head.controls = controls;
            head.token = token;
        });
        self.rights = rights;
        self
    }

    /// Lists the records in this folder on the page, to open with a click. [`save_records`](Operated::save_records)
    /// writes these files when there was no leader for too long. Everyone who can see the page may read them.
    #[must_use]
    pub fn records(mut self, folder: RecordFolder) -> Self {
        self.board.set_head(|head| head.records = true);
        self.records = Some(folder);
        self
    }

    /// Sets the largest number of viewers. Default: 64.
    #[must_use]
    pub fn viewers(self, most: usize) -> Self {
        self.boards().for_each(|board| board.set_most_viewers(most));
        self
    }

    /// Returns the boards that a viewer sees.
    fn boards(&self) -> impl Iterator<Item = &Arc<Board>> {
        iter::once(&self.board).chain(&self.beside)
    }

    /// Mounts the page, its stream and its commands: `web::scope("/election").configure(|app| page.configure(app))`.
    pub fn configure(&self, app: &mut ServiceConfig) {
        routes::configure(self, app);
    }

    /// Starts to sample the source for a viewer.
    fn sample(&self) {
        match &self.source {
            ShownSource::Running(operated) => self.sampler.begin(operated, &self.board, self.since),
            // Not sampled: a recording does not change, and a stage publishes its moments by itself.
            ShownSource::Recorded(_) => {}
            #[cfg(feature = "testkit")]
            ShownSource::Stage(_) => {}
        }
    }
}

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dashboard")
            .field("source", &self.source)
            .field("rights", &self.rights)
            .field("is_local", &self.is_local)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::Time,
        record::{Header, RecordedAgent},
    };

    #[test]
    fn a_token_is_needed_whether_it_was_set_before_the_faults_or_after() {
        let token = || Token::new("0123456789abcdef").unwrap();
        let page = || {
            let agents: [RecordedAgent; 0] = [];
            let recording = Recording::new(Header::of(agents, 1, None), [], Time::ZERO);
            Dashboard::replay(recording)
        };
        for page in [
            page().token(token()).allow_faults(),
            page().allow_faults().token(token()),
        ] {
            assert!(matches!(page.rights, CommandRights::Token(_)), "{page:?}");
            assert!(page.board.head().token);
        }
        assert!(!page().allow_faults().board.head().token);
    }
}
