//! Goes on live from a moment of an earlier run: plays the commands until that moment again, with new agents.
//!
//! Decided here: the commands that count, the slices between which other requests are answered, and the comparison of
//! both runs. The run is the same if its agents had the same roles, events and commands at the same times: messages are
//! not compared, because recordings differ in the messages that they keep. If the runs differ, the new run goes on
//! nevertheless, and its page says what differs. Not here: one cluster of a run (`panel.rs`), and whether a recording
//! can be played again at all ([`Recording::can_be_repeated`]).

use std::{iter, time::Duration};

use actix::clock::sleep;
use futures::future::{Either, join_all, select};
use tokio::sync::oneshot;

use super::{
    Chosen, Stage,
    control::{Control, RunMoment},
    link::{GoesOnReply, StageAnswer, StageError, StageRequest},
    pace::now,
    play::{AfterCommand, NoPage, Player},
    run::is_given,
};
use crate::{
    dashboard::{
        board::Board,
        copies::RecordedRun,
        head::GoesOnFrom,
        moment::{PageMoment, PlayedAgain},
    },
    protocol::Time,
    record::{Header, RecordedClock, RecordedCommand, Recording, TraceEntry, Untold, What},
};

/// An earlier run, and the moment of it from which a new run goes on.
#[derive(Debug)]
pub(super) struct EarlierRun {
    /// The parts of the first election and of the second.
    parts: Vec<RunPart>,
    until: Time,
    /// Number of the run; 0 for a recording.
    number: u64,
    /// The beginning of a recording; `None` for the present run.
    recorded: Option<Header>,
}

/// One election of the earlier run.
#[derive(Debug)]
struct RunPart {
    commands: Vec<TraceEntry>,
    whole: Recording,
}

/// A recording that is played again with the next agents, and the channel for the answer.
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

/// Returns the commands until the time `until`, but at most `most` commands. A `settle` that had not ended at that time
/// is left out: the new run would wait for its end.
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
    /// Begins the present run anew, to be played until the moment `moment` of it.
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

    /// Begins a recorded run anew, or asks the caller of the stage to begin the agents for it.
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

    /// Begins a recorded run anew. If it needs other agents than the present ones, returns the agents that it needs.
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

    /// Begins the run for which the present agents were started.
    pub(super) fn go_on_next(&mut self, (run, reply): NextRun) -> Option<EarlierRun> {
        let begun = self.begin_again(&run);
        let is_begun = begun.is_ok();
        answer(reply, begun);
        is_begun.then_some(run)
    }

    /// Replaces all agents by new agents, which begin as the agents of the run did. After an error nothing has changed.
    fn begin_again(&mut self, run: &EarlierRun) -> Result<(), StageError> {
        let recorded = run.recorded.as_ref();
        let first = self.first.begin_again(recorded)?;
        if let Some(beside) = &mut self.beside {
            *beside = beside.begin_again(recorded)?;
        }
        self.first = first;
        Ok(())
    }

    /// Plays the run again until its moment, or until a viewer asks to go on live from the time that is reached.
    pub(super) async fn play_again(&mut self, run: EarlierRun) -> Result<(), NoPage> {
        (self.stage.scenario, self.waits) = (None, None);
        self.stage.scenes.clear();
        let refused = self.repeat(&run).await?;
        self.stage.run = self.stage.run.saturating_add(1);
        let (clock, number) = (self.stage.pace.facts(), self.stage.run);
        let given = self.given();
        for (panel, part) in self.panels().zip(&run.parts) {
            // This is later than the chosen moment if an agent was leaving.
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

    /// Gives the commands of the run, and answers other requests after each slice. Returns the error of a refusal.
    async fn repeat(&mut self, run: &EarlierRun) -> Result<Option<String>, NoPage> {
        let Self {
            stage,
            first,
            beside,
            ..
        } = self;
        let begun = actix::clock::Instant::now();
        let panels = iter::once(first).chain(beside);
        // Both elections are played at the same time, as in the earlier run: a command of one may take a while.
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
    /// Answers the requests that come while a run is played again. Returns whether a viewer asks to go on live at once.
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

    /// Shows how far the run was played again, together with the agents as they were shown before.
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

/// An error only means that the caller has gone, and needs no answer.
fn answer(reply: oneshot::Sender<Result<StageAnswer, StageError>>, told: Result<(), StageError>) {
    reply.send(told.map(|()| StageAnswer::done())).ok();
}

/// Returns the first difference between the two runs before the time `until`, in the time that both runs remember.
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

/// The time of the agents between two looks at the real clock, and the longest real time without an answer to a viewer.
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
