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
//! Decided here: when something is done, and when it is shown. Not here: what the commands are (`control.rs`), the
//! scenarios (`scenario.rs`), the pace of time (`pace.rs`), what is shown (`facts.rs`), and what is kept (`run.rs`).

mod control;
mod facts;
pub(super) mod link;
mod pace;
mod perform;
mod play;
mod run;
mod scenario;

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc::Receiver},
};

use crate::{
    dashboard::{
        Dashboard, ShownSource,
        board::{Board, Head},
    },
    protocol::Election,
    testkit::cluster::Cluster,
};

use link::{StageRequest, link};
use pace::StagePace;
use scenario::Scene;

pub use scenario::Story;

/// Shows a cluster, and does to it what the page asks for; see the [module's page](self).
#[derive(Debug)]
pub struct Stage {
    board: Arc<Board>,
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
        let page = Dashboard::of(ShownSource::Stage(link), head);
        let stage = Self {
            board: Arc::clone(&page.board),
            asked,
            pace: time,
            scenes: VecDeque::new(),
            scenario: None,
            story: None,
        };
        (stage, page)
    }

    /// Names the election that is held, and those that can be chosen on the page instead:
    /// [`play`](Self::play) returns the one that is.
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

    /// Plays with that cluster until another election is chosen, whose name is returned, or no page is left.
    ///
    /// Call it in the cluster's own System. Whoever plays the next election makes a new cluster.
    pub async fn play<E: Election>(&mut self, cluster: Cluster<E>) -> Option<String> {
        self.scenes.clear();
        self.scenario = None;
        let story = self.story.take();
        play::Player::new(self, cluster).play(story).await
    }
}

/// Slow enough to see a message, fast enough to see a lease end.
const SPEED: f64 = 0.2;
