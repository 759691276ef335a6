//! Runs the stage, frame by frame.
//!
//! Decided here: the steps of a frame: execute the commands that came, let the due time pass, play the next scene if
//! its condition is met, then publish the moment. With two elections side by side, both get each command and each scene
//! before any time passes. Not here: how each cluster is read and shown (`panel.rs`).

use std::{
    iter,
    sync::mpsc::{RecvTimeoutError, TryRecvError},
    time::{Duration, Instant},
};

use actix::clock::sleep;
use futures::future::join;

use super::{
    Chosen, Stage,
    control::{Control, checked_speed},
    link::{StageError, StageNote, StageRequest},
    pace::now,
    panel::StagePanel,
    run::EarlierRun,
    scenario::{Story, Until, scenes},
};
use crate::{
    dashboard::{board::Board, copies::RecordedRun},
    protocol::Time,
    record::{RecordedClock, RecordedCommand},
    testkit::cluster::ClusterError,
};

pub(super) struct Player<'a> {
    pub(super) stage: &'a mut Stage,
    pub(super) first: Box<dyn StagePanel>,
    pub(super) beside: Option<Box<dyn StagePanel>>,
    /// The count of activity of the clusters at the last frame.
    activity: u64,
    /// The condition of the next scene, the start of the wait, and the time at which the condition was met.
    pub(super) waits: Option<SceneWait>,
}

/// The wait before the next scene of a scenario.
pub(super) struct SceneWait {
    until: Until,
    since: Time,
    /// Time at which the condition was met. The next scene follows later, so that viewers can see the result.
    met: Option<Instant>,
}

/// The effect of a command on the stage.
pub(super) enum AfterCommand {
    Goes,
    Chosen(Chosen),
    /// An earlier run has to be repeated. The agents for it have begun.
    Again(EarlierRun),
}

impl<'a> Player<'a> {
    pub(super) fn new(
        stage: &'a mut Stage,
        first: Box<dyn StagePanel>,
        beside: Option<Box<dyn StagePanel>>,
    ) -> Self {
        Self {
            stage,
            first,
            beside,
            activity: 0,
            waits: None,
        }
    }

    pub(super) async fn play(mut self, mut story: Option<Story>) -> Option<Chosen> {
        if let Some(next) = self.stage.next_run.take() {
            story = None;
            if let Some(run) = self.go_on_next(next) {
                self.play_again(run).await.ok()?;
            }
        }
        let mut last = now();
        loop {
            match self.obey().await.ok()? {
                AfterCommand::Goes => {}
                AfterCommand::Chosen(chosen) => return Some(chosen),
                AfterCommand::Again(run) => {
                    self.play_again(run).await.ok()?;
                    last = now();
                }
            }
            // A scenario waits for the first viewer, who would otherwise miss its start.
            if self.stage.board.has_viewers()
                && let Some(story) = story.take()
                && self.begin(story).is_ok()
            {
                self.waits = Some(self.wait(Until::Settled));
            }
            let passed = last.elapsed();
            last = now();
            let due = self.stage.pace.due(passed);
            if self.stage.pace.is_virtual() && !due.is_zero() {
                sleep(due).await;
            }
            self.scene().await;
            self.settle_when_quiet().await;
            let (clock, scenario) = (self.stage.pace.facts(), self.stage.scenario);
            let given = self.given();
            for panel in self.panels() {
                panel.show(clock, scenario, &given);
            }
        }
    }

    /// Returns the number of commands so far, to the first election and to the second.
    pub(super) fn given(&mut self) -> Vec<u64> {
        self.panels().map(|panel| panel.given()).collect()
    }

    /// Returns the first panel, and the second if there is one.
    pub(super) fn panels(&mut self) -> impl Iterator<Item = &mut Box<dyn StagePanel>> {
        iter::once(&mut self.first).chain(&mut self.beside)
    }

    /// Waits for a request for the length of a frame, and executes it.
    async fn obey(&mut self) -> Result<AfterCommand, NoPage> {
        if !self.stage.pace.is_virtual() {
            sleep(FRAME).await;
            return self.obey_waiting().await;
        }
        // This call blocks the thread of the cluster, so the cluster's time stands still. No task of the agents runs
        // between two frames, so a command is the first event of its instant, also when the run is repeated.
        match self.stage.asked.recv_timeout(FRAME) {
            Ok(asked) => Ok(self.answer(asked).await),
            Err(RecvTimeoutError::Timeout) => Ok(AfterCommand::Goes),
            Err(RecvTimeoutError::Disconnected) => Err(NoPage),
        }
    }

    async fn obey_waiting(&mut self) -> Result<AfterCommand, NoPage> {
        while let Some(asked) = self.stage.asked_meanwhile()? {
            match self.answer(asked).await {
                AfterCommand::Goes => {}
                after @ (AfterCommand::Chosen(_) | AfterCommand::Again(_)) => return Ok(after),
            }
        }
        Ok(AfterCommand::Goes)
    }

    async fn answer(&mut self, request: StageRequest) -> AfterCommand {
        // Errors of the reply are ignored: they only mean that the caller no longer waits.
        let (control, reply) = match request {
            StageRequest::Command(Control::GoOnFrom(moment), reply) => {
                let (told, after) = match self.go_on_from(&moment) {
                    Ok(run) => (Ok(None), AfterCommand::Again(run)),
                    Err(wrong) => (Err(wrong), AfterCommand::Goes),
                };
                reply.send(told).ok();
                return after;
            }
            StageRequest::GoOn {
                recording,
                at,
                reply,
            } => return self.go_on(recording, at, reply),
            StageRequest::Command(control, reply) => (control, reply),
            StageRequest::Run { beside, reply } => {
                self.settle().await;
                reply.send(self.run(beside)).ok();
                return AfterCommand::Goes;
            }
        };
        let told = self.control(&control).await;
        let chosen = told.as_ref().ok().and_then(|_| self.chosen(control));
        reply.send(told).ok();
        chosen.map_or(AfterCommand::Goes, AfterCommand::Chosen)
    }

    async fn control(&mut self, control: &Control) -> Result<StageNote, StageError> {
        match control {
            Control::Pause => {
                self.settle().await;
                self.pause(true)?;
            }
            Control::Play => self.pause(false)?,
            Control::Step => self.step().await?,
            Control::Speed(speed) => {
                self.must_be_virtual()?;
                self.stage.pace.set_speed(checked_speed(*speed)?);
            }
            Control::Scenario(name) => self.begin(*name)?,
            Control::Election(name) | Control::Beside(Some(name)) => self.must_be_known(name)?,
            // Handled by the caller, because it replaces the agents.
            Control::Beside(None) | Control::GoOnFrom(_) => {}
            Control::Command(command) => {
                self.must_go_on_for(command)?;
                return self.give(command).await;
            }
        }
        Ok(None)
    }

    /// Gives a command to both elections at the same moment. The two elections may have different leaders, so it is no
    /// error if one of them refuses the command.
    async fn give(&mut self, command: &RecordedCommand) -> Result<StageNote, StageError> {
        let Some(beside) = &mut self.beside else {
            self.first.apply(command).await?;
            return Ok(None);
        };
        // Both elections get the command before any agent runs, as in a repetition of the run.
        match join(self.first.apply(command), beside.apply(command)).await {
            (Ok(()), Ok(())) => Ok(None),
            (Ok(()), Err(wrong)) => {
                let refused = format!("the election beside did not do it: {wrong}");
                Ok(Some(refused))
            }
            (Err(wrong), Ok(())) => {
                let refused = format!("only the election beside did it: {wrong}");
                Ok(Some(refused))
            }
            (Err(wrong), Err(_)) => Err(wrong.into()),
        }
    }

    fn must_be_known(&self, name: &String) -> Result<(), StageError> {
        let is_known = self.stage.board.head().elections.contains(name);
        let unknown = || StageError::NoElection { name: name.clone() };
        is_known.then_some(()).ok_or_else(unknown)
    }

    /// Returns the elections to run next, if the request chooses them.
    fn chosen(&self, control: Control) -> Option<Chosen> {
        let held = |board: &Board| board.head().election;
        let (election, beside) = if let Control::Election(election) = control {
            (election, held(&self.stage.beside))
        } else if let Control::Beside(beside) = control {
            (held(&self.stage.board)?, beside)
        } else {
            return None;
        };
        Some(Chosen {
            election,
            beside,
            agents: None,
        })
    }

    pub(super) fn must_be_virtual(&self) -> Result<(), StageError> {
        if self.stage.pace.is_virtual() {
            return Ok(());
        }
        Err(StageError::RealTime)
    }

    /// While the stage is paused, refuses a command that waits for the agents, because such a command would let time
    /// pass.
    fn must_go_on_for(&self, command: &RecordedCommand) -> Result<(), StageError> {
        let waits = matches!(command, RecordedCommand::Leave(_) | RecordedCommand::Settle);
        if waits && self.stage.pace.facts().paused {
            let command = command.to_string();
            return Err(StageError::Paused { command });
        }
        Ok(())
    }

    fn pause(&mut self, paused: bool) -> Result<(), StageError> {
        self.must_be_virtual()?;
        self.stage.pace.pause(paused);
        Ok(())
    }

    /// Pauses the clock, and lets time pass until the next event.
    async fn step(&mut self) -> Result<(), StageError> {
        self.pause(true)?;
        let before = self.activity();
        for _ in 0..LONGEST_STEP {
            sleep(Duration::from_millis(1)).await;
            if self.activity() != before {
                break;
            }
        }
        Ok(())
    }

    fn activity(&mut self) -> u64 {
        self.panels().map(|panel| panel.activity()).sum()
    }

    // ---- scenes ------------------------------------------------------------------------------

    /// Begins a scenario. The scenario that is being played, if any, ends at once.
    fn begin(&mut self, scenario: Story) -> Result<(), StageError> {
        if scenario == Story::RollingChange && !self.panels().any(|panel| panel.has_voters()) {
            return Err(ClusterError::NoVoters.into());
        }
        let ranked = self.first.ranked();
        self.stage.scenes = scenes(scenario, &ranked)?.into();
        self.stage.scenario = Some(scenario.words().0);
        self.waits = None;
        Ok(())
    }

    fn wait(&self, until: Until) -> SceneWait {
        SceneWait {
            until,
            since: self.first.now(),
            met: None,
        }
    }

    /// Plays the next scene, if its condition is met.
    async fn scene(&mut self) {
        if self.stage.scenario.is_none() || self.stage.pace.facts().paused || !self.is_its_turn() {
            return;
        }
        loop {
            let Some(scene) = self.stage.scenes.pop_front() else {
                (self.stage.scenario, self.waits) = (None, None);
                return;
            };
            // An error is ignored: a viewer's commands may have made this scene impossible, but the next scene may
            // still be possible.
            let done = self.give(&scene.command).await.is_ok();
            if done && scene.then != Until::Passed(Duration::ZERO) {
                self.waits = Some(self.wait(scene.then));
                return;
            }
        }
    }

    fn is_its_turn(&mut self) -> bool {
        let waits = self.waits.as_ref();
        let Some((until, since)) = waits.map(|wait| (wait.until, wait.since)) else {
            return true;
        };
        let passed = self.first.now().since(since);
        let is_met = match until {
            Until::Passed(span) => passed >= span,
            Until::Settled => {
                passed >= AT_LEAST
                    && (passed >= AT_MOST || self.panels().all(|panel| panel.is_settled()))
            }
        };
        let Some(wait) = &mut self.waits else {
            return true;
        };
        if !is_met {
            wait.met = None;
            return false;
        }
        wait.met.get_or_insert_with(now).elapsed() >= DWELL
    }

    // ---- recording ---------------------------------------------------------------------------

    /// Returns the run so far, of the first election or of the second.
    fn run(&self, beside: bool) -> Result<RecordedRun, StageError> {
        let clock = if self.stage.pace.is_virtual() {
            RecordedClock::Virtual
        } else {
            RecordedClock::Real
        };
        let second = self.beside.as_ref().ok_or(StageError::NothingBeside);
        let panel = if beside { second? } else { &self.first };
        Ok(panel.run(clock))
    }

    /// Records a settled leadership, but only after a frame without an event, because the record takes time of the
    /// agents.
    async fn settle_when_quiet(&mut self) {
        let activity = self.activity();
        if std::mem::replace(&mut self.activity, activity) == activity {
            self.settle().await;
        }
    }

    /// Records that the leadership is settled. The record takes time of the agents, so it is skipped while the stage is
    /// paused.
    async fn settle(&mut self) {
        if self.stage.pace.facts().paused {
            return;
        }
        for panel in self.panels() {
            panel.settle().await;
        }
    }
}

impl Stage {
    /// Returns the next waiting request, if there is one.
    pub(super) fn asked_meanwhile(&mut self) -> Result<Option<StageRequest>, NoPage> {
        match self.asked.try_recv() {
            Ok(asked) => Ok(Some(asked)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(NoPage),
        }
    }
}

/// All pages are gone.
pub(super) struct NoPage;

const FRAME: Duration = Duration::from_millis(25);
/// Longest step, in milliseconds.
const LONGEST_STEP: u32 = 5_000;
/// Shortest and longest wait for a settled leadership after a scene. The effect of a scene begins within the shortest
/// wait, and ends within the longest, if ever.
const AT_LEAST: Duration = Duration::from_millis(50);
const AT_MOST: Duration = Duration::from_secs(15);
/// Time for people to see the result of a scene.
const DWELL: Duration = Duration::from_millis(2_500);
