//! A stream of bytes on a link that is ready: frames, rosters, messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::frames::check(data));
