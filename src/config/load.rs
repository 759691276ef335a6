//! The sources of a configuration: a text, variables of the environment, a file, another format of serde.
//!
//! Decided here: a later source replaces the keys of an earlier source; how many bytes are read; and that only
//! [`Config::load`] reads a file or the environment by itself.

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io::{self, Read},
    ops::Range,
    path::Path,
};

use super::{
    Config, ConfigError,
    read::{cut, lay_over, read, shortened, variable_prefix},
};

impl Config {
    /// The longest text of a configuration, in bytes.
    const MAX_LEN: usize = 64 * 1024;

    /// Reads TOML. Missing keys get their defaults. This function does not check whether the values fit together, since
    /// more values may still come [from the environment](Self::with_env): call [`check`](Self::check) for that.
    ///
    /// # Errors
    /// [`ConfigError`] if the text is not TOML or is longer than 64 KiB, if a key is unknown, or if a value is not
    /// allowed.
    ///
    /// # Examples
    /// ```
    /// use actix_bully::config::Config;
    ///
    /// let config = Config::from_toml(r#"
    ///     node = "api-1"
    ///     group = "jobs"
    ///     score = 30
    /// "#)?;
    /// assert_eq!(config.node, "api-1");
    /// let refused = Config::from_toml("[[peers]]\nadress = \"10.0.0.2:7400\"").unwrap_err();
    /// assert_eq!(refused.to_string(), "there is no key `peers[0].adress`: did you mean `address`?");
    /// # Ok::<(), actix_bully::config::ConfigError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        if text.len() > Self::MAX_LEN {
            return Err(ConfigError::TooLong { max: Self::MAX_LEN });
        }
        let parsed = toml::Deserializer::parse(text).map_err(|wrong| {
            let Range { start, .. } = wrong.span().unwrap_or_default();
            let before = text.get(..start).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            ConfigError::Syntax {
                line: before.matches('\n').count().saturating_add(1),
                column: line.chars().count().saturating_add(1),
                reason: wrong.message().into(),
            }
        })?;
        // A number in the text may have any length, but a number in the table has 64 bits.
        let table = serde_path_to_error::deserialize(parsed).map_err(|wrong| {
            let number = wrong.inner().span().and_then(|place| text.get(place));
            ConfigError::Value {
                key: wrong.path().to_string(),
                value: shortened(number.unwrap_or_default()).into(),
                wanted: "within the 64 bits of a number".into(),
            }
        })?;
        read(table)
    }

    /// Sets keys from variables of the environment. The name of a variable is the prefix, an underscore and the key in
    /// capital letters, with an underscore for each dot of the key. With the prefix `JOBS` or `JOBS_`, `JOBS_NODE` is
    /// `node` and `JOBS_QUORUM_STORE_FILE` is `quorum.store_file`. Commas separate the items of a list, and a peer is
    /// written `api-2=10.0.0.2:7400`. A list replaces the earlier list. Other variables are ignored, except `HOSTNAME`,
    /// the name of a pod: with `lease.kubernetes` a node without a name gets this name.
    ///
    /// # Errors
    /// [`ConfigError`] if the prefix has a character that no variable can have, if a variable with the prefix matches no
    /// key or has a value that is not allowed, or if the configuration has a value from Rust that no file can hold, such
    /// as a path that is not UTF-8.
    ///
    /// # Examples
    /// ```
    /// use actix_bully::config::Config;
    ///
    /// let pod = [("JOBS_NODE".to_owned(), "api-0".to_owned())];
    /// let config = Config::from_toml("group = \"jobs\"")?.with_env("JOBS", pod)?;
    /// assert_eq!(config.node, "api-0");
    /// # Ok::<(), actix_bully::config::ConfigError>(())
    /// ```
    pub fn with_env(
        self,
        prefix: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let prefix = variable_prefix(prefix)?;
        let (mut pod, mut ours) = (None, BTreeMap::new());
        for (name, value) in variables {
            if name == POD {
                pod = Some(value.clone());
            }
            if name.starts_with(&prefix) {
                ours.insert(name, value);
            }
        }
        let mut config = if ours.is_empty() {
            self
        } else {
            lay_over(&self, &prefix, ours)?
        };
        if let Some(pod) = pod.filter(|_| config.is_called_as_its_pod()) {
            config.node = pod;
        }
        Ok(config)
    }

    /// Reads a file of TOML, sets keys from the variables of this process, and [checks](Self::check) the result. Reads
    /// at most 64 KiB. The call blocks while it reads.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, or for the reasons of [`from_toml`](Self::from_toml),
    /// [`with_env`](Self::with_env) and [`check`](Self::check).
    pub fn load(path: impl AsRef<Path>, prefix: &str) -> Result<Self, ConfigError> {
        let ours = variable_prefix(prefix)?;
        let text = read_file(path.as_ref()).map_err(|reason| ConfigError::Unreadable {
            path: path.as_ref().to_owned(),
            reason,
        })?;
        let mut variables = Vec::new();
        for (name, value) in env::vars_os() {
            // A variable whose name is not Unicode cannot name a key, so it is ignored.
            let Ok(name) = name.into_string() else {
                continue;
            };
            match value.into_string() {
                Ok(value) => variables.push((name, value)),
                Err(_) if !name.starts_with(&ours) => {}
                Err(value) => {
                    return Err(ConfigError::Value {
                        key: name,
                        value: cut(&value.to_string_lossy()),
                        wanted: "UTF-8".into(),
                    });
                }
            }
        }
        let config = Self::from_toml(&text)?.with_env(prefix, variables)?;
        config.check()?;
        Ok(config)
    }
}

/// Environment variable in which a container in Kubernetes finds the name of its pod.
const POD: &str = "HOSTNAME";

pub(super) fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // Reads one byte more than allowed. The extra byte shows that the file is too long.
    let most = u64::try_from(Config::MAX_LEN).unwrap_or(u64::MAX);
    File::open(path)?
        .take(most.saturating_add(1))
        .read_to_string(&mut text)?;
    Ok(text)
}
