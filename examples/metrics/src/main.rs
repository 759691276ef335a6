//! Three agents whose metrics Prometheus can fetch.
//!
//! ```sh
//! cargo run --package metrics-page -- 127.0.0.1:9464
//! curl http://127.0.0.1:9464/metrics
//! ```
//!
//! It prints the address of the page, and runs until it is stopped. `board.json` beside this package is a board for
//! Grafana: import it, and choose the source that fetches the page. `alerts.yml` has alerts for Prometheus.
//!
//! Try next: `cargo run --example node`, whose bridge has the series of links as well if it is built in this way.

use std::{env, error::Error};

use actix_bully::{Group, agent::BullyAgent};
use metrics_page::{install, serve};
use tokio::net::TcpListener;

#[actix_rt::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Install first: agents take their instruments when they start.
    let page = install()?;
    let group = Group::new("jobs")?;
    let mut agents = Vec::new();
    for (name, score) in [("a", 1), ("b", 2), ("c", 3)] {
        agents.push(
            BullyAgent::builder(name)
                .score(score)
                .join(&group)
                .start()?,
        );
    }
    let address = env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:9464")).await?;
    println!("http://{}/metrics", listener.local_addr()?);
    serve(listener, page).await;
    Ok(())
}
