//! The text in a store that may be the record of a lease.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::records::check(data));
