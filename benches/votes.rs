//! The time until a vote is durable, in a store on a folder, beside the store of an earlier commit.
//!
//! `cargo bench --bench votes -- --folder DIR` in this folder, `--beside PROGRAM` for pairs, where `PROGRAM` is this bench
//! of an earlier commit (`cargo bench --bench votes --no-run` names it). Each program keeps a store in the folder, and
//! writes a vote whenever it is told to; one and the other are told in turn.
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
    let votes = if is_test { 3 } else { 200 };
    let folder = after("--folder").map_or_else(env::temp_dir, Into::into);
    let mut now = Program::start(&env::current_exe()?, &folder)?;
    let beside = after("--beside").map(|program| Program::start(Path::new(program), &folder));
    let mut before = beside.transpose()?;
    let (mut took, mut ratios, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..votes {
        let other = before.as_mut().map(Program::vote).transpose()?;
        let this = now.vote()?;
        took.push(this);
        if let Some(other) = other {
            others.push(other);
            ratios.push(this / other);
        }
    }
    println!("a vote in {}, {votes} times:", folder.display());
    println!("now     {:>9.1} us at the median", median(took));
    if before.is_some() {
        println!("before  {:>9.1} us at the median", median(others));
        println!("ratio   {:>9.2} at the median", median(ratios));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A program that has a store, and votes when it is told to.
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
        program.vote()?; // the first one of a store is not like the others
        Ok(program)
    }

    /// Has it vote; how many microseconds that took.
    fn vote(&mut self) -> Result<f64, Failure> {
        writeln!(self.told, "vote")?;
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

/// A vote in a new term for each line that is read, and a line with the time that it took.
fn serve(folder: &Path) -> Result<(), Failure> {
    let [cluster, group, node] = ["bench", "jobs", "a"].map(AgentId::new);
    let identity = StoreIdentity {
        cluster: cluster?,
        group: group?,
        node: node?,
    };
    let store = FileStore::create(folder.join("votes"), identity)?;
    let by = TermStore::<Vote>::begin(&store)?;
    actix::System::new().block_on(async {
        for (line, term) in stdin().lines().zip(1..) {
            line?;
            let vote = Vote {
                term: Term(term),
                ..Vote::default()
            };
            let began = Instant::now();
            store.save(by, vote).await?;
            println!("{:.1}", began.elapsed().as_secs_f64() * 1e6);
            stdout().flush()?;
        }
        Ok(())
    })
}
