//! The types of values, which the parsers of this module read from text.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ferrio_job::{AccessZone, Distribution, FileService, IoPriority, Pattern, RwPostfix, SkewShape};

/// Reads a file for a pattern.
pub(crate) type ReadPatternFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The value of an ignored option.
    Nothing,
    /// Flag or bool.
    Switch(bool),
    /// Whole number.
    Int(i64),
    /// Bytes.
    Size(u64),
    /// A number per direction (read, write, trim); `None` if the text leaves a direction alone. Times are in µs.
    Directions([Option<u64>; 3]),
    /// Bytes, percent or zones.
    Amount(Amount),
    /// A range of bytes per direction.
    Ranges([Option<(u64, u64)>; 3]),
    /// A range of bytes, or of µs.
    Range(u64, u64),
    /// Microseconds.
    Time(u64),
    /// Decimal numbers, and the largest number of digits after a decimal point.
    Floats(Vec<f64>, u8),
    /// A word of the choices in its main spelling, with its argument.
    Word(&'static str, Argument),
    /// The name of an engine, and the text after its colon.
    Engine(String, Option<String>),
    /// Several words of the choices, and the count after the colon.
    Words(Vec<&'static str>, Option<u32>),
    /// Text.
    Text(String),
    /// Texts of a colon list.
    List(Vec<String>),
    /// CPU or placement numbers, ascending, each once.
    Numbers(Vec<u32>),
    /// Bytes of a pattern.
    Pattern(Pattern),
    /// Block sizes with their shares, per direction.
    Splits([Option<Vec<SplitEntry>>; 3]),
    /// Error numbers per direction.
    Errors([Vec<i32>; 3]),
    /// NUMA nodes.
    Nodes(NodeList),
    /// Priorities of reads and of writes; `None` for a list of another form, which only the planner refuses: so does fio when it sets
    /// the job up.
    Priorities(Option<[Vec<PrioritySplit>; 2]>),
}

/// NUMA nodes as libnuma writes them: `0-1,3`, `all`, `!0`, `+0`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeList {
    /// The meaning of the numbers.
    pub meaning: NodeNumbers,
    /// First and last of each range; `None` for `all`.
    pub ranges: Option<Vec<(u32, u32)>>,
}

/// The meaning of the numbers of a [`NodeList`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NodeNumbers {
    /// The nodes of these numbers.
    #[default]
    Named,
    /// `!`: all nodes but these.
    Others,
    /// `+`: positions among the nodes that exist.
    Positions,
}

impl fmt::Display for NodeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.meaning {
            NodeNumbers::Named => "",
            NodeNumbers::Others => "!",
            NodeNumbers::Positions => "+",
        })?;
        let Some(ranges) = &self.ranges else { return f.write_str("all") };
        let range = |&(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        f.write_str(&joined(ranges.iter().map(range), ","))
    }
}

/// A size that may depend on the file or on the device's zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent, 0 to 100.
    Percent(u8),
    /// Whole zones.
    Zones(u64),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Bytes(0)
    }
}

/// One block size of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitEntry {
    /// Block size in bytes.
    pub bytes: u64,
    /// Share in percent; `None` for an equal part of the rest.
    pub percent: Option<u8>,
}

/// One block size of a `cmdprio_bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrioritySplit {
    /// Block size in bytes.
    pub bytes: u64,
    /// Share of the I/Os of that size, percent.
    pub percent: u8,
    /// The priority, if the entry has its own.
    pub priority: Option<IoPriority>,
}

/// The argument of a word, given or by default.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// None.
    None,
    /// `rw=randread:8`, `rw=write:-4k`.
    Postfix(RwPostfix),
    /// The distribution that a word of `random_distribution` selects.
    Distribution(Distribution),
    /// The order of files that a word of `file_service_type` selects.
    FileService(FileService),
    /// The count of `file_service_type=sequential:8`, which has no effect.
    Unused(u32),
    /// The limit of a steady state.
    Limit(SteadyLimit),
    /// `mem=mmap:/path`, `ioengine=external:/path`.
    Path(PathBuf),
    /// The nodes of a NUMA policy.
    Nodes(NodeList),
}

/// The limit below which a state counts as steady.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SteadyLimit {
    /// I/Os per second, bytes per second, ns, or percent of the mean.
    pub limit: f64,
    /// Whether it is a percentage.
    pub percent: bool,
}

/// The form after a word, with its colon.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::None
            | Argument::Postfix(RwPostfix::None)
            | Argument::Distribution(Distribution::Uniform)
            | Argument::FileService(FileService::Sequential) => Ok(()),
            Argument::Postfix(RwPostfix::Hole(bytes)) => write!(f, ":{bytes}"),
            Argument::Postfix(RwPostfix::Every(ios)) => write!(f, ":{ios}"),
            Argument::Distribution(Distribution::Skewed(skew))
            | Argument::FileService(FileService::Skewed(skew)) => {
                let (SkewShape::Zipf(parameter)
                | SkewShape::ZipfExact(parameter)
                | SkewShape::Pareto(parameter)
                | SkewShape::Normal(parameter)) = skew.shape;
                write!(f, ":{parameter}")?;
                skew.center.map_or(Ok(()), |center| write!(f, ":{center}"))
            }
            Argument::Distribution(Distribution::Zoned(zones) | Distribution::ZonedAbs(zones)) => {
                let list = |zones: &Vec<AccessZone>| {
                    joined(zones.iter().map(|zone| format!("{}/{}", zone.accesses, zone.size)), ":")
                };
                write!(f, ":{}", joined(zones.0.iter().map(list), ","))
            }
            Argument::Distribution(Distribution::Sequence { blocks, .. }) => {
                write!(f, ":{}", joined(blocks.iter().map(u64::to_string), ","))
            }
            Argument::FileService(FileService::RoundRobin { ios } | FileService::Random { ios })
            | Argument::Unused(ios) => write!(f, ":{ios}"),
            Argument::Limit(limit) => {
                write!(f, ":{}{}", limit.limit, if limit.percent { "%" } else { "" })
            }
            Argument::Path(path) => write!(f, ":{}", path.display()),
            Argument::Nodes(nodes) => write!(f, ":{nodes}"),
        }
    }
}

fn joined(texts: impl Iterator<Item = String>, separator: &str) -> String {
    texts.collect::<Vec<_>>().join(separator)
}
