//! The reason under which the bridge counts a failure of TLS.
//!
//! Decided here: which errors of the library have the same reason. Not here: the text and the advice for a reason.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use crate::remote::{CertificateFault, Closed};

/// Returns the reason why a handshake failed, or why an encrypted stream could not be read; `None` if the reason is not
/// TLS.
///
/// The dialler also calls this function after a failed read: in TLS 1.3 the dialler's handshake ends before the other
/// side has checked the dialler's certificate, so the refusal arrives at the first read.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library has many more errors, and may add some: each is a broken rule"
)]
pub fn closed_by(error: &io::Error) -> Option<Closed> {
    Some(match error.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidMessage(_) => Closed::NotEncrypted,
        Error::NoCertificatesPresented => Closed::Certificate(CertificateFault::NotShown),
        Error::InvalidCertificate(error) => Closed::Certificate(of_certificate(error)),
        Error::AlertReceived(alert) => of_alert(*alert).map_or(Closed::Tls, Closed::Certificate),
        _ => Closed::Tls,
    })
}

/// Returns the fault that an alert names, which the peer sent after this side had shown its certificate.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "TLS has many more alerts, and none of them is about a certificate"
)]
const fn of_alert(alert: AlertDescription) -> Option<CertificateFault> {
    match alert {
        AlertDescription::UnknownCA => Some(CertificateFault::OwnAuthority),
        AlertDescription::CertificateExpired => Some(CertificateFault::OwnDates),
        AlertDescription::BadCertificate
        | AlertDescription::CertificateRequired
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate => Some(CertificateFault::OwnRefused),
        _ => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library has many more errors, and may add some: each is a damaged certificate"
)]
const fn of_certificate(error: &CertificateError) -> CertificateFault {
    match error {
        CertificateError::UnknownIssuer => CertificateFault::Authority,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            CertificateFault::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateFault::NotYetValid
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateFault::Usage
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::Name
        }
        _ => CertificateFault::Damaged,
    }
}
