//! `web-replicas config.toml`: one of three web servers, whose leader writes a row every 20 ms. The routes are at
//! `http://$HTTP`, the rows in the SQLite file `$DATABASE`. Each replica redirects `/leader` and `/job` to the leader.
use std::{env, error::Error, io, iter::repeat_with, thread, time::Duration};

use actix::prelude::*;
use actix_bully::leader::{Singleton, SteppingDown, fence::FenceNumber, fence::sql};
use actix_bully::{agent::Feature, agent::LeaderGuard, config::Config, web};
use actix_web::{App, HttpServer, web as routes};
use metrics_exporter_prometheus::PrometheusBuilder;
use rusqlite::{Connection, TransactionBehavior::Immediate};

/// The buckets of the histograms, which all count seconds.
const SECONDS: [f64; 8] = [0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];

/// The job that only one of the replicas may do.
struct Job {
    leader: LeaderGuard,
    database: rusqlite::Result<Connection>,
}

impl Job {
    fn write(&mut self) -> Result<(), Box<dyn Error>> {
        let database = self.database.as_mut().map_err(|wrong| wrong.to_string())?;
        let fence = FenceNumber::of(&self.leader)?;
        let transaction = database.transaction_with_behavior(Immediate)?;
        let admitted = transaction.execute(sql::ADMIT, (fence.get(), "job"))?;
        sql::check(fence, admitted)?;
        let row = "INSERT INTO job (fence, node, at) VALUES ($1, $2, unixepoch('subsec'))";
        transaction.execute(row, (fence.get(), self.leader.token().node.as_str()))?;
        Ok(transaction.commit()?)
    }
}

impl Actor for Job {
    type Context = Context<Self>;
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(Duration::from_millis(20), |job, ctx| {
            if let Err(wrong) = job.write() {
                eprintln!("the job ends: {wrong}");
                ctx.stop(); // another replica takes it over
            }
        });
    }
}

impl Handler<SteppingDown> for Job {
    type Result = ();
    fn handle(&mut self, _: SteppingDown, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

fn open(path: &str) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    // The thread of the job waits for a lock, and so does SIGTERM: a longer call belongs into `web::block`.
    database.busy_timeout(Duration::from_secs(5))?;
    Ok(database)
}

fn make_tables(database: &Connection) -> rusqlite::Result<usize> {
    database.execute(sql::CREATE_TABLE, ())?;
    database.execute(sql::FIRST_USE, ["job"])?;
    database.execute("CREATE TABLE IF NOT EXISTS job (fence, node, at)", ())
}

/// Returns the name of the leader, which answers, from the guard of the request.
async fn answer(leader: routes::ReqData<LeaderGuard>) -> String {
    leader.token().node.to_string()
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init(); // changes of the leader, and failures
    // Without buckets the exporter writes summaries, of which the board of `examples/metrics` shows nothing.
    let metrics = PrometheusBuilder::new().set_buckets(&SECONDS)?;
    let metrics = metrics.install_recorder()?;
    let page = metrics.clone(); // without upkeep its histograms grow until a scraper asks
    let upkeep = repeat_with(move || page.run_upkeep());
    thread::spawn(|| upkeep.for_each(|()| thread::park_timeout(Duration::from_secs(5))));
    let path = env::var("DATABASE").map_err(|_| "set DATABASE")?;
    let http = env::var("HTTP").map_err(|_| "set HTTP")?;
    make_tables(&open(&path)?)?;
    let node = Config::load(env::args().nth(1).ok_or("name a configuration")?, "JOBS")?.start()?;
    node.agent().offers().check(Feature::Fence)?; // `diskless` has none
    let job = move |leader| Job {
        leader,
        database: open(&path), // waits for no lock; an error ends the job at its first write
    };
    Singleton::builder(node.agent(), job).start()?;
    let leading = web::while_leading(node.agent()).redirect();
    let pages = web::routes(node.operated()).redirect();
    let pages = pages.metrics(move || metrics.render());
    let leave = node.leave_on_signals(Duration::from_secs(5));
    let server = HttpServer::new(move || {
        let job = routes::resource("/job").wrap(leading.clone());
        let job = job.route(routes::get().to(answer));
        App::new()
            .configure(|app| pages.configure(app))
            .service(job)
    });
    let server = server.bind(http)?.shutdown_signal(async move {
        leave.await.ok();
    });
    let url = format!("http://{}", server.addrs()[0]);
    node.agent().set_about(Some(url.parse()?))?; // the target of the others' redirects while it leads
    println!("{url}");
    Ok(server.run().await?)
}
