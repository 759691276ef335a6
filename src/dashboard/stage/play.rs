//! One cluster on the stage, frame by frame.
//!
//! Decided here: what a frame is: commands that came, then as much time as is due, then the next scene if it is its
//! turn, then what is shown. An election is over when it is settled which agents lead.

use std::{
    sync::mpsc::{RecvTimeoutError, TryRecvError},
    time::{Duration, Instant},
};

use actix::clock::sleep;

use super::{
    Stage,
    control::{Control, checked_speed},
    facts,
    link::{StageError, StageRequest},
    perform::perform,
    run::RunCommands,
    scenario::{Story, Until, scenes},
};
use crate::{
    dashboard::{
        copies::RecordedRun,
        entries::Told,
        moment::PageMoment,
        said::{Happened, Said, joined},
    },
    protocol::{Election, Time},
    record::RecordedClock,
    testkit::cluster::{Cluster, Settled},
};

/// See the [module's page](self).
pub(super) struct Player<'a, E: Election> {
    stage: &'a mut Stage,
    cluster: Cluster<E>,
    /// The first entry of the record that has not been told.
    next_entry: u64,
    commands: RunCommands,
    causes: Vec<String>,
    /// The last change of a leader that an election was told of.
    told: Option<Time>,
    /// The last one that the recording calls settled, and how much had happened by the last frame.
    recorded: (Option<Time>, u64),
    why: Vec<String>,
    why_at: (u64, Instant),
    /// What the next scene waits for, since when, and how long it has been quiet.
    waits: Option<SceneWait>,
}

/// What the next scene waits for.
struct SceneWait {
    until: Until,
    since: Time,
    /// When it was met: people need a moment to see it.
    met: Option<Instant>,
}

/// What follows from a command.
enum AfterCommand {
    Goes,
    Chosen(String),
}

impl<'a, E: Election> Player<'a, E> {
    pub(super) fn new(stage: &'a mut Stage, cluster: Cluster<E>) -> Self {
        stage.board.set_head(|head| {
            head.title = format!("{} agents", cluster.sights().count());
        });
        Self {
            stage,
            cluster,
            next_entry: 0,
            commands: RunCommands::default(),
            causes: Vec::new(),
            told: None,
            recorded: (None, 0),
            why: Vec::new(),
            why_at: (u64::MAX, now()),
            waits: None,
        }
    }

    pub(super) async fn play(mut self, mut story: Option<Story>) -> Option<String> {
        let mut last = now();
        loop {
            match self.obey().await {
                Ok(AfterCommand::Goes) => {}
                Ok(AfterCommand::Chosen(name)) => {
                    let held = name.clone();
                    self.stage.board.set_head(|head| head.election = Some(held));
                    return Some(name);
                }
                Err(NoPage) => return None,
            }
            // Not before somebody looks: the beginning of a story is missed otherwise.
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
            self.show();
        }
    }

    /// Does what was asked for; waits for the length of a frame if that is nothing.
    async fn obey(&mut self) -> Result<AfterCommand, NoPage> {
        if !self.stage.pace.is_virtual() {
            sleep(FRAME).await;
            return self.obey_waiting().await;
        }
        // Nothing of the cluster runs meanwhile: its time stands still.
        match self.stage.asked.recv_timeout(FRAME) {
            Ok(asked) => Ok(self.answer(asked).await),
            Err(RecvTimeoutError::Timeout) => {
                // What is due at this very moment is done, so that a message which takes no time arrives.
                actix_yield().await;
                Ok(AfterCommand::Goes)
            }
            Err(RecvTimeoutError::Disconnected) => Err(NoPage),
        }
    }

    async fn obey_waiting(&mut self) -> Result<AfterCommand, NoPage> {
        loop {
            match self.stage.asked.try_recv() {
                Ok(asked) => match self.answer(asked).await {
                    AfterCommand::Goes => {}
                    chosen @ AfterCommand::Chosen(_) => return Ok(chosen),
                },
                Err(TryRecvError::Empty) => return Ok(AfterCommand::Goes),
                Err(TryRecvError::Disconnected) => return Err(NoPage),
            }
        }
    }

    async fn answer(&mut self, request: StageRequest) -> AfterCommand {
        // A caller that has gone needs no answer.
        let (control, reply) = match request {
            StageRequest::Command(control, reply) => (control, reply),
            StageRequest::Run(reply) => {
                self.settle().await;
                reply.send(self.run()).ok();
                return AfterCommand::Goes;
            }
        };
        let told = self.control(&control).await;
        let chosen = match (&told, control) {
            (Ok(()), Control::Election(name)) => AfterCommand::Chosen(name),
            _ => AfterCommand::Goes,
        };
        reply.send(told).ok();
        chosen
    }

    async fn control(&mut self, control: &Control) -> Result<(), StageError> {
        match control {
            Control::Pause => {
                self.settle().await;
                self.pause(true)
            }
            Control::Play => self.pause(false),
            Control::Step => self.step().await,
            Control::Speed(speed) => {
                self.must_be_virtual()?;
                self.stage.pace.set_speed(checked_speed(*speed)?);
                Ok(())
            }
            Control::Scenario(name) => self.begin(*name),
            Control::Election(name) => {
                let head = self.stage.board.head();
                if head.elections.contains(name) {
                    return Ok(());
                }
                let name = name.clone();
                Err(StageError::NoElection { name })
            }
            Control::Crash(_)
            | Control::Stop(_)
            | Control::Restart(_)
            | Control::Hang(_)
            | Control::Resume(_)
            | Control::StepDown { .. }
            | Control::Campaign(_)
            | Control::Join { .. }
            | Control::Partition(_)
            | Control::Cut { .. }
            | Control::Mend { .. }
            | Control::Isolate(_)
            | Control::Rejoin(_)
            | Control::Heal
            | Control::Network(_) => perform(&mut self.cluster, control).await,
        }
    }

    fn must_be_virtual(&self) -> Result<(), StageError> {
        if self.stage.pace.is_virtual() {
            return Ok(());
        }
        Err(StageError::RealTime)
    }

    fn pause(&mut self, paused: bool) -> Result<(), StageError> {
        self.must_be_virtual()?;
        self.stage.pace.pause(paused);
        Ok(())
    }

    /// Pauses, and goes on until something has happened.
    async fn step(&mut self) -> Result<(), StageError> {
        self.pause(true)?;
        let before = self.cluster.activity();
        for _ in 0..LONGEST_STEP {
            sleep(Duration::from_millis(1)).await;
            if self.cluster.activity() != before {
                break;
            }
        }
        Ok(())
    }

    // ---- scenes ------------------------------------------------------------------------------

    /// Begins a scenario; one that is played ends where it is.
    fn begin(&mut self, scenario: Story) -> Result<(), StageError> {
        let ranked = facts::ranked(&self.cluster);
        self.stage.scenes = scenes(scenario, &ranked)?.into();
        self.stage.scenario = Some(scenario.words().0);
        self.waits = None;
        Ok(())
    }

    fn wait(&self, until: Until) -> SceneWait {
        SceneWait {
            until,
            since: self.cluster.now(),
            met: None,
        }
    }

    /// Plays the next scene, if the one before is over.
    async fn scene(&mut self) {
        if self.stage.scenario.is_none() || self.stage.pace.facts().paused || !self.is_its_turn() {
            return;
        }
        loop {
            let Some(scene) = self.stage.scenes.pop_front() else {
                (self.stage.scenario, self.waits) = (None, None);
                return;
            };
            // What a viewer did meanwhile may make a scene impossible: the next one may be possible still.
            let done = perform(&mut self.cluster, &scene.control).await.is_ok();
            if done && scene.then != Until::Passed(Duration::ZERO) {
                self.waits = Some(self.wait(scene.then));
                return;
            }
        }
    }

    fn is_its_turn(&mut self) -> bool {
        let now_there = self.cluster.now();
        let Some(wait) = &mut self.waits else {
            return true;
        };
        let passed = now_there.since(wait.since);
        let is_met = match wait.until {
            Until::Passed(span) => passed >= span,
            Until::Settled => {
                passed >= AT_LEAST && (passed >= AT_MOST || self.cluster.settled_now().is_ok())
            }
        };
        if !is_met {
            wait.met = None;
            return false;
        }
        wait.met.get_or_insert_with(now).elapsed() >= DWELL
    }

    // ---- what is kept -----------------------------------------------------------------------

    /// The run until now.
    fn run(&self) -> RecordedRun {
        let election = self.stage.board.head().election;
        let mut whole = self.cluster.recording(&election.unwrap_or_default());
        if !self.stage.pace.is_virtual() {
            whole.header_mut().clock = RecordedClock::Real;
        }
        let mut commands = self.commands.clone();
        self.cluster
            .read_trace(self.next_entry, |entry| commands.add(entry));
        commands.with(whole)
    }

    /// Waits until nothing has happened for a frame, because what is recorded here takes the time of the agents.
    async fn settle_when_quiet(&mut self) {
        let activity = self.cluster.activity();
        if std::mem::replace(&mut self.recorded.1, activity) == activity {
            self.settle().await;
        }
    }

    /// Has it recorded that it is settled which agents lead, as whoever tests a cluster would: a test that is made of the
    /// run asserts it there.
    async fn settle(&mut self) {
        let believed = self.cluster.believed();
        let is_due = self.recorded.0 != Some(believed) && !self.stage.pace.facts().paused;
        if !is_due || self.cluster.settled_now().is_err() {
            return;
        }
        if self.cluster.settle().await.is_ok() {
            self.recorded.0 = Some(believed);
        }
    }

    /// Reads what was recorded since the last time.
    fn read(&mut self) -> Told {
        let mut told = Told::default();
        let commands = &mut self.commands;
        self.next_entry = self.cluster.read_trace(self.next_entry, |entry| {
            told.add(entry);
            commands.add(entry);
        });
        told
    }

    // ---- what is shown -----------------------------------------------------------------------

    fn show(&mut self) {
        let Told {
            mut said,
            more,
            causes,
            ..
        } = self.read();
        self.causes.extend(causes);
        said.extend(self.election());
        let moment = PageMoment {
            clock: self.stage.pace.facts(),
            scenario: self.stage.scenario,
            why: self.why(),
            ..facts::moment(&self.cluster)
        };
        self.stage.board.publish(moment, said, more);
    }

    /// The election that is over, if one is since the last look.
    fn election(&mut self) -> Option<Said> {
        let believed = self.cluster.believed();
        if self.told == Some(believed) {
            return None;
        }
        let settled: Settled = self.cluster.settled_now().ok()?;
        self.told = Some(believed);
        Some(Said {
            at: self.cluster.now().since(Time::ZERO),
            what: Happened::Election {
                cause: joined(std::mem::take(&mut self.causes)),
                leaders: settled.leaders().cloned().collect(),
                took: settled.took,
                messages: settled.messages,
            },
        })
    }

    fn why(&mut self) -> Vec<String> {
        let activity = self.cluster.activity();
        let (last, at) = self.why_at;
        let is_due = at.elapsed() >= facts::WHY_EACH;
        if is_due && (last != activity || !self.stage.pace.facts().paused) || self.why.is_empty() {
            self.why = facts::why(&self.cluster);
            self.why_at = (activity, now());
        }
        self.why.clone()
    }
}

/// Nobody is left to show anything to.
struct NoPage;

#[expect(
    clippy::disallowed_methods,
    reason = "people see real time; the agents' own is virtual"
)]
fn now() -> Instant {
    Instant::now()
}

/// Lets the other tasks of this thread run, without any time passing.
async fn actix_yield() {
    tokio::task::yield_now().await;
}

const FRAME: Duration = Duration::from_millis(25);
/// So many milliseconds a step takes at the longest.
const LONGEST_STEP: u32 = 5_000;
/// What begins with a scene begins within this time, and is over, if ever, within that one.
const AT_LEAST: Duration = Duration::from_millis(50);
const AT_MOST: Duration = Duration::from_secs(15);
/// How long people look at what came of a scene.
const DWELL: Duration = Duration::from_millis(2_500);
