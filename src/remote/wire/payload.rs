//! The content of a message: any type with serde's derives, in one spelling.
//!
//! Decided here: which types may cross to another host. Decoded content would be encoded to the same bytes. Not here:
//! whether the message is allowed; check that before decoding.

use std::io;

use bytes::BytesMut;
use serde::{Serialize, de::DeserializeOwned};

use super::{Bounds, WireError, crossing::Crossing, strict};

/// Appends a message.
///
/// For the types that cross, see [`RemoteMessage`](crate::remote::RemoteMessage).
///
/// # Errors
/// [`Unencodable`] if the type's `Serialize` fails, or the message contains a map. Nothing was written.
pub fn encode_payload<M: Serialize + ?Sized>(
    message: &M,
    out: &mut BytesMut,
) -> Result<(), Unencodable> {
    let start = out.len();
    rmp_serde::encode::write(&mut Sink(out), &Crossing(message)).map_err(|error| {
        out.truncate(start);
        Unencodable(error)
    })
}

/// Reads a message: all bytes, in their only spelling, within the bounds.
///
/// # Errors
/// [`WireError`]: close the link.
pub fn decode_payload<M: DeserializeOwned>(bytes: &[u8], bounds: Bounds) -> Result<M, WireError> {
    strict::decode(bytes, bounds)
}

/// A message that cannot be encoded: it contains a map, or its type's `Serialize` failed.
#[derive(Debug, thiserror::Error)]
#[error("the message cannot be encoded: {0}")]
pub struct Unencodable(#[source] rmp_serde::encode::Error);

/// Appends each slice in one call: `BytesMut`'s own writer takes a call for each byte.
struct Sink<'a>(&'a mut BytesMut);

impl io::Write for Sink<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
