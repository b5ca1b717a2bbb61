//! Values of options as Rust types.

use std::time::Duration;

use ferrio_job::{Choice as _, Distribution, FileService, MemoryKind, MemoryType, PerDirection, RwPostfix};

use crate::catalogue::{Opt, OptionRow, ValueKind};
use crate::value::{Amount, Argument, SteadyLimit, Value};

/// A type that the values of some options have.
pub trait OptionValue: Sized + Default {
    /// Whether the values of `row` have this type.
    fn fits(row: &OptionRow) -> bool;

    /// The value in this type; `None` for a value of another kind.
    fn from_value(value: &Value) -> Option<Self>;
}

/// On or off.
impl OptionValue for bool {
    fn fits(row: &OptionRow) -> bool {
        matches!(row.kind, ValueKind::Flag | ValueKind::Bool)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Switch(on) => Some(*on),
            _ => None,
        }
    }
}

/// Whole numbers as they are.
impl OptionValue for i64 {
    fn fits(row: &OptionRow) -> bool {
        row.kind == ValueKind::Int
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }
}

/// Sizes, and whole numbers that cannot be negative.
impl OptionValue for u64 {
    fn fits(row: &OptionRow) -> bool {
        matches!(row.kind, ValueKind::Int | ValueKind::Size)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(u64::try_from(*number).unwrap_or(0)),
            Value::Size(bytes) => Some(*bytes),
            _ => None,
        }
    }
}

/// Counts and sizes of 32 bits; what is larger becomes the largest one.
impl OptionValue for u32 {
    fn fits(row: &OptionRow) -> bool {
        u64::fits(row)
    }

    fn from_value(value: &Value) -> Option<Self> {
        u64::from_value(value).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Times.
impl OptionValue for Duration {
    fn fits(row: &OptionRow) -> bool {
        row.kind == ValueKind::Time
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Time(us) => Some(Duration::from_micros(*us)),
            _ => None,
        }
    }
}

/// Sizes that may depend on the file.
impl OptionValue for Amount {
    fn fits(row: &OptionRow) -> bool {
        row.kind == ValueKind::SizeZone
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Amount(amount) => Some(*amount),
            _ => None,
        }
    }
}

/// Text; empty for `write_bw_log` without a value and the like.
impl OptionValue for String {
    fn fits(row: &OptionRow) -> bool {
        matches!(row.kind, ValueKind::Str | ValueKind::OptStr)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// One decimal number.
impl OptionValue for f64 {
    fn fits(row: &OptionRow) -> bool {
        row.kind == ValueKind::Float
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Floats(numbers, _) => numbers.first().copied(),
            _ => None,
        }
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

impl OptionValue for Decimals {
    fn fits(row: &OptionRow) -> bool {
        row.kind == ValueKind::FloatList
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Floats(numbers, digits) => Some(Decimals { numbers: numbers.clone(), digits: *digits }),
            _ => None,
        }
    }
}

/// Numbers by direction, 0 where none is given.
impl OptionValue for PerDirection<u64> {
    fn fits(row: &OptionRow) -> bool {
        row.multi != crate::Multi::No && u64::fits(row)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Directions(numbers) => Some(PerDirection(numbers.map(|number| number.unwrap_or(0)))),
            _ => None,
        }
    }
}

/// Arguments of words: one type for each option that has some.
macro_rules! arguments {
    ($($opt:ident: $type:ty, $argument:ident;)+) => {$(
        impl OptionValue for $type {
            fn fits(row: &OptionRow) -> bool {
                row.opt == Opt::$opt
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Word(_, Argument::$argument(argument)) => Some(argument.clone()),
                    _ => None,
                }
            }
        }
    )+};
}

arguments! {
    Rw: RwPostfix, Postfix;
    RandomDistribution: Distribution, Distribution;
    Steadystate: SteadyLimit, Limit;
}

/// `sequential` takes no argument, but may have one.
impl OptionValue for FileService {
    fn fits(row: &OptionRow) -> bool {
        row.opt == Opt::FileServiceType
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(_, Argument::FileService(service)) => Some(*service),
            Value::Word(_, Argument::Unused(_)) => Some(FileService::Sequential),
            _ => None,
        }
    }
}

/// `mem` with the file it names.
impl OptionValue for MemoryKind {
    fn fits(row: &OptionRow) -> bool {
        row.opt == Opt::Mem
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Word(word, argument) = value else { return None };
        let file = match argument {
            Argument::Path(path) => Some(path.clone()),
            _ => None,
        };
        MemoryType::from_word(word).map(|kind| MemoryKind::new(kind, file))
    }
}
