//! An authority, and certificates of its own.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::scene::Scene;

/// Writes the certificate of a new authority as `ca.pem`, and those of these hosts with their keys.
pub(super) fn certify(s: &Scene, hosts: &[&str]) {
    let (mut params, key) = (CertificateParams::default(), KeyPair::generate().unwrap());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    s.write("ca.pem", &params.self_signed(&key).unwrap().pem());
    let authority = Issuer::new(params, key);
    for host in hosts {
        let params = CertificateParams::new([(*host).to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        s.write(&format!("{host}.pem"), &certificate.pem());
        s.write(&format!("{host}.key"), &key.serialize_pem());
    }
}
