//! Addresses: the server, and the paths of objects.

use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) is_tls: bool,
    /// Name or address, with the port if it is not the protocol's default.
    pub(crate) host: String,
}

impl Server {
    pub(crate) fn new(is_tls: bool, host: &str) -> Self {
        let usual_port = if is_tls { ":443" } else { ":80" };
        Server { is_tls, host: host.strip_suffix(usual_port).unwrap_or(host).to_owned() }
    }

    /// The address of the object at this path.
    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.host)
    }

    /// Name or address without the port.
    pub(crate) fn name(&self) -> &str {
        match self.host.rsplit_once(':') {
            // The colons of an IPv6 address are in brackets.
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }

    /// True if secrets for `self` may be sent to `other`, to which `self` redirects.
    pub(crate) fn trusts(&self, other: &Server) -> bool {
        self.name().eq_ignore_ascii_case(other.name()) && (other.is_tls || !self.is_tls)
    }

    /// The target of a redirect from the object at `path`; `None` if `location` is not a valid address.
    pub(crate) fn redirect_target(&self, path: &str, location: &str) -> Option<(Server, String)> {
        let is_path_character = |byte: u8| byte.is_ascii_graphic();
        if !location.bytes().all(is_path_character) {
            return None;
        }
        let location = location.split('#').next().unwrap_or_default();
        let absolute = |is_tls, rest: &str| {
            let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
            (!host.is_empty() && !host.contains('@')).then(|| (Server::new(is_tls, host), path))
        };
        if let Some(rest) = location.strip_prefix("http://") {
            absolute(false, rest)
        } else if let Some(rest) = location.strip_prefix("https://") {
            absolute(true, rest)
        } else if let Some(rest) = location.strip_prefix("//") {
            absolute(self.is_tls, rest)
        } else if location.starts_with('/') {
            Some((self.clone(), location.to_owned()))
        } else if location.is_empty() || location.contains(':') {
            None
        } else {
            let directory = path.rfind('/').map_or("/", |at| &path[..=at]);
            Some((self.clone(), format!("{directory}{location}")))
        }
    }
}

/// The path of the object `prefix` + `name`. It begins with a slash; characters other than letters, digits and `_-~./` are percent-encoded.
pub(crate) fn path(prefix: &str, name: &[u8]) -> String {
    let slash = if name.starts_with(b"/") { "" } else { "/" };
    let mut path = String::with_capacity(prefix.len() + name.len() + 1);
    for &byte in prefix.as_bytes().iter().chain(slash.as_bytes()).chain(name) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'~' | b'.' | b'/' => {
                path.push(char::from(byte));
            }
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_a_slash_and_is_encoded() {
        assert_eq!(path("", b"bucket/a.0.0"), "/bucket/a.0.0");
        assert_eq!(path("/v1/x", b"/a b+\xc3\xa4%?"), "/v1/x/a%20b%2B%C3%A4%25%3F");
    }

    #[test]
    fn the_usual_port_is_left_out() {
        let url = |is_tls, host| Server::new(is_tls, host).url("/a");
        assert_eq!(url(false, "h:80"), "http://h/a");
        assert_eq!(url(true, "h:80"), "https://h:80/a");
        assert_eq!(url(true, "[::1]:443"), "https://[::1]/a");
        assert_eq!(Server::new(false, "[::1]:9000").name(), "[::1]");
        assert_eq!(Server::new(false, "[::1]").name(), "[::1]");
    }

    #[test]
    fn a_redirect_leads_to_an_address_or_a_path() {
        let server = Server::new(true, "h:9");
        let to = |location| server.redirect_target("/a/b", location).map(|(server, path)| server.url(&path));
        assert_eq!(to("http://other/c?d=e#f").as_deref(), Some("http://other/c?d=e"));
        assert_eq!(to("//other").as_deref(), Some("https://other/"));
        assert_eq!(to("/c").as_deref(), Some("https://h:9/c"));
        assert_eq!(to("c").as_deref(), Some("https://h:9/a/c"));
        for location in ["", "ftp://h/c", "https://", "https://user@h/", "/a b"] {
            assert_eq!(to(location), None, "{location}");
        }
    }

    #[test]
    fn secrets_go_to_the_same_host_and_never_from_tls_to_plain_text() {
        let [plain, tls] = [false, true].map(|is_tls| Server::new(is_tls, "h:9"));
        assert!(plain.trusts(&tls) && tls.trusts(&Server::new(true, "H")));
        assert!(!tls.trusts(&plain));
        assert!(!tls.trusts(&Server::new(true, "h2:9")));
    }
}
