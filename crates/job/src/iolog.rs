//! `write_iolog`: where the I/O of a job is recorded.

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
