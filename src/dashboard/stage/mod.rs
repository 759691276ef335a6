//! A cluster on a stage: its agents are shown, and the page's commands are carried out (feature `testkit`).
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
//! In virtual time the stage holds the thread of its System between two frames: time stands still while nothing is due.
//! A server has sockets, which know real time only, so it runs on another thread.
//!
//! # Side by side
//! [`Stage::play_beside`] shows two elections, and gives each command to both at the same instant of the agents' time, so
//! that the messages and the time of each can be compared. What only one of them can do is said on the page.
//!
//! Decided here: the settings of a stage, and the choices on its page. Not here: when a request is carried out (`play.rs`),
//! the requests of a page (`control.rs`), the scenarios (`scenario.rs`), the pace of time (`pace.rs`), the state and the
//! picture of one cluster (`panel.rs`, `facts.rs`, `run.rs`).

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
    dashboard::{
        Dashboard, ShownSource,
        board::{Board, Head},
        moment::PageMoment,
    },
    protocol::Election,
    testkit::cluster::Cluster,
};

use link::{StageRequest, link};
use pace::StagePace;
use panel::{ClusterPanel, StagePanel};
use scenario::Scene;

pub use scenario::Story;

/// Shows a cluster, and does to it what the page asks for; see the [module's page](self).
#[derive(Debug)]
pub struct Stage {
    board: Arc<Board>,
    /// Shows the election beside the first one; empty while there is none.
    beside: Arc<Board>,
    asked: Receiver<StageRequest>,
    pace: StagePace,
    scenes: VecDeque<Scene>,
    scenario: Option<&'static str>,
    /// What is played when the next cluster begins.
    story: Option<Story>,
}

impl Stage {
    /// For a cluster in a System whose time is virtual, and its page, which only shows until more is allowed. It begins
    /// at a fifth of the speed of real time.
    pub fn virtual_time() -> (Self, Dashboard) {
        Self::with_pace(StagePace::virtual_time(SPEED))
    }

    /// For a cluster in real time, and its page.
    pub fn real_time() -> (Self, Dashboard) {
        Self::with_pace(StagePace::real_time())
    }

    fn with_pace(time: StagePace) -> (Self, Dashboard) {
        let (link, asked) = link();
        let head = Head {
            title: String::from("A cluster"),
            controls: "none",
            scenarios: Story::ALL.map(Story::words).to_vec(),
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
        };
        (stage, page)
    }

    /// Names the election that is held, and those that can be chosen on the page instead or beside it:
    /// [`play`](Self::play) returns what is.
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

    /// Plays this scenario with the first cluster, as soon as its agents have elected a leader and somebody looks. It is
    /// left out where there are too few agents for it, or too many.
    #[must_use]
    pub fn story(mut self, scenario: Story) -> Self {
        self.story = Some(scenario);
        self
    }

    /// Plays with that cluster until another election is chosen, or no page is left.
    ///
    /// Call it in the cluster's own System. Whoever plays what was chosen makes new clusters.
    pub async fn play<E: Election>(&mut self, cluster: Cluster<E>) -> Option<Chosen> {
        let panel = Box::new(ClusterPanel::new(cluster));
        let held = self.board.head().election;
        self.begin(held, panel, None).await
    }

    /// The same with a second cluster beside it, if one is given, whose agents have the same names: each command is given
    /// to both at the same instant. Both have to be of the System that this is called in. Begin them at the same instant,
    /// so that their clocks show the same time.
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
        first.appear(&self.board, election);
        // Nothing of the agents that were there before is shown.
        self.beside.publish(PageMoment::default(), Vec::new(), 0);
        self.beside.set_head(|head| *head = Head::default());
        let beside = beside.map(|mut beside| {
            beside.panel.appear(&self.beside, Some(beside.election));
            beside.panel
        });
        let chosen = play::Player::new(self, first, beside).play(story).await?;
        let held = chosen.election.clone();
        self.board.set_head(|head| head.election = Some(held));
        Some(chosen)
    }
}

/// A cluster that is shown beside another one, and the name of its election.
pub struct Staged {
    election: String,
    panel: Box<dyn StagePanel>,
}

impl Staged {
    /// That cluster, of this election.
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

/// What was chosen on the page, to be played next among new agents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// The election that is held.
    pub election: String,
    /// The election beside it, if there shall be one.
    pub beside: Option<String>,
}

/// Slow enough to see a message, fast enough to see a lease end.
const SPEED: f64 = 0.2;
