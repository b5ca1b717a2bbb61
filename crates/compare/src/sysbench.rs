//! Documents of tests of sysbench as runs: a test is a job, whose events are compared, and the reads and writes of fileio.

use std::path::{Path, PathBuf};

use ferrio_machine::text_of_file;
use ferrio_report::model::{DirectionReport, FerrioReport, JobReport, LatencyReport, Pairs, RunReport};
use ferrio_sysbench::report::{DocumentRate, NamedDocument, SysbenchDocument, SysbenchSettings, merged};

use crate::error::SideError;
use crate::measured_run::MeasuredRun;

/// Reads a document.
///
/// # Errors
/// The file cannot be read, or is no document of sysbench.
pub fn read_document(path: &Path) -> Result<NamedDocument, SideError> {
    let path = path.to_owned();
    let text = match text_of_file(&path) {
        Ok(text) => text,
        Err(error) => return Err(SideError::Io { path, error }),
    };
    match SysbenchDocument::read(&text) {
        None => Err(SideError::NotSysbench { path }),
        Some(Ok(document)) => Ok(NamedDocument { name: path.display().to_string(), document }),
        Some(Err(error)) => Err(SideError::Sysbench { path, error }),
    }
}

/// The run of several machines that these documents are of, which are in the directory `path`.
pub(crate) fn aggregate(path: &Path, documents: &[PathBuf]) -> Result<MeasuredRun, SideError> {
    let documents: Vec<NamedDocument> =
        documents.iter().map(|path| read_document(path)).collect::<Result<_, _>>()?;
    Ok(run_of(path.to_owned(), &merged(&documents)?))
}

/// The run that a document is of.
pub(crate) fn run_of(path: PathBuf, document: &SysbenchDocument) -> MeasuredRun {
    let part = &document.report;
    let job = JobReport {
        jobname: document.test.clone(),
        job_options: Pairs(options(document)),
        read: part.read_rate().as_ref().map(direction),
        write: part.write_rate().as_ref().map(direction),
        ..JobReport::default()
    };
    let ferrio = FerrioReport { version: document.ferrio.clone(), ..FerrioReport::default() };
    let report = RunReport { jobs: vec![job], ferrio: Some(ferrio), ..RunReport::default() };
    MeasuredRun { path, report, logged: Vec::new(), events: Some(direction(&part.event_rate())) }
}

/// What the test was asked for.
fn options(document: &SysbenchDocument) -> Vec<(String, String)> {
    let SysbenchSettings { threads, events, time, rate, seed, options } = &document.settings;
    let limits = [
        ("threads", Some(threads.to_string())),
        ("events", events.map(|events| events.to_string())),
        ("time", time.map(|time| time.to_string())),
        ("rate", rate.map(|rate| rate.to_string())),
        ("rand-seed", seed.map(|seed| seed.to_string())),
        ("machines", (!document.merged.is_empty()).then(|| document.merged.len().to_string())),
    ];
    let limits = limits.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    limits.chain(options.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
}

fn direction(rate: &DocumentRate) -> DirectionReport {
    let latency = LatencyReport {
        mean: rate.mean_ns,
        samples: rate.count,
        percentile: Pairs(rate.percentiles.clone()),
        bins: Pairs(rate.samples.clone()),
        ..LatencyReport::default()
    };
    DirectionReport {
        total_ios: rate.count,
        iops: rate.per_second,
        io_bytes: rate.bytes,
        bw_bytes: rate.bytes_per_second as u64,
        clat_ns: latency,
        ..DirectionReport::default()
    }
}
