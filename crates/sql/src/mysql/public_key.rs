//! `caching_sha2_password` without TLS: the password is encrypted with the server's public RSA key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mysql_common::crypto::rsa::{GetRandom, Pkcs1OaepPadding, PublicKey};
use num_bigint::BigUint;

/// What the padding (OAEP with SHA-1) takes of a block.
const PADDING: usize = 42;

/// Anything shorter is no key.
const MIN_KEY: u64 = 512;

/// Anything longer would only keep this machine busy.
const MAX_KEY: u64 = 16_384;

/// Encrypts a password and its terminator, which are combined with the server's random bytes first.
pub(super) fn encrypt_password(pem: &[u8], password: &str, nonce: &[u8]) -> Result<Vec<u8>, String> {
    if nonce.is_empty() {
        return Err("the server sends no random bytes to encrypt the password with".to_owned());
    }
    let (modulus, exponent) = parse(pem)
        .ok_or("the server's public key, which the password has to be encrypted with, is unreadable")?;
    let mut block: Vec<u8> =
        password.bytes().chain([0]).zip(nonce.iter().cycle()).map(|(byte, random)| byte ^ random).collect();
    let key = PublicKey::new(modulus, exponent);
    if block.len() + PADDING > key.num_octets() {
        return Err("the password is too long for the server's public key; use TLS".to_owned());
    }
    let encrypted = key.encrypt_block(&block, Pkcs1OaepPadding::new(GetRandom));
    block.fill(0);
    Ok(encrypted)
}

/// Modulus and exponent of `-----BEGIN PUBLIC KEY-----`.
fn parse(pem: &[u8]) -> Option<(BigUint, BigUint)> {
    let text = str::from_utf8(pem).ok()?;
    let text = text.split_once("-----BEGIN PUBLIC KEY-----")?.1.split_once("-----END")?.0;
    let der = STANDARD.decode(text.split_ascii_whitespace().collect::<String>()).ok()?;
    let (info, _) = element(&der, 0x30)?;
    let (_algorithm, rest) = element(info, 0x30)?;
    let (bits, _) = element(rest, 0x03)?;
    let (key, _) = element(bits.strip_prefix(&[0])?, 0x30)?;
    let (modulus, rest) = element(key, 0x02)?;
    let (exponent, _) = element(rest, 0x02)?;
    let (modulus, exponent) = (BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent));
    ((MIN_KEY..=MAX_KEY).contains(&modulus.bits()) && exponent.bits() <= 64 && modulus.bit(0))
        .then_some((modulus, exponent))
}

/// The content of a DER element, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = if length < 0x80 {
        (usize::from(length), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |value, byte| value << 8 | usize::from(*byte)), rest)
    };
    (found == tag).then(|| rest.split_at_checked(length)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of 512 bits, made by `openssl genrsa`.
    const PEM: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJeonwitLJOk3APRp228F71bZIdjURor\n\
QMF2jXiXF3JZ2hKicSBYcLYOODOv2FPcD2qjYis9fiJbseqdroVaeksCAwEAAQ==\n\
-----END PUBLIC KEY-----";

    #[test]
    fn what_is_no_key_is_refused() {
        for pem in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", &PEM[..100]] {
            assert!(encrypt_password(pem.as_bytes(), "secret", &[1; 20]).unwrap_err().contains("unreadable"));
        }
        let long = "x".repeat(64);
        assert!(encrypt_password(PEM.as_bytes(), &long, &[1; 20]).unwrap_err().contains("too long"));
    }
}
