//! A dashboard on a separate server.
//!
//! Decided here: only this host reaches such a server: it listens at a loopback address, and requires a name of
//! loopback; the server knows the sockets of its viewers; and it leaves the process's signals to the application.

use std::{any::Any, io, net::SocketAddr};

#[cfg(unix)]
use actix_web::rt::net::TcpStream;
use actix_web::{
    App, HttpServer,
    dev::{Extensions, Server},
};

use super::Dashboard;
#[cfg(unix)]
use super::closer::Closer;

impl Dashboard {
    /// Serves the page on the loopback address, at this port; 0 means any free port. Returns the address and the
    /// server. The server runs while it is awaited, or in a separate task. Call it in a System, or in another runtime
    /// of actix-web.
    ///
    /// # Errors
    /// An error if the port cannot be bound; then nothing is served. If the port is in use or reserved, the message
    /// contains advice.
    pub fn serve(&self, port: u16) -> io::Result<(SocketAddr, Server)> {
        let page = Self {
            is_local: true,
            ..self.clone()
        };
        let server = HttpServer::new(move || App::new().configure(|app| page.configure(app)));
        let server = server
            .workers(1)
            .shutdown_timeout(1)
            .disable_signals()
            .on_connect(remember)
            .bind(("127.0.0.1", port))
            .map_err(|wrong| in_words(wrong, port))?;
        let address = server.addrs().first().copied();
        let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok((address, server.run()))
    }
}

/// Adds the port, and advice, to the error.
fn in_words(wrong: io::Error, port: u16) -> io::Error {
    let kind = wrong.kind();
    let advice = if kind == io::ErrorKind::AddrInUse {
        "is taken by another program: end that program, or choose another port (0 takes a free port)"
    } else if kind == io::ErrorKind::PermissionDenied {
        "may be used by the administrator alone: choose a port above 1023"
    } else {
        return wrong;
    };
    io::Error::new(kind, format!("port {port} of 127.0.0.1 {advice}"))
}

/// Stores the socket of a connection beside it, so that the connection of a viewer that reads nothing can be closed.
#[cfg(unix)]
fn remember(connection: &dyn Any, extensions: &mut Extensions) {
    if let Some(socket) = connection.downcast_ref::<TcpStream>() {
        extensions.insert(Closer::of(socket));
    }
}

#[cfg(not(unix))]
fn remember(_: &dyn Any, _: &mut Extensions) {}
