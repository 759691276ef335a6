//! A network between a register and its store. A test can cut it: bytes are then held back, and neither end gets an
//! error. A test can also make it spoil the answers of the store.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// A proxy that accepts clients, and carries their bytes to a server and back.
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

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToServer,
    ToClient,
}

impl Wire {
    /// Starts a wire to the server at this address.
    pub fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let state = Arc::new(State::default());
        let (server, carrying) = (server.to_owned(), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                carrying.clients.fetch_add(1, Relaxed);
                // A client that connects while the server is away is closed at once.
                if let Ok(server) = TcpStream::connect(&server) {
                    // The wire must add no delay of its own. With Nagle's algorithm a small write waits for up to 40
                    // ms.
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

    /// Returns the address at which clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of clients that have connected.
    pub fn clients(&self) -> usize {
        self.state.clients.load(Relaxed)
    }

    /// Holds all bytes back from now on.
    pub fn cut(&self) {
        *self.state.is_cut.lock().expect("no thread panics with it") = true;
    }

    /// Flips a bit of each answer from now on.
    pub fn spoil(&self) {
        self.state.spoils.store(true, Relaxed);
    }

    /// Delivers the bytes that were held back, and carries later bytes at once.
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
