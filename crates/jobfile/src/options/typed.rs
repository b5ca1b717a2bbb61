//! Values of options as Rust types.

use std::path::PathBuf;
use std::time::Duration;

use ferrio_job::{Distribution, FileService, Pattern, PerDirection, RwPostfix};

use crate::catalogue::{Opt, OptionRow, ValueKind};
use crate::value::{Amount, Argument, NodeList, PrioritySplit, SplitEntry, SteadyLimit, Value};

/// A type that the values of some options have.
pub trait OptionValue: Sized + Default {
    /// Whether the values of `row` have this type.
    fn fits(row: &OptionRow) -> bool;

    /// The value in this type; `None` for a value of another kind.
    fn from_value(value: &Value) -> Option<Self>;
}

/// Implements [`OptionValue`]. A line has the type, whether a row has values of it, and how to take it from a value.
macro_rules! typed {
    ($($(#[$doc:meta])* $type:ty: |$row:ident| $fits:expr; $($value:pat => $typed:expr),+;)+) => {$(
        $(#[$doc])*
        impl OptionValue for $type {
            fn fits($row: &OptionRow) -> bool {
                $fits
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    $($value => Some($typed),)+
                    _ => None,
                }
            }
        }
    )+};
}

typed! {
    /// On or off.
    bool: |row| matches!(row.kind, ValueKind::Flag | ValueKind::Bool);
        Value::Switch(on) => *on;
    /// Whole numbers as they are.
    i64: |row| row.kind == ValueKind::Int;
        Value::Int(number) => *number;
    /// Sizes, and whole numbers that cannot be negative.
    u64: |row| matches!(row.kind, ValueKind::Int | ValueKind::Size);
        Value::Int(number) => u64::try_from(*number).unwrap_or(0), Value::Size(bytes) => *bytes;
    /// Times.
    Duration: |row| row.kind == ValueKind::Time;
        Value::Time(us) => Duration::from_micros(*us);
    /// Sizes that may depend on the file.
    Amount: |row| row.kind == ValueKind::SizeZone;
        Value::Amount(amount) => *amount;
    /// Bounds in bytes (`filesize`) or µs (`startdelay`), low first; one value gives equal bounds.
    (u64, u64): |row| matches!(row.kind, ValueKind::SizeRange | ValueKind::TimeRange);
        Value::Range(low, high) => (*low, *high);
    /// Block sizes with shares per direction (read, write, trim).
    [Option<Vec<SplitEntry>>; 3]: |row| row.kind == ValueKind::Bssplit;
        Value::Splits(splits) => splits.clone();
    /// CPU numbers or placement ids, ascending.
    Vec<u32>: |row| matches!(row.kind, ValueKind::CpuList | ValueKind::IdList);
        Value::Numbers(numbers) => numbers.clone();
    /// Bytes with places for offsets.
    Pattern: |row| row.kind == ValueKind::Pattern;
        Value::Pattern(pattern) => pattern.clone();
    /// The file of `mem`.
    PathBuf: |row| row.opt == Opt::Mem;
        Value::Word(_, Argument::Path(path)) => path.clone();
    /// Text; empty for `write_bw_log` without a value and the like.
    String: |row| matches!(row.kind, ValueKind::Str | ValueKind::OptStr);
        Value::Text(text) => text.clone();
    /// One decimal number.
    f64: |row| row.kind == ValueKind::Float;
        Value::Floats(numbers, _) => *numbers.first()?;
    Decimals: |row| row.kind == ValueKind::FloatList;
        Value::Floats(numbers, digits) => Decimals { numbers: numbers.clone(), digits: *digits };
    /// The nodes of `numa_cpu_nodes` and of `numa_mem_policy`: all unless given.
    NodeList: |row| matches!(row.kind, ValueKind::NodeList | ValueKind::NumaPolicy);
        Value::Nodes(nodes) | Value::Word(_, Argument::Nodes(nodes)) => nodes.clone();
    /// Priorities of reads and of writes by block size.
    [Vec<PrioritySplit>; 2]: |row| row.kind == ValueKind::PrioBssplit;
        Value::Priorities(Some(lists)) => lists.clone();
    /// Numbers by direction, 0 where none is given.
    PerDirection<u64>: |row| row.multi != crate::Multi::No && u64::fits(row);
        Value::Directions(numbers) => PerDirection(numbers.map(|number| number.unwrap_or(0)));
    RwPostfix: |row| row.opt == Opt::Rw;
        Value::Word(_, Argument::Postfix(postfix)) => *postfix;
    Distribution: |row| row.opt == Opt::RandomDistribution;
        Value::Word(_, Argument::Distribution(distribution)) => distribution.clone();
    SteadyLimit: |row| row.opt == Opt::Steadystate;
        Value::Word(_, Argument::Limit(limit)) => *limit;
    /// `sequential` takes no argument, but may have one.
    FileService: |row| row.opt == Opt::FileServiceType;
        Value::Word(_, Argument::FileService(service)) => *service,
        Value::Word(_, Argument::Unused(_)) => FileService::Sequential;
}

/// Counts and sizes of 32 bits; larger numbers become the largest one.
impl OptionValue for u32 {
    fn fits(row: &OptionRow) -> bool {
        u64::fits(row)
    }

    fn from_value(value: &Value) -> Option<Self> {
        u64::from_value(value).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Decimal numbers in the order written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decimals {
    /// The numbers.
    pub numbers: Vec<f64>,
    /// The most digits written after a point.
    pub digits: u8,
}
