//! Bytes at a port that demands TLS, and bytes after the handshake.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::tls::check(data));
