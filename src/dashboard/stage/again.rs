//! Continues live from a moment of an earlier run: repeats the commands before that moment with new agents.
//!
//! Decided here: which commands are repeated, how often other requests are answered meanwhile, and how both runs are
//! compared. The runs are the same if the agents had the same roles, events and commands at the same times. Messages
//! are not compared, because recordings differ in the messages that they keep. If the runs differ, the new run
//! continues nevertheless, and the page shows the first difference. Not here: one cluster of a run (`panel.rs`), and
//! whether a recording can be repeated at all ([`Recording::can_be_repeated`]).

use std::{iter, time::Duration};

use actix::clock::sleep;
use futures::future::{Either, join_all, select};
use tokio::sync::oneshot;

use super::{
    Chosen, Stage,
    control::{Control, RunMoment},
    link::{GoesOnReply, StageError, StageNote, StageRequest},
    pace::now,
    play::{AfterCommand, NoPage, Player},
    run::{EarlierRun, RunPart, is_given},
};
use crate::{
    dashboard::{
        board::Board,
        copies::RecordedRun,
        head::GoesOnFrom,
        moment::{PageMoment, PlayedAgain},
    },
    protocol::Time,
    record::{RecordedClock, RecordedCommand, Recording, TraceEntry, Untold, What},
};

/// A recording that will be repeated with the agents of the next cluster, and the channel for the answer.
pub(super) type NextRun = (EarlierRun, GoesOnReply);

impl EarlierRun {
    fn of_recording(whole: Recording, until: Time) -> Self {
        let recorded = Some(whole.header().clone());
        let commands = commands(&whole, until, u64::MAX);
        Self {
            parts: vec![RunPart { commands, whole }],
            until,
            number: 0,
            recorded,
        }
    }
}

impl RunPart {
    /// Returns the part of a run until the time `until`, with at most `most` commands.
    fn of(run: RecordedRun, until: Time, most: u64) -> Result<Self, Untold> {
        let all = run.commands.as_ref().unwrap_or(&run.whole);
        if let forgotten @ 1.. = all.header().forgotten {
            return Err(Untold::Forgotten { forgotten });
        }
        let commands = commands(all, until, most);
        let whole = run.whole;
        Ok(Self { commands, whole })
    }
}

/// Returns the commands until the time `until`, but at most `most` commands. A command `settle` (wait until the
/// leadership is settled) that had not ended at the time `until` is left out: the new run would wait for its end.
fn commands(run: &Recording, until: Time, most: u64) -> Vec<TraceEntry> {
    let steps = run.entries().iter().filter(|entry| {
        entry.at <= until && matches!(entry.what, What::Command(_) | What::Settled { .. })
    });
    let mut steps = steps.peekable();
    let (mut commands, mut given) = (Vec::new(), 0);
    while let Some(step) = steps.next() {
        let has_ended = |next: &&TraceEntry| matches!(next.what, What::Settled { .. });
        let counts = if step.what == What::Command(RecordedCommand::Settle) {
            steps.peek().is_some_and(has_ended)
        } else {
            is_given(step)
        };
        given += u64::from(is_given(step));
        if given > most {
            break;
        }
        if counts {
            commands.push(step.clone());
        }
    }
    commands
}

impl Player<'_> {
    /// Begins the present run again. The caller has to repeat the returned run until the moment `moment`.
    pub(super) fn go_on_from(&mut self, moment: &RunMoment) -> Result<EarlierRun, StageError> {
        self.must_be_virtual()?;
        let (at, now) = (moment.at_ms, self.first.now());
        if at > now {
            return Err(StageError::NotYet { at, now });
        }
        let mut given = moment.given.iter().copied();
        let part = |run| RunPart::of(run, at, given.next().unwrap_or(u64::MAX));
        let runs = self.panels().map(|panel| panel.run(RecordedClock::Virtual));
        let parts: Result<_, Untold> = runs.map(part).collect();
        let run = EarlierRun {
            parts: parts?,
            until: at,
            number: self.stage.run,
            recorded: None,
        };
        self.begin_again(&run)?;
        Ok(run)
    }

    /// Begins a recorded run again, or asks the caller of the stage for a cluster with the right agents.
    pub(super) fn go_on(&mut self, whole: Recording, at: Time, reply: GoesOnReply) -> AfterCommand {
        let run = EarlierRun::of_recording(whole, at);
        match self.go_on_here(&run) {
            Ok(None) => {
                answer(reply, Ok(()));
                AfterCommand::Again(run)
            }
            Ok(Some(chosen)) => {
                self.stage.next_run = Some((run, reply));
                AfterCommand::Chosen(chosen)
            }
            Err(wrong) => {
                answer(reply, Err(wrong));
                AfterCommand::Goes
            }
        }
    }

    /// Begins a recorded run again. If it needs other agents than the present ones, returns the needed agents.
    fn go_on_here(&mut self, run: &EarlierRun) -> Result<Option<Chosen>, StageError> {
        self.must_be_virtual()?;
        let (Some(recorded), [part]) = (&run.recorded, &*run.parts) else {
            return Ok(None);
        };
        let (at, now) = (run.until, part.whole.ended());
        if at > now {
            return Err(StageError::NotYet { at, now });
        }
        let head = self.stage.board.head();
        let is_held = head.election.unwrap_or_default() == recorded.protocol;
        let is_chosen = head.elections.contains(&recorded.protocol);
        let begun = if is_held && self.beside.is_none() {
            self.begin_again(run)
        } else {
            let recorded = recorded.protocol.clone();
            Err(StageError::OtherElection { recorded })
        };
        match begun {
            Ok(()) => Ok(None),
            Err(
                StageError::OtherBeginning { what: "agents" } | StageError::OtherElection { .. },
            ) if is_chosen => Ok(Some(Chosen {
                election: recorded.protocol.clone(),
                beside: None,
                agents: Some(recorded.agents.clone()),
            })),
            Err(wrong) => Err(wrong),
        }
    }

    /// Begins the recorded run for which the present agents were started. Returns `None` after an error.
    pub(super) fn go_on_next(&mut self, (run, reply): NextRun) -> Option<EarlierRun> {
        let begun = self.begin_again(&run);
        let is_begun = begun.is_ok();
        answer(reply, begun);
        is_begun.then_some(run)
    }

    /// Replaces all agents by new agents, which begin like the agents of the run. After an error nothing has changed.
    fn begin_again(&mut self, run: &EarlierRun) -> Result<(), StageError> {
        let recorded = run.recorded.as_ref();
        let first = self.first.begin_again(recorded)?;
        if let Some(beside) = &mut self.beside {
            *beside = beside.begin_again(recorded)?;
        }
        self.first = first;
        Ok(())
    }

    /// Repeats the run until its moment, or until a viewer asks to continue live from the time that is reached.
    pub(super) async fn play_again(&mut self, run: EarlierRun) -> Result<(), NoPage> {
        (self.stage.scenario, self.waits) = (None, None);
        self.stage.scenes.clear();
        let refused = self.repeat(&run).await?;
        self.stage.run = self.stage.run.saturating_add(1);
        let (clock, number) = (self.stage.pace.facts(), self.stage.run);
        let given = self.given();
        for (panel, part) in self.panels().zip(&run.parts) {
            // The time that is reached may be later than the chosen moment, if an agent was leaving at the chosen
            // moment.
            let now = panel.now();
            let again = panel.run(RecordedClock::Virtual).whole;
            let differs = || first_difference(&part.whole, &again, now.min(run.until));
            let from = GoesOnFrom {
                run: run.number,
                at: now.since(Time::ZERO),
                differs: refused.clone().or_else(differs),
            };
            panel.go_on(clock, number, from, &given);
        }
        Ok(())
    }

    /// Gives the commands of the run to the agents, and answers other requests after each slice of time. Returns the
    /// error if a command was refused.
    async fn repeat(&mut self, run: &EarlierRun) -> Result<Option<String>, NoPage> {
        let Self {
            stage,
            first,
            beside,
            ..
        } = self;
        let begun = actix::clock::Instant::now();
        let panels = iter::once(first).chain(beside);
        // Both elections run at the same time, as in the earlier run, because a command may take some time in one of
        // them.
        let repeats = panels.zip(&run.parts);
        let mut repeats =
            join_all(repeats.map(|(panel, part)| panel.repeat(&part.commands, run.until)));
        let mut slice = now();
        loop {
            if let Either::Left((done, _)) = select(&mut repeats, Box::pin(sleep(CHUNK))).await {
                let wrong = done.into_iter().find_map(Result::err);
                return Ok(wrong.map(|wrong| wrong.to_string()));
            }
            if slice.elapsed() < SLICE {
                continue;
            }
            if stage.answers_meanwhile(run.until)? {
                return Ok(None);
            }
            stage.show_played_again(Time::ZERO.after(begun.elapsed()), run.until);
            slice = now();
        }
    }
}

impl Stage {
    /// Answers the requests that come while a run is repeated. Returns whether a viewer asks to continue live at once.
    fn answers_meanwhile(&mut self, until: Time) -> Result<bool, NoPage> {
        while let Some(request) = self.asked_meanwhile()? {
            let wrong = || StageError::PlaysAgain { until };
            match request {
                StageRequest::Command(Control::Play, reply) => {
                    self.pace.pause(false);
                    answer(reply, Ok(()));
                    return Ok(true);
                }
                StageRequest::Command(_, reply) | StageRequest::GoOn { reply, .. } => {
                    answer(reply, Err(wrong()));
                }
                StageRequest::Run { reply, .. } => drop(reply.send(Err(wrong()))),
            }
        }
        Ok(false)
    }

    /// Shows how far the run was repeated. The agents stay as they were shown before.
    fn show_played_again(&self, at: Time, until: Time) {
        let mut clock = self.pace.facts();
        clock.paused = true;
        clock.again = Some(PlayedAgain {
            at: at.since(Time::ZERO),
            until: until.since(Time::ZERO),
        });
        let show = |board: &Board| {
            let moment = PageMoment {
                clock,
                ..board.moment()
            };
            board.publish(moment, Vec::new(), 0);
        };
        show(&self.board);
        if self.beside.head().election.is_some() {
            show(&self.beside);
        }
    }
}

/// Sends the answer. An error only means that the caller no longer waits.
fn answer(reply: oneshot::Sender<Result<StageNote, StageError>>, told: Result<(), StageError>) {
    reply.send(told.map(|()| None)).ok();
}

/// Returns the first difference between the two runs until `until`, in the time for which both have entries.
fn first_difference(before: &Recording, again: &Recording, until: Time) -> Option<String> {
    let remembered = |run: &Recording| {
        let first = run.entries().first().filter(|_| run.header().forgotten > 0);
        first.map(|entry| entry.at)
    };
    let from = remembered(before).max(remembered(again));
    let done = |run: &Recording| {
        let entries = run.entries().iter();
        let counts = |entry: &&TraceEntry| {
            from.is_none_or(|from| entry.at > from) && entry.at < until && is_compared(&entry.what)
        };
        entries.filter(counts).cloned().collect::<Vec<_>>()
    };
    let (before, again) = (done(before), done(again));
    let longest = before.len().max(again.len());
    let at = (0..longest).find(|at| before.get(*at) != again.get(*at))?;
    let said = |entries: &[TraceEntry]| match entries.get(at) {
        Some(entry) => entry.to_line(),
        None => String::from("nothing"),
    };
    Some(format!("before: {}, now: {}", said(&before), said(&again)))
}

const fn is_compared(what: &What) -> bool {
    match what {
        What::Role { .. }
        | What::Event { .. }
        | What::Happened { .. }
        | What::Mark(_)
        | What::Settled { .. } => true,
        What::Command(command) => !matches!(command, RecordedCommand::Settle),
        What::Sent { .. }
        | What::Lost { .. }
        | What::Delivered(_)
        | What::Dropped { .. }
        | What::Violation(_)
        | What::Ended => false,
    }
}

/// `CHUNK`: the agents' time that passes between two readings of the real clock. `SLICE`: the longest real time for
/// which a viewer waits for an answer while a run is repeated.
const CHUNK: Duration = Duration::from_millis(250);
const SLICE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(forgotten: u64) -> Recording {
        let text = format!(
            r#"{{"format":"actix-bully recording","version":1,"run":{{"writer":"x","protocol":"bully","clock":"virtual","seed":1,"network":null,"timings_ns":{{}},"again":null,"began_unix_ms":null,"forgotten":{forgotten},"agents":[]}}}}
{{"at_ns":1,"what":"ended"}}
"#
        );
        Recording::read(text.as_bytes()).unwrap()
    }

    /// The whole run may have lost messages. Only its commands have to be complete.
    #[test]
    fn a_run_whose_commands_are_forgotten_is_not_played_again() {
        let played = |whole, commands: Option<u64>| {
            let mut run = RecordedRun::new(recording(whole));
            run.commands = commands.map(recording);
            RunPart::of(run, Time::ZERO, u64::MAX).map(|_| ())
        };
        assert_eq!(played(0, None), Ok(()));
        assert_eq!(played(7, Some(0)), Ok(()));
        assert_eq!(played(7, None), Err(Untold::Forgotten { forgotten: 7 }));
        assert_eq!(played(0, Some(3)), Err(Untold::Forgotten { forgotten: 3 }));
    }
}
