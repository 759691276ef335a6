//! The time until a vote is durable, in a store on a folder, and the time of the operations on a register in a folder,
//! beside those of an earlier commit.
//!
//! `cargo bench --bench records -- --folder DIR` in this folder, `--beside PROGRAM` for pairs, where `PROGRAM` is this
//! bench of an earlier commit (`cargo bench --bench records --no-run` names it). Each program keeps a store and a
//! register in the folder, and does one operation for each request; the two programs get requests in turn.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a disk takes real time"
)]

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader, Write, stdin, stdout},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use actix_bully::{
    elections::quorum::Vote,
    protocol::{AgentId, Term},
    register::{FileRegister, Register, RegisterKey},
    store::{FileStore, StoreIdentity, TermStore},
};
use tempfile::TempDir;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().collect();
    let after = |flag| arguments.iter().skip_while(move |one| *one != flag).nth(1);
    if let Some(folder) = after("--serve") {
        return serve(Path::new(folder));
    }
    let is_test = arguments.iter().any(|one| one == "--test");
    let pairs = if is_test { 3 } else { 200 };
    let folder = after("--folder").map_or_else(env::temp_dir, Into::into);
    let mut now = Program::start(&env::current_exe()?, &folder)?;
    let beside = after("--beside").map(|program| Program::start(Path::new(program), &folder));
    let mut before = beside.transpose()?;
    println!("in {}, {pairs} times, us at the median:", folder.display());
    for what in ["vote", "swap", "read"] {
        let (mut took, mut ratios, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pairs {
            let other = before.as_mut().map(|program| program.time(what));
            let this = now.time(what)?;
            took.push(this);
            if let Some(other) = other.transpose()? {
                others.push(other);
                ratios.push(this / other);
            }
        }
        print!("{what}  now {:>7.1}", median(took));
        if before.is_some() {
            print!("  before {:>7.1}", median(others));
            print!("  ratio {:>5.2}", median(ratios));
        }
        println!();
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A program that has a store and a register, and does an operation on request.
struct Program {
    process: Child,
    _folder: TempDir,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl Program {
    fn start(program: &Path, folder: &Path) -> Result<Self, Failure> {
        let folder = TempDir::new_in(folder)?;
        let mut process = Command::new(program)
            .arg("--serve")
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let told = process.stdin.take().ok_or("no input")?;
        let says = process.stdout.take().ok_or("no output")?;
        let mut program = Self {
            process,
            _folder: folder,
            told,
            says: BufReader::new(says),
        };
        // The first operation on a file takes longer than the others.
        program.time("vote")?;
        program.time("swap")?;
        Ok(program)
    }

    /// Requests an operation; returns its time in microseconds.
    fn time(&mut self, what: &str) -> Result<f64, Failure> {
        writeln!(self.told, "{what}")?;
        let mut line = String::new();
        self.says.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Does a vote in a new term, a swap or a read for each line that names it, and prints a line with the time.
fn serve(folder: &Path) -> Result<(), Failure> {
    let [cluster, group, node] = ["bench", "jobs", "a"].map(AgentId::new);
    let identity = StoreIdentity {
        cluster: cluster?,
        group: group?,
        node: node?,
    };
    let store = FileStore::create(folder.join("votes"), identity)?;
    let by = TermStore::<Vote>::begin(&store)?;
    let register = FileRegister::open(folder)?;
    let key: RegisterKey = "bench/holder".parse()?;
    actix::System::new().block_on(async {
        for (line, term) in stdin().lines().zip(1..) {
            let line = line?;
            let vote = Vote {
                term: Term(term),
                ..Vote::default()
            };
            let entry = register.read(&key).await?;
            let began = Instant::now();
            match line.as_str() {
                "vote" => store.save(by, vote).await?,
                "swap" => {
                    let value = format!("{term:200}").into_bytes();
                    register.swap(&key, entry.as_ref(), value).await?;
                }
                _ => drop(register.read(&key).await?),
            }
            println!("{:.1}", began.elapsed().as_secs_f64() * 1e6);
            stdout().flush()?;
        }
        Ok(())
    })
}
