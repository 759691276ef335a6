//! Carries a command from the server to the stage, which may be on another thread.
//!
//! Decided here: a command waits in a short queue, or is refused if the queue is full; and its sender waits for the
//! result for a limited time. Requests for the run so far are sent in the same way.

use std::{
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    time::Duration,
};

use actix_web::rt::time::timeout;
use tokio::sync::oneshot;

use super::control::Control;
use crate::{
    dashboard::copies::RecordedRun,
    protocol::Time,
    record::{Recording, Untold},
    testkit::cluster::ClusterError,
};

/// The server's end.
#[derive(Clone, Debug)]
pub(crate) struct StageLink(SyncSender<StageRequest>);

/// A request and the channel for its answer.
#[derive(Debug)]
pub(crate) enum StageRequest {
    Command(Control, oneshot::Sender<Result<StageNote, StageError>>),
    /// Asks for the run so far: of the first election, or of the second if `beside`.
    Run {
        beside: bool,
        reply: oneshot::Sender<Result<RecordedRun, StageError>>,
    },
    /// Asks to repeat a recording up to a moment, and to continue live from this moment.
    GoOn {
        recording: Recording,
        at: Time,
        reply: GoesOnReply,
    },
}

/// The channel for the answer to the sender of a recording.
pub(crate) type GoesOnReply = oneshot::Sender<Result<StageNote, StageError>>;

/// The remark about a command that was executed: one of two elections refused it.
pub(crate) type StageNote = Option<String>;

/// The reason why a command was not executed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("a speed of {speed} is out of range: choose {least} to {most}")]
    Speed { speed: f64, least: f64, most: f64 },
    #[error(
        "the scenario {name} needs {least} agents that may lead, and there are {found}: let more agents join"
    )]
    TooFew {
        name: &'static str,
        least: usize,
        found: usize,
    },
    #[error(
        "the scenario {name} cuts single links, which cannot be seen among {found} agents: use at most {most}"
    )]
    TooMany {
        name: &'static str,
        most: usize,
        found: usize,
    },
    #[error(
        "the agents run in real time, which cannot be paused, stepped or sped up: start their program in virtual time"
    )]
    RealTime,
    #[error("{command:?} needs time to pass, and the agents' time is paused: let it go on first")]
    Paused { command: String },
    #[error("this page has no election {name:?}: choose one of its list")]
    NoElection { name: String },
    #[error(
        "no second election runs beside the first: choose a second election on this page first"
    )]
    NothingBeside,
    #[error("the run is being played again up to {}: wait until then, or press the button \"Go on\" to stop the replay here", seconds(*until))]
    PlaysAgain { until: Time },
    #[error("the moment {} has not come yet: choose one up to {}, which the run has reached", seconds(*at), seconds(*now))]
    NotYet { at: Time, now: Time },
    #[error(transparent)]
    Unrepeatable(#[from] Untold),
    #[error(
        "this page cannot run the recording's election {recorded:?}: open the recording on the page of the program that recorded it"
    )]
    OtherElection { recorded: String },
    #[error(
        "the recorded run began with other {what} than the run of this page: start the program of this page with the same {what}, and open the recording there"
    )]
    OtherBeginning { what: &'static str },
    #[error("too many commands wait already: send the command again later")]
    Busy,
    #[error("the command did not end within {} s, and may still go on: look at the cluster before you send it again", ANSWER.as_secs())]
    Late,
    #[error("the cluster has ended: start its program again")]
    Ended,
}

impl StageError {
    /// Returns the HTTP status of the error.
    pub(crate) const fn status(&self) -> u16 {
        match self {
            Self::Speed { .. } => 400,
            Self::Cluster(ClusterError::Unknown { .. }) | Self::NoElection { .. } => 404,
            Self::Cluster(_)
            | Self::TooFew { .. }
            | Self::TooMany { .. }
            | Self::RealTime
            | Self::Paused { .. }
            | Self::NothingBeside
            | Self::PlaysAgain { .. }
            | Self::NotYet { .. }
            | Self::Unrepeatable(_)
            | Self::OtherElection { .. }
            | Self::OtherBeginning { .. } => 409,
            Self::Busy | Self::Ended => 503,
            Self::Late => 504,
        }
    }
}

fn seconds(at: Time) -> String {
    format!("{:.3} s", at.since(Time::ZERO).as_secs_f64())
}

pub(crate) fn link() -> (StageLink, Receiver<StageRequest>) {
    let (sender, receiver) = sync_channel(WAITING);
    (StageLink(sender), receiver)
}

impl StageLink {
    /// Sends a request, and waits until it was executed or refused.
    pub(crate) async fn ask(&self, control: Control) -> Result<StageNote, StageError> {
        self.answered(|reply| StageRequest::Command(control, reply))
            .await?
    }

    /// Returns the run so far: of the first election, or of the second if `beside`.
    pub(crate) async fn run(&self, beside: bool) -> Result<RecordedRun, StageError> {
        self.answered(|reply| StageRequest::Run { beside, reply })
            .await?
    }

    /// Repeats a recording up to the moment `at`, and continues live from this moment.
    pub(crate) async fn go_on(
        &self,
        recording: Recording,
        at: Time,
    ) -> Result<StageNote, StageError> {
        self.answered(|reply| StageRequest::GoOn {
            recording,
            at,
            reply,
        })
        .await?
    }

    async fn answered<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> StageRequest,
    ) -> Result<T, StageError> {
        let (reply, told) = oneshot::channel();
        match self.0.try_send(request(reply)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(StageError::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(StageError::Ended),
        }
        match timeout(ANSWER, told).await {
            Ok(Ok(told)) => Ok(told),
            Ok(Err(_)) => Err(StageError::Ended),
            Err(_) => Err(StageError::Late),
        }
    }
}

/// Largest number of waiting commands. Chosen: with far more, a command may be executed long after its click.
const WAITING: usize = 16;
/// Longest wait for an answer. Chosen: longer than a leader drains by default (5 s); more would hide a stage that
/// hangs.
const ANSWER: Duration = Duration::from_secs(10);
