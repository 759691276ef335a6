//! The text in a store where the record of a lease or a claim is kept: others may have written anything.
//!
//! The first byte chooses the record. An accepted text is byte by byte what this crate would write, and no longer than
//! a record may be. So two stores with the same record have the same text.

use bully_core::elections::lease::{
    ClaimRecord, LeaseRecord, MAX_RECORD, RecordError, RegisterRecord,
};

/// Reads one record.
pub fn check(data: &[u8]) {
    let [which, text @ ..] = data else {
        return;
    };
    if which & 1 == 0 {
        read::<LeaseRecord>(text);
    } else {
        read::<ClaimRecord>(text);
    }
}

fn read<R: RegisterRecord>(text: &[u8]) {
    match R::decode(text) {
        Ok(record) => {
            assert!(text.len() <= MAX_RECORD);
            assert_eq!(record.encode().as_bytes(), text);
        }
        Err(RecordError::TooLong { len }) => assert!(len == text.len() && len > MAX_RECORD),
        // The text of the error is bounded too.
        Err(wrong) => assert!(wrong.to_string().len() < MAX_RECORD),
    }
}
