//! A stream of bytes on a ready link: frames, rosters, messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| actix_bully_fuzz::frames::check(data));
