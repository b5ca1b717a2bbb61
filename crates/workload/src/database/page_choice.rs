//! Chooses the next page of a session.

use ferrio_job::{Database, Skew, SkewShape};

use crate::random::Tausworthe64;
use crate::scramble::scramble;
use crate::skewed::SkewedChoice;

/// Random pages, uniform or skewed.
#[derive(Debug)]
pub(super) enum PageChoice {
    Uniform { random: Tausworthe64, pages: u64 },
    Skewed(Box<SkewedChoice>),
}

impl PageChoice {
    /// The choices of job number `thread` of a load with this seed.
    pub(super) fn new(database: &Database, seed: u64, thread: u32) -> Self {
        let pages = database.pages_per_file.saturating_mul(database.data_files.into()).max(1);
        let own_seed = scramble(seed.wrapping_add(u64::from(thread) + 1));
        match &database.skew {
            None => PageChoice::Uniform { random: Tausworthe64::new(own_seed), pages },
            Some(skew) => {
                PageChoice::Skewed(Box::new(SkewedChoice::new(&centered(skew, seed), pages, own_seed, true)))
            }
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        match self {
            PageChoice::Uniform { random, pages } => {
                ((u128::from(random.draw()) * u128::from(*pages)) >> 64) as u64
            }
            PageChoice::Skewed(skewed) => skewed.next(),
        }
    }
}

/// Gives the skew a center that all sessions share, so that the same pages are popular with all of them.
fn centered(skew: &Skew, seed: u64) -> Skew {
    let center = match skew.shape {
        SkewShape::Zipf(_) | SkewShape::ZipfExact(_) | SkewShape::Pareto(_) => {
            skew.center.or(Some((scramble(seed) >> 11) as f64 / (1_u64 << 53) as f64))
        }
        // In the middle, if no center is given.
        SkewShape::Normal(_) => skew.center,
    };
    Skew { center, ..*skew }
}
