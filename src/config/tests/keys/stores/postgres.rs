//! A lease in PostgreSQL: the first message shows the user, and the first statement about the table shows its schema.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use super::server::Asked;
use crate::config::tests::keys::{Rows, Seen, certificates::certify, rows, scene::Scene};

pub(super) fn rows() -> Vec<Rows> {
    let url = "lease.postgres_url_file = \"FOLDER/url\"";
    vec![
        rows!(
            "",
            asked,
            r#"lease.postgres_url_file = "FOLDER/url" | nothing | user me"#
        ),
        rows!(
            url,
            asked,
            r#"
            lease.postgres_schema = "jobs" | FROM "public".bully_register | FROM "jobs".bully_register
            lease.create_table = true | no table is made | CREATE TABLE IF NOT EXISTS "public".bully_register
            lease.authorities_file = "FOLDER/ca.pem" | user me | asks for TLS
        "#
        ),
    ]
}

async fn asked(s: Scene) -> Seen {
    certify(&s);
    let connections = Arc::new(AtomicU32::new(0));
    let asked = Asked::of(&s, move |client: TcpStream, asked: &Asked| {
        serve(client, asked, connections.fetch_add(1, Relaxed) + 1);
    });
    s.write(
        "url",
        &format!("postgres://me:sesame@127.0.0.1:{}/it", s.port.get()),
    );
    let own = s.own();
    let _a = own.start()?;
    if own.lease.postgres_url_file.is_none() {
        return Ok("nothing".to_owned());
    }
    let text = asked.until("enough").await;
    let made = if text.contains("CREATE TABLE") {
        ""
    } else {
        "no table is made"
    };
    Ok(format!("{text}{made}"))
}

/// Answers a session until the session reads the table. `own` is the number of the session.
fn serve(mut client: TcpStream, asked: &Asked, own: u32) -> Option<()> {
    let start = message(&mut client)?;
    if start.starts_with(&TLS) {
        asked.note("asks for TLS, enough");
        return None;
    }
    asked.note(&text(&start).replace('\0', " "));
    client
        .write_all(&[answer(b'R', &[0; 4]), READY.to_vec()].concat())
        .ok()?;
    loop {
        let mut kind = [0];
        client.read_exact(&mut kind).ok()?;
        let said = text(&message(&mut client)?);
        asked.note(&said);
        match kind {
            // The first statement with a parameter reads the table.
            [b'P'] => asked.note("enough"),
            [b'Q'] => {}
            _ => continue,
        }
        let row = if said.contains("|| ' '") {
            one_row(&format!("{own} 1"))
        } else if said.contains("pg_backend_pid") {
            one_row(&own.to_string())
        } else if said.starts_with("SHOW transaction_read_only") {
            one_row("off")
        } else {
            Vec::new()
        };
        let done = answer(b'C', b"SELECT 1\0");
        client
            .write_all(&[row, done, READY.to_vec()].concat())
            .ok()?;
    }
}

/// Request of a session for TLS.
const TLS: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// Message of the server that it waits for a statement.
const READY: &[u8] = b"Z\0\0\0\x05I";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a message after its kind.
fn message(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length).ok()?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
    let mut message = vec![0; length.checked_sub(4)?];
    client.read_exact(&mut message).ok()?;
    Some(message)
}

fn answer(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), content].concat()
}

/// Returns a column of text, and a row of it.
fn one_row(value: &str) -> Vec<u8> {
    let column = b"\0\x01it\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
    let length = u32::try_from(value.len()).unwrap().to_be_bytes();
    let row = [&[0, 1][..], &length, value.as_bytes()].concat();
    [answer(b'T', column), answer(b'D', &row)].concat()
}
