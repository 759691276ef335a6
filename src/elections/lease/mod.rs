//! A lease in a store: what participants say to a register, and what a register holds.

pub use crate::elections::message::{
    record::{
        ClaimRecord, Holder, LeaseName, LeaseRecord, MAX_RECORD, Nonce, RECORD_FORMAT, RecordError,
        RegisterRecord, Successor,
    },
    register::{
        Answer, Cell, ReadRegister, RegisterMessage, RegisterShown, SwapRegister, Swapped, Version,
    },
};
