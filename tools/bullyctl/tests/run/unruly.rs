//! The command of the tests. It tries to outlive its end, and notices another command of its kind.
//!
//! It is another run of this test program with `UNRULY` in its environment. The variable has a folder, and some of
//! these words:
//!
//! ```text
//! ignore   it ignores SIGTERM
//! fork     it starts another process
//! setsid   it starts another process in a new session, whose parent ends at once
//! thread   it starts another process from a thread that ends
//! regroup  it joins the process group of another process that it starts
//! ```
//! It locks a file in the folder, and its processes share the lock. So the kernel unlocks the file when the last of
//! these processes has ended. If another command has the lock, both run at one time, and this command writes that down.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a command that cannot do its work ends"
)]

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, exit, id},
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use rustix::process::Pid;

/// Variable that makes a process of this program an unruly command.
pub(crate) const UNRULY: &str = "UNRULY";

/// Variable with the first process of an unruly command.
const FIRST: &str = "UNRULY_FIRST";

/// Returns the program and arguments that run the test `test`, which calls [`live`].
pub(crate) fn words(test: &str) -> Vec<String> {
    let program = env::current_exe().expect("it has a path");
    let words = [
        &*program.display().to_string(),
        test,
        "--exact",
        "--nocapture",
    ];
    words.map(str::to_owned).into()
}

/// Becomes the unruly command if [`UNRULY`] is set. Otherwise it returns.
pub(crate) fn live() {
    let Ok(asked) = env::var(UNRULY) else { return };
    let mut words = asked.split(' ').map(str::to_owned);
    let folder = PathBuf::from(words.next().expect("a folder"));
    let words: Vec<String> = words.collect();
    let has = |word: &str| words.iter().any(|it| it == word);
    if has("alone") {
        // The new session is below a parent that ends.
        rustix::process::setsid().expect("it leads no group");
        drop(start(&folder, "child", Stdio::inherit()));
        exit(0);
    }
    if has("child") {
        ignore();
        note_process(&folder);
        rest();
    }
    if has("ignore") {
        ignore();
    }
    let lock = open(&folder, "lock");
    if lock.try_lock().is_err() {
        note(&folder, "overlaps", &told());
    }
    note_process(&folder);
    note(&folder, "starts", &told());
    // A child with the lock holds it for this command.
    let held = || Stdio::from(lock.try_clone().expect("it can be held twice"));
    if has("fork") {
        drop(start(&folder, "child", held()));
    }
    if has("setsid") {
        let mut between = start(&folder, "alone", held());
        between.wait().expect("it ends");
    }
    if has("thread") {
        let (folder, held) = (folder.clone(), held());
        let ended = thread::spawn(move || drop(start(&folder, "child", held)));
        ended.join().expect("it ends");
    }
    if has("regroup") {
        let mut other = again(&folder, "child", held());
        let group = Pid::from_child(&spawn(other.process_group(0)));
        rustix::process::setpgid(None, Some(group)).expect("it leads no session");
    }
    let expected = 1 + ["fork", "setsid", "thread", "regroup"]
        .iter()
        .filter(|it| has(it))
        .count();
    while processes(&folder) != expected {
        thread::yield_now();
    }
    note(&folder, "ready", &told());
    rest();
}

fn start(folder: &Path, word: &str, input: Stdio) -> Child {
    spawn(&mut again(folder, word, input))
}

fn spawn(command: &mut Command) -> Child {
    command.spawn().expect("it can be started")
}

/// Returns another run of this program with this word.
fn again(folder: &Path, word: &str, input: Stdio) -> Command {
    let own: Vec<_> = env::args_os().collect();
    let mut command = Command::new(&own[0]);
    command.args(&own[1..]).stdin(input);
    command.env(UNRULY, format!("{} {word}", folder.display()));
    command.env(FIRST, first());
    command
}

/// Returns the node, its fence, and the process.
fn told() -> String {
    let variable = |name| env::var(name).unwrap_or_else(|_| "none".to_owned());
    format!(
        "{} {} {}",
        variable("BULLY_NODE"),
        variable("BULLY_FENCE"),
        id()
    )
}

fn ignore() {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, flag).expect("it can be ignored");
}

fn open(folder: &Path, name: &str) -> File {
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).open(folder.join(name));
    file.expect("it can be opened")
}

/// Writes a whole line at the end of the file, in one write.
fn note(folder: &Path, name: &str, line: &str) {
    let written = open(folder, name).write_all(format!("{line}\n").as_bytes());
    written.expect("it can be written");
}

/// Notes this process after the first process of its command.
fn note_process(folder: &Path) {
    note(folder, "pids", &format!("{} {}", first(), id()));
}

fn first() -> String {
    env::var(FIRST).unwrap_or_else(|_| id().to_string())
}

/// Returns the number of processes of this command that have noted themselves.
fn processes(folder: &Path) -> usize {
    let text = fs::read_to_string(folder.join("pids")).expect("it was written");
    let first = format!("{} ", first());
    text.lines().filter(|line| line.starts_with(&first)).count()
}

fn rest() -> ! {
    loop {
        thread::park();
    }
}
