//! The folder of saved records on the page: its list, and a record that is opened.
//!
//! Decided here: the number of listed records, the longest record, and that a folder is read on a thread for blocking
//! work. Not here: which files are records ([`RecordFolder`](crate::operate::RecordFolder)), and the frames of a
//! record (`film/`).

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{self, Data, Path},
};

use super::{
    Dashboard,
    answers::{kept_from, stopping},
    film::{film as film_of, room},
    recorded::{LONGEST, busy, played},
};
use crate::{
    operate::SavedError,
    record::Recording,
    web::{json, refusal},
};

/// Answers with the list of records in the folder.
pub(super) async fn list(dashboard: Data<Dashboard>, request: HttpRequest) -> HttpResponse {
    if let Some(refused) = kept_from(&dashboard, &request) {
        return refused;
    }
    let Some(folder) = dashboard.records.clone() else {
        return no_folder();
    };
    match web::block(move || folder.newest(LISTED)).await {
        Ok(Ok(records)) => json(StatusCode::OK, &records),
        Ok(Err(wrong)) => unread(&wrong.into()),
        Err(_) => stopping(),
    }
}

/// Answers with one record of the folder, in the form that the page plays.
pub(super) async fn film(
    dashboard: Data<Dashboard>,
    request: HttpRequest,
    name: Path<String>,
) -> HttpResponse {
    if let Some(refused) = kept_from(&dashboard, &request) {
        return refused;
    }
    let Some(folder) = dashboard.records.clone() else {
        return no_folder();
    };
    let Some(_room) = dashboard.uploads.room() else {
        return busy();
    };
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let opened = web::block(move || {
        let bytes = folder.read(&name, most)?;
        let most = room(bytes.len());
        Ok::<_, SavedError>(Recording::read(&*bytes).map(|read| film_of(&read, most)))
    });
    match opened.await {
        Ok(Ok(Ok(film))) => played(film),
        Ok(Ok(Err(wrong))) => refusal(StatusCode::CONFLICT, &wrong.to_string()),
        Ok(Err(wrong)) => unread(&wrong),
        Err(_) => stopping(),
    }
}

fn no_folder() -> HttpResponse {
    let message = "this page has no folder of records: name one by `Dashboard::records`";
    refusal(StatusCode::NOT_FOUND, message)
}

fn unread(wrong: &SavedError) -> HttpResponse {
    let status = match wrong {
        SavedError::Unknown => StatusCode::NOT_FOUND,
        SavedError::Large { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        SavedError::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refusal(status, &wrong.to_string())
}

/// Largest number of listed records. Of more records, the newest are listed.
const LISTED: usize = 200;
