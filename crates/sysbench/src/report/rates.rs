//! What a document says of one kind of work, for those who compare documents: events, reads or writes.

use super::document::{LatencyFigures, SysbenchDocumentPart};

/// Work of one kind in a part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentRate {
    /// How much of it was done.
    pub count: u64,
    /// How much in a second.
    pub per_second: f64,
    /// Bytes; 0 for events.
    pub bytes: u64,
    /// Bytes per second; 0 for events.
    pub bytes_per_second: f64,
    /// The mean latency, ns.
    pub mean_ns: f64,
    /// Percentages with their latencies in ns, ascending.
    pub percentiles: Vec<(f64, u64)>,
    /// Number of samples by latency in ns, ascending; none in documents without histograms.
    pub samples: Vec<(u64, u64)>,
}

impl SysbenchDocumentPart {
    /// The events.
    #[must_use]
    pub fn event_rate(&self) -> DocumentRate {
        rate(self.events, self.events_per_second, (0, 0.0), Some(&self.latency_ms))
    }

    /// The reads of fileio; `None` without any.
    #[must_use]
    pub fn read_rate(&self) -> Option<DocumentRate> {
        let files = self.files.as_ref()?;
        let bytes = (files.read_bytes, files.read_mib_per_second * f64::from(1 << 20));
        let latency = files.read_latency_ms.as_ref();
        (files.reads > 0).then(|| rate(files.reads, files.reads_per_second, bytes, latency))
    }

    /// The writes of fileio; `None` without any.
    #[must_use]
    pub fn write_rate(&self) -> Option<DocumentRate> {
        let files = self.files.as_ref()?;
        let bytes = (files.written_bytes, files.written_mib_per_second * f64::from(1 << 20));
        let latency = files.write_latency_ms.as_ref();
        (files.writes > 0).then(|| rate(files.writes, files.writes_per_second, bytes, latency))
    }
}

fn rate(
    count: u64,
    per_second: f64,
    (bytes, bytes_per_second): (u64, f64),
    latency: Option<&LatencyFigures>,
) -> DocumentRate {
    let ns = |ms: f64| ms * 1e6;
    let of_percentiles = |latency: &LatencyFigures| {
        let all = latency.percentiles.iter();
        let mut all: Vec<(f64, u64)> =
            all.filter_map(|(percent, &ms)| Some((percent.parse().ok()?, ns(ms).round() as u64))).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        all
    };
    let of_samples = |latency: &LatencyFigures| {
        let samples = latency.histogram.as_ref()?.latency()?;
        Some(samples.hdr_bins())
    };
    DocumentRate {
        count,
        per_second,
        bytes,
        bytes_per_second,
        mean_ns: latency.map_or(0.0, |latency| ns(latency.avg)),
        percentiles: latency.map(of_percentiles).unwrap_or_default(),
        samples: latency.and_then(of_samples).unwrap_or_default(),
    }
}
