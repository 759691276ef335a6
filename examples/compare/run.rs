//! The program, for any set of elections.

use std::{
    error::Error,
    fs,
    io::{Write, stderr, stdout},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, value_parser};

use super::{
    cases::Case,
    chart,
    contenders::Entrant,
    page,
    report::{self, Row},
    table,
};

/// Every election over the same faults.
#[derive(Debug, Parser)]
#[command(name = "compare")]
pub(crate) struct Args {
    /// Number of seeds; each line is the median of them
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    seeds: u64,
    /// Only these cases
    #[arg(long = "case", value_name = "NAME", value_parser = case)]
    cases: Vec<Case>,
    /// Only these elections
    #[arg(long = "protocol", value_name = "NAME")]
    protocols: Vec<String>,
    /// Prints Markdown
    #[arg(long, conflicts_with_all = ["json", "overview"])]
    markdown: bool,
    /// Prints a line for each case, as Markdown
    #[arg(long, conflicts_with = "json")]
    overview: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Draws all cases into FILE as well
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Writes a page of all cases into FILE as well: HTML that loads nothing
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Compares the elections as the command line demands.
pub(crate) fn run(entrants: &[Entrant]) -> ExitCode {
    let args = Args::parse();
    let told = compare(&args, entrants)
        .and_then(|text| write!(stdout().lock(), "{text}").map_err(Box::from));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            // If this fails too, no place is left to report it.
            drop(writeln!(stderr(), "compare: {wrong}"));
            ExitCode::from(2)
        }
    }
}

/// Returns the text to print; writes the pictures that the arguments ask for.
///
/// # Errors
/// An election that does not take part, or a file that cannot be written.
pub(crate) fn compare(args: &Args, entrants: &[Entrant]) -> Result<String, Box<dyn Error>> {
    let takes_part = |name: &&String| entrants.iter().any(|entrant| entrant.name == **name);
    if let Some(unknown) = args.protocols.iter().find(|name| !takes_part(name)) {
        let names: Vec<_> = entrants.iter().map(|entrant| entrant.name).collect();
        return Err(format!("there is no {unknown}; there is {}", names.join(", ")).into());
    }
    told(args, &rows(args, entrants))
}

/// Returns the text of the rows in the requested form.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn told(args: &Args, rows: &[Row]) -> Result<String, Box<dyn Error>> {
    type Drawn = fn(&[Row]) -> String;
    let files: [(_, Drawn); 2] = [(&args.svg, chart::svg), (&args.page, page::html)];
    for (file, drawn) in files {
        let Some(file) = file else { continue };
        let written = fs::write(file, drawn(rows));
        written.map_err(|wrong| format!("{}: {wrong}", file.display()))?;
    }
    Ok(match args {
        Args { markdown: true, .. } => table::markdown(rows),
        Args { overview: true, .. } => table::overview(rows),
        Args { json: true, .. } => report::json(rows)?,
        _ => table::text(rows),
    })
}

/// Returns the rows of the requested cases with the requested elections.
pub(crate) fn rows(args: &Args, entrants: &[Entrant]) -> Vec<Row> {
    let chosen = |one: &&Case| args.cases.is_empty() || args.cases.contains(*one);
    let named = |entrant: &Entrant| args.protocols.iter().any(|name| name == entrant.name);
    let takes_part = |one: &&Entrant| args.protocols.is_empty() || named(one);
    let mut rows = Vec::new();
    for case in Case::ALL.iter().filter(chosen) {
        for entrant in entrants.iter().filter(takes_part) {
            let measures = (0..args.seeds).map(|seed| (entrant.run)(*case, seed));
            rows.push(Row::of(*case, entrant, &measures.collect::<Vec<_>>()));
        }
    }
    rows
}

fn case(name: &str) -> Result<Case, String> {
    let found = Case::ALL.into_iter().find(|case| case.name() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = Case::ALL.into_iter().map(Case::name).collect();
        format!("there is {}", names.join(", "))
    })
}
