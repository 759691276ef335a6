//! What a store holds where the record of a lease, or of a claim, is kept: whatever others wrote there.
//!
//! The first byte says which record is read. What is read is what this crate would have written, byte by byte, and no
//! longer than a record may be; so two stores that hold the same hold the same text.

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
        // What is said of it is bounded too.
        Err(wrong) => assert!(wrong.to_string().len() < MAX_RECORD),
    }
}
