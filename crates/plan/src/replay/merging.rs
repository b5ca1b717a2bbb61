//! `merge_blktrace_file`: the block traces of `read_iolog` become one, which is what the job replays.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ferrio_job::{Prefix, SetupError, reason};
use ferrio_jobfile::{Decimals, Job, Opt};
use ferrio_trace::{MergeInput, MergedTrace, TraceMerge};

use super::FUNC;
use super::source::{self, STDIN, Source};
use crate::as_written::{lacks, refuse};
use crate::findings::Findings;

/// Percent of a trace that keeps its times.
const AS_RECORDED: f64 = 100.0;

/// Opens a trace, once for each repetition.
type Open = Box<dyn FnMut() -> io::Result<Box<dyn BufRead>>>;

/// Tells the values that a list may have.
type IsValid = fn(f64) -> bool;

/// The merging that a job asks for.
pub(super) struct Merging {
    /// The traces: name, length in percent, repetitions.
    traces: Vec<(String, f64, u64)>,
    pub(super) to: PathBuf,
}

/// Refuses lists that do not fit the traces, and values that are none.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if lacks(job, Opt::MergeBlktraceFile) || lacks(job, Opt::ReadIolog) {
        return;
    }
    let logs = job.options.list(Opt::ReadIolog).len();
    let is_scale = |number: f64| number.is_finite() && number > 0.0;
    let is_count = |number: f64| number >= 1.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX);
    let lists: [(Opt, &str, IsValid, &str); 2] = [
        (Opt::MergeBlktraceScalars, "merge_blktrace_scalars", is_scale, "a percentage above 0"),
        (Opt::MergeBlktraceIters, "merge_blktrace_iters", is_count, "a whole number from 1"),
    ];
    for (opt, name, is_valid, wanted) in lists {
        let Some(numbers) = given(job, opt) else { continue };
        let mut refuse = |message: String, help: &str| {
            refuse(findings, job, &[opt], "merge-lists-differ", message, help);
        };
        if numbers.len() != logs {
            let message = format!("{name}({}) != nr_logs({logs})", numbers.len());
            refuse(message, "give one value for each trace of `read_iolog`, separated by colons");
        } else if let Some(wrong) = numbers.iter().find(|&&number| !is_valid(number)) {
            refuse(format!("{name} has the value {wrong}, but {wanted} is expected"), "correct the value");
        }
    }
}

fn given(job: &Job, opt: Opt) -> Option<Vec<f64>> {
    job.options.is_given(opt).then(|| job.options.value::<Decimals>(opt).numbers)
}

impl Merging {
    /// What the job asks for, if it merges traces.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let to = job.options.text(Opt::MergeBlktraceFile)?.into();
        let scales = given(job, Opt::MergeBlktraceScalars).unwrap_or_default();
        let counts = given(job, Opt::MergeBlktraceIters).unwrap_or_default();
        let trace = |(at, name): (usize, String)| {
            let scale = scales.get(at).copied().unwrap_or(AS_RECORDED);
            (name, scale, counts.get(at).copied().unwrap_or(1.0) as u64)
        };
        Some(Merging {
            traces: job.options.list(Opt::ReadIolog).into_iter().enumerate().map(trace).collect(),
            to,
        })
    }

    /// Writes the merged trace and opens it.
    pub(super) fn write(self) -> Result<Source, SetupError> {
        let shown = self.to.display().to_string();
        let failed = |doing: &str, error: io::Error| {
            let message = format!("{doing}: {shown}: {}", reason(&error));
            setup_error(error.raw_os_error().unwrap_or(libc::EINVAL), message)
        };
        if let Some((name, ..)) =
            self.traces.iter().find(|(name, ..)| are_one_file(Path::new(name), &self.to))
        {
            let message = format!(
                "merge_blktrace_file={shown} would overwrite the trace {name}, which is to be merged"
            );
            return Err(setup_error(libc::EINVAL, message));
        }
        let to = self.to.clone();
        let mut merged = self.open()?;
        let mut file = File::create(&to).map_err(|error| failed("could not open file", error))?;
        let copied = io::copy(&mut merged, &mut io::BufWriter::with_capacity(1 << 16, &mut file));
        if let Err(error) = copied {
            // Half a trace must not be taken for a whole one. A device or a pipe is not ours to remove.
            if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                let _ = fs::remove_file(&to);
            }
            return Err(match error.raw_os_error() {
                Some(_) => failed("could not write file", error),
                None => setup_error(libc::EINVAL, error.to_string()),
            });
        }
        File::open(&to).and_then(source::of_file).map_err(|error| failed("could not open file", error))
    }

    /// The merged trace, which is written nowhere.
    pub(super) fn stream(self) -> Result<Source, SetupError> {
        Ok(Source::Merged(Box::new(self.open()?)))
    }

    fn open(self) -> Result<MergedTrace<Open, Box<dyn BufRead>>, SetupError> {
        let input = |(name, percent, iterations): (String, f64, u64)| {
            let path = name.clone();
            let open: Open = Box::new(move || {
                let stream = source::open(&path)?.into_stream();
                Ok(Box::new(BufReader::with_capacity(1 << 16, stream)))
            });
            MergeInput {
                name: if name == STDIN { "standard input".to_owned() } else { name },
                open,
                percent,
                iterations,
            }
        };
        let merge = TraceMerge::new(self.traces.into_iter().map(input).collect());
        let unusable = |error: ferrio_trace::MergeError| setup_error(libc::EINVAL, error.to_string());
        Ok(merge.map_err(unusable)?.into())
    }
}

fn setup_error(errno: i32, message: String) -> SetupError {
    SetupError { prefix: Prefix::Program, ..SetupError::new(errno, FUNC, message) }
}

fn are_one_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
