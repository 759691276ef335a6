//! A node of two agents with its page, in a process that a test stops. It prints the address of the page.

use std::error::Error;

use actix::System;
use actix_bully::{Group, agent::BullyAgent, dashboard::Dashboard, operate::Operated};

fn main() -> Result<(), Box<dyn Error>> {
    System::new().block_on(async {
        let group = Group::new("orders")?;
        let low = BullyAgent::builder("api-1").score(1).join(&group).start()?;
        let high = BullyAgent::builder("api-2").score(2).join(&group).start()?;
        let page = Dashboard::new(Operated::new(&low).agent(&high)).allow_faults();
        let (address, server) = page.serve(0)?;
        println!("{address}");
        server.await?;
        Ok(())
    })
}
