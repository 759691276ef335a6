//! A stream of bytes on a connection that is new: the handshake.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::hello::check(data));
