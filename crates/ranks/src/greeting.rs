//! The messages before the conversation: a rank says who it is, both ends prove the secret if there is one, and rank 0 says when all ranks
//! have come. Each message waits for the one before, so nothing of the conversation is read with them.

use serde::{Deserialize, Serialize};

use crate::secret::{Prover, Secret};

/// From a rank to rank 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromRank {
    /// The first message.
    Rank(Introduction),
    /// The answer to [`FromFirst::Challenge`].
    Proof {
        /// Empty without a secret.
        proof: String,
    },
}

/// From rank 0 to another rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromFirst {
    /// The answer to [`FromRank::Rank`].
    Challenge {
        /// Random, for this greeting.
        nonce: String,
        /// Empty without a secret.
        proof: String,
    },
    /// All ranks have come: the conversation begins.
    Complete,
    /// Rank 0 has given up: ranks have not come.
    Incomplete {
        /// Which.
        missing: String,
    },
    /// This rank is not wanted.
    Refused {
        /// For the user.
        reason: String,
        /// The rank belongs to another run, and may look for its own rank 0 elsewhere.
        is_stranger: bool,
    },
}

/// Who a rank is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// What tells the run from others; empty if the launcher does not say.
    pub job: String,
    /// Number from 1.
    pub rank: u64,
    /// Number of ranks, with rank 0.
    pub ranks: u64,
    /// The name of its host, for messages.
    pub host: String,
    /// Random, for this greeting.
    pub nonce: String,
}

/// The reasons for which rank 0 refuses an introduction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another run.
    #[error("it belongs to run `{theirs}`, this is run `{ours}`")]
    OtherJob {
        /// Rank 0's.
        ours: String,
        /// The rank's.
        theirs: String,
    },
    /// The ranks do not agree on their number.
    #[error("it is one of {theirs} ranks, rank 0 one of {ours}")]
    OtherSize {
        /// Rank 0's.
        ours: u64,
        /// The rank's.
        theirs: u64,
    },
    /// A number that no other rank has.
    #[error("{rank} is not a rank from 1 to {last}")]
    NoRank {
        /// Its number.
        rank: u64,
        /// The highest.
        last: u64,
    },
    /// Twice the same rank.
    #[error("rank {0} is here already")]
    Twice(u64),
    /// A wrong proof.
    #[error("it does not have the secret of this run")]
    NoProof,
    /// Something else than a greeting.
    #[error("it does not greet as a rank of ferrio does: {0}")]
    Foreign(String),
}

impl Refusal {
    /// Whether it comes from another run or another program.
    pub fn is_stranger(&self) -> bool {
        matches!(self, Refusal::OtherJob { .. } | Refusal::NoProof | Refusal::Foreign(_))
    }

    /// As a message to whom it concerns.
    pub fn message(&self) -> FromFirst {
        FromFirst::Refused { reason: self.to_string(), is_stranger: self.is_stranger() }
    }
}

/// What all ranks of one run agree on.
#[derive(Clone, Debug)]
pub struct RunIdentity {
    /// What tells the run from others; empty if the launcher does not say.
    pub job: String,
    /// Number of ranks.
    pub ranks: u64,
    /// The secret; empty if there is none.
    pub secret: Secret,
}

impl RunIdentity {
    /// Whether rank 0 of this run is interested in a rank.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn check(&self, rank: &Introduction) -> Result<(), Refusal> {
        if rank.job != self.job {
            let (ours, theirs) = (self.job.clone(), shortened(&rank.job));
            return Err(Refusal::OtherJob { ours, theirs });
        }
        if rank.ranks != self.ranks {
            return Err(Refusal::OtherSize { ours: self.ranks, theirs: rank.ranks });
        }
        if rank.rank == 0 || rank.rank >= self.ranks {
            return Err(Refusal::NoRank { rank: rank.rank, last: self.ranks.saturating_sub(1) });
        }
        Ok(())
    }

    /// Rank 0's answer to an introduction.
    pub fn challenge(&self, rank: &Introduction, nonce: &str) -> FromFirst {
        let proof = self.secret.proof(Prover::First, &self.job, [&rank.nonce, nonce]);
        FromFirst::Challenge { nonce: nonce.to_owned(), proof }
    }

    /// Whether rank 0 has proved that it is one of this run.
    pub fn is_first(&self, nonces: [&str; 2], proof: &str) -> bool {
        self.secret.is_proved(Prover::First, &self.job, nonces, proof)
    }

    /// A rank's answer to the challenge.
    pub fn proof(&self, rank: u64, nonces: [&str; 2]) -> FromRank {
        FromRank::Proof { proof: self.secret.proof(Prover::Other(rank), &self.job, nonces) }
    }

    /// Whether the rank has proved that it is one of this run.
    ///
    /// # Errors
    ///
    /// It has not.
    pub fn check_proof(&self, rank: u64, nonces: [&str; 2], proof: &str) -> Result<(), Refusal> {
        let is_proved = self.secret.is_proved(Prover::Other(rank), &self.job, nonces, proof);
        if is_proved { Ok(()) } else { Err(Refusal::NoProof) }
    }
}

/// Characters of a stranger's text that are repeated.
const SHOWN: usize = 60;

/// A stranger's text without control characters, for messages.
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).map(|c| if c.is_control() { '.' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(job: &str, secret: &str) -> RunIdentity {
        RunIdentity { job: job.to_owned(), ranks: 4, secret: Secret::of_digits(secret) }
    }

    fn rank(rank: u64) -> Introduction {
        Introduction { job: "7.0".to_owned(), rank, ranks: 4, host: "h".to_owned(), nonce: "n".to_owned() }
    }

    #[test]
    fn ranks_of_other_runs_and_wrong_numbers_are_refused_with_a_reason() {
        let said = |rank: Introduction| run("7.0", "").check(&rank).map_err(|refusal| refusal.to_string());
        assert_eq!(said(rank(3)), Ok(()));
        let other = Introduction { job: "8\u{1b}".to_owned(), ..rank(3) };
        assert_eq!(said(other), Err("it belongs to run `8.`, this is run `7.0`".to_owned()));
        let more = Introduction { ranks: 5, ..rank(4) };
        assert_eq!(said(more), Err("it is one of 5 ranks, rank 0 one of 4".to_owned()));
        assert_eq!(said(rank(4)), Err("4 is not a rank from 1 to 3".to_owned()));
        assert_eq!(said(rank(0)), Err("0 is not a rank from 1 to 3".to_owned()));
    }

    #[test]
    fn both_ends_prove_the_secret() {
        let (ours, theirs) = (run("7.0", "5ec7e7"), run("7.0", "0bad"));
        let FromFirst::Challenge { nonce, proof } = ours.challenge(&rank(2), "m") else { panic!() };
        assert!(ours.is_first(["n", &nonce], &proof) && !theirs.is_first(["n", &nonce], &proof));
        for (run, is_taken) in [(&ours, true), (&theirs, false)] {
            let FromRank::Proof { proof } = run.proof(2, ["n", "m"]) else { panic!() };
            assert_eq!(ours.check_proof(2, ["n", "m"], &proof).is_ok(), is_taken);
        }
    }

    #[test]
    fn only_strangers_may_look_elsewhere() {
        let twice = Refusal::Twice(2).message();
        let text = serde_json::to_string(&twice).unwrap();
        assert_eq!(text, r#"{"message":"refused","reason":"rank 2 is here already","is_stranger":false}"#);
        assert!(Refusal::NoProof.is_stranger());
    }
}
