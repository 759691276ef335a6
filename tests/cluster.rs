//! scratch
mod common;
use actix_bully::cluster::*;

#[test]
fn scratch() {
    common::virtual_system().block_on(async {
        let mut c = Cluster::builder().agents(5).network(actix_bully::faults::Conditions::delayed(std::time::Duration::from_millis(1))).start().unwrap();
        let script: Script = "settle; crash 5; settle; status; restart 5; settle; crash 4 5; settle; restart 4 5; settle; partition 1 2; settle; status; heal; settle; hang 5; settle; resume 5; settle; leave 5; settle; join 7; settle; score 7 none; settle; step-down 4; settle; status; cut 1 > 3; settle; stop 3; settle; isolate 1; settle".parse().unwrap();
        for x in script {
            println!("> {x}");
            match c.run(x).await { Ok(a) => { let t = a.to_string(); if !t.is_empty() {println!("{t}")} }, Err(e) => println!("ERR {e}") }
        }
        println!("{}", c.trace().to_text());
    });
}
