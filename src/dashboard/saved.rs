//! The folder of saved records on the page: its list, and a record that is opened.
//!
//! Decided here: the number of listed records, the longest record, and that a folder is read on a thread for blocking
//! work. Not here: which files are records ([`RecordFolder`]), and the frames of a
//! record (`film/`).

use actix_web::{
    HttpRequest,
    http::StatusCode,
    web::{self, Data, Path},
};

use super::{
    Dashboard,
    answers::check_reader,
    film::{film as film_of, room},
    recorded::{LONGEST, played},
};
use crate::{
    operate::{RecordFolder, SavedError},
    record::Recording,
    web::{Answer, RouteRefusal, json, refusal},
};

/// Answers with the list of records in the folder.
pub(super) async fn list(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    check_reader(&dashboard, &request)?;
    let folder = folder(&dashboard)?;
    let records = web::block(move || folder.newest(LISTED)).await?;
    Ok(json(StatusCode::OK, &records.map_err(SavedError::from)?))
}

/// Answers with one record of the folder, in the form that the page plays.
pub(super) async fn film(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    name: Path<String>,
) -> Answer {
    check_reader(&dashboard, &request)?;
    let folder = folder(&dashboard)?;
    let _room = dashboard.room()?;
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let opened = web::block(move || {
        let bytes = folder.read(&name, most)?;
        let most = room(bytes.len());
        Ok::<_, SavedError>(Recording::read(&*bytes).map(|read| film_of(&read, most)))
    });
    let film = opened.await??;
    played(film.map_err(|wrong| refusal(StatusCode::CONFLICT, &wrong.to_string()))?)
}

fn folder(dashboard: &Dashboard) -> Result<RecordFolder, RouteRefusal> {
    let message = "this page has no folder of records: name one by `Dashboard::records`";
    let folder = dashboard.records.clone();
    Ok(folder.ok_or_else(|| refusal(StatusCode::NOT_FOUND, message))?)
}

impl From<SavedError> for RouteRefusal {
    fn from(wrong: SavedError) -> Self {
        let status = match wrong {
            SavedError::Unknown => StatusCode::NOT_FOUND,
            SavedError::Large { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            SavedError::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        refusal(status, &wrong.to_string()).into()
    }
}

/// Largest number of listed records. Of more records, the newest are listed.
const LISTED: usize = 200;
