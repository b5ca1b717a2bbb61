//! The secret of one rendezvous. Ranks that have it from the launcher or from a file prove it to each other without sending it.

use std::io;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A random number that each end draws for one greeting.
pub const NONCE_DIGITS: usize = 32;

/// A secret, as hexadecimal digits. An empty one is none: both ends then prove nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The end that proves, so that the proof of one end is none of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prover {
    /// Rank 0.
    First,
    /// Another rank.
    Other(u64),
}

impl Secret {
    /// A new one.
    ///
    /// # Errors
    ///
    /// The kernel has no random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Secret(digits()?))
    }

    /// The secret with these digits.
    pub fn of_digits(digits: &str) -> Self {
        Secret(digits.to_owned())
    }

    /// Its digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// What only somebody with the secret can compute; empty without a secret.
    pub fn proof(&self, prover: Prover, job: &str, nonces: [&str; 2]) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let code = self.code(prover, job, nonces).finalize().into_bytes();
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the other end has the secret too. Takes the same time however much of the proof is right.
    pub fn is_proved(&self, prover: Prover, job: &str, nonces: [&str; 2], proof: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let byte = |at: usize| proof.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..64).step_by(2).map(byte).collect();
        bytes.is_some_and(|bytes| self.code(prover, job, nonces).verify_slice(&bytes).is_ok())
    }

    fn code(&self, prover: Prover, job: &str, nonces: [&str; 2]) -> Hmac<Sha256> {
        // A key of any length is taken; the error is of other codes.
        let mut code = Hmac::<Sha256>::new_from_slice(self.0.as_bytes())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        let prover = match prover {
            Prover::First => "rank 0".to_owned(),
            Prover::Other(rank) => format!("rank {rank}"),
        };
        // With the length in front, no two lists of parts give the same bytes.
        for part in [prover.as_str(), job, nonces[0], nonces[1]] {
            code.update(&(part.len() as u64).to_le_bytes());
            code.update(part.as_bytes());
        }
        code
    }
}

/// 128 random bits as hexadecimal digits.
///
/// # Errors
///
/// The kernel has no random numbers.
pub fn digits() -> io::Result<String> {
    let mut bytes = [0; NONCE_DIGITS / 2];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_one_secret_one_end_one_job_and_one_greeting() {
        let secret = Secret::of_digits("00ff");
        let proof = secret.proof(Prover::Other(2), "7.0", ["a", "b"]);
        assert_eq!(proof.len(), 64);
        assert!(secret.is_proved(Prover::Other(2), "7.0", ["a", "b"], &proof));
        assert!(!secret.is_proved(Prover::First, "7.0", ["a", "b"], &proof));
        assert!(!secret.is_proved(Prover::Other(3), "7.0", ["a", "b"], &proof));
        assert!(!secret.is_proved(Prover::Other(2), "7.1", ["a", "b"], &proof));
        assert!(!secret.is_proved(Prover::Other(2), "7.0", ["ab", ""], &proof));
        assert!(!Secret::of_digits("00fe").is_proved(Prover::Other(2), "7.0", ["a", "b"], &proof));
        for proof in ["", "zz", &proof[1..], "é".repeat(40).as_str()] {
            assert!(!secret.is_proved(Prover::Other(2), "7.0", ["a", "b"], proof), "{proof}");
        }
    }

    #[test]
    fn without_a_secret_nothing_is_proved() {
        let none = Secret::default();
        assert_eq!(none.proof(Prover::First, "", ["a", "b"]), "");
        assert!(none.is_proved(Prover::First, "", ["a", "b"], "anything"));
    }

    #[test]
    fn secrets_differ_and_are_not_shown() {
        let one = Secret::random().unwrap();
        assert_ne!(one, Secret::random().unwrap());
        assert_eq!((one.digits().len(), format!("{one:?}").as_str()), (NONCE_DIGITS, "Secret(…)"));
    }
}
