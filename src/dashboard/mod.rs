//! A live page of an election (feature `dashboard`): who leads and why, who says what, and what is cut.
//!
//! Two lines put it on an application's own server:
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
//! or on a server of its own, on this host's loopback address: `let (address, server) = page.serve(8081)?`.
//! An open page holds the end of a server for its `shutdown_timeout`, 30 s unless the application sets it.
//!
//! # What is shown
//! Each agent of the node with its score, role, term, incarnation and the rest of its lease; the agents of other hosts as
//! their group knows them; the links of the bridge; why this one leads, or nobody does, in words. The page is one
//! document, a style and a script out of the program itself: nothing is loaded from anywhere else. It is used with a
//! pointer, a keyboard or a screen reader, in light and dark.
//!
//! Each group has a header, the worst group first, with the age of its trouble; the first one is in the title of the tab.
//! The history of each group, with the leaderships before the page was opened, is below. Where the source has a wall clock, times are times of day with date and zone. The server says something each second: a
//! page that hears nothing for three seconds is grey, says for how long, and shows a lease that ran out meanwhile as such.
//!
//! # Who may what
//! Reading needs no right: what is shown is no secret to whoever reaches the port, so bind it where only those reach it who
//! may know. Nothing can be commanded, unless the application [allows](Dashboard::allow_faults) it to callers of
//! this host, or [to those with a token](Dashboard::token). Behind a proxy every caller seems to be of the proxy's host:
//! use a token there. A page of another origin commands nothing in either case, and a page of another site reads nothing
//! and takes no viewer's place.
//!
//! # What it costs
//! A node is looked at ten times a second while somebody looks at the page, and never otherwise. Agents are read as
//! their handles read them: no agent waits for a viewer. There are [64 viewers](Dashboard::viewers) at most; one that
//! takes nothing for five seconds loses its place, and on the dashboard's own server its connection. All tabs of one browser
//! share a stream, which is one viewer; a browser without shared workers closes the stream of a hidden tab.
//!
//! A frame is written once for all viewers, and has only what differs. Measured with 200 agents of which the leader crashes
//! every four seconds (`cargo run --release -p actix-bully-dashboard-tests --bin load`): the thread of the agents has as
//! much to do with 50 viewers as with none (0.98 times, which is noise), the server's threads work for 70 ms a second, and
//! each viewer is sent 40 KiB a second. With 10 agents (`-- --agents 10`) the server works for 10 ms.
//!
//! # Recordings
//! A run can be copied out of the page: as a recording, a Mermaid diagram, a drawing of the moment, commands of the
//! example `cluster`, and a test in Rust that repeats it. Of a running node that is the
//! [record](crate::operate::RecordRequest) of its agents, where it is on. Any recording opens on any page, and
//! [`replay`](Dashboard::replay) is the page of one. A [folder](Dashboard::records) of records that were saved when a
//! leader was missed is listed on the page: what happened at 03:12.
//!
//! # Faults
//! With the feature `testkit` a page commands a whole cluster: `Stage` in `dashboard::stage`, or two side by side, whose
//! agents hold different elections and get the same commands. The example `dashboard` is one.
//!
//! Decided here: what a dashboard is made of. Read on: `board.rs` is what all viewers share, `moment.rs` what is
//! shown, `judged.rs` which group is the worst, `access.rs` who may command, `recorded.rs` what can be copied and opened, `saved.rs` the folder, `page/` the page itself.

mod access;
mod board;
mod change;
mod closer;
mod copies;
mod entries;
mod film;
mod frames;
mod hours;
mod judged;
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

use crate::{
    operate::{Operated, RecordFolder},
    record::Recording,
    web::Token,
};

use access::CommandRights;
use board::{Board, Head};
use recorded::{RecordedSource, Upload};
use sample::NodeSampler;

/// A page of a running node, or of a cluster on a `Stage`. Clones are the same page; each worker of a server may have
/// one.
#[derive(Clone)]
pub struct Dashboard {
    board: Arc<Board>,
    /// Shows an election beside the first one, where there may be one.
    beside: Option<Arc<Board>>,
    source: ShownSource,
    rights: CommandRights,
    /// Whether it answers callers of this host only.
    is_local: bool,
    sampler: NodeSampler,
    since: Instant,
    uploads: Upload,
    records: Option<RecordFolder>,
}

/// What is shown, and obeys.
#[derive(Clone, Debug)]
enum ShownSource {
    Running(Operated),
    Recorded(Arc<RecordedSource>),
    #[cfg(feature = "testkit")]
    Stage(stage::link::StageLink),
}

impl Dashboard {
    /// The page of a running node. It only shows, until more is allowed.
    pub fn new(operated: Operated) -> Self {
        let title = operated.names();
        let head = Head {
            title,
            controls: "none",
            ..Head::default()
        };
        Self::of(ShownSource::Running(operated), head)
    }

    /// The page of a recorded run, to be played and stepped through. A broken promise is marked, and shown first.
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
            uploads: Upload::default(),
            records: None,
        }
    }

    /// Lets callers of this host command: of a running node what [`Order`](crate::operate::Order) has, of a cluster
    /// faults as well. Where a [`token`](Self::token) is set, before or after, they need it too.
    #[must_use]
    pub fn allow_faults(self) -> Self {
        self.allow(CommandRights::Loopback)
    }

    /// Lets those command who know this token, wherever they are. The page asks for it and keeps it until it is closed.
    /// Over plain HTTP it can be read on the way: put TLS in front.
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
            // Nothing runs that could be commanded.
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

    /// Lists the records in that folder, to be opened with a click: those that
    /// [`save_records`](Operated::save_records) writes when a leader is missed. Whoever sees the page may read them.
    #[must_use]
    pub fn records(mut self, folder: RecordFolder) -> Self {
        self.board.set_head(|head| head.records = true);
        self.records = Some(folder);
        self
    }

    /// How many viewers there may be. Default: 64.
    #[must_use]
    pub fn viewers(self, most: usize) -> Self {
        self.boards().for_each(|board| board.set_most_viewers(most));
        self
    }

    /// What a viewer is shown.
    fn boards(&self) -> impl Iterator<Item = &Arc<Board>> {
        iter::once(&self.board).chain(&self.beside)
    }

    /// Mounts the page, its stream and its commands: `web::scope("/election").configure(|app| page.configure(app))`.
    pub fn configure(&self, app: &mut ServiceConfig) {
        routes::configure(self, app);
    }

    /// Somebody looks.
    fn sample(&self) {
        match &self.source {
            ShownSource::Running(operated) => self.sampler.begin(operated, &self.board, self.since),
            // A recording stays as it is, and a stage shows itself.
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
