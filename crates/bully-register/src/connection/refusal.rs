//! Finds a refusal of TLS in an error.
//!
//! Decided here: how an error shows that TLS has refused the connection (the server cannot prove its name, or refuses
//! our certificate), and that the server is not simply unreachable.

use std::{error::Error, io};

/// Returns whether TLS itself has refused the connection, for example because of a certificate or a version.
pub(crate) fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    let inner = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match inner {
        Some(inner) => is_refusal(inner),
        None => error.source().is_some_and(is_refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_found_inside_of_what_wraps_it() {
        let refused = || rustls::Error::General("no".into());
        let once = io::Error::other(refused());
        assert!(is_refusal(&io::Error::other(once)));
        assert!(is_refusal(&refused()));
        assert!(!is_refusal(&io::Error::other("away")));
    }
}
