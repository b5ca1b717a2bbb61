//! The token: a secret that both ends of a conversation have, and prove to have without sending it.
//!
//! Each end sends a random nonce with its greeting. The coordinator proves first, so a stranger who connects to a server learns nothing
//! that a list of likely tokens could be tried on. A proof is an HMAC over the role, both versions and both nonces: it fits neither another
//! conversation nor the other end of the same. What follows the proofs is not protected: that is the business of ssh or TLS.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;
use thiserror::Error;

use crate::ProtocolVersion;

/// Length of a token at least, in bytes: 128 bits, if they are random.
pub const MIN_TOKEN: usize = 16;

/// Length of a token at most, in bytes.
pub const MAX_TOKEN: usize = 4 << 10;

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// Too short to be a secret.
    #[error(
        "a token has at least {MIN_TOKEN} bytes, this one has {0}; `head -c 32 /dev/urandom | base64` makes one"
    )]
    Short(usize),
    /// Too long.
    #[error("a token has at most {MAX_TOKEN} bytes")]
    Long,
    /// Other users can read the file.
    #[error("others can read it, so it is no secret: chmod 600 {0}")]
    Readable(String),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A secret that both ends have, as the key of a code.
#[derive(Clone)]
pub struct Token(Hmac<Sha256>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// A token of these bytes, without the line ends behind them.
    ///
    /// # Errors
    ///
    /// It is too short or too long.
    pub fn new(bytes: &[u8]) -> Result<Token, TokenError> {
        let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
        match end {
            ..MIN_TOKEN => Err(TokenError::Short(end)),
            MIN_TOKEN..=MAX_TOKEN => {
                Hmac::new_from_slice(&bytes[..end]).map(Token).map_err(|_| TokenError::Long)
            }
            _ => Err(TokenError::Long),
        }
    }

    /// The token in a file that only its owner can read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, others can read it, or its content is no token.
    pub fn of_file(path: &Path) -> Result<Token, TokenError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        // A pipe (`--token-file=<(pass show ferrio)`) is its reader's.
        if metadata.is_file() && metadata.mode() & 0o077 != 0 {
            return Err(TokenError::Readable(path.display().to_string()));
        }
        let mut bytes = Vec::new();
        // One more than the longest with a line end, to tell it from a longer one.
        file.take(MAX_TOKEN as u64 + 3).read_to_end(&mut bytes)?;
        Token::new(&bytes)
    }
}

/// 32 bytes, as hexadecimal digits on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce(pub [u8; 32]);

/// What only somebody with the token can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof([u8; 32]);

fn to_digits<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}

fn from_digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    let digits = String::deserialize(deserializer)?;
    let value = |at: usize| {
        let pair = digits.as_bytes().get(2 * at..2 * at + 2)?;
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        u8::try_from(16 * high + low).ok()
    };
    let bytes: Option<Vec<u8>> = (0..32).map(value).collect();
    let bytes = bytes.filter(|_| digits.len() == 64).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| serde::de::Error::custom("expected 64 hexadecimal digits"))
}

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        to_digits(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_digits(deserializer).map(Nonce)
    }
}

impl Serialize for Proof {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        to_digits(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Proof {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_digits(deserializer).map(Proof)
    }
}

/// What one end of one conversation asks the other: a random number that is used once, and the token.
#[derive(Clone, Debug)]
pub struct Challenge {
    token: Token,
    /// Random, for this conversation alone.
    pub nonce: Nonce,
}

/// Which end proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Coordinator = 1,
    Agent = 2,
}

/// What each end has said about itself before the proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Greetings {
    pub coordinator: (ProtocolVersion, Nonce),
    pub agent: (ProtocolVersion, Nonce),
}

impl Challenge {
    /// A challenge with a nonce that was drawn for this conversation.
    #[must_use]
    pub fn new(token: Token, nonce: Nonce) -> Self {
        Challenge { token, nonce }
    }

    /// A challenge with a nonce of the kernel's.
    ///
    /// # Errors
    ///
    /// The kernel has no random numbers.
    pub fn random(token: Token) -> io::Result<Self> {
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce)?;
        Ok(Challenge::new(token, Nonce(nonce)))
    }

    /// The proof of one end.
    pub(crate) fn proof(&self, role: Role, greetings: &Greetings) -> Proof {
        Proof(self.code(role, greetings).finalize().into_bytes().into())
    }

    /// Whether the other end has the token; takes the same time however much of the proof is right.
    pub(crate) fn is_proved(&self, role: Role, greetings: &Greetings, proof: &Proof) -> bool {
        self.code(role, greetings).verify_slice(&proof.0).is_ok()
    }

    fn code(&self, role: Role, greetings: &Greetings) -> Hmac<Sha256> {
        let mut code = self.token.0.clone();
        code.update(b"ferrio conversation\0");
        code.update(&[role as u8]);
        // All parts have fixed lengths, so no two conversations give the same bytes.
        for (version, nonce) in [&greetings.coordinator, &greetings.agent] {
            code.update(&version.major.to_le_bytes());
            code.update(&version.minor.to_le_bytes());
            code.update(&nonce.0);
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::PROTOCOL;

    fn challenge(token: &[u8], nonce: u8) -> Challenge {
        Challenge::new(Token::new(token).unwrap(), Nonce([nonce; 32]))
    }

    const GREETINGS: Greetings =
        Greetings { coordinator: (PROTOCOL, Nonce([1; 32])), agent: (PROTOCOL, Nonce([2; 32])) };

    #[test]
    fn a_proof_holds_for_one_token_one_role_and_one_conversation() {
        let ours = challenge(b"0123456789abcdef", 1);
        let proof = ours.proof(Role::Agent, &GREETINGS);
        assert!(challenge(b"0123456789abcdef\r\n", 2).is_proved(Role::Agent, &GREETINGS, &proof));
        assert!(!challenge(b"0123456789abcdeg", 2).is_proved(Role::Agent, &GREETINGS, &proof));
        assert!(!ours.is_proved(Role::Coordinator, &GREETINGS, &proof));
        let newer = (ProtocolVersion { minor: PROTOCOL.minor + 1, ..PROTOCOL }, Nonce([2; 32]));
        for other in [
            Greetings { agent: newer, ..GREETINGS },
            Greetings { coordinator: (PROTOCOL, Nonce([3; 32])), ..GREETINGS },
            Greetings { coordinator: GREETINGS.agent, agent: GREETINGS.coordinator },
        ] {
            assert!(!ours.is_proved(Role::Agent, &other, &proof), "{other:?}");
        }
    }

    /// The code is that of RFC 2104 over the bytes that the documentation names; computed with Python's `hmac`.
    #[test]
    fn the_proof_is_an_hmac() {
        let proof = challenge(b"0123456789abcdef", 1).proof(Role::Coordinator, &GREETINGS);
        let digits = serde_json::to_string(&proof).unwrap();
        assert_eq!(digits, "\"80bf591ba0840e61fcee7780e23594b2c135b8251abce7808a6369176b1d7e7e\"");
    }

    #[test]
    fn nonces_are_hexadecimal_digits_and_nothing_else() {
        let text = serde_json::to_string(&Nonce([0xa7; 32])).unwrap();
        assert_eq!(text, format!("\"{}\"", "a7".repeat(32)));
        assert_eq!(serde_json::from_str::<Nonce>(&text).unwrap(), Nonce([0xa7; 32]));
        for wrong in ["a7".repeat(31), "a7".repeat(33), "+7".repeat(32), "é".repeat(32)] {
            assert!(serde_json::from_str::<Nonce>(&format!("\"{wrong}\"")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn random_challenges_differ() {
        let token = Token::new(&[7; 16]).unwrap();
        let (one, other) = (Challenge::random(token.clone()).unwrap(), Challenge::random(token).unwrap());
        assert_ne!(one.nonce, other.nonce);
        assert_eq!(format!("{:?}", one.token), "Token(…)");
    }

    #[test]
    fn a_token_is_long_enough_and_in_a_file_of_its_own() {
        let said = |bytes: &[u8]| Token::new(bytes).unwrap_err().to_string();
        assert!(said(b"0123456789abcde\n").starts_with("a token has at least 16 bytes, this one has 15"));
        assert_eq!(said(&[b'a'; MAX_TOKEN + 1]), "a token has at most 4096 bytes");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = Token::of_file(&path).unwrap_err().to_string();
        assert_eq!(refused, format!("others can read it, so it is no secret: chmod 600 {}", path.display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let read = Challenge::new(Token::of_file(&path).unwrap(), Nonce([1; 32]));
        let expected = challenge(b"0123456789abcdef", 1).proof(Role::Agent, &GREETINGS);
        assert_eq!(read.proof(Role::Agent, &GREETINGS), expected);
        fs::write(&path, [b'a'; 2 * MAX_TOKEN]).unwrap();
        assert!(matches!(Token::of_file(&path), Err(TokenError::Long)));
    }
}
