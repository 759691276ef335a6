//! The routes of recordings: to export the shown run, to open a recording on the page, and to switch the record of a
//! running node on or off.
//!
//! Decided here: the cost of each route. A recording is turned into text on a thread for blocking work, so that no
//! other viewer waits for it, and few recordings are opened at the same time. To open a recording changes nothing on
//! the server, so the caller needs no right to command. But the page itself must send the request. Not here: the forms
//! of a copy (`copies.rs`), and the frames of a recording (`film/`).

use std::time::Duration;

use actix_web::{
    HttpRequest,
    http::{StatusCode, header},
    web::{self, Bytes, Data, Path, Payload, Query},
};
use serde::Deserialize;
use tokio::sync::SemaphorePermit;

use super::{
    Dashboard, ShownSource,
    answers::{self, caller, check_commander, check_reader, shown},
    copies::{FORMS, RecordedRun},
    film::{MOST_ROOM, film as film_of, room},
};
use crate::{
    operate::{Operated, RecordRequest},
    protocol::{AgentId, Time},
    record::{Recording, RecordingError, TooLong},
    web::{Answer, RouteRefusal, json, read_body, refusal},
};

/// A recording that is shown instead of a running node or cluster.
#[derive(Debug)]
pub(super) struct RecordedSource {
    run: RecordedRun,
    film: Bytes,
}

impl RecordedSource {
    pub(super) fn new(recording: Recording) -> Self {
        Self {
            // An error is not possible: the limit has room for one moment of any recording.
            film: film_of(&recording, MOST_ROOM).unwrap_or_default().into(),
            run: RecordedRun::new(recording),
        }
    }
}

/// The query of a copy.
#[derive(Debug, Deserialize)]
pub(super) struct WantedCopy {
    /// The moment of a drawing.
    at_ms: Option<f64>,
    /// The agent whose record is wanted, if the node has several agents.
    agent: Option<AgentId>,
    group: Option<String>,
    /// Whether to export the record that was kept when there was no leader for too long, instead of the present record.
    #[serde(default)]
    kept: bool,
    /// Whether to export the run of the second election, if there are two.
    #[cfg(feature = "testkit")]
    #[serde(default)]
    beside: bool,
}

pub(super) async fn copy(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    file: Path<String>,
    wanted: Result<Query<WantedCopy>, actix_web::Error>,
) -> Answer {
    check_reader(&dashboard, &request)?;
    let form = FORMS.into_iter().find(|(name, ..)| *name == file.as_str());
    let Some((_, kind, text)) = form else {
        let message = "copies are run.jsonl, run.mmd, moment.svg, script.txt and recorded_run.rs";
        return Ok(refusal(StatusCode::NOT_FOUND, message));
    };
    let wanted = wanted.map(Query::into_inner);
    let Ok((wanted, at)) = wanted.map_err(drop).and_then(|wanted| {
        let moment = wanted.at_ms.map(|ms| moment(ms).ok_or(())).transpose()?;
        Ok((wanted, moment))
    }) else {
        let message = "ask by ?at_ms=1200, and of a node with several agents by ?group=..&agent=..";
        return Ok(refusal(StatusCode::BAD_REQUEST, message));
    };
    let run = run_of(&dashboard, wanted).await?;
    Ok(match web::block(move || text(&run, at)).await? {
        Ok(text) => shown(kind)
            // A browser that shows the exported drawing may use the style inside it, and nothing else.
            .insert_header((
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ))
            .body(text),
        Err(untold) => refusal(StatusCode::CONFLICT, &untold.to_string()),
    })
}

/// Returns the run that is shown.
async fn run_of(dashboard: &Dashboard, wanted: WantedCopy) -> Result<RecordedRun, RouteRefusal> {
    match &dashboard.source {
        ShownSource::Running(operated) => {
            let operated = operated.clone();
            let read = web::block(move || record_of(&operated, &wanted)).await?;
            Ok(read.map_err(|wrong| refusal(StatusCode::CONFLICT, &wrong))?)
        }
        ShownSource::Recorded(source) => Ok(source.run.clone()),
        #[cfg(feature = "testkit")]
        ShownSource::Stage(link) => Ok(link.run(wanted.beside).await?),
    }
}

/// Returns the record of the wanted agent; without a name, the record of the first agent that has one.
fn record_of(operated: &Operated, wanted: &WantedCopy) -> Result<RecordedRun, String> {
    let request = if wanted.kept {
        RecordRequest::ReadKept
    } else {
        RecordRequest::Read
    };
    let mut records = operated.record(request).into_iter().filter(|record| {
        let (agent, group) = (wanted.agent.as_ref(), wanted.group.as_ref());
        agent.is_none_or(|name| *name == record.agent)
            && group.is_none_or(|name| *name == record.group)
    });
    let Some(written) = records.find_map(|record| record.jsonl) else {
        return Err(String::from(
            "there is no record: switch it on, by `bullyctl record on` or on the page, and wait for an election",
        ));
    };
    let read = Recording::read(written.as_bytes()).map(RecordedRun::new);
    read.map_err(|wrong| wrong.to_string())
}

pub(super) async fn film(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    check_reader(&dashboard, &request)?;
    let ShownSource::Recorded(source) = &dashboard.source else {
        let message = "a run is shown here: post a recording to play it";
        return Ok(refusal(StatusCode::NOT_FOUND, message));
    };
    played(Ok(source.film.clone()))
}

/// Opens a recording that the page sends.
pub(super) async fn opened(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    body: Payload,
) -> Answer {
    check_reader(&dashboard, &request)?;
    caller(&request).must_be_own_page()?;
    let read = |body: &[u8]| Recording::read(body).map(|read| film_of(&read, room(body.len())));
    let (_room, film) = uploaded(&dashboard, body, read).await?;
    played(film)
}

/// Takes a slot, and reads the recording in the body of a request.
async fn uploaded<T: Send + 'static>(
    dashboard: &Dashboard,
    body: Payload,
    read: impl FnOnce(&[u8]) -> Result<T, RecordingError> + Send + 'static,
) -> Result<(SemaphorePermit<'_>, T), RouteRefusal> {
    // The slot is taken before the body is read, because each body may be long.
    let room = dashboard.room()?;
    let body = read_body(body, LONGEST, PATIENCE).await?;
    let read = web::block(move || read(&body)).await?;
    let read = read.map_err(|wrong| refusal(StatusCode::BAD_REQUEST, &wrong.to_string()))?;
    Ok((room, read))
}

#[cfg(feature = "testkit")]
#[derive(Debug, Deserialize)]
pub(super) struct RecordedAt {
    at_ms: f64,
}

/// Continues live, on the stage, from a moment of a recording that the page sends.
#[cfg(feature = "testkit")]
pub(super) async fn go_on(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    at: Result<Query<RecordedAt>, actix_web::Error>,
    body: Payload,
) -> Answer {
    check_commander(&dashboard, &request)?;
    let ShownSource::Stage(link) = &dashboard.source else {
        let message = "only a stage goes on from a recording";
        return Ok(refusal(StatusCode::CONFLICT, message));
    };
    let Some(at) = at.ok().and_then(|at| moment(at.at_ms)) else {
        return Ok(refusal(StatusCode::BAD_REQUEST, "ask by ?at_ms=1200"));
    };
    let read = |body: &[u8]| Recording::read(body);
    let (_room, recording) = uploaded(&dashboard, body, read).await?;
    if let Err(why) = recording.can_be_repeated() {
        return Ok(refusal(StatusCode::CONFLICT, &why.to_string()));
    }
    Ok(answers::done(link.go_on(recording, at).await?.as_deref()))
}

fn moment(ms: f64) -> Option<Time> {
    let span = Duration::try_from_secs_f64(ms / 1e3).ok()?;
    Some(Time::ZERO.after(span))
}

/// Switches the record of a running node on or off.
pub(super) async fn record(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    body: Payload,
) -> Answer {
    check_commander(&dashboard, &request)?;
    let ShownSource::Running(operated) = &dashboard.source else {
        let message = "this page shows a run that is recorded already";
        return Ok(refusal(StatusCode::CONFLICT, message));
    };
    let body = read_body(body, answers::LONGEST, answers::PATIENCE).await?;
    Ok(match serde_json::from_slice(&body) {
        Ok(asked @ (RecordRequest::On(_) | RecordRequest::Off)) => {
            json(StatusCode::OK, &operated.record(asked))
        }
        Ok(RecordRequest::Read | RecordRequest::ReadKept) | Err(_) => {
            let message = "post {\"on\":{}} or \"off\"; read the record by copies/run.jsonl";
            refusal(StatusCode::BAD_REQUEST, message)
        }
    })
}

impl Dashboard {
    /// Takes a slot to open a recording, if one is free.
    pub(super) fn room(&self) -> Result<SemaphorePermit<'_>, RouteRefusal> {
        let message = "other recordings are being opened: open it again in a moment";
        let room = self.uploads.try_acquire();
        Ok(room.map_err(|_| refusal(StatusCode::SERVICE_UNAVAILABLE, message))?)
    }
}

pub(super) fn played(film: Result<impl Into<Bytes>, TooLong>) -> Answer {
    let film = film.map_err(|wrong| {
        let message = format!(
            "the page cannot play this recording, because {wrong}: open a shorter recording"
        );
        refusal(StatusCode::PAYLOAD_TOO_LARGE, &message)
    })?;
    Ok(shown("application/json").body(film.into()))
}

/// Number of recordings that are opened at the same time, largest number of bytes of each, and the time within which
/// each must arrive. Chosen: with one, a slow upload would block all others. Each may need 16 MiB (twice the longest
/// record of an agent), and 64 MiB for the JSON of the page.
pub(super) const AT_ONCE: usize = 2;
pub(super) const LONGEST: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
