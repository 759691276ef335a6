//! Reads the configuration of a node for a subcommand: a file, and environment variables that override it.

use std::{
    env,
    fs::File,
    io::{self, Read},
    path::Path,
};

use actix_bully::config::{Config, ConfigError};

use crate::failure::Failure;

/// Reads and checks the configuration.
pub(crate) fn load(path: &Path, prefix: Option<&str>) -> Result<Config, Failure> {
    let refused = |error| refused(path, error);
    if let Some(prefix) = prefix {
        return Config::load(path, prefix).map_err(refused);
    }
    let config = Config::from_toml(&read(path)?).map_err(refused)?;
    // With a lease in Kubernetes the node may have the name of its pod. No other variable counts without a prefix.
    let pod = env::var(POD).map(|name| (POD.to_owned(), name));
    let config = config.with_env(POD, pod).map_err(refused)?;
    config.check().map_err(refused)?;
    Ok(config)
}

/// Returns the failure for a configuration that is refused.
pub(crate) fn refused(path: &Path, error: ConfigError) -> Failure {
    Failure::Config {
        path: path.to_owned(),
        error: Box::new(error),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let file = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
    file.map_err(|error: io::Error| Failure::File {
        path: path.to_owned(),
        error,
    })?;
    Ok(text)
}

/// Variable in which Kubernetes gives a container the name of its pod.
const POD: &str = "HOSTNAME";

/// Largest number of bytes that are read. It is more than a configuration may have, so that a longer file is refused.
const MOST: u64 = 128 << 10;
