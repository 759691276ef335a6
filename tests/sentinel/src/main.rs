//! A node with nothing but a sentinel: `sentinel-node ADDRESS..` prints the sentinel's process, and a line for
//! each line that it reads: `dead` or `alive`; `dismiss` drops the sentinel first.
use std::{
    error::Error,
    io::{self, BufRead, Write},
};

use actix_bully::remote::{
    NodeId, NodeIncarnation,
    sentinel::{Notice, Order, Secret, SentinelProcess, Watched, attend},
};

fn main() -> Result<(), Box<dyn Error>> {
    attend();
    let peers: Result<Vec<_>, _> = std::env::args().skip(1).map(|peer| peer.parse()).collect();
    let mut sentinel = SentinelProcess::start()?;
    sentinel.order(&Order::Watch(Watched {
        notice: Notice {
            node: NodeId::new("host-a")?,
            incarnation: NodeIncarnation(7),
            secret: Secret::of(3),
        },
        peers: peers?,
    }))?;
    let mut sentinel = Some(sentinel);
    let mut out = io::stdout();
    writeln!(out, "{}", sentinel.as_ref().map_or(0, SentinelProcess::id))?;
    for line in io::stdin().lock().lines() {
        if line? == "dismiss" {
            sentinel = None;
        }
        let has_ended = sentinel.as_mut().is_none_or(SentinelProcess::has_ended);
        writeln!(out, "{}", if has_ended { "dead" } else { "alive" })?;
    }
    Ok(())
}
