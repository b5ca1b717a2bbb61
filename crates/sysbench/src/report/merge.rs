//! Documents of runs on several machines as one: what they did together in a second, and latencies that are those of all their events.
//!
//! Histograms are added bucket by bucket, so percentiles are those that one machine would report if it had done all events.

use std::collections::BTreeMap;

use ferrio_stats::Latency;
use thiserror::Error;

use super::document::{
    FileFigures, LatencyFigures, MemoryFigures, SqlFigures, SysbenchDocument, SysbenchDocumentPart,
};
use super::merged_document::MergedDocument;
use super::sums::sum_of;
use super::{FORMAT_VERSION, SysbenchSettings};

/// A document and the name of its file.
#[derive(Clone, Debug)]
pub struct NamedDocument {
    /// For people.
    pub name: String,
    /// What it says.
    pub document: SysbenchDocument,
}

/// Why documents cannot be merged.
#[derive(Debug, Error, PartialEq)]
pub enum MergeError {
    /// They are not of the same test.
    #[error("{first} is of the test {first_test}, and {other} of the test {other_test}")]
    OtherTest {
        /// A document.
        first: String,
        /// Its test.
        first_test: String,
        /// Another one.
        other: String,
        /// Its test.
        other_test: String,
    },
    /// A document has percentiles only, which cannot be added up.
    #[error("{0} has no histogram, because an older version of ferrio wrote it: run the test again")]
    NoHistogram(String),
    /// A document has a histogram that no latencies can have.
    #[error("{0} has a damaged histogram: run the test again")]
    Damaged(String),
    /// There is no document.
    #[error("there is no document")]
    None,
}

/// Merges the documents.
///
/// # Errors
/// They are of several tests, or one has no histogram.
pub fn merged(documents: &[NamedDocument]) -> Result<SysbenchDocument, MergeError> {
    let first = documents.first().ok_or(MergeError::None)?;
    if let Some(other) = documents.iter().find(|other| other.document.test != first.document.test) {
        return Err(MergeError::OtherTest {
            first: first.name.clone(),
            first_test: first.document.test.clone(),
            other: other.name.clone(),
            other_test: other.document.test.clone(),
        });
    }
    let settings: Vec<&SysbenchSettings> = documents.iter().map(|named| &named.document.settings).collect();
    Ok(SysbenchDocument {
        version: FORMAT_VERSION,
        ferrio: first.document.ferrio.clone(),
        test: first.document.test.clone(),
        settings: merged_settings(&settings),
        signal: documents.iter().find_map(|named| named.document.signal),
        unfinished: documents
            .iter()
            .filter_map(|named| named.document.unfinished)
            .reduce(usize::saturating_add),
        intervals: Vec::new(),
        checkpoints: Vec::new(),
        report: merged_part(documents)?,
        merged: documents.iter().flat_map(row).collect(),
    })
}

/// The row of a document, or those of the documents that it has together already.
fn row(named: &NamedDocument) -> Vec<MergedDocument> {
    let NamedDocument { name, document } = named;
    if !document.merged.is_empty() {
        return document.merged.clone();
    }
    vec![own_row(name, document)]
}

/// The row of a document as if it were of one run.
pub(super) fn own_row(name: &str, document: &SysbenchDocument) -> MergedDocument {
    let SysbenchDocumentPart { measured, events, events_per_second, latency_ms, .. } = &document.report;
    let percentile = |percent| latency_ms.percentiles.get(percent).copied().unwrap_or_default();
    MergedDocument {
        name: name.to_owned(),
        threads: document.settings.threads,
        measured: *measured,
        events: *events,
        events_per_second: *events_per_second,
        latency_avg_ms: latency_ms.avg,
        latency_p95_ms: percentile("95"),
        latency_p99_ms: percentile("99"),
        latency_max_ms: latency_ms.max,
    }
}

/// Threads, limits of events and rates add up; of the rest remains what all have in common.
fn merged_settings(all: &[&SysbenchSettings]) -> SysbenchSettings {
    let common = |value: fn(&SysbenchSettings) -> Option<i64>| {
        let first = value(all.first()?)?;
        all.iter().all(|settings| value(settings) == Some(first)).then_some(first)
    };
    let sum = |value: fn(&SysbenchSettings) -> Option<u64>| {
        all.iter()
            .map(|settings| value(settings))
            .try_fold(0_u64, |sum, value| Some(sum.saturating_add(value?)))
    };
    let to_u32 = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let mut options = all.first().map(|settings| settings.options.clone()).unwrap_or_default();
    options.retain(|name, value| all.iter().all(|settings| settings.options.get(name) == Some(value)));
    SysbenchSettings {
        threads: all.iter().fold(0, |sum, settings| sum.saturating_add(settings.threads)),
        events: sum(|settings| settings.events),
        time: common(|settings| i64::try_from(settings.time?).ok()).and_then(|time| u64::try_from(time).ok()),
        rate: sum(|settings| settings.rate.map(u64::from)).map(to_u32),
        seed: common(|settings| settings.seed.map(i64::from)).and_then(|seed| i32::try_from(seed).ok()),
        options,
    }
}

fn merged_part(documents: &[NamedDocument]) -> Result<SysbenchDocumentPart, MergeError> {
    let parts = || documents.iter().map(|named| &named.document.report);
    let longest = |value: fn(&SysbenchDocumentPart) -> f64| parts().map(value).fold(0.0, f64::max);
    let latencies: Vec<Option<&LatencyFigures>> = parts().map(|part| Some(&part.latency_ms)).collect();
    let files: Option<Vec<&FileFigures>> = parts().map(|part| part.files.as_ref()).collect();
    let memory: Option<Vec<&MemoryFigures>> = parts().map(|part| part.memory.as_ref()).collect();
    let sql: Option<Vec<&SqlFigures>> = parts().map(|part| part.sql.as_ref()).collect();
    Ok(SysbenchDocumentPart {
        total_time: longest(|part| part.total_time),
        measured: longest(|part| part.measured),
        events: parts().fold(0, |sum, part| sum.saturating_add(part.events)),
        events_per_second: parts().map(|part| part.events_per_second).sum(),
        files: files.map(|files| merged_files(documents, &files)).transpose()?,
        memory: memory.and_then(|all| sum_of(&all)),
        sql: sql.and_then(|all| sum_of(&all)),
        latency_ms: merged_latency(documents, &latencies)?.ok_or(MergeError::None)?,
        threads: parts().flat_map(|part| part.threads.iter().cloned()).collect(),
    })
}

/// Counts and rates add up; latencies are those of all calls.
fn merged_files(documents: &[NamedDocument], all: &[&FileFigures]) -> Result<FileFigures, MergeError> {
    let without = |files: &&FileFigures| FileFigures {
        read_latency_ms: None,
        write_latency_ms: None,
        fsync_latency_ms: None,
        ..(*files).clone()
    };
    let rates: Vec<FileFigures> = all.iter().map(without).collect();
    let latency = |value: fn(&FileFigures) -> Option<&LatencyFigures>| {
        merged_latency(documents, &all.iter().map(|files| value(files)).collect::<Vec<_>>())
    };
    Ok(FileFigures {
        read_latency_ms: latency(|files| files.read_latency_ms.as_ref())?,
        write_latency_ms: latency(|files| files.write_latency_ms.as_ref())?,
        fsync_latency_ms: latency(|files| files.fsync_latency_ms.as_ref())?,
        ..sum_of(&rates.iter().collect::<Vec<_>>()).ok_or(MergeError::None)?
    })
}

/// The latencies of all documents that have some, with the percentiles that these have in common.
fn merged_latency(
    documents: &[NamedDocument],
    figures: &[Option<&LatencyFigures>],
) -> Result<Option<LatencyFigures>, MergeError> {
    let mut all = Latency::new();
    let mut percentiles: Option<BTreeMap<&str, usize>> = None;
    let mut with_samples = 0;
    for (NamedDocument { name, .. }, figures) in documents.iter().zip(figures) {
        let Some(figures) = figures else { continue };
        percentiles.get_or_insert_default();
        let histogram = figures.histogram.as_ref().ok_or_else(|| MergeError::NoHistogram(name.clone()))?;
        let latency = histogram.latency().ok_or_else(|| MergeError::Damaged(name.clone()))?;
        all.merge(&latency);
        if latency.count() > 0 {
            with_samples += 1;
            for percent in figures.percentiles.keys() {
                *percentiles.get_or_insert_default().entry(percent).or_default() += 1;
            }
        }
    }
    let Some(percentiles) = percentiles else { return Ok(None) };
    let common = percentiles.into_iter().filter(|&(_, documents)| documents == with_samples);
    let wanted: Vec<f64> = common.filter_map(|(percent, _)| percent.parse().ok()).collect();
    Ok(Some(LatencyFigures::with_percentiles(&all, &wanted).with_histogram(&all)))
}

#[cfg(test)]
mod tests;
