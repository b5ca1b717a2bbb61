//! The headers that say who asks: a signature, a token, or an answer to the server's challenge.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ferrio_job::{HttpMode, HttpOptions};
use http_auth::{PasswordClient, PasswordParams};
use md5::{Digest, Md5};

use crate::signature::{self, Signed, Signer, hex};

/// A message as far as its headers depend on it.
pub(crate) struct Outline<'a> {
    pub(crate) method: &'static str,
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) body: &'a [u8],
}

/// A header of a message.
#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// The value is not to be printed.
    pub(crate) is_secret: bool,
}

impl Header {
    pub(crate) fn plain(name: &'static str, value: impl Into<String>) -> Self {
        Header { name, value: value.into(), is_secret: false }
    }

    fn secret(name: &'static str, value: impl Into<String>) -> Self {
        Header { name, value: value.into(), is_secret: true }
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, if self.is_secret { "***" } else { &self.value })
    }
}

/// Who asks.
pub(crate) struct Credentials {
    kind: Kind,
    /// What must not be printed, whoever sends it back.
    secrets: Vec<String>,
    user: Option<(String, String)>,
    /// Answers the challenge of the server, once there was one.
    answers: Option<PasswordClient>,
}

enum Kind {
    Webdav,
    S3 { signer: Box<Signer>, fixed: Vec<Header>, encryption: Vec<Header> },
    Swift { token: Option<String> },
}

impl Credentials {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let s3 = &options.s3;
        let kind = match options.mode {
            HttpMode::Webdav => Kind::Webdav,
            HttpMode::S3 => Kind::S3 {
                signer: Box::new(Signer::new(&s3.key_id, s3.key.reveal(), &s3.region, "s3")),
                fixed: s3
                    .token
                    .iter()
                    .map(|token| Header::secret("x-amz-security-token", token.reveal()))
                    .chain([Header::plain("x-amz-storage-class", s3.storage_class.as_str())])
                    .collect(),
                encryption: encryption(options),
            },
            HttpMode::Swift => {
                Kind::Swift { token: options.swift_token.as_ref().map(|token| token.reveal().to_owned()) }
            }
        };
        let password = options.password.reveal();
        let secrets = [
            Some(password),
            Some(s3.key.reveal()),
            s3.token.as_ref().map(|token| token.reveal()),
            s3.customer_key.as_ref().map(|key| key.reveal()),
            options.swift_token.as_ref().map(|token| token.reveal()),
        ];
        let is_s3 = options.mode == HttpMode::S3;
        Credentials {
            kind,
            secrets: secrets.into_iter().flatten().filter(|s| !s.is_empty()).map(str::to_owned).collect(),
            user: options.user.clone().filter(|_| !is_s3).map(|user| (user, password.to_owned())),
            answers: None,
        }
    }

    /// The headers of a message.
    ///
    /// # Errors
    /// The server's challenge cannot be answered.
    pub(crate) fn headers(&mut self, message: &Outline<'_>) -> Result<Vec<Header>, String> {
        let mut headers = match &mut self.kind {
            Kind::Webdav => Vec::new(),
            Kind::Swift { token } => {
                let token = token.iter().map(|token| Header::secret("x-auth-token", token.as_str()));
                // The server compares the object with it.
                let checksum =
                    (message.method == "PUT").then(|| Header::plain("etag", hex(&Md5::digest(message.body))));
                token.chain(checksum).collect()
            }
            Kind::S3 { signer, fixed, encryption } => {
                let needs_key = message.method != "DELETE";
                let encryption = encryption.iter().filter(|_| needs_key);
                sign(signer, message, fixed.iter().chain(encryption).cloned())
            }
        };
        if let (Some(answers), Some((username, password))) = (&mut self.answers, &self.user) {
            let question = PasswordParams {
                username,
                password,
                uri: message.path,
                method: message.method,
                body: Some(message.body),
            };
            headers.push(Header::secret("authorization", answers.respond(&question)?));
        }
        Ok(headers)
    }

    /// Keeps the server's challenges for the messages to come. False if there is no answer to them.
    pub(crate) fn challenged(&mut self, challenges: &[String]) -> bool {
        if self.user.is_none() {
            return false;
        }
        let mut builder = PasswordClient::builder();
        for challenge in challenges {
            builder = builder.challenges(challenge);
        }
        self.answers = builder.build().ok();
        self.answers.is_some()
    }

    /// True when the server knows who asks, if it was told the truth.
    pub(crate) fn has_answer(&self) -> bool {
        self.answers.is_some()
    }

    /// The text without what must not be printed.
    pub(crate) fn masked(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "***") } else { text }
        })
    }

    /// The options to look at when the server refuses.
    pub(crate) fn options(&self) -> &'static str {
        match self.kind {
            Kind::Webdav => "`http_user` and `http_pass`",
            Kind::S3 { .. } => "`http_s3_keyid`, `http_s3_key` and `http_s3_region`",
            Kind::Swift { .. } => "`http_swift_auth_token`",
        }
    }
}

/// The headers of server-side encryption with a key of the customer.
fn encryption(options: &HttpOptions) -> Vec<Header> {
    let s3 = &options.s3;
    let Some(key) = &s3.customer_key else { return Vec::new() };
    let decoded = s3.customer_key_is_encoded.then(|| BASE64_STANDARD.decode(key.reveal()).ok()).flatten();
    let bytes = decoded.unwrap_or_else(|| key.reveal().as_bytes().to_vec());
    vec![
        Header::plain("x-amz-server-side-encryption-customer-algorithm", s3.customer_algorithm.as_str()),
        Header::secret("x-amz-server-side-encryption-customer-key", BASE64_STANDARD.encode(&bytes)),
        Header::plain(
            "x-amz-server-side-encryption-customer-key-md5",
            BASE64_STANDARD.encode(Md5::digest(&bytes)),
        ),
    ]
}

/// The headers of a signed message: all of these, and those of the signature.
fn sign(signer: &mut Signer, message: &Outline<'_>, others: impl Iterator<Item = Header>) -> Vec<Header> {
    let time = signature::now();
    let body = signature::sha256(message.body);
    let mut headers: Vec<Header> = others.collect();
    headers.push(Header::plain("x-amz-content-sha256", body.as_str()));
    headers.push(Header::plain("x-amz-date", time.as_str()));
    let signed = headers.iter().map(|header| (header.name, header.value.as_str()));
    let mut signed: Vec<(&str, &str)> = signed.chain([("host", message.host)]).collect();
    signed.sort_unstable();
    let request = Signed { method: message.method, path: message.path, headers: &signed, body: &body };
    let authorization = signer.authorization(&time, &request);
    headers.push(Header::secret("authorization", authorization));
    headers
}
