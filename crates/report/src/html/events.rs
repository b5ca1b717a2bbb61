//! Notable events of a run: ramps, errors, stalls, throttling.

use ferrio_stats::saturating_total;
use serde::Serialize;

use super::throttling::{cpu_text, rate_falls};
use super::tracks::Track;
use crate::Unit;
use crate::model::RunReport;

/// Factor over the median of the rows' largest latencies from which an I/O is slow.
const SLOW_FACTOR: u64 = 10;

/// Minimum mean number of I/Os per row for a row without I/O to count as a stall.
const MIN_BUSY_IOS: u64 = 5;

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct PageEvent {
    /// Start and end in ms since the start of the run.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) kind: PageEventKind,
    /// Index of the track; `None` for all tracks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) track: Option<usize>,
    #[serde(skip)]
    pub(super) what: String,
}

/// Kinds of events, which the charts show differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PageEventKind {
    Ramp,
    Error,
    Stall,
    Throttled,
}

/// All events of these tracks of a report, in chronological order.
pub(super) fn events(report: &RunReport, tracks: &[Track]) -> Vec<PageEvent> {
    let mut all: Vec<PageEvent> =
        tracks.iter().enumerate().flat_map(|(number, track)| track_events(number, track)).collect();
    if let Some(ferrio) = &report.ferrio {
        all.extend(rate_falls(report, ferrio, tracks).into_iter().map(|(track, fall)| {
            let [_, from, to] = fall.ms;
            PageEvent { from, to, kind: PageEventKind::Throttled, track: Some(track), what: fall.text() }
        }));
        all.extend(ferrio.throttling.iter().map(|period| PageEvent {
            from: period.from_ms,
            // Documents may contain invalid values.
            to: period.to_ms.max(period.from_ms),
            kind: PageEventKind::Throttled,
            track: None,
            what: cpu_text(period),
        }));
    }
    all.sort_by_key(|event| (event.from, event.track));
    all
}

fn track_events(number: usize, track: &Track) -> Vec<PageEvent> {
    let mut all = Vec::new();
    let mut add = |from, to, kind, what| all.push(PageEvent { from, to, kind, track: Some(number), what });
    let begin = track.edges[0];
    if track.ramp > begin {
        add(begin, track.ramp, PageEventKind::Ramp, "ramp: not part of the figures".to_owned());
    }
    let rows = track.edges.len() - 1;
    let row_sum = |row: usize| -> u64 {
        saturating_total(track.directions.iter().filter_map(|direction| direction.ios.get(row)).copied())
    };
    let row_max = |row: usize| {
        track.directions.iter().filter_map(|direction| direction.max.get(row)).copied().max().unwrap_or(0)
    };
    let ios: Vec<u64> = (0..rows).map(row_sum).collect();
    let maxima: Vec<u64> = (0..rows).map(row_max).collect();
    let is_busy = saturating_total(ios.iter().copied()) >= MIN_BUSY_IOS * rows as u64;
    // Adjacent rows without I/O are one stall.
    let mut at = 0;
    while at < rows && is_busy {
        let from = at;
        while at < rows && ios[at] == 0 {
            at += 1;
        }
        if at > from {
            let (from, to) = (track.edges[from], track.edges[at]);
            let length = Unit::Nanoseconds.text((to - from) as f64 * 1e6);
            add(from, to, PageEventKind::Stall, format!("no I/O completed for {length}"));
        }
        at += 1;
    }
    let limit = median(&maxima).saturating_mul(SLOW_FACTOR);
    for (row, &slowest) in maxima.iter().enumerate() {
        let (from, to) = (track.edges[row], track.edges[row + 1]);
        if slowest > limit {
            let [slow, usual] = [slowest, limit / SLOW_FACTOR].map(|ns| Unit::Nanoseconds.text(ns as f64));
            add(
                from,
                to,
                PageEventKind::Stall,
                format!("an I/O took {slow}; the slowest of half of all rows took at most {usual}"),
            );
        }
        match track.errors.get(row) {
            None | Some(0) => {}
            Some(1) => add(from, to, PageEventKind::Error, "1 error".to_owned()),
            Some(count) => add(from, to, PageEventKind::Error, format!("{count} errors")),
        }
    }
    all
}

/// The median of the nonzero values.
fn median(values: &[u64]) -> u64 {
    let mut values: Vec<u64> = values.iter().copied().filter(|&value| value > 0).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::tracks::TrackDirection;
    use super::*;

    fn track(ios: &[u64], max: &[u64]) -> Track {
        let read = TrackDirection { ios: ios.to_vec(), max: max.to_vec(), ..TrackDirection::default() };
        Track {
            edges: (0..=ios.len() as u64).map(|row| row * 500).collect(),
            errors: vec![0; ios.len()],
            directions: vec![read],
            ..Track::default()
        }
    }

    fn found(track: Track) -> Vec<(u64, u64, PageEventKind, String)> {
        events(&RunReport::default(), &[track])
            .into_iter()
            .map(|event| (event.from, event.to, event.kind, event.what))
            .collect()
    }

    #[test]
    fn rows_without_io_are_one_stall_unless_the_job_is_slow_anyway() {
        let stalled = track(&[100, 0, 0, 100], &[5, 0, 0, 5]);
        let text = "no I/O completed for 1.000 s".to_owned();
        assert_eq!(found(stalled), [(500, 1500, PageEventKind::Stall, text)]);
        assert_eq!(found(track(&[1, 0, 0, 1], &[5, 0, 0, 5])), []);
        assert_eq!(found(track(&[0, 100, 0], &[0, 5, 0])).len(), 2);
    }

    #[test]
    fn a_latency_beyond_ten_times_the_median_is_a_stall() {
        let text = "an I/O took 1.010 us; the slowest of half of all rows took at most 101 ns".to_owned();
        assert_eq!(found(track(&[9, 9, 9], &[101, 100, 1010])), []);
        let text = text.replace("1.010", "1.011");
        assert_eq!(found(track(&[9, 9, 9], &[101, 100, 1011])), [(1000, 1500, PageEventKind::Stall, text)]);
    }

    #[test]
    fn ramps_and_errors_are_events() {
        let mut with = track(&[9, 9], &[1, 1]);
        with.ramp = 500;
        with.errors = vec![0, 3];
        let kinds = found(with);
        assert_eq!(kinds[0], (0, 500, PageEventKind::Ramp, "ramp: not part of the figures".to_owned()));
        assert_eq!(kinds[1], (500, 1000, PageEventKind::Error, "3 errors".to_owned()));
    }
}
