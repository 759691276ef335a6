//! `host NAME FOLDER LISTEN CONNECT..`: a process with one voter of a, b and c, which finds the others by zenoh.
//!
//! It keeps its votes in the folder. For each change of the leader it prints `follows NAME`, or `follows -` for no
//! leader. It ends when its standard input ends.

use std::{env, io, path::PathBuf, process::exit, thread, time::Duration};

use actix_bully_zenoh::ZenohOptions;
use actix_bully_zenoh_tests::{Host, over, secret};

#[actix::main]
async fn main() {
    let words: Vec<_> = env::args().skip(1).collect();
    let [name, folder, listen, connect @ ..] = words.as_slice() else {
        eprintln!("host NAME FOLDER LISTEN CONNECT..");
        exit(2);
    };
    let zenoh = ZenohOptions::peer().listen(listen);
    let zenoh = connect
        .iter()
        .fold(zenoh, |zenoh, endpoint| zenoh.connect(endpoint));
    let host = Host::kept(name, &["a", "b", "c"], &PathBuf::from(folder), |builder| {
        over(builder, zenoh).secret(secret("ours"))
    });
    thread::spawn(|| {
        io::stdin().lines().for_each(drop);
        exit(0);
    });
    let mut said = None;
    loop {
        let leader = host.leader().unwrap_or_else(|| "-".to_owned());
        if said.as_ref() != Some(&leader) {
            println!("follows {leader}");
            said = Some(leader);
        }
        actix::clock::sleep(Duration::from_millis(1)).await;
    }
}
