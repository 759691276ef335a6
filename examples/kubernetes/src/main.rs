//! `kubernetes-replicas jobs.toml`: one of the pods of a Deployment. The leader makes the Service `jobs-leader` lead
//! to its own pod, and works until it hands over.
//!
//! The pod's address is in `POD_IP`, the routes are at `http://$HTTP`. `examples/deploy/lease.yaml` is the complete
//! manifest for three of them.

use std::{env, error::Error, net::IpAddr, time::Duration};

use actix_bully::{
    agent::LeaderGuard,
    config::Config,
    protocol::Term,
    register::{KubernetesRegister, KubernetesService},
    web,
};
use actix_web::{App, HttpServer, rt};

/// The work of the leader.
async fn work(leader: LeaderGuard, service: KubernetesService, address: IpAddr) {
    let term = leader.token().term;
    println!("leads in term {term}");
    // A separate task, so that neither the work nor a hand-over waits for it.
    let way = rt::spawn(lead_here(service, address, term));
    leader.stepping_down().await;
    way.abort();
    println!("hands over");
}

/// Tries repeatedly: a failure passes, or an operator repairs its cause.
async fn lead_here(service: KubernetesService, address: IpAddr, term: Term) {
    loop {
        match service.lead_to(address, term.0).await {
            Ok(true) => return println!("the Service leads here"),
            Ok(false) => return println!("a later leader is there already"),
            Err(wrong) => eprintln!("the Service does not lead here: {wrong}"),
        }
        rt::time::sleep(Duration::from_secs(1)).await;
    }
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().init();
    let path = env::args().nth(1).ok_or("name a configuration")?;
    let http = env::var("HTTP").map_err(|_| "set HTTP")?;
    let address: IpAddr = env::var("POD_IP").map_err(|_| "set POD_IP")?.parse()?;
    let node = Config::load(path, "JOBS")?.start()?;
    let name = env::var("LEADER_SERVICE").unwrap_or_else(|_| "jobs-leader".to_owned());
    let service = KubernetesRegister::builder().service(&name);
    let service = service.port("http", 8080);
    let agent = node.agent().clone();
    rt::spawn(async move {
        let works = agent.lead(move |leader| work(leader, service.clone(), address));
        works.await
    });
    let routes = web::routes(node.operated());
    let leave = node.leave_on_signals(Duration::from_secs(10));
    let server = HttpServer::new(move || App::new().configure(|app| routes.configure(app)));
    let server = server.bind(http)?.shutdown_signal(async move {
        leave.await.ok();
    });
    println!("http://{}", server.addrs()[0]);
    Ok(server.run().await?)
}
