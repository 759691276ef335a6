//! `with-store STORE PROGRAM ARGUMENT ..`: starts a store, `files`, `postgres` or `etcd`, and runs a program beside
//! it. The last argument of the program is the line of a configuration that names the store.

use std::{
    env,
    error::Error,
    fs,
    process::{Command, ExitCode},
};

use actix_bully_database_tests::Server;
use actix_bully_register_tests::etcd::Etcd;
use tempfile::TempDir;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    let [store, program, arguments @ ..] = &*words else {
        return Err("name a store and a program: with-store files PROGRAM ARGUMENT ..".into());
    };
    let run = |line: String| {
        let status = Command::new(program).args(arguments).arg(line).status();
        status.map(|status| {
            if status.success() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        })
    };
    let folder = TempDir::with_prefix("register-")?;
    let code = match &**store {
        "files" => {
            let folder = folder.path().join("leases");
            run(format!("folder = {:?}", folder.display().to_string()))
        }
        "postgres" => {
            let server = Server::start();
            let url = folder.path().join("url");
            fs::write(&url, server.address())?;
            let url = url.display().to_string();
            run(format!("postgres_url_file = {url:?}\ncreate_table = true"))
        }
        "etcd" => {
            let server = Etcd::start();
            run(format!("etcd_endpoints = [{:?}]", server.endpoint()))
        }
        other => return Err(format!("{other} is no store: files, postgres or etcd").into()),
    };
    Ok(code?)
}
