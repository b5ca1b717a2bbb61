//! How random offsets are chosen: generators and their seeds, distributions, and orders that visit each block once.

use crate::PerDirection;
use crate::choice::choices;

/// A skewed distribution: few of many things are chosen often (`zipf`, `zipf_exact`, `pareto`), or those around one place (`normal`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// The shape with its parameter.
    pub shape: SkewShape,
    /// Where the most popular thing lies, 0.0..=1.0 of the whole; `None` when it was not given.
    pub center: Option<f64>,
}

/// The shape of a [`Skew`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SkewShape {
    /// `zipf:theta` as fio approximates it, theta at least 0 and not 1.
    Zipf(f64),
    /// `zipf_exact:theta`, theta at least 0 (ferrio only).
    ZipfExact(f64),
    /// `pareto:h`, above 0 and below 1.
    Pareto(f64),
    /// `normal:deviation`, in percent of the whole, 0 to less than 100.
    Normal(f64),
}

/// A part of a file with its share of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessZone {
    /// Share of accesses in percent. All shares of a direction add up to 100.
    pub accesses: u32,
    /// Size: percent of the region with [`Distribution::Zoned`], bytes with [`Distribution::ZonedAbs`].
    pub size: u64,
}

/// `random_distribution`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// All offsets alike.
    #[default]
    Uniform,
    /// `zipf`, `zipf_exact`, `pareto`, `normal`.
    Skewed(Skew),
    /// `zoned`: sizes in percent of the region. A direction without zones is uniform.
    Zoned(PerDirection<Vec<AccessZone>>),
    /// `zoned_abs`: sizes in bytes. A direction without zones is uniform.
    ZonedAbs(PerDirection<Vec<AccessZone>>),
    /// `sequence`: these blocks over and over.
    Sequence {
        /// Numbers of blocks, 1 to 64 of them.
        blocks: Vec<u64>,
        /// `random_sequence_stride`: every round begins after the previous one.
        stride: bool,
    },
}

choices! {
    /// `random_distribution`, as a word.
    pub enum DistributionType default Random {
        Random: "random", "All offsets equally often";
        Zipf: "zipf", "Few offsets get most I/Os, by fio's approximation, which misses many offsets: zipf:theta";
        ZipfExact: "zipf_exact", "Few offsets get most I/Os, exactly by Zipf's law (ferrio only): zipf_exact:theta";
        Pareto: "pareto", "Few offsets get most I/Os: pareto:h";
        Normal: "normal", "Bell curve: normal:deviation";
        Zoned: "zoned", "Shares of I/Os per region, sizes in percent: zoned:share/size:...";
        ZonedAbs: "zoned_abs", "Shares of I/Os per region, sizes in bytes: zoned_abs:share/size:...";
        Sequence: "sequence", "A list of offsets, repeated: sequence:0,2,1";
    }
}

choices! {
    /// `random_generator`: what random offsets are drawn with, or the order that visits each block once.
    pub enum RandomGenerator default Tausworthe {
        Tausworthe: "tausworthe", "Long period, 32 bits";
        Lfsr: "lfsr", "Every block once without a map";
        Tausworthe64: "tausworthe64", "Long period, 64 bits";
        Permute: "permute", "Every block once without a map, of any number of blocks (ferrio only)";
    }
}

impl RandomGenerator {
    /// How the next block of a uniform choice is found.
    #[must_use]
    pub const fn order(self) -> RandomOrder {
        match self {
            RandomGenerator::Tausworthe | RandomGenerator::Tausworthe64 => RandomOrder::Drawn,
            RandomGenerator::Lfsr => RandomOrder::Lfsr,
            RandomGenerator::Permute => RandomOrder::Permute,
        }
    }

    /// The generator of all random numbers of the job.
    #[must_use]
    pub const fn generator(self) -> Generator {
        match self {
            RandomGenerator::Tausworthe64 => Generator::Tausworthe64,
            RandomGenerator::Tausworthe | RandomGenerator::Lfsr | RandomGenerator::Permute => {
                Generator::Tausworthe32
            }
        }
    }
}

/// Generators of random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// 32-bit combined Tausworthe (fio's default).
    #[default]
    Tausworthe32,
    /// 64-bit combined Tausworthe.
    Tausworthe64,
}

/// How the next block of a uniform choice is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandomOrder {
    /// `tausworthe`, `tausworthe64`: each is drawn.
    #[default]
    Drawn,
    /// `lfsr`: a shift register visits each block once.
    Lfsr,
    /// `permute`: a permutation of all blocks (ferrio only).
    Permute,
}

/// How random streams are seeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// `randrepeat=1` without `randseed`: seed 0x89, every stream restarts with each pass.
    #[default]
    Repeatable,
    /// `randseed=N`: fixed seed, streams continue over passes.
    Fixed(u64),
    /// `randrepeat=0`: seeds from the operating system.
    FromSystem,
}
