//! Who may ask. Programs of other users of this machine do not know the token. Pages of other sites that the browser
//! shows are stopped by `Host` (a name of their own that leads here) and `Origin`.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

/// The header that carries the token of a request that changes something.
const TOKEN: HeaderName = HeaderName::from_static("x-contend-token");

/// The token of a page, and the names under which the page may be asked for.
pub(crate) struct Guard {
    token: String,
    hosts: [String; 2],
}

impl Guard {
    /// A guard with a new token.
    pub(crate) fn new(port: u16) -> io::Result<Guard> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = random.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Guard { token, hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")] })
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    /// Why a request is refused.
    fn refusal(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let query = uri.query().unwrap_or_default();
        let text = |name: HeaderName| headers.get(name).map(|v| v.to_str().unwrap_or_default());
        let is_here = |host: &str| self.hosts.iter().any(|h| h == host);
        // RFC 9112 §3.2: one `Host`; a host in the address itself takes its place, so both must be ours.
        let hosts = headers.get_all(header::HOST).iter().count();
        if hosts != 1
            || !text(header::HOST).is_some_and(is_here)
            || uri.authority().is_some_and(|host| !is_here(host.as_str()))
        {
            return Some("this page has another address; open the one that contend has printed");
        }
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_here);
        if text(header::ORIGIN).is_some_and(|origin| !is_own(origin)) {
            return Some("another page has asked");
        }
        // Only requests without effect may have their token in the address, where a form of another page could put it.
        let in_address =
            query.split('&').find_map(|pair| pair.strip_prefix("token=")).filter(|_| method == Method::GET);
        let given = text(TOKEN).or(in_address).unwrap_or_default();
        (!self.is_token(given)).then_some("the token is missing or wrong; open the address that contend has printed")
    }

    /// Compares in equal time, whatever differs.
    fn is_token(&self, given: &str) -> bool {
        let differing = self.token.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        given.len() == self.token.len() && differing == 0
    }
}

/// Refuses what [`Guard`] refuses. No answer is kept by the browser or shown in another page.
pub(crate) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut answer = match guard.refusal(request.method(), request.uri(), request.headers()) {
        // A stranger's connection ends with its first request.
        Some(why) => (StatusCode::FORBIDDEN, [(header::CONNECTION, "close")], why).into_response(),
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_itself_is_answered() {
        let guard = Guard::new(8000).unwrap();
        let query = format!("token={}", guard.token);
        let asks = |method: Method, query: &str, headers: &[(HeaderName, &str)]| {
            let headers = headers.iter().map(|(n, v)| (n.clone(), HeaderValue::from_str(v).unwrap())).collect();
            guard.refusal(&method, &format!("/?{query}").parse().unwrap(), &headers).is_none()
        };
        let (host, token) = ((header::HOST, "127.0.0.1:8000"), (TOKEN, guard.token.as_str()));
        let origin = |text| (header::ORIGIN, text);
        assert!(asks(Method::GET, &query, std::slice::from_ref(&host)));
        assert!(asks(Method::GET, &query, &[(header::HOST, "localhost:8000")]));
        assert!(asks(Method::POST, "", &[host.clone(), token.clone(), origin("http://127.0.0.1:8000")]));
        // Two hosts, of which the server of a page and its proxy may take different ones.
        assert!(!asks(Method::GET, &query, &[host.clone(), (header::HOST, "evil.example:8000")]));
        assert!(!asks(Method::GET, &query, &[host.clone(), host.clone()]));
        let at = |text: &str| {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("127.0.0.1:8000"))]);
            guard.refusal(&Method::GET, &format!("{text}/?{query}").parse().unwrap(), &headers).is_none()
        };
        assert!(at("http://127.0.0.1:8000") && !at("http://evil.example:8000") && !at("http://evil.example"));
        // A wrong token, none, or one in the address of a request that changes something.
        assert!(
            !asks(Method::GET, "token=", std::slice::from_ref(&host))
                && !asks(Method::GET, "", std::slice::from_ref(&host))
        );
        assert!(!asks(Method::GET, &query[..query.len() - 1], std::slice::from_ref(&host)));
        assert!(!asks(Method::POST, &query, std::slice::from_ref(&host)));
        // Another site: by its name, or by its page.
        assert!(!asks(Method::GET, &query, &[(header::HOST, "evil.example:8000")]) && !asks(Method::GET, &query, &[]));
        for other in ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001"] {
            assert!(!asks(Method::POST, "", &[host.clone(), token.clone(), origin(other)]), "{other}");
        }
        assert_ne!(Guard::new(8000).unwrap().token, guard.token);
    }
}
