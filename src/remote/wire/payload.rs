//! The message inside a message: any type with serde's derives, in one spelling.
//!
//! Decided here: which types may cross, and that what is decoded would be encoded to the very same
//! bytes. Not here: whether the message is allowed; ask before decoding.

use std::io;

use bytes::BytesMut;
use serde::{Serialize, de::DeserializeOwned};

use super::{Bounds, WireError, crossing::Crossing, strict};

/// Appends a message.
///
/// Which types cross: see [`RemoteMessage`](crate::remote::RemoteMessage).
///
/// # Errors
/// [`Unencodable`] when the type's `Serialize` fails, or the message has a map. Nothing was written.
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

/// Reads a message: all of the bytes, in their only spelling, within the bounds.
///
/// # Errors
/// [`WireError`]: close the link.
pub fn decode_payload<M: DeserializeOwned>(bytes: &[u8], bounds: Bounds) -> Result<M, WireError> {
    strict::decode(bytes, bounds)
}

/// A message that cannot be encoded: it does not cross, or its type's `Serialize` failed.
#[derive(Debug, thiserror::Error)]
#[error("the message cannot be encoded: {0}")]
pub struct Unencodable(#[source] rmp_serde::encode::Error);

/// Takes every piece whole: `BytesMut`'s own writer cuts, so that each byte takes a call.
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
