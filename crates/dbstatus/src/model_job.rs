//! The job file of a model: options with the counters that they come from.

use std::fmt::Write as _;
use std::time::Duration;

/// Figures that the user gives in place of those of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GivenFigures {
    /// Sessions at work.
    pub sessions: Option<u32>,
    /// Bytes of the data.
    pub data_bytes: Option<u64>,
    /// CPU time of a transaction.
    pub transaction_cpu: Option<Duration>,
    /// Seconds that the job runs; 0 for the default.
    pub runtime: u32,
}

impl GivenFigures {
    /// The `runtime` of the job.
    pub(crate) fn seconds(&self) -> u32 {
        if self.runtime == 0 { 60 } else { self.runtime }
    }
}

/// A job of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelJob {
    /// Name of the section.
    section: &'static str,
    /// Comment lines at the top: the server, its version and its transactions.
    pub(crate) about: Vec<String>,
    options: Vec<ModelOption>,
    /// Differences between server and model.
    pub(crate) left_out: Vec<String>,
    /// Notes for the user: what the counters do not say, and what was assumed.
    pub remarks: Vec<String>,
}

/// An option of the job.
#[derive(Clone, Debug, PartialEq)]
struct ModelOption {
    option: &'static str,
    value: String,
    /// Where the value comes from.
    source: String,
    /// Whether the option is there for the user to switch on.
    is_comment: bool,
}

impl ModelJob {
    /// A job without options in a section of this name.
    pub(crate) fn of(section: &'static str) -> Self {
        ModelJob { section, ..ModelJob::default() }
    }

    /// Adds an option.
    pub(crate) fn set(&mut self, option: &'static str, value: impl ToString, source: impl Into<String>) {
        let (value, source) = (value.to_string(), source.into());
        self.options.push(ModelOption { option, value, source, is_comment: false });
    }

    /// Adds an option that has no effect until the user removes the semicolon.
    pub(crate) fn offer(&mut self, option: &'static str, value: impl ToString, source: impl Into<String>) {
        let (value, source) = (value.to_string(), source.into());
        self.options.push(ModelOption { option, value, source, is_comment: true });
    }

    /// The job file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.about {
            let _ = writeln!(text, "; {line}");
        }
        let _ = writeln!(text, "; The run overwrites its files: never name those of the database itself.");
        if !self.left_out.is_empty() {
            let _ = writeln!(text, ";\n; The model leaves out:");
        }
        for line in &self.left_out {
            let _ = writeln!(text, "; - {line}");
        }
        let _ = writeln!(text, "[{}]", self.section);
        for ModelOption { option, value, source, is_comment } in &self.options {
            let semicolon = if *is_comment { ";" } else { "" };
            let _ = writeln!(text, "; {source}\n{semicolon}{option}={value}");
        }
        text
    }

    /// The value of an option of the job.
    #[cfg(test)]
    pub(crate) fn value(&self, option: &str) -> Option<&str> {
        let found = self.options.iter().find(|known| known.option == option && !known.is_comment);
        found.map(|known| known.value.as_str())
    }
}

/// A mean number for an option of the model, with at most two digits after the point.
pub(crate) fn mean(number: f64) -> String {
    let digits = if number < 1.0 { 3 } else { 2 };
    let text = format!("{number:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A size with the largest unit that leaves a whole number.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    let fits = units.into_iter().find(|(power, _)| bytes > 0 && bytes.is_multiple_of(1 << power));
    fits.map_or_else(|| bytes.to_string(), |(power, unit)| format!("{}{unit}", bytes >> power))
}

/// A time in µs, as `transaction_cpu` takes it.
pub(crate) fn microseconds(time: Duration) -> String {
    format!("{}us", time.as_micros())
}
