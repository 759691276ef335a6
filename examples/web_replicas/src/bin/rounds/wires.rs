//! The wires between the replicas: each replica reaches each other replica through a wire that this program can cut.
//!
//! Decided here: a cut wire delivers nothing and closes nothing, like a pulled cable. After the cut it delivers the
//! bytes that the kernel has kept meanwhile.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, sleep},
    time::Duration,
};

/// Whether the cable of one replica is pulled. Clones are the same cable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cable(Arc<AtomicBool>);

impl Cable {
    pub(crate) fn pull(&self, is_pulled: bool) {
        self.0.store(is_pulled, Relaxed);
    }

    fn is_pulled(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Opens a wire to the address `to`, over the cables of both ends. Returns the address of its beginning.
pub(crate) fn open(to: &str, cables: [&Cable; 2]) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let from = listener.local_addr()?.to_string();
    let (to, cables) = (to.to_owned(), cables.map(Clone::clone));
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            wait(&cables);
            let Ok(far) = TcpStream::connect(&to) else {
                continue; // the replica does not run: `near` is closed
            };
            let Ok(ends) = both(&near, &far) else {
                continue;
            };
            for (from, to) in ends {
                let cables = cables.clone();
                thread::spawn(move || carry(from, to, &cables));
            }
        }
    });
    Ok(from)
}

/// Returns the two directions of a connection.
fn both(near: &TcpStream, far: &TcpStream) -> io::Result<[(TcpStream, TcpStream); 2]> {
    for end in [near, far] {
        end.set_nodelay(true)?;
    }
    let there = (near.try_clone()?, far.try_clone()?);
    let back = (far.try_clone()?, near.try_clone()?);
    Ok([there, back])
}

fn carry(mut from: TcpStream, mut to: TcpStream, cables: &[Cable; 2]) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        wait(cables);
        if to
            .write_all(bytes.get(..count).unwrap_or_default())
            .is_err()
        {
            break;
        }
    }
    wait(cables);
    to.shutdown(Shutdown::Both).ok();
    from.shutdown(Shutdown::Both).ok();
}

/// Waits until both cables are plugged in.
fn wait(cables: &[Cable; 2]) {
    while cables.iter().any(Cable::is_pulled) {
        sleep(Duration::from_millis(2));
    }
}
