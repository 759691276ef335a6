//! Makes a throw-away certificate authority and a certificate for each node, so that TLS between
//! bridges can be tried in a minute.
//!
//! ```text
//! cargo run --manifest-path examples/certificates/Cargo.toml -- certificates node-a node-b node-c
//! ```
//!
//! A second run with the same folder adds nodes to the same authority. The program never overwrites a file. The
//! authority's key is beside the other files, without a password: use it for trials only.

use std::{collections::BTreeSet, path::PathBuf, process::ExitCode};

use clap::Parser;

mod error;
mod files;
mod issue;

use error::CertificateError;
use files::Folder;
use issue::Authority;

/// Makes a throw-away certificate authority, and a certificate and a key for each node.
#[derive(Parser)]
struct Args {
    /// The folder of the files, which is made if it is missing.
    folder: PathBuf,
    /// The nodes' names: lower-case DNS names, such as node-a or a.example.
    #[arg(required = true)]
    nodes: Vec<String>,
    /// Days for which the certificates are valid: 1 to 398.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=398))]
    days: u16,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), CertificateError> {
    let nodes: BTreeSet<&str> = args.nodes.iter().map(String::as_str).collect();
    for node in &nodes {
        issue::check_name(node)?;
    }
    let folder = Folder::open(&args.folder)?;
    // Check before anything is written: half of the files would be worse than none.
    for node in &nodes {
        folder.check_free(node)?;
    }
    let authority = Authority::load_or_make(&folder)?;
    println!("{}", authority.what_happened(&folder));
    for node in &nodes {
        let made = authority.issue(node, args.days)?;
        let (certificate, key) = folder.keep(node, &made)?;
        println!(
            "node {node}: {} and {}",
            certificate.display(),
            key.display()
        );
    }
    println!("{}", advice(args));
    Ok(())
}

fn advice(args: &Args) -> String {
    let folder = args.folder.display();
    let node = args.nodes.first().map_or("node-a", String::as_str);
    format!(
        "valid for {} days, keys are for their owner only (mode 0600)\n\
         \n\
         Give each host ca.pem and its own two files; then, in its configuration:\n\
         \n    \
         [tls]\n    \
         authorities_file = \"{folder}/ca.pem\"\n    \
         certificate_file = \"{folder}/{node}.pem\"\n    \
         key_file = \"{folder}/{node}.key\"\n\
         \n\
         or in the program:\n\
         \n    \
         TlsConfig::builder()\n        \
         .authorities_file(\"{folder}/ca.pem\")\n        \
         .certificate_file(\"{folder}/{node}.pem\")\n        \
         .key_file(\"{folder}/{node}.key\")\n        \
         .build()?\n\
         \n\
         To look at one: openssl x509 -in {folder}/{node}.pem -noout -text",
        args.days
    )
}
