//! A report from logs alone: names, I/Os, rates and latencies.

use ferrio_job::LogKind;
use ferrio_logs::LogContent;
use ferrio_stats::{Buckets, Latency, saturating_total};

use super::SeriesFromLogs;
use crate::build::{HistogramOptions, latency_report};
use crate::model::{DirectionReport, DirectionSeries, JobReport, LatencyReport, RunReport, Series};

/// The percentiles that fio lists unless a job says otherwise, in percent.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

pub(super) fn report(run: &SeriesFromLogs, logs: &[LogContent]) -> RunReport {
    let job = |series: &Series| {
        let of_job = logs.iter().filter(|log| match log.name.number {
            Some(number) => number == series.job_number,
            None => log.name.prefix == series.jobname,
        });
        let of_job: Vec<&LogContent> = of_job.collect();
        let direction = |number: usize, figures: &Option<DirectionSeries>| {
            figures.as_ref().map(|figures| direction(series, figures, number, &of_job))
        };
        JobReport {
            jobname: series.jobname.clone(),
            read: direction(0, &series.read),
            write: direction(1, &series.write),
            trim: direction(2, &series.trim),
            ..JobReport::default()
        }
    };
    RunReport { jobs: run.series.iter().map(job).collect(), ..RunReport::default() }
}

fn direction(
    series: &Series,
    figures: &DirectionSeries,
    number: usize,
    logs: &[&LogContent],
) -> DirectionReport {
    let runtime = series.time_ms.last().map_or(0, |end| end.saturating_sub(series.start_ms)).max(1);
    let sum = |column: &[u64]| saturating_total(column.iter().copied());
    let (ios, bytes) = (sum(&figures.ios), sum(&figures.bytes));
    let per_second = |amount: u64| amount as f64 * 1000.0 / runtime as f64;
    let latency = |kind: LogKind| {
        let latencies =
            logs.iter().filter(|log| log.name.kind == kind).map(|log| &log.directions[number].latency);
        latencies.into_iter().find(|latency| latency.count() > 0).map(latency_of)
    };
    let clat = latency(LogKind::CompletionLatency).or_else(|| latency(LogKind::Histogram));
    DirectionReport {
        total_ios: ios,
        io_bytes: bytes,
        io_kbytes: bytes >> 10,
        bw_bytes: per_second(bytes) as u64,
        bw: per_second(bytes) as u64 >> 10,
        iops: per_second(ios),
        runtime,
        lat_ns: match clat {
            // Percentiles are those of one kind of latency.
            Some(_) => LatencyReport::default(),
            None => latency(LogKind::Latency).unwrap_or_default(),
        },
        clat_ns: clat.unwrap_or_default(),
        ..DirectionReport::default()
    }
}

fn latency_of(latency: &Latency) -> LatencyReport {
    let histograms = HistogramOptions { buckets: Buckets::Hdr, bins: true, requested: &[] };
    latency_report(latency, &PERCENTILES, true, histograms)
}
