//! The routes: the page and its parts, the stream of events, and commands.
//!
//! Decided here: paths, statuses and headers; one header makes a browser run only the page's own script. Not here: the
//! right to command (`access.rs`), the contents of the page (`board.rs`), and recordings (`recorded.rs`).

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt,
    web::{self, Data, Payload, ServiceConfig},
};
use serde::de::DeserializeOwned;

use super::{
    Dashboard, ShownSource,
    answers::{LONGEST, PATIENCE, caller, check_reach, check_reader, shown},
    closer::Closer,
    recorded, saved,
    stream::Viewer,
};
use crate::web::{Answer, ReadGuard, RouteRefusal, json, read_body, refusal, told};

const PAGE: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/page.css");
/// The page's script, joined from several files, each for one topic.
const SCRIPT: &str = concat!(
    include_str!("page/state.js"),
    include_str!("page/time.js"),
    include_str!("page/words.js"),
    include_str!("page/relay.js"),
    include_str!("page/picture.js"),
    include_str!("page/panels.js"),
    include_str!("page/beside.js"),
    include_str!("page/recordings.js"),
    include_str!("page/before.js"),
    include_str!("page/main.js"),
);

const KIND_OF_SCRIPT: &str = "text/javascript; charset=utf-8";

/// The script of the shared worker: all pages of a browser share its stream.
const SHARED: &str = concat!(
    include_str!("page/state.js"),
    include_str!("page/relay.js"),
    include_str!("page/shared.js"),
);

/// The content security policy: nothing from another server, no inline code, and no frame of another page around this
/// page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types bully";

pub(super) fn configure(dashboard: &Dashboard, app: &mut ServiceConfig) {
    let shared = Data::new(dashboard.clone());
    let resource = |path: &str| web::resource(path).app_data(Data::clone(&shared));
    let read = || web::route().guard(ReadGuard);
    app.service(resource("/").route(read().to(page)))
        .service(resource("/page.css").route(read().to(style)))
        .service(resource("/page.js").route(read().to(script)))
        .service(resource("/stream.js").route(read().to(shared_script)))
        .service(resource("/events").route(web::get().to(events)))
        .service(resource("/commands").route(web::post().to(command)))
        .service(resource("/copies/{file}").route(read().to(recorded::copy)))
        .service(
            resource("/film")
                .route(read().to(recorded::film))
                .route(web::post().to(recorded::opened)),
        )
        .service(resource("/history").route(read().to(history)))
        .service(resource("/records").route(read().to(saved::list)))
        .service(resource("/records/{file}").route(read().to(saved::film)))
        .service(resource("/record").route(web::post().to(recorded::record)))
        .service(resource("").route(read().to(slash)));
    #[cfg(feature = "testkit")]
    app.service(resource("/go_on").route(web::post().to(recorded::go_on)));
}

async fn page(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    part(&dashboard, &request, "text/html; charset=utf-8", PAGE)
}

async fn style(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    part(&dashboard, &request, "text/css; charset=utf-8", STYLE)
}

async fn script(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    part(&dashboard, &request, KIND_OF_SCRIPT, SCRIPT)
}

async fn shared_script(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    part(&dashboard, &request, KIND_OF_SCRIPT, SHARED)
}

fn part(
    dashboard: &Dashboard,
    request: &HttpRequest,
    kind: &'static str,
    text: &'static str,
) -> Answer {
    check_reach(dashboard, request)?;
    Ok(shown(kind)
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .body(text))
}

/// Redirects to the same path with a slash at its end, because the browser needs it to find the parts of the page. The
/// new address is relative, so that no path can lead to another host.
async fn slash(request: HttpRequest) -> HttpResponse {
    let last = request.path().rsplit('/').next().unwrap_or_default();
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, format!("./{last}/")))
        .finish()
}

async fn events(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    check_reader(&dashboard, &request)?;
    let closer = request.conn_data::<Closer>().cloned().unwrap_or_default();
    let viewer = Viewer::admit(dashboard.boards(), &closer)
        .map_err(|full| refusal(StatusCode::SERVICE_UNAVAILABLE, &full.to_string()))?;
    dashboard.sample();
    Ok(shown("text/event-stream").streaming(viewer.stream()))
}

/// Returns the history of the node's groups.
async fn history(dashboard: Data<Dashboard>, request: HttpRequest) -> Answer {
    check_reader(&dashboard, &request)?;
    let ShownSource::Running(operated) = &dashboard.source else {
        let message = "only a running node has a history";
        return Ok(refusal(StatusCode::NOT_FOUND, message));
    };
    Ok(json(StatusCode::OK, &operated.history()))
}

async fn command(dashboard: Data<Dashboard>, request: HttpRequest, body: Payload) -> Answer {
    check_reach(&dashboard, &request)?;
    dashboard.rights.admit(&caller(&request))?;
    // The body of a caller without the right to command is not read.
    let body = read_body(body, LONGEST, PATIENCE).await?;
    Ok(match &dashboard.source {
        ShownSource::Running(operated) => {
            let order = command_in(&body)?;
            let operated = operated.clone();
            // A separate task, so that a command does not stop half-way if the client closes its connection.
            told(&rt::spawn(async move { operated.carry_out(order).await }).await?)
        }
        ShownSource::Recorded(_) => refusal(
            StatusCode::CONFLICT,
            "this is a recording: there is nothing to command",
        ),
        #[cfg(feature = "testkit")]
        ShownSource::Stage(link) => {
            super::answers::done(link.ask(command_in(&body)?).await?.as_deref())
        }
    })
}

fn command_in<T: DeserializeOwned>(body: &[u8]) -> Result<T, RouteRefusal> {
    Ok(serde_json::from_slice(body).map_err(|wrong| {
        let message = format!("this is not a command: {wrong}");
        refusal(StatusCode::BAD_REQUEST, &message)
    })?)
}
