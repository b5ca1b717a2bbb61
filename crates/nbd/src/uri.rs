//! NBD URIs: `nbd://host:port/export`, `nbd+unix:///export?socket=/path` and `nbd+vsock://cid:port/export`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::NbdError;

/// The port registered for NBD.
pub const DEFAULT_PORT: u16 = 10809;
/// The context id of the host of a virtual machine.
const VSOCK_HOST: u32 = 2;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host name or address, and a port.
    Tcp(String, u16),
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// A context id and a port: between a virtual machine and its host.
    Vsock(u32, u32),
}

/// The address of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// The address of the server.
    pub address: Address,
    /// Name of the export; empty for the server's default.
    pub export: String,
}

impl FromStr for Uri {
    type Err = NbdError;

    fn from_str(text: &str) -> Result<Self, NbdError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(NbdError::Uri(
                "NBD URI does not have a scheme: valid NBD URIs should start with a scheme like nbd://, nbds:// \
                 or nbd+unix://: Invalid argument"
                    .to_owned(),
            ));
        };
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // Only TLS uses the user.
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let socket = socket_of(query)?;
        let address = match scheme {
            "nbd" | "nbd+vsock" if socket.is_some() => {
                return refused(format!("`socket=` is for nbd+unix:// only, not for {scheme}://"));
            }
            "nbd" => tcp(authority)?,
            "nbd+vsock" => vsock(authority)?,
            "nbd+unix" if !authority.is_empty() => {
                return refused(format!(
                    "nbd+unix:// has no host: write nbd+unix:///{path}?socket=/path/to/socket, with three slashes"
                ));
            }
            "nbd+unix" => match socket {
                Some(path) => Address::Unix(path),
                None => {
                    return refused("nbd+unix:// needs the path of the socket: add ?socket=/path/to/socket");
                }
            },
            "nbds" | "nbds+unix" | "nbds+vsock" => {
                return refused(format!(
                    "{scheme}:// is NBD with TLS, which is not available: use {} and a server without TLS, or a \
                     tunnel such as stunnel or ssh -L",
                    scheme.replacen("nbds", "nbd", 1) + "://"
                ));
            }
            _ => {
                return refused(format!(
                    "unknown scheme {scheme}://: NBD URIs begin with nbd://, nbd+unix:// or nbd+vsock://"
                ));
            }
        };
        let export = String::from_utf8(decoded(path)?);
        let export = export.map_err(|_| NbdError::Uri("the name of the export is not UTF-8".to_owned()))?;
        // The protocol limits all strings to this length.
        if export.len() > 4096 {
            return refused("the name of the export is longer than 4096 bytes");
        }
        Ok(Uri { address, export })
    }
}

fn refused<T>(message: impl Into<String>) -> Result<T, NbdError> {
    Err(NbdError::Uri(message.into()))
}

/// The value of `socket=`, the only parameter without TLS.
fn socket_of(query: &str) -> Result<Option<PathBuf>, NbdError> {
    let mut socket = None;
    for parameter in query.split(['&', ';']).filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("socket", path)) if !path.is_empty() => {
                socket = Some(PathBuf::from(OsString::from_vec(decoded(path)?)));
            }
            Some((name, _)) if name.starts_with("tls-") => {
                return refused(format!("`{name}` is for TLS, which is not available"));
            }
            _ => {
                return refused(format!("unknown parameter `{parameter}` of the URI: there is only socket="));
            }
        }
    }
    Ok(socket)
}

fn tcp(authority: &str) -> Result<Address, NbdError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((host, after)) = rest.split_once(']') else {
                return refused("an IPv6 address ends with `]`, such as nbd://[::1]:10809/");
            };
            (host, after.strip_prefix(':').unwrap_or(after))
        }
        None => match authority.matches(':').count() {
            0 => (authority, ""),
            1 => authority.split_once(':').unwrap_or((authority, "")),
            _ => return refused("write an IPv6 address in brackets, such as nbd://[::1]:10809/"),
        },
    };
    let host = if host.is_empty() { "localhost" } else { host };
    let Ok(host) = String::from_utf8(decoded(host)?) else { return refused("the host name is not UTF-8") };
    let port = match port {
        "" => DEFAULT_PORT,
        port => match port.parse() {
            Ok(port) if port > 0 => port,
            _ => return refused(format!("port `{port}` is no number from 1 to 65535")),
        },
    };
    Ok(Address::Tcp(host, port))
}

fn vsock(authority: &str) -> Result<Address, NbdError> {
    let (cid, port) = authority.split_once(':').unwrap_or((authority, ""));
    let number = |text: &str, default: u32| match text {
        "" => Ok(default),
        text => text.parse().map_err(|_| {
            NbdError::Uri(format!(
                "`{text}` is no number: write nbd+vsock://cid:port/, such as nbd+vsock://2:10809/"
            ))
        }),
    };
    Ok(Address::Vsock(number(cid, VSOCK_HOST)?, number(port, DEFAULT_PORT.into())?))
}

/// Decodes a part of the URI, in which `%2F` is a slash.
fn decoded(text: &str) -> Result<Vec<u8>, NbdError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return refused(format!("`%` without two hexadecimal digits in `{text}`: write it as %25")),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Address, String) {
        let uri: Uri = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        (uri.address, uri.export)
    }

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp(host.to_owned(), port)
    }

    #[test]
    fn hosts_have_names_or_addresses_and_a_default_port() {
        assert_eq!(parsed("nbd://example.com"), (tcp("example.com", 10809), String::new()));
        assert_eq!(parsed("nbd://example.com/"), (tcp("example.com", 10809), String::new()));
        assert_eq!(parsed("nbd://10.0.0.1:99/disk"), (tcp("10.0.0.1", 99), "disk".to_owned()));
        assert_eq!(parsed("nbd://[::1]"), (tcp("::1", 10809), String::new()));
        assert_eq!(parsed("nbd://[fe80::1%25eth0]:99/a/b"), (tcp("fe80::1%eth0", 99), "a/b".to_owned()));
        assert_eq!(parsed("nbd:///disk"), (tcp("localhost", 10809), "disk".to_owned()));
        assert_eq!(parsed("nbd://me@example.com:99"), (tcp("example.com", 99), String::new()));
    }

    #[test]
    fn sockets_of_the_file_system_are_a_parameter() {
        let unix = |path: &str| Address::Unix(PathBuf::from(path));
        assert_eq!(parsed("nbd+unix:///?socket=/tmp/s"), (unix("/tmp/s"), String::new()));
        assert_eq!(parsed("nbd+unix://?socket=s"), (unix("s"), String::new()));
        assert_eq!(
            parsed("nbd+unix:///my%20disk?socket=/tmp/a%3Fb"),
            (unix("/tmp/a?b"), "my disk".to_owned())
        );
    }

    #[test]
    fn a_leading_slash_of_an_export_is_kept() {
        assert_eq!(parsed("nbd://h//dev/sda").1, "/dev/sda");
    }

    #[test]
    fn virtual_machines_have_numbers() {
        assert_eq!(parsed("nbd+vsock:///"), (Address::Vsock(2, 10809), String::new()));
        assert_eq!(parsed("nbd+vsock://1:99/x"), (Address::Vsock(1, 99), "x".to_owned()));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, want) in [
            ("foo", "valid NBD URIs should start with a scheme like nbd://"),
            ("http://h/", "unknown scheme http://"),
            ("nbds://h/", "use nbd:// and a server without TLS"),
            ("nbds+unix:///?socket=s", "use nbd+unix:// and a server without TLS"),
            ("nbd://h?tls-certificates=/x", "`tls-certificates` is for TLS"),
            ("nbd+unix:///x", "add ?socket=/path/to/socket"),
            ("nbd+unix://h/x?socket=s", "with three slashes"),
            ("nbd://h?socket=s", "for nbd+unix:// only"),
            ("nbd://h?soket=s", "unknown parameter `soket=s`"),
            ("nbd://::1/", "write an IPv6 address in brackets"),
            ("nbd://[::1/", "ends with `]`"),
            ("nbd://h:0/", "no number from 1 to 65535"),
            ("nbd://h:http/", "no number from 1 to 65535"),
            ("nbd+vsock://x/", "`x` is no number"),
            ("nbd://h/100%", "write it as %25"),
            ("nbd://h/%ff", "not UTF-8"),
        ] {
            let error = text.parse::<Uri>().expect_err(text).to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }
}
