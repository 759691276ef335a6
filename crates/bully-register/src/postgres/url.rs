//! The URL of a database.
//!
//! Decided here: the file of a URL is read again at each login and may then have another password, but no other
//! database; each host is asked whether it takes writes, since a replica may show old records; and the name of the
//! store contains no secret.

use std::{
    io,
    path::{Path, PathBuf},
    str::FromStr,
};

use tokio_postgres::{
    Config, Error,
    config::{Host, SslMode, TargetSessionAttrs},
};

use crate::{RegisterError, RegisterRefusal, password::PasswordFile};

/// A URL, or the file that has it.
#[derive(Clone)]
pub(super) enum PostgresUrl {
    Text(String),
    File(PathBuf),
}

impl PostgresUrl {
    /// Reads the present settings of the URL.
    pub(super) fn config(&self) -> Result<Config, RegisterError> {
        match self {
            Self::Text(url) => parse(url),
            Self::File(path) => read(path),
        }
    }
}

fn read(path: &Path) -> Result<Config, RegisterError> {
    let wrong =
        |source| RegisterError::refused(RegisterRefusal::Credentials, io::Error::other(source));
    let file = PasswordFile::read(path).map_err(wrong)?;
    let config = parse(file.text.trim())?;
    // A URL has no password if the server asks for a certificate or trusts the host. Then the file may be open.
    if config.get_password().is_some() {
        file.check(path).map_err(wrong)?;
    }
    Ok(config)
}

fn parse(url: &str) -> Result<Config, RegisterError> {
    let mut config = Config::from_str(url).map_err(|error: Error| refused(error))?;
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
        let words = "a lease needs a server that takes writes: leave out target_session_attrs";
        return Err(refused(words));
    }
    // Set for every URL, because a replica may show old records.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_application_name().is_none() {
        config.application_name("actix-bully");
    }
    Ok(config)
}

pub(super) fn refused(
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> RegisterError {
    RegisterError::refused(RegisterRefusal::Other, io::Error::other(source))
}

/// Returns whether the URL requires TLS.
pub(super) fn needs_tls(config: &Config) -> bool {
    config.get_ssl_mode() == SslMode::Require
}

/// Returns the name of the store: hosts and database, without user and password.
pub(super) fn name_of(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<_> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<_> = config.get_ports().iter().map(u16::to_string).collect();
    let (hosts, ports) = (hosts.join(","), ports.join(","));
    let database = config
        .get_dbname()
        // A URL without a database means the database with the user's name.
        .or_else(|| config.get_user())
        .unwrap_or_default();
    match &*ports {
        "" => format!("postgres {hosts}/{database}"),
        ports => format!("postgres {hosts}:{ports}/{database}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_to_take_writes_whatever_the_url_says() {
        for more in [
            "",
            "?target_session_attrs=any",
            "?target_session_attrs=read-write",
        ] {
            let config = parse(&format!("postgres://app@a,b/jobs{more}")).unwrap();
            let asked = config.get_target_session_attrs();
            assert_eq!(asked, TargetSessionAttrs::ReadWrite, "{more}");
        }
        let replica = parse("postgres://app@a/jobs?target_session_attrs=read-only");
        assert!(matches!(replica, Err(RegisterError::Refused { .. })));
    }

    #[test]
    fn a_session_has_the_name_of_the_crate_unless_the_url_has_another() {
        for (more, name) in [("", "actix-bully"), ("?application_name=jobs", "jobs")] {
            let config = parse(&format!("postgres://app@a/jobs{more}")).unwrap();
            assert_eq!(config.get_application_name(), Some(name));
        }
    }

    #[test]
    fn tls_is_needed_only_if_the_url_requires_it() {
        let needs =
            |more: &str| needs_tls(&parse(&format!("postgres://app@a/jobs{more}")).unwrap());
        assert!(needs("?sslmode=require"));
        let builder = crate::PostgresRegister::builder("postgres://a/jobs?sslmode=require");
        assert!(builder.open().is_err(), "it has no tls(..)");
        assert!(!needs("") && !needs("?sslmode=prefer") && !needs("?sslmode=disable"));
    }

    #[test]
    fn a_name_has_no_secret() {
        let config = parse("postgres://app:sesame@db.example:5433,other/jobs").unwrap();
        assert_eq!(name_of(&config), "postgres db.example,other:5433,5432/jobs");
    }

    #[cfg(unix)]
    #[test]
    fn a_store_of_a_url_without_a_database_has_the_name_of_the_user_s_database() {
        for (url, name) in [
            (
                "host=/run/postgresql user=jobs",
                "postgres /run/postgresql/jobs",
            ),
            (
                "postgres://jobs:sesame@db.example",
                "postgres db.example:5432/jobs",
            ),
            (
                "postgres://app@db.example/jobs",
                "postgres db.example:5432/jobs",
            ),
        ] {
            assert_eq!(name_of(&parse(url).unwrap()), name, "{url}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_read_again_and_refused_if_others_can_read_its_password() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        let url = PostgresUrl::File(path.clone());
        let put = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for password in ["one", "two"] {
            put(&format!("postgres://app:{password}@a/jobs\n"), 0o600);
            let config = url.config().unwrap();
            assert_eq!(config.get_password(), Some(password.as_bytes()));
        }
        put("postgres://app:three@a/jobs", 0o644);
        let refused = url.config().unwrap_err().to_string();
        assert!(
            refused.contains("chmod 600") && !refused.contains("three"),
            "{refused}"
        );
        put("postgres://app@a/jobs", 0o644);
        assert!(url.config().is_ok(), "no password is in it");
    }
}
