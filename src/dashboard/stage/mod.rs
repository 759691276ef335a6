//! A cluster on a stage: the page shows its agents and controls the cluster (feature `testkit`).
//!
//! ```text
//!   server, real time                         the cluster's System, in virtual or real time
//!   ┌───────────┐  POST   ┌───────┐  queue   ┌───────┐  crash, cut, campaign ..  ┌─────────┐
//!   │ Dashboard │────────▶│ link  │─────────▶│ Stage │──────────────────────────▶│ Cluster │
//!   │           │◀────────│ board │◀─────────│       │◀──────────────────────────│         │
//!   └───────────┘  events └───────┘  moment  └───────┘  status, trace, diagnosis └─────────┘
//! ```
//!
//! ```
//! use actix_bully::{dashboard::stage::Stage, testkit::{cluster::Cluster, virtual_system}};
//!
//! let (mut stage, page) = Stage::virtual_time();
//! let page = page.allow_faults(); // on the server's thread: `page.serve(8080)`, or `page.configure(app)`
//! # drop(page);
//! virtual_system().block_on(async {
//!     let cluster = Cluster::builder().agents(5).start()?;
//!     stage.play(cluster).await; // until the page is gone, or another election is chosen
//!     # Ok::<(), actix_bully::testkit::cluster::ClusterError>(())
//! }).unwrap();
//! ```
//!
//! In virtual time the stage blocks the thread of its System between two frames: time stands still while nothing is
//! due. A server has sockets, which need real time, so it runs on another thread.
//!
//! # Side by side
//! [`Stage::play_beside`] shows two elections, and gives each command to both at the same instant of the agents' time,
//! so that you can compare the messages and the durations of both. The page marks a command that only one of the
//! clusters can execute.
//!
//! # Going on from a moment
//! A viewer can go back to a moment of the run, or open a recording, and continue live from a moment of it: the stage
//! starts new agents with the same seed and settings, repeats the commands until that moment, and then executes new
//! commands. Later commands of the earlier run are dropped, and exports contain the new run. Time has to be virtual,
//! and the application's own actors must behave in the same way each time.
//!
//! Decided here: the settings of a stage, and the choices on its page. Not here: the execution of a request
//! (`play.rs`, `again.rs`), the requests of a page (`control.rs`), the scenarios (`scenario.rs`), the pace of time (`pace.rs`),
//! the state and the picture of one cluster (`panel.rs`, `facts.rs`, `run.rs`).

mod again;
mod control;
mod facts;
pub(super) mod link;
mod pace;
mod panel;
mod play;
mod run;
mod scenario;

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, mpsc::Receiver},
};

use crate::{
    dashboard::{Dashboard, ShownSource, board::Board, head::Head, moment::PageMoment},
    protocol::Election,
    record::RecordedAgent,
    testkit::cluster::Cluster,
};

use again::NextRun;
use link::{StageRequest, link};
use pace::StagePace;
use panel::{ClusterPanel, StagePanel};
use scenario::Scene;

pub use scenario::Story;

/// Shows a cluster and executes the commands of its page; see the [module's page](self).
#[derive(Debug)]
pub struct Stage {
    board: Arc<Board>,
    /// The board that shows the second election; it is empty while there is only one election.
    beside: Arc<Board>,
    asked: Receiver<StageRequest>,
    pace: StagePace,
    scenes: VecDeque<Scene>,
    scenario: Option<&'static str>,
    /// The scenario that the next cluster will play.
    story: Option<Story>,
    /// Number of the present run.
    run: u64,
    /// The earlier run that the next cluster will continue.
    next_run: Option<NextRun>,
}

impl Stage {
    /// Makes a stage for a cluster in a System whose time is virtual, and its page. The page is read-only until
    /// commands are allowed. At first, virtual time passes at a fifth of the speed of real time.
    pub fn virtual_time() -> (Self, Dashboard) {
        Self::with_pace(StagePace::virtual_time(SPEED))
    }

    /// Makes a stage for a cluster in real time, and its page.
    pub fn real_time() -> (Self, Dashboard) {
        Self::with_pace(StagePace::real_time())
    }

    fn with_pace(time: StagePace) -> (Self, Dashboard) {
        let (link, asked) = link();
        let head = Head {
            title: String::from("A cluster"),
            controls: "none",
            scenarios: Story::ALL.map(Story::words).to_vec(),
            unrepeatable: (!time.is_virtual())
                .then_some("the agents live in real time, in which no run is the same twice"),
            ..Head::default()
        };
        let mut page = Dashboard::of(ShownSource::Stage(link), head);
        let beside = Arc::new(Board::beside());
        page.beside = Some(Arc::clone(&beside));
        let stage = Self {
            board: Arc::clone(&page.board),
            beside,
            asked,
            pace: time,
            scenes: VecDeque::new(),
            scenario: None,
            story: None,
            run: 0,
            next_run: None,
        };
        (stage, page)
    }

    /// Sets the name of the present election, and the elections that the page can choose instead of it or beside it.
    /// [`play`](Self::play) returns the choice.
    #[must_use]
    pub fn elections<N: Into<String>>(
        self,
        held: impl Into<String>,
        choice: impl IntoIterator<Item = N>,
    ) -> Self {
        self.board.set_head(|head| {
            head.election = Some(held.into());
            head.elections = choice.into_iter().map(Into::into).collect();
        });
        self
    }

    /// Plays this scenario with the first cluster, as soon as its agents have elected a leader and the page has a
    /// viewer. The scenario is skipped if the cluster has too few or too many agents for it.
    #[must_use]
    pub fn story(mut self, scenario: Story) -> Self {
        self.story = Some(scenario);
        self
    }

    /// Runs this cluster until a viewer chooses another election, or every clone of the page is dropped.
    ///
    /// Call it in the cluster's own System. The caller then starts new clusters for the returned choice.
    pub async fn play<E: Election>(&mut self, cluster: Cluster<E>) -> Option<Chosen> {
        let panel = Box::new(ClusterPanel::new(cluster));
        let held = self.board.head().election;
        self.begin(held, panel, None).await
    }

    /// Runs this cluster, and beside it an optional second cluster, whose agents have the same names: each command
    /// goes to both clusters at the same instant. Both clusters must belong to the calling System. Start them at the
    /// same instant, so that their clocks show the same time.
    pub async fn play_beside(&mut self, first: Staged, beside: Option<Staged>) -> Option<Chosen> {
        let (election, panel) = (Some(first.election), first.panel);
        self.begin(election, panel, beside).await
    }

    async fn begin(
        &mut self,
        election: Option<String>,
        mut first: Box<dyn StagePanel>,
        beside: Option<Staged>,
    ) -> Option<Chosen> {
        self.scenes.clear();
        self.scenario = None;
        let story = self.story.take();
        self.run = self.run.saturating_add(1);
        first.appear(&self.board, election, self.run);
        // Nothing of the earlier agents stays on the page.
        self.beside.publish(PageMoment::default(), Vec::new(), 0);
        self.beside.set_head(|head| *head = Head::default());
        let beside = beside.map(|mut beside| {
            beside
                .panel
                .appear(&self.beside, Some(beside.election), self.run);
            beside.panel
        });
        let chosen = play::Player::new(self, first, beside).play(story).await?;
        let held = chosen.election.clone();
        self.board.set_head(|head| head.election = Some(held));
        Some(chosen)
    }
}

/// A cluster that is shown beside another cluster, and the name of its election.
pub struct Staged {
    election: String,
    panel: Box<dyn StagePanel>,
}

impl Staged {
    /// Wraps a cluster of this election.
    pub fn new<E: Election>(election: impl Into<String>, cluster: Cluster<E>) -> Self {
        Self {
            election: election.into(),
            panel: Box::new(ClusterPanel::new(cluster)),
        }
    }
}

impl fmt::Debug for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Staged")
            .field("election", &self.election)
            .finish_non_exhaustive()
    }
}

/// The choice of a viewer on the page: the elections to run next, with new agents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// The chosen election.
    pub election: String,
    /// The election to run beside the chosen election; `None` for a single election.
    pub beside: Option<String>,
    /// The agents with which the cluster has to begin, if a viewer continues from a recording. The stage then replaces
    /// them by agents with the same names and scores, and with the seed and the network of the recording.
    pub agents: Option<Vec<RecordedAgent>>,
}

/// First speed of virtual time. Chosen: viewers can see each message, and need not wait long for the end of a lease.
const SPEED: f64 = 0.2;
