//! Bytes at a port that demands TLS, and behind it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::tls::check(data));
