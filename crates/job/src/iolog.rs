//! `write_iolog`: where the I/O of a job is recorded.

use std::path::PathBuf;

/// `write_iolog` and `write_iolog_version` (ferrio's own option): the log that a job's I/O is recorded in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordTo {
    /// The log; all clones of a job append to the same one.
    pub path: PathBuf,
    /// Its format.
    pub version: IologVersion,
}

/// Version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IologVersion {
    /// Lines without times.
    Two,
    /// Lines that begin with microseconds since the log was opened.
    #[default]
    Three,
}

impl IologVersion {
    /// The first line of a log, without its line end.
    #[must_use]
    pub const fn header(self) -> &'static str {
        match self {
            IologVersion::Two => "fio version 2 iolog",
            IologVersion::Three => "fio version 3 iolog",
        }
    }
}
