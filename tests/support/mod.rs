//! Modules that several integration tests share.

pub(crate) mod astra;
pub(crate) mod ble;
pub(crate) mod go;
pub(crate) mod golden;
