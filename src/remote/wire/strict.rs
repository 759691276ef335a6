//! Decodes serde types from MessagePack, in one spelling only.

use serde::de::DeserializeOwned;

use super::{Bounds, WireError};

/// Reads one value and nothing else.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8], _bounds: Bounds) -> Result<T, WireError> {
    let mut deserializer = rmp_serde::Deserializer::new(bytes);
    deserializer.set_max_depth(8);
    let value = T::deserialize(&mut deserializer).map_err(|_| WireError::Type)?;
    if deserializer.get_ref().is_empty() {
        Ok(value)
    } else {
        Err(WireError::Trailing)
    }
}
