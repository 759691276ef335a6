//! `forks FOLDER`: a process with a register on that folder that is forked while it writes, again and again.
//!
//! Where Rust can fork, that is unsafe code, since the child has one thread of many. The test that runs this program
//! (`on_file.rs`) preloads a library in which `getppid` is `fork`, and [`parent_id`] calls that: it is a real fork, of
//! a process with a thread that is about to write, is writing, or has written.
//!
//! Each child uses the register that it inherited, which has to refuse, and a register that it opens. It prints `child
//! INHERITED`, with the number of files of the folder that it has open, and stays until standard input ends. Its parent
//! has locked these files. The parent says `parent` when all of its writes were done, and ends.

use std::{env, error::Error, fs, io, os::unix::process::parent_id, pin::pin, process};

use actix_bully::register::{FileRegister, Register, RegisterError, Swap};
use actix_bully_register_tests::{block_on, done, key, read, swap};
use futures::future::FutureExt;

/// Number of children: several of them are forked while a file is locked.
const FORKS: usize = 30;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("name a folder")?;
    let register = FileRegister::open(&folder)?;
    let (me, holder) = (process::id(), key("group/holder"));
    block_on(async { done(swap(&register, &holder, None, b"0").await) });
    for number in 1..=FORKS {
        let known = block_on(read(&register, &holder)).ok_or("it is there")?;
        let value = number.to_string().into_bytes();
        let mut writing = pin!(register.swap(&holder, Some(&known), value));
        assert!((&mut writing).now_or_never().is_none(), "it is asked for");
        // Its thread is somewhere in the write when this forks.
        for _ in 0..number * 2_000 {
            std::hint::spin_loop();
        }
        assert_ne!(parent_id(), me, "it was forked");
        if process::id() != me {
            return child(&register, &folder, number);
        }
        assert!(matches!(block_on(writing)?, Swap::Done(_)));
    }
    println!("parent");
    Ok(())
}

fn child(inherited: &FileRegister, folder: &str, number: usize) -> Result<(), Box<dyn Error>> {
    let has_open = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|file| file.starts_with(folder))
        .count();
    let holder = key("group/holder");
    let listed = inherited.list(&key("group")).ok_or("it can list")?;
    for refused in [
        block_on(inherited.read(&holder)).map(drop),
        block_on(inherited.swap(&holder, None, b"child".to_vec())).map(drop),
        block_on(listed).map(drop),
    ] {
        let is_told = matches!(&refused, Err(RegisterError::Unreachable(reason)) if reason.to_string().contains("forked"));
        assert!(is_told, "{refused:?}");
    }
    // A register of its own.
    let own = FileRegister::open(folder)?;
    let of_child = key(&format!("group/child-{number}"));
    block_on(async { done(swap(&own, &of_child, None, b"child").await) });
    println!("child {has_open}");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
