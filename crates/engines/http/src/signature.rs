//! AWS Signature Version 4 of requests to S3, in a header.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

/// Signs requests to one service with one key.
pub(crate) struct Signer {
    key_id: String,
    secret: String,
    region: String,
    service: &'static str,
    /// A day and its key, which is derived from the secret.
    day: (String, [u8; 32]),
}

/// The signed parts of a request.
pub(crate) struct SignedRequest<'a> {
    pub(crate) method: &'a str,
    /// Path of the object, encoded as in the request.
    pub(crate) path: &'a str,
    /// Headers with names in lower case, sorted.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// SHA-256 of the body in hexadecimal.
    pub(crate) body: &'a str,
}

impl Signer {
    pub(crate) fn new(key_id: &str, secret: &str, region: &str, service: &'static str) -> Self {
        let [key_id, secret, region] = [key_id, secret, region].map(str::to_owned);
        Signer { key_id, secret, region, service, day: Default::default() }
    }

    /// The value of the header `Authorization` for a request at `time` (`20130524T000000Z`), which is also in `headers`.
    pub(crate) fn authorization(&mut self, time: &str, request: &SignedRequest<'_>) -> String {
        let day = time.split('T').next().unwrap_or_default();
        if self.day.0 != day {
            self.day = (day.to_owned(), self.key_of(day));
        }
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let mut canonical = format!("{}\n{}\n\n", request.method, request.path);
        for (name, value) in request.headers {
            let _ = writeln!(canonical, "{name}:{}", value.trim());
        }
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let _ = write!(canonical, "\n{names}\n{}", request.body);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let signature = hex(&mac(&self.day.1, &text));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.key_id
        )
    }

    fn key_of(&self, day: &str) -> [u8; 32] {
        let key = mac(format!("AWS4{}", self.secret).as_bytes(), day);
        [&self.region, self.service, "aws4_request"].iter().fold(key, |key, text| mac(&key, text))
    }
}

fn mac(key: &[u8], text: &str) -> [u8; 32] {
    // Keys may have any length, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The current time in the form `20130524T000000Z`.
pub(crate) fn now() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: &str = "20130524T000000Z";
    const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");

    fn signer() -> Signer {
        Signer::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1", "s3")
    }

    /// Names of the signed headers, and the signature.
    fn signed(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (String, String) {
        let header = signer().authorization(DAY, &SignedRequest { method, path, headers, body });
        let (credential, rest) = header.split_once(",SignedHeaders=").unwrap();
        assert_eq!(
            credential,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"
        );
        let (names, signature) = rest.split_once(",Signature=").unwrap();
        (names.to_owned(), signature.to_owned())
    }

    #[test]
    fn a_read_has_the_signature_of_the_example_of_aws() {
        let body = sha256(b"");
        let headers =
            [HOST, ("range", "bytes=0-9"), ("x-amz-content-sha256", body.as_str()), ("x-amz-date", DAY)];
        let (names, signature) = signed("GET", "/test.txt", &headers, &body);
        assert_eq!(names, "host;range;x-amz-content-sha256;x-amz-date");
        assert_eq!(signature, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    }

    #[test]
    fn a_write_has_the_signature_of_the_example_of_aws() {
        let body = sha256(b"Welcome to Amazon S3.");
        assert_eq!(body, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            HOST,
            ("x-amz-content-sha256", body.as_str()),
            ("x-amz-date", DAY),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let (names, signature) = signed("PUT", "/test%24file.text", &headers, &body);
        assert_eq!(names, "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class");
        assert_eq!(signature, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    }

    #[test]
    fn the_key_of_a_day_is_that_of_the_example_of_aws() {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let signer = Signer::new("AKIDEXAMPLE", secret, "us-east-1", "iam");
        let want = "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9";
        assert_eq!(hex(&signer.key_of("20150830")), want);
    }

    #[test]
    fn a_new_day_has_a_new_key() {
        let mut signer = signer();
        let request = SignedRequest { method: "GET", path: "/a", headers: &[HOST], body: "" };
        let first = signer.authorization(DAY, &request);
        let second = signer.authorization("20130525T000000Z", &request);
        assert!(second.contains("/20130525/us-east-1/s3/") && first != second);
        assert_eq!(signer.authorization(DAY, &request), first);
    }

    #[test]
    fn the_time_has_the_form_of_signatures() {
        let now = now();
        assert!(now.len() == DAY.len() && now.as_bytes()[8] == b'T' && now.ends_with('Z'), "{now}");
        assert!(now.starts_with("20"), "{now}");
    }
}
