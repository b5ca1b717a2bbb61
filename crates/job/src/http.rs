//! The server of jobs with the engine http, and what the requests to it say.

use std::fmt;

use crate::choice::choices;

choices! {
    /// `https=`: whether the connection is encrypted.
    pub enum Https default Off {
        Off: "off", "Plain HTTP";
        On: "on", "TLS; the certificate of the server must be valid";
        Insecure: "insecure", "TLS with any certificate";
    }
}

choices! {
    /// `http_mode=`: what the server is.
    pub enum HttpMode default Webdav {
        Webdav: "webdav", "A WebDAV server, or any other with GET, PUT and DELETE";
        S3: "s3", "An S3 server; requests are signed (AWS Signature Version 4)";
        Swift: "swift", "OpenStack Swift; requests carry a token, and writes a checksum";
    }
}

choices! {
    /// `http_object_mode=`: how the blocks of a file are objects.
    pub enum HttpObjectMode default Block {
        Block: "block", "Each block is an object: FILE_OFFSET_LENGTH";
        Range: "range", "Each file is an object: reads ask for ranges, and a write replaces it";
    }
}

/// A text that nothing prints.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the request that needs it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Options of S3 servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct S3Options {
    /// `http_s3_region`
    pub region: String,
    /// `http_s3_keyid`: who signs.
    pub key_id: String,
    /// `http_s3_key`: signs.
    pub key: Secret,
    /// `http_s3_security_token` of temporary keys.
    pub token: Option<Secret>,
    /// `http_s3_storage_class`
    pub storage_class: String,
    /// `http_s3_sse_customer_key`: what the server encrypts with.
    pub customer_key: Option<Secret>,
    /// The customer key is written in base64.
    pub customer_key_is_encoded: bool,
    /// `http_s3_sse_customer_algorithm`
    pub customer_algorithm: String,
}

/// The options of the engine http.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOptions {
    /// `https`
    pub https: Https,
    /// `http_host`, with the port if there is one.
    pub host: String,
    /// The rest of `http_host` from its first `/`: what the paths of all objects begin with.
    pub prefix: String,
    /// `http_user`
    pub user: Option<String>,
    /// `http_pass`
    pub password: Secret,
    /// `http_mode`
    pub mode: HttpMode,
    /// `http_object_mode`
    pub object_mode: HttpObjectMode,
    /// For `http_mode=s3`.
    pub s3: S3Options,
    /// `http_swift_auth_token`
    pub swift_token: Option<Secret>,
    /// `http_verbose`: 1 prints the headers of all messages, 2 the beginning of their bodies too.
    pub verbose: u32,
    /// An object that is missing reads as zeros; it is an error otherwise.
    pub missing_is_zeroes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_not_printed() {
        let options = HttpOptions { password: Secret::from("hunter2"), ..HttpOptions::default() };
        assert_eq!(options.password.reveal(), "hunter2");
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
