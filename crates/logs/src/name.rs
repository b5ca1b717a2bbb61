//! Names of logs: `NAME_bw.1.log`, `NAME_clat_hist.12.log`, `NAME_lat.log`, `NAME_iops.1.log.fz`.

use std::path::Path;

use ferrio_job::LogKind;

/// The name of a log, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName {
    /// The value of the option without its directory: by default the name of the job.
    pub prefix: String,
    /// The kind of log.
    pub kind: LogKind,
    /// Number of the job in the run, from 1; `None` for a log of several jobs (`per_job_logs=0`).
    pub number: Option<u32>,
    /// The log has compressed records (`log_store_compressed`).
    pub compressed: bool,
}

impl LogName {
    /// Takes the name of the file apart. `None` if logs of jobs have no such names.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (name, compressed) = match name.strip_suffix(".log.fz") {
            Some(name) => (name, true),
            None => (name.strip_suffix(".log")?, false),
        };
        let (name, number) = match name.rsplit_once('.') {
            Some((rest, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                (rest, Some(digits.parse().ok().filter(|&number| number > 0)?))
            }
            _ => (name, None),
        };
        let split = |kind: &LogKind| name.strip_suffix(kind.word())?.strip_suffix('_');
        let (kind, prefix) = LogKind::ALL.iter().find_map(|kind| Some((*kind, split(kind)?)))?;
        Some(LogName { prefix: prefix.to_owned(), kind, number, compressed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<(String, LogKind, Option<u32>, bool)> {
        let name = LogName::of(Path::new(path))?;
        Some((name.prefix, name.kind, name.number, name.compressed))
    }

    #[test]
    fn names_are_taken_apart() {
        let is = |path: &str, prefix: &str, kind, number, compressed| {
            assert_eq!(of(path), Some((prefix.to_owned(), kind, number, compressed)), "{path}");
        };
        is("x_bw.1.log", "x", LogKind::Bandwidth, Some(1), false);
        is("/a/b.c/my_job_clat_hist.12.log", "my_job", LogKind::Histogram, Some(12), false);
        is("x_clat.3.log", "x", LogKind::CompletionLatency, Some(3), false);
        is("x_slat.3.log.fz", "x", LogKind::SubmissionLatency, Some(3), true);
        is("v1.2_lat.log", "v1.2", LogKind::Latency, None, false);
        is("agg-read_bw.log", "agg-read", LogKind::Bandwidth, None, false);
        is("_iops.1.log", "", LogKind::Iops, Some(1), false);
    }

    #[test]
    fn other_names_are_no_names_of_logs() {
        for path in [
            "x.log",
            "x_bw.log.gz",
            "bw.1.log",
            "x_bw.1.json",
            "x_bw.-1.log",
            "x_bw.99999999999.log",
            "",
            "x_hist.1.log",
            "x_bw.0.log",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
