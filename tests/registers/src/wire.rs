//! A network between a register and its store that can be cut: what is sent then arrives nowhere, and nobody is told. Or it
//! spoils what the store answers.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Listens for clients, and carries their bytes to a server and back.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    is_cut: Mutex<bool>,
    mended: Condvar,
    clients: AtomicUsize,
    spoils: AtomicBool,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToServer,
    ToClient,
}

impl Wire {
    /// To a server that listens there.
    pub fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let state = Arc::new(State::default());
        let (server, carrying) = (server.to_owned(), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                carrying.clients.fetch_add(1, Relaxed);
                // One that comes while the server is away is closed at once.
                if let Ok(server) = TcpStream::connect(&server) {
                    // A wire adds no wait of its own: with Nagle's rule a small write waits up to 40 ms.
                    for end in [&client, &server] {
                        end.set_nodelay(true).expect("an open socket");
                    }
                    carry(&client, &server, Way::ToServer, &carrying);
                    carry(&server, &client, Way::ToClient, &carrying);
                }
            }
        });
        Self { address, state }
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many clients have connected.
    pub fn clients(&self) -> usize {
        self.state.clients.load(Relaxed)
    }

    /// Nothing arrives from now on.
    pub fn cut(&self) {
        *self.state.is_cut.lock().expect("no thread panics with it") = true;
    }

    /// A bit of each answer is another one from now on.
    pub fn spoil(&self) {
        self.state.spoils.store(true, Relaxed);
    }

    /// What was sent meanwhile arrives, late.
    pub fn mend(&self) {
        *self.state.is_cut.lock().expect("no thread panics with it") = false;
        self.state.mended.notify_all();
    }
}

fn carry(from: &TcpStream, to: &TcpStream, way: Way, state: &Arc<State>) {
    let (Ok(mut from), Ok(mut to), state) = (from.try_clone(), to.try_clone(), Arc::clone(state))
    else {
        return;
    };
    thread::spawn(move || {
        let mut piece = [0; 16_384];
        while let Ok(len @ 1..) = from.read(&mut piece) {
            let cut = state.is_cut.lock().expect("no thread panics with it");
            drop(state.mended.wait_while(cut, |is_cut| *is_cut));
            if way == Way::ToClient && state.spoils.load(Relaxed) {
                piece[len - 1] ^= 1;
            }
            if to.write_all(&piece[..len]).is_err() {
                break;
            }
        }
        from.shutdown(Shutdown::Both).ok();
        to.shutdown(Shutdown::Both).ok();
    });
}
