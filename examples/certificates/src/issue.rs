//! The contents of a certificate: one DNS name, both ends of a connection, a short time.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::{error::CertificateError, files::Folder};

/// Days for which the authority is valid: longer than any certificate from it.
const AUTHORITY_DAYS: u16 = 800;

/// A certificate and its key, both as PEM.
pub struct Made {
    pub certificate: String,
    pub key: String,
}

/// The authority that vouches for the nodes.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    is_new: bool,
}

impl Authority {
    /// Reads the authority of an earlier run from the folder, or makes a new one and writes it there.
    pub fn load_or_make(folder: &Folder) -> Result<Self, CertificateError> {
        let mut params = valid_for(AUTHORITY_DAYS);
        // The name is the same in each run: a certificate names its issuer, so no parser is needed to know it.
        params.distinguished_name = called("actix-bully trial authority");
        // It vouches for nodes, never for another authority.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let earlier = folder.authority_key()?;
        let is_new = earlier.is_none();
        let key = match earlier {
            Some(key) => KeyPair::from_pem(&key)?,
            None => KeyPair::generate()?,
        };
        if is_new {
            let made = Made {
                certificate: params.self_signed(&key)?.pem(),
                key: key.serialize_pem(),
            };
            folder.keep(Folder::AUTHORITY, &made)?;
        }
        Ok(Self {
            issuer: Issuer::new(params, key),
            is_new,
        })
    }

    /// Issues a certificate for a node that listens and dials.
    pub fn issue(&self, node: &str, days: u16) -> Result<Made, CertificateError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([node.to_owned()])?;
        let validity = valid_for(days);
        (params.not_before, params.not_after) = (validity.not_before, validity.not_after);
        params.distinguished_name = called(node);
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        params.use_authority_key_identifier_extension = true;
        Ok(Made {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
        })
    }

    pub fn what_happened(&self, folder: &Folder) -> String {
        let (certificate, key) = folder.paths(Folder::AUTHORITY);
        if self.is_new {
            format!(
                "authority: {} for every node, {} to make more; never let the key leave this machine",
                certificate.display(),
                key.display()
            )
        } else {
            format!("authority: {} from an earlier run", certificate.display())
        }
    }
}

/// Begins an hour earlier, because the clocks of the hosts differ.
fn valid_for(days: u16) -> CertificateParams {
    let now = OffsetDateTime::now_utc();
    let mut params = CertificateParams::default();
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(days.into());
    params
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}

/// Checks the name of a node by the same rules as the bridge; no such name can leave the folder.
pub fn check_name(name: &str) -> Result<(), CertificateError> {
    if name == Folder::AUTHORITY {
        return Err(CertificateError::Reserved);
    }
    let has_letter = |label: &str| label.contains(|c: char| c.is_ascii_lowercase());
    let is_fit = name.len() <= 253
        && name.split('.').all(is_label)
        && name.rsplit('.').next().is_some_and(has_letter);
    if is_fit {
        return Ok(());
    }
    Err(CertificateError::Name {
        name: name.to_owned(),
    })
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_its_folder() {
        for good in ["node-a", "a.example", "3.x"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "", "..", "../a", "a/b", "a\\b", "A", "*.a", "10.0.0.1", "ca",
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
