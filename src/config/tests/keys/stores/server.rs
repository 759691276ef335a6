//! A server that writes down the requests.

use std::{
    io::Read,
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use actix::clock::{sleep, timeout};
use tokio::time::resume;

use crate::config::tests::keys::scene::Scene;

/// The text that the clients of a server have sent so far. Clones share the text.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<String>>);

impl Asked {
    /// Starts a server at the port of the scene. Each connection has its own thread.
    pub(super) fn of(s: &Scene, serve: impl Fn(TcpStream, &Self) + Clone + Send + 'static) -> Self {
        resume(); // threads do not know of virtual time
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        s.port.set(listener.local_addr().unwrap().port());
        let asked = Self::default();
        let told = asked.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (serve, told) = (serve.clone(), told.clone());
                thread::spawn(move || serve(client, &told));
            }
        });
        asked
    }

    pub(super) fn note(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }

    /// Waits until the text contains `words`, and returns the text.
    pub(super) async fn until(&self, words: &str) -> String {
        let said = async {
            loop {
                let text = self.0.lock().unwrap().clone();
                if text.contains(words) {
                    return text;
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        let said = timeout(Duration::from_secs(30), said).await;
        said.unwrap_or_else(|_| panic!("never {words:?}: {}", self.0.lock().unwrap()))
    }
}

/// Reads an HTTP request with its body. Returns `None` at the end of the connection.
pub(super) fn request(client: &mut impl Read) -> Option<String> {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        text.push(char::from(byte[0]));
    }
    let length = text.lines().find_map(|line| {
        let line = line.to_ascii_lowercase();
        line.strip_prefix("content-length: ")?.parse().ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    client.read_exact(&mut body).ok()?;
    text.push_str(&String::from_utf8(body).unwrap());
    Some(text)
}
