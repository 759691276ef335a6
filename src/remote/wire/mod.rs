//! What bytes mean.

mod error;
mod frame;
mod frames;
mod hello;
mod letters;
mod payload;
mod read;
mod roster;
mod strict;
mod write;

pub use error::{Bounds, WireError};
pub use frame::{Frame, encode_goodbye, encode_ping, encode_pong, encode_ready};
pub use frames::Frames;
pub use hello::{Features, Hello, Versions};
pub use letters::{Letters, LettersWriter, Position, RawLetter, Receivers, Several, Targets};
pub use payload::{Unencodable, decode_payload, encode_payload};
pub use roster::{LeaderHint, Opening, Roster, RosterContent};
