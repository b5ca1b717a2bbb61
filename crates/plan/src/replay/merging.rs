//! `merge_blktrace_file`: the block traces of `read_iolog` become one, which is what the job replays.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use ferrio_job::{Prefix, SetupError, counted, reason};
use ferrio_jobfile::{Decimals, Job, Opt};
use ferrio_machine::{FileIdentity, RetryInterrupted, close_file, create_file, is_same_file, open_to_read};
use ferrio_trace::{MergeInput, MergedTrace, STDIN, TraceMerge, source_name};

use super::FUNC;
use super::source::{self, Source};
use crate::as_written::{lacks, note, refuse};
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
    repeated_traces_can_be_read_again(job, findings);
}

fn repeated_traces_can_be_read_again(job: &Job, findings: &mut Findings) {
    let counts = given(job, Opt::MergeBlktraceIters).unwrap_or_default();
    let traces = job.options.list(Opt::ReadIolog);
    let wrong = traces.iter().zip(counts).find(|(name, count)| *count > 1.0 && is_read_once(name));
    if let Some((name, count)) = wrong {
        let name = source_name(name.as_ref());
        let message =
            format!("merge_blktrace_iters repeats {name} {count} times, but it can be read only once");
        let help = "save the trace in a file first";
        let opts = [Opt::MergeBlktraceIters, Opt::ReadIolog];
        refuse(findings, job, &opts, "merge-lists-differ", message, help);
    }
}

/// True for what ends when it has been read: standard input, pipes and connections.
fn is_read_once(name: &str) -> bool {
    let ends = |kind: fs::FileType| kind.is_fifo() || kind.is_socket() || kind.is_char_device();
    name == STDIN || fs::metadata(name).is_ok_and(|metadata| ends(metadata.file_type()))
}

fn given(job: &Job, opt: Opt) -> Option<Vec<f64>> {
    job.options.is_given(opt).then(|| job.options.value::<Decimals>(opt).numbers)
}

impl Merging {
    /// The merging that the job asks for, if it merges traces.
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

    /// Writes the merged trace.
    pub(super) fn write(self, job: &Job, findings: &mut Findings) -> Result<(), SetupError> {
        let to = self.to.clone();
        let shown = to.display();
        let is_output = |name: &str| match name {
            STDIN => {
                let input = FileIdentity::of_descriptor(io::stdin());
                input.is_some() && input == FileIdentity::of_path(&to)
            }
            path => is_same_file(Path::new(path), &to),
        };
        if let Some((name, ..)) = self.traces.iter().find(|(name, ..)| is_output(name)) {
            let name = source_name(name.as_ref());
            let message = format!(
                "merge_blktrace_file={shown} would overwrite the trace {name}, which is to be merged"
            );
            return Err(setup_error(libc::EINVAL, message));
        }
        let mut merged = self.open()?;
        let file = create_file(&to).map_err(|error| unusable("could not open file", &to, &error))?;
        let mut writer = BufWriter::with_capacity(1 << 16, RetryInterrupted(&file));
        let written = io::copy(&mut merged, &mut writer).and_then(|_| writer.flush());
        if let Err(error) = written {
            // What is not written yet belongs to no trace any more.
            let _ = writer.into_parts();
            remove(&file, &to);
            return Err(match error.raw_os_error() {
                Some(_) => unusable("could not write file", &to, &error),
                None => setup_error(libc::EINVAL, error.to_string()),
            });
        }
        drop(writer);
        close_file(file).map_err(|error| unusable("could not write file", &to, &error))?;
        for name in merged.truncated() {
            let message = format!("block trace {name} ends in the middle of a record, which is ignored");
            findings.note(note(job, &[Opt::ReadIolog], "block-trace", message));
        }
        for (name, backward) in merged.out_of_order() {
            let message = format!(
                "block trace {name}: {} with an earlier time than the one before, so {shown} is not sorted by time either: \
                 `blkparse -i NAME -d FILE` sorts a trace",
                counted(backward, "request")
            );
            findings.note(note(job, &[Opt::ReadIolog], "block-trace", message));
        }
        Ok(())
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
            MergeInput { name: source_name(name.as_ref()), open, percent, iterations }
        };
        let merge = TraceMerge::new(self.traces.into_iter().map(input).collect());
        let unusable = |error: ferrio_trace::MergeError| setup_error(libc::EINVAL, error.to_string());
        Ok(merge.map_err(unusable)?.into())
    }
}

/// Opens a merged trace that has been written.
pub(super) fn reopen(path: &Path) -> Result<Source, SetupError> {
    let failed = |error: io::Error| unusable("could not open file", path, &error);
    // To open a pipe would wait for somebody who writes to it.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        let message = format!(
            "merge_blktrace_file={} is not a regular file and cannot be replayed: add `--merge-blktrace-only`",
            path.display()
        );
        return Err(setup_error(libc::EINVAL, message));
    }
    open_to_read(path).and_then(source::of_file).map_err(failed)
}

/// Half a trace must not be taken for a whole one. A device or a pipe is not ours to remove, nor is a link.
fn remove(file: &File, path: &Path) {
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = fs::canonicalize(path).and_then(fs::remove_file);
    }
}

fn unusable(doing: &str, path: &Path, error: &io::Error) -> SetupError {
    let message = format!("{doing}: {}: {}", path.display(), reason(error));
    setup_error(error.raw_os_error().unwrap_or(libc::EINVAL), message)
}

fn setup_error(errno: i32, message: String) -> SetupError {
    SetupError::new(errno, FUNC, message).prefix(Prefix::Program)
}
