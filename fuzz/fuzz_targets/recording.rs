//! The bytes of a file that may be a recording.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::recording::check(data));
