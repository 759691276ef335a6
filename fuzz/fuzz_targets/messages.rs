//! The payload of a message, as every kind of message.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::messages::check(data));
