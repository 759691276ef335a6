//! Redirects a request that only the leader answers to the URL that the leader publishes.
//!
//! Decided here: which texts count as URLs, and how a redirect in a circle is noticed. Not here: which requests are
//! redirected.

use std::fmt::Write;

use actix_web::http::{Uri, header::HeaderValue};

use crate::protocol::{About, AgentId};

/// The destination of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// The request continues at this URL.
    To(HeaderValue),
    /// The request has come back to this agent, or has passed too many nodes. The cause: nodes consider each other the
    /// leader, or several nodes publish the same URL.
    CameBack,
    /// The leader publishes no URL.
    Nowhere,
}

/// Returns where a request to the agent `me` is redirected; `about` is the text that its leader publishes. The path and
/// the query of the request are kept, and the name of `me` is added to the query.
pub(super) fn onward(about: Option<&About>, request: &Uri, me: &AgentId) -> Onward {
    let Some(base) = about.and_then(base) else {
        return Onward::Nowhere;
    };
    let (query, mark) = (request.query().unwrap_or_default(), mark(me));
    let marks = query.split('&').filter(|part| part.starts_with(MARK));
    if marks.clone().any(|part| part == mark) || marks.count() >= MOST {
        return Onward::CameBack;
    }
    let parts = if query.is_empty() {
        mark
    } else {
        format!("{query}&{mark}")
    };
    let url = format!("{base}{}?{parts}", request.path());
    HeaderValue::try_from(url).map_or(Onward::Nowhere, Onward::To)
}

/// Returns the URL in a published text, without a slash at its end. `None` if the text is not a URL of http or https,
/// or the URL has a user, a query or a fragment.
fn base(about: &About) -> Option<String> {
    let text = about.as_str();
    // A backslash is not allowed, because a browser reads it as a slash.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'\\');
    if !text.bytes().all(is_plain) {
        return None;
    }
    let url: Uri = text.parse().ok()?;
    let (scheme, authority) = (url.scheme_str()?, url.authority()?);
    let has_port = authority.as_str() != authority.host();
    let is_host = !authority.host().is_empty()
        && !authority.as_str().contains('@')
        && (!has_port || authority.port_u16().is_some());
    let is_web = matches!(scheme, "http" | "https");
    let path = url.path().trim_end_matches('/');
    (is_host && is_web).then(|| format!("{scheme}://{authority}{path}"))
}

/// Returns the part of a query with the name of an agent that redirected the request.
fn mark(agent: &AgentId) -> String {
    let mut mark = String::from(MARK);
    for byte in agent.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            mark.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            write!(mark, "%{byte:02X}").ok();
        }
    }
    mark
}

const MARK: &str = "bully-via=";

/// Number of redirects after which a request is refused. Chosen: in a group of any size, a leader that was not found
/// after four redirects is not found by more redirects.
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn to(about: &str, request: &str, me: &str) -> Result<String, Onward> {
        let about = About::new(about).unwrap();
        let (request, me) = (request.parse().unwrap(), me.parse().unwrap());
        match onward(Some(&about), &request, &me) {
            Onward::To(url) => Ok(url.to_str().unwrap().to_owned()),
            other @ (Onward::CameBack | Onward::Nowhere) => Err(other),
        }
    }

    #[test]
    fn path_and_query_are_kept_below_the_url_of_the_leader() {
        for (about, request, expected) in [
            (
                "http://10.0.0.3:8080",
                "/leader",
                "http://10.0.0.3:8080/leader?bully-via=a",
            ),
            (
                "https://b.example/",
                "/x/y?q=1&r=%20",
                "https://b.example/x/y?q=1&r=%20&bully-via=a",
            ),
            (
                "http://[::1]:80/api/",
                "/",
                "http://[::1]:80/api/?bully-via=a",
            ),
            (
                "http://b",
                "//evil.example/",
                "http://b//evil.example/?bully-via=a",
            ),
            ("http://b", "/?", "http://b/?bully-via=a"),
        ] {
            assert_eq!(to(about, request, "a").unwrap(), expected);
        }
        // A name has characters that are special in a query.
        let named = to("http://b", "/", "a&b=\u{fc}%").unwrap();
        assert_eq!(named, "http://b/?bully-via=a%26b%3D%C3%BC%25");
    }

    #[test]
    fn an_address_that_is_not_a_url_of_a_server_gives_no_redirect() {
        for about in [
            "rack 7",
            "10.0.0.3:8080",
            "//b",
            "/b",
            "ftp://b",
            "javascript:alert(1)",
            "http://",
            "http:///x",
            "http://user@b",
            "http://user:word@b/",
            "http://b\\@c",
            "http://b?q",
            "http://b#f",
            "http://b:99999",
            "http://b:x",
            "http://b c",
            "http://\u{fc}ber",
            "file:///etc/passwd",
        ] {
            assert_eq!(to(about, "/leader", "a"), Err(Onward::Nowhere), "{about}");
        }
        let request = "/".parse().unwrap();
        assert_eq!(
            onward(None, &request, &"a".parse().unwrap()),
            Onward::Nowhere
        );
    }

    #[test]
    fn a_request_that_comes_back_or_has_no_end_is_noticed() {
        let first = to("http://b", "/x?y=1", "a").unwrap();
        let request = first.strip_prefix("http://b").unwrap();
        let second = to("http://a", request, "b").unwrap();
        assert_eq!(second, "http://a/x?y=1&bully-via=a&bully-via=b");
        let request = second.strip_prefix("http://a").unwrap();
        assert_eq!(to("http://b", request, "a"), Err(Onward::CameBack));
        // Another agent may have become the leader meanwhile.
        assert!(to("http://d", request, "c").is_ok());
        // One agent's name is a prefix of another agent's name.
        assert!(to("http://b", "/?bully-via=ab", "a").is_ok());
        let many = "/?bully-via=b&bully-via=c&bully-via=d&bully-via=e";
        assert_eq!(to("http://b", many, "a"), Err(Onward::CameBack));
    }
}
