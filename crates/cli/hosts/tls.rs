//! TLS of servers and clients: the options, and what stands for them in a build that has none.

use std::path::PathBuf;

use crate::arguments::{Item, values_of};
use crate::error::Error;
use crate::options::ProgramOption;

#[cfg(feature = "http")]
pub use ferrio_hosts::Tls;

/// TLS in a build without it: there is no value.
#[cfg(not(feature = "http"))]
#[derive(Clone, Debug)]
pub enum Tls {}

#[cfg(not(feature = "http"))]
mod absent {
    use std::io;
    use std::net::TcpStream;

    use ferrio_hosts::Ends;

    impl super::Tls {
        pub fn connected(&self, _: TcpStream, _: &str) -> io::Result<Ends> {
            match *self {}
        }

        pub fn accepted(&self, _: TcpStream) -> io::Result<Ends> {
            match *self {}
        }
    }
}

/// The options, in the order certificate, key, CA.
pub const OPTIONS: [ProgramOption; 3] = [ProgramOption::TlsCert, ProgramOption::TlsKey, ProgramOption::TlsCa];

/// The files of the command line; `None` without TLS.
///
/// # Errors
/// One of the options is missing.
pub fn files_of(items: &[Item]) -> Result<Option<[PathBuf; 3]>, Error> {
    let files = OPTIONS.map(|option| values_of(items, option).next_back().map(PathBuf::from));
    match files {
        [None, None, None] => Ok(None),
        [Some(cert), Some(key), Some(ca)] => Ok(Some([cert, key, ca])),
        _ => {
            let message = "TLS takes three files: --tls-cert, --tls-key and --tls-ca";
            Err(Error::refusal(
                "tls",
                message.to_owned(),
                Some("each end shows a certificate and checks the other's"),
            ))
        }
    }
}

/// Reads the files.
///
/// # Errors
/// They cannot be used, or this build has no TLS.
#[cfg(feature = "http")]
pub fn of_files([cert, key, ca]: [PathBuf; 3]) -> Result<Tls, Error> {
    Tls::new(&ferrio_hosts::TlsFiles { cert, key, ca })
        .map_err(|error| Error::refusal("tls", format!("TLS is not possible: {error}"), None))
}

/// Refuses.
///
/// # Errors
/// Always: this build has no TLS.
#[cfg(not(feature = "http"))]
pub fn of_files(_: [PathBuf; 3]) -> Result<Tls, Error> {
    let help =
        "build it with --features http, run over ssh with --hosts, or share a secret with --token-file";
    Err(Error::refusal("tls", "this ferrio is built without TLS".to_owned(), Some(help)))
}
