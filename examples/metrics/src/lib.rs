//! A recorder for Prometheus, and the page that it fetches.
//!
//! Decided here: the buckets of the histograms, and the small part of HTTP that a page needs. An application with a web
//! server returns the same text from a route of its own.

use std::{io, rc::Rc, time::Duration};

use actix_bully::metrics;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Installs a recorder for Prometheus, to which every later agent and bridge writes; returns its page.
///
/// # Errors
/// If the process has a recorder already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let spans = Matcher::Suffix("_seconds".to_owned());
    let builder = PrometheusBuilder::new().set_buckets_for_metric(spans, &BUCKETS)?;
    let page = builder.install_recorder()?;
    metrics::describe();
    Ok(page)
}

/// Buckets in seconds, from the time of a link within a rack to minutes without a leader.
const BUCKETS: [f64; 14] = [
    0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0,
];

/// Answers `GET /metrics`, for as long as the future runs.
pub async fn serve(listener: TcpListener, page: PrometheusHandle) {
    let page = Rc::new(page);
    actix_rt::spawn(upkeep(Rc::clone(&page)));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await; // for instance because no file descriptor is left
            continue;
        };
        let page = Rc::clone(&page);
        actix_rt::spawn(async move {
            // A silent caller must not stay forever. A caller that has gone needs no answer.
            drop(timeout(LONGEST, answer(stream, &page)).await);
        });
    }
}

/// Sums up the histograms. Without that they grow until a request for the page, which may come after days.
async fn upkeep(page: Rc<PrometheusHandle>) {
    loop {
        page.run_upkeep();
        tokio::time::sleep(UPKEEP).await;
    }
}

async fn answer(mut stream: TcpStream, page: &PrometheusHandle) -> io::Result<()> {
    let mut head = Vec::with_capacity(MOST);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= MOST || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let (status, text) = if head.starts_with(b"GET /metrics ") {
        page.run_upkeep(); // adds new descriptions to the page
        ("200 OK", page.render())
    } else {
        ("404 Not Found", "the page is /metrics\n".to_owned())
    };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// The longest head of a request, in bytes.
const MOST: usize = 8 * 1024;
/// Longest time for a caller's request and its answer.
const LONGEST: Duration = Duration::from_secs(5);
/// Interval of the sums.
const UPKEEP: Duration = Duration::from_secs(5);
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, net::SocketAddr};

    use actix_bully::{
        Group,
        agent::BullyAgent,
        metrics::{SeriesKind, series},
    };
    use tokio::time::sleep;

    use super::*;

    async fn fetch(at: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {at}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Waits until a line is on the page, for ten seconds at most.
    async fn until(at: SocketAddr, line: &str) -> String {
        let page = async {
            loop {
                let page = fetch(at, "/metrics").await;
                if page.lines().any(|other| other == line) {
                    return page;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        let page = timeout(Duration::from_secs(10), page).await;
        page.unwrap_or_else(|_| panic!("never on the page: {line}"))
    }

    #[actix_rt::test]
    async fn the_page_shows_the_leader_and_all_series_of_agents() {
        let page = install().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        actix_rt::spawn(serve(listener, page));
        let group = Group::new("jobs").unwrap();
        let start = |(name, score)| {
            let agent = BullyAgent::builder(name).score(score).join(&group);
            agent.start().unwrap()
        };
        let agents = [("a", 1), ("b", 2), ("c", 3)].map(start);
        let page = until(at, r#"bully_is_leader{group="jobs",node="c"} 1"#).await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(page.contains("\nbully_is_leader{group=\"jobs\",node=\"a\"} 0\n"));
        assert!(
            page.contains("# HELP bully_has_leader 1 while the agent knows a leader, else 0; a silent leader counts until the agent misses it\n")
        );
        assert!(page.contains("# TYPE bully_leaderless_seconds histogram\n"));
        let never = r#"bully_leadership_lost_total{group="jobs",node="a",reason="stalled"} 0"#;
        assert!(page.contains(never), "before the first one: {page}");
        agents[2].step_down(None).unwrap();
        let lost = r#"bully_leadership_lost_total{group="jobs",node="c",reason="resigned"} 1"#;
        let page = until(at, lost).await;
        // A group without a quorum has no list of voters, and this program has no proxy and no schedule.
        let of_agents = series().iter().filter(|row| {
            let is_of_voters = row.name.starts_with("bully_voters");
            let has = |label| row.labels.contains(&label);
            has("group") && !has("proxy") && !has("schedule") && !is_of_voters
        });
        for row in of_agents {
            let kind = format!("{:?}", row.kind).to_lowercase();
            let line = format!("# TYPE {} {kind}\n", row.name);
            assert!(page.contains(&line), "{line} is not on the page");
        }
        assert!(fetch(at, "/").await.starts_with("HTTP/1.1 404 "));
    }

    /// Returns the names of this crate's series in the board.
    fn names_in(board: &str) -> BTreeSet<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = board.split(|c| !is_part(c));
        words.filter(|word| word.starts_with("bully_")).collect()
    }

    /// `alerts.test.yml` tests when each alert fires.
    #[test]
    fn the_alerts_name_only_series_that_exist() {
        for text in [
            include_str!("../alerts.yml"),
            include_str!("../alerts.test.yml"),
        ] {
            let names = names_in(text);
            assert!(names.len() > 6, "{names:?}");
            let is_series = |name: &&&str| series().iter().any(|row| row.name == **name);
            let wrong: Vec<_> = names.iter().filter(|name| !is_series(name)).collect();
            assert!(wrong.is_empty(), "names without a series: {wrong:?}");
        }
    }

    #[test]
    fn the_board_shows_every_series_and_no_other() {
        let board = include_str!("../board.json");
        let read: serde_json::Value = serde_json::from_str(board).unwrap();
        assert!(read["panels"].as_array().unwrap().len() > 8);
        let names = names_in(board);
        let shown = |row: &&actix_bully::metrics::Series| match row.kind {
            // The series of a histogram on the page.
            SeriesKind::Histogram => names.contains(&*format!("{}_bucket", row.name)),
            SeriesKind::Counter | SeriesKind::Gauge => names.contains(row.name),
        };
        let shown: Vec<_> = series().iter().filter(shown).map(|row| row.name).collect();
        let all: Vec<_> = series().iter().map(|row| row.name).collect();
        assert_eq!(shown, all, "the board shows each series");
        assert_eq!(names.len(), all.len(), "a name without a series: {names:?}");
    }
}
