//! Authentication headers: a signature, a token, or an answer to the server's challenge.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ferrio_job::{HttpMode, HttpOptions};
use http_auth::{PasswordClient, PasswordParams};
use md5::{Digest, Md5};

use crate::message::{HttpHeader, HttpRequest};
use crate::signature::{self, SignedRequest, Signer, hex};

/// Authenticates messages.
pub(crate) struct Credentials {
    kind: CredentialKind,
    /// Texts that must not be printed, even if the server sends them back.
    secrets: Vec<String>,
    user: Option<(String, String)>,
    /// Answers the server's challenge; `None` until there was one.
    answers: Option<PasswordClient>,
}

enum CredentialKind {
    Webdav,
    S3 { signer: Box<Signer>, fixed: Vec<HttpHeader>, encryption: Vec<HttpHeader> },
    Swift { token: Option<String> },
}

impl Credentials {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let s3 = &options.s3;
        let kind = match options.mode {
            HttpMode::Webdav => CredentialKind::Webdav,
            HttpMode::S3 => CredentialKind::S3 {
                signer: Box::new(Signer::new(&s3.key_id, s3.key.reveal(), &s3.region, "s3")),
                fixed: s3
                    .token
                    .iter()
                    .map(|token| HttpHeader::secret("x-amz-security-token", token.reveal()))
                    .chain([HttpHeader::plain("x-amz-storage-class", s3.storage_class.as_str())])
                    .collect(),
                encryption: encryption(options),
            },
            HttpMode::Swift => CredentialKind::Swift {
                token: options.swift_token.as_ref().map(|token| token.reveal().to_owned()),
            },
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

    /// The headers of a message to `host`.
    ///
    /// # Errors
    /// The server's challenge cannot be answered.
    pub(crate) fn headers(
        &mut self,
        message: &HttpRequest<'_>,
        host: &str,
    ) -> Result<Vec<HttpHeader>, String> {
        let mut headers = match &mut self.kind {
            CredentialKind::Webdav => Vec::new(),
            CredentialKind::Swift { token } => {
                let token = token.iter().map(|token| HttpHeader::secret("x-auth-token", token.as_str()));
                // The server compares the object with this digest.
                let checksum = (message.method == "PUT")
                    .then(|| HttpHeader::plain("etag", hex(&Md5::digest(message.body))));
                token.chain(checksum).collect()
            }
            CredentialKind::S3 { signer, fixed, encryption } => {
                let needs_key = message.method != "DELETE";
                let encryption = encryption.iter().filter(|_| needs_key);
                sign(signer, message, host, fixed.iter().chain(encryption).cloned())
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
            headers.push(HttpHeader::secret("authorization", answers.respond(&question)?));
        }
        Ok(headers)
    }

    /// Stores the server's challenges for later messages. False if none of them can be answered.
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

    /// True if messages carry an answer to a challenge.
    pub(crate) fn has_answer(&self) -> bool {
        self.answers.is_some()
    }

    /// The text with secrets masked.
    pub(crate) fn masked(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "***") } else { text }
        })
    }

    /// The options to check if the server refuses access.
    pub(crate) fn options(&self) -> &'static str {
        match self.kind {
            CredentialKind::Webdav => "`http_user` and `http_pass`",
            CredentialKind::S3 { .. } => "`http_s3_keyid`, `http_s3_key` and `http_s3_region`",
            CredentialKind::Swift { .. } => "`http_swift_auth_token`",
        }
    }
}

/// The headers of server-side encryption with a customer key.
fn encryption(options: &HttpOptions) -> Vec<HttpHeader> {
    let s3 = &options.s3;
    let Some(key) = &s3.customer_key else { return Vec::new() };
    let decoded = s3.customer_key_is_encoded.then(|| BASE64_STANDARD.decode(key.reveal()).ok()).flatten();
    let bytes = decoded.unwrap_or_else(|| key.reveal().as_bytes().to_vec());
    vec![
        HttpHeader::plain("x-amz-server-side-encryption-customer-algorithm", s3.customer_algorithm.as_str()),
        HttpHeader::secret("x-amz-server-side-encryption-customer-key", BASE64_STANDARD.encode(&bytes)),
        HttpHeader::plain(
            "x-amz-server-side-encryption-customer-key-md5",
            BASE64_STANDARD.encode(Md5::digest(&bytes)),
        ),
    ]
}

/// The headers of a signed message: `others`, and those of the signature.
fn sign(
    signer: &mut Signer,
    message: &HttpRequest<'_>,
    host: &str,
    others: impl Iterator<Item = HttpHeader>,
) -> Vec<HttpHeader> {
    let time = signature::now();
    let body = signature::sha256(message.body);
    let mut headers: Vec<HttpHeader> = others.collect();
    headers.push(HttpHeader::plain("x-amz-content-sha256", body.as_str()));
    headers.push(HttpHeader::plain("x-amz-date", time.as_str()));
    let signed = headers.iter().map(|header| (header.name, header.value.as_str()));
    let mut signed: Vec<(&str, &str)> = signed.chain([("host", host)]).collect();
    signed.sort_unstable();
    let request = SignedRequest { method: message.method, path: message.path, headers: &signed, body: &body };
    let authorization = signer.authorization(&time, &request);
    headers.push(HttpHeader::secret("authorization", authorization));
    headers
}
