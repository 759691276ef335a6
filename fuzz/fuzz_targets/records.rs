//! What a store holds where a lease is kept.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::records::check(data));
