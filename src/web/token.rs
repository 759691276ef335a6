//! The token that a command needs.
//!
//! Decided here: which texts are valid tokens; and a comparison takes the same time, whichever characters of two tokens
//! differ.

use std::fmt;

use subtle::ConstantTimeEq;

/// The secret text of callers that may command a node: 16 to 512 visible ASCII characters.
///
/// Read it from a file or from the environment, never from the command line, where every process of the host can read
/// it. White space at both ends is removed, so a file may end with a line feed. The `Debug` output does not show the
/// token.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Checks a token.
    ///
    /// # Errors
    /// [`TokenError`] if it is too short, too long, or has a character that a header cannot carry.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let token = text.trim();
        let len = token.len();
        if len < LEAST {
            return Err(TokenError::TooShort { len, least: LEAST });
        }
        if len > MOST {
            return Err(TokenError::TooLong { len, most: MOST });
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Forbidden);
        }
        Ok(Self(token.to_owned()))
    }

    /// Compares a token. The time of the comparison reveals only whether the lengths are equal.
    pub(crate) fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Returns the token in a header `Bearer TOKEN`. `Bearer` may be in upper or lower case (RFC 9110, section 11.1).
pub(crate) fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"Bearer ") && !token.is_empty()).then_some(token)
}

const LEAST: usize = 16;
const MOST: usize = 512;

/// The reason why a token was refused.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The token could be guessed.
    #[error(
        "a token of {len} bytes could be guessed: make one of {least} random characters or more"
    )]
    TooShort {
        /// Length of the token.
        len: usize,
        /// The smallest allowed length.
        least: usize,
    },
    /// The token is longer than the limit.
    #[error("a token of {len} bytes exceeds the limit of {most}: make a shorter one")]
    TooLong {
        /// Length of the token.
        len: usize,
        /// The limit.
        most: usize,
    },
    /// The token has a character that a header cannot carry.
    #[error(
        "the token has a character that is not visible ASCII: encode the token as hexadecimal digits or as base64"
    )]
    Forbidden,
}

debug_is_text!(TokenError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_from_its_header_only_as_it_has_to_be() {
        assert_eq!(bearer(b"Bearer secret"), Some(&b"secret"[..]));
        assert_eq!(bearer(b"bEARER   secret "), Some(&b"secret"[..]));
        for wrong in [
            &b""[..],
            b"Bearer",
            b"Bearer ",
            b"Bearer    ",
            b"Basic secret",
            b"secret",
        ] {
            assert_eq!(bearer(wrong), None);
        }
    }

    #[test]
    fn a_token_is_checked_and_not_shown() {
        let good = "0123456789abcdef";
        let token = Token::new(&format!("  {good}\n")).unwrap();
        assert!(token.is(good.as_bytes()));
        for other in [
            "0123456789abcdeg",
            "0123456789abcde",
            "",
            "0123456789abcdef0",
        ] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(..)");
        let refused = |text: &str| Token::new(text).unwrap_err();
        assert_eq!(refused(" \n"), TokenError::TooShort { len: 0, least: 16 });
        assert_eq!(
            refused("0123456789abcde"),
            TokenError::TooShort { len: 15, least: 16 }
        );
        assert_eq!(
            refused(&"x".repeat(513)),
            TokenError::TooLong {
                len: 513,
                most: 512
            }
        );
        assert_eq!(refused("0123456789 abcdef"), TokenError::Forbidden);
        assert_eq!(refused("0123456789äbcdef"), TokenError::Forbidden);
    }
}
