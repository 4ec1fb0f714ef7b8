//! Who may ask: whoever has the token; without one, whoever is on this machine.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Code};
use crate::state::Server;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// The word that requests must bring. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why a text is no token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Easy to guess.
    #[error("the token has {0} characters, and {SHORTEST} are the least")]
    Short(usize),
    /// It could not stand in a header.
    #[error("the token has characters other than visible ASCII")]
    Characters,
}

impl Token {
    /// The token in a text, blanks around it left aside.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if !text.chars().all(|character| character.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        if text.len() < SHORTEST {
            return Err(TokenError::Short(text.len()));
        }
        Ok(Token(text.to_owned()))
    }

    /// Whether it is this one, in a time that does not tell how much of it is right.
    fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let different = own.iter().zip(other).fold(0, |different, (a, b)| different | (a ^ b));
        own.len() == other.len() && std::hint::black_box(different) == 0
    }
}

/// Lets requests with the token pass, and all where there is none.
pub async fn check_token(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let Some(token) = &server.options.token else { return next.run(request).await };
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let word =
        given.and_then(|given| given.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match word {
        Some((_, word)) if token.is(word.trim()) => next.run(request).await,
        Some(_) => refuse("the token is another one"),
        None => refuse("this server requires a token"),
    }
}

fn refuse(message: &str) -> Response {
    ApiError::new(Code::Unauthorized, message, "send the header `Authorization: Bearer TOKEN`").into_response()
}

/// Without a token, a request must be meant for this machine: a page from elsewhere could have its name lead here.
pub async fn check_host(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if server.options.token.is_some() || host(request.headers(), request.uri()).is_none_or(is_local) {
        return next.run(request).await;
    }
    let hint = "send requests to `localhost`; behind a proxy, the server needs a token";
    ApiError::new(Code::WrongHost, "this request is meant for another host", hint).into_response()
}

/// A page of another site learns nothing, not even whether a path exists: browsers say where a request comes from. Only a person
/// who follows a link to the page itself may come from elsewhere.
pub async fn check_site(request: Request, next: Next) -> Response {
    if !is_foreign(request.headers(), request.uri()) {
        return next.run(request).await;
    }
    let hint = "open the server's own page, or ask from a program";
    ApiError::new(Code::OtherSite, "a page of another site asks", hint).into_response()
}

fn is_foreign(headers: &HeaderMap, uri: &Uri) -> bool {
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_foreign = said("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let opens_page = uri.path() == "/" && said("sec-fetch-dest") == Some("document");
    is_foreign && !opens_page
}

/// The host that a request names, without its port.
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let named = uri.authority().map(|authority| authority.as_str());
    let host = named.or_else(|| headers.get(header::HOST).map(|value| value.to_str().unwrap_or("?")))?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    }
}

fn is_local(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_visible_and_never_shown() {
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeg") && !token.is(""));
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert_eq!(Token::new("short"), Err(TokenError::Short(5)));
        assert_eq!(Token::new("0123456789 abcdef"), Err(TokenError::Characters));
    }

    #[test]
    fn pages_of_other_sites_may_open_the_page_and_nothing_else() {
        let foreign = |path: &'static str, site: &'static str, dest: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("sec-fetch-site", site.parse().unwrap());
            headers.insert("sec-fetch-dest", dest.parse().unwrap());
            is_foreign(&headers, &Uri::from_static(path))
        };
        for dest in ["object", "iframe", "image", "empty", "script", "document"] {
            assert!(foreign("/v1/nodes/p1", "cross-site", dest) && foreign("/healthz", "same-site", dest), "{dest}");
            assert!(!foreign("/v1/nodes/p1", "same-origin", dest) && !foreign("/v1/nodes/p1", "none", dest));
        }
        assert!(!foreign("/", "cross-site", "document") && foreign("/", "cross-site", "iframe"));
        assert!(!is_foreign(&HeaderMap::new(), &Uri::from_static("/v1/links")));
    }

    #[test]
    fn hosts_of_this_machine_are_known() {
        let check = |host_header: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host_header.parse().unwrap());
            host(&headers, &Uri::from_static("/")).is_none_or(is_local)
        };
        assert!(["localhost:8000", "127.0.0.1", "[::1]:80", "LOCALHOST"].into_iter().all(check));
        assert!(
            !["evil.example", "127.0.0.1.evil.example:80", "[2001:db8::1]", "localhost.evil", ""]
                .into_iter()
                .any(check)
        );
    }
}
