//! Figures of jobs over time, merged over clones: entries of one group with the same name.

use std::collections::BTreeMap;

use ferrio_job::Direction;
use ferrio_stats::saturating_add_to;
use serde::Serialize;

use crate::grouped;
use crate::model::{DirectionSeries, Series};

/// Jobs of one name and group over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Track {
    pub(super) name: String,
    /// Row boundaries in ms since the start of the run: row `i` is between `edges[i]` and `edges[i + 1]`.
    pub(super) edges: Vec<u64>,
    /// End of the ramp; 0 without one.
    pub(super) ramp: u64,
    /// Mean I/Os in flight, if known.
    pub(super) depth: Vec<Option<f64>>,
    #[serde(skip)]
    pub(super) errors: Vec<u64>,
    /// Name and group of its entries.
    #[serde(skip)]
    pub(super) jobname: String,
    #[serde(skip)]
    pub(super) groupid: u32,
    /// Start and end of each entry in ms since the start of the run.
    #[serde(skip)]
    pub(super) spans: Vec<[u64; 2]>,
    pub(super) directions: Vec<TrackDirection>,
}

/// One direction of a track, with a value per row; a column without values is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct TrackDirection {
    pub(super) name: &'static str,
    pub(super) ios: Vec<u64>,
    pub(super) bytes: Vec<u64>,
    /// Largest latency in ns.
    pub(super) max: Vec<u64>,
    /// Pairs of bucket and count, as in [`DirectionSeries`].
    pub(super) cells: Vec<Vec<u64>>,
    /// Mean latency in ns, if nothing else is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) mean: Vec<Option<u64>>,
}

/// The tracks, in the order of their first entries.
pub(super) fn tracks(series: &[Series]) -> Vec<Track> {
    let entries = series.iter().filter(|entry| !entry.time_ms.is_empty());
    let clones = grouped(entries.map(|entry| ((&entry.jobname, entry.groupid), entry)));
    clones.iter().map(|(_, entries)| track(entries)).collect()
}

/// The name of jobs in charts.
pub(super) fn named(name: &str, jobs: usize) -> String {
    if jobs > 1 { format!("{name} ({jobs} jobs)") } else { name.to_owned() }
}

fn track(entries: &[&Series]) -> Track {
    let edges = match entries {
        [one] => edges_of(one),
        several => common_edges(several),
    };
    let spread: Vec<RowMapping> =
        entries.iter().map(|entry| RowMapping::new(&edges_of(entry), &edges)).collect();
    let mut errors = vec![0; edges.len() - 1];
    for (entry, spread) in entries.iter().zip(&spread) {
        for (&count, row) in entry.errors.iter().zip(&spread.main_rows) {
            saturating_add_to(&mut errors[*row], count);
        }
    }
    let directions = Direction::ALL.into_iter().filter_map(|which| {
        let parts = entries.iter().zip(&spread);
        let parts: Vec<_> =
            parts.filter_map(|(entry, spread)| Some((entry.direction(which)?, spread))).collect();
        (!parts.is_empty()).then(|| direction(which.name(), &parts, edges.len() - 1))
    });
    Track {
        name: named(&entries[0].jobname, entries.len()),
        ramp: entries.iter().map(|entry| entry.ramp_until_ms).max().unwrap_or(0),
        depth: depths(entries, &spread, &edges),
        errors,
        jobname: entries[0].jobname.clone(),
        groupid: entries[0].groupid,
        spans: entries.iter().map(|entry| span_of(entry)).collect(),
        directions: directions.collect(),
        edges,
    }
}

fn edges_of(entry: &Series) -> Vec<u64> {
    let mut edges = vec![entry.start_ms];
    // Documents may contain invalid values; edges must ascend.
    for &end in &entry.time_ms {
        edges.push(end.max(edges[edges.len() - 1]));
    }
    edges
}

fn span_of(entry: &Series) -> [u64; 2] {
    let edges = edges_of(entry);
    [edges[0], edges[edges.len() - 1]]
}

/// Row boundaries for several entries: their own where they agree, and none closer than half the nominal length.
fn common_edges(entries: &[&Series]) -> Vec<u64> {
    let mut all: Vec<u64> = entries.iter().flat_map(|entry| edges_of(entry)).collect();
    all.sort_unstable();
    all.dedup();
    let least = entries.iter().map(|entry| entry.interval_ms).max().unwrap_or(0) / 2;
    let mut edges = vec![all[0]];
    for &edge in &all[1..] {
        if edge - edges[edges.len() - 1] >= least.max(1) {
            edges.push(edge);
        }
    }
    let last = all[all.len() - 1];
    match edges.len() {
        1 => edges.push(last),
        count => edges[count - 1] = last,
    }
    edges
}

/// Distributes the rows of an entry over the rows of its track.
struct RowMapping {
    /// Indexed by row of the entry: rows of the track, and the fraction that lies in each.
    parts: Vec<Vec<(usize, f64)>>,
    /// Indexed by row of the entry: the row of the track that contains its middle.
    main_rows: Vec<usize>,
}

impl RowMapping {
    fn new(of: &[u64], onto: &[u64]) -> Self {
        let last_row = onto.len() - 2;
        let row_at = |ms: f64| onto[1..].partition_point(|&end| (end as f64) < ms).min(last_row);
        let mut spread = RowMapping { parts: Vec::new(), main_rows: Vec::new() };
        for row in of.windows(2) {
            let (from, to) = (row[0], row[1]);
            let middle = row_at((from as f64 + to as f64) / 2.0);
            let length = (to - from) as f64;
            let overlap = |row: usize| to.min(onto[row + 1]).saturating_sub(from.max(onto[row])) as f64;
            let rows = row_at(from as f64)..=row_at(to as f64);
            let mut parts: Vec<_> =
                rows.map(|row| (row, overlap(row) / length)).filter(|&(_, part)| part > 0.0).collect();
            if parts.is_empty() || length == 0.0 {
                parts = vec![(middle, 1.0)];
            }
            spread.parts.push(parts);
            spread.main_rows.push(middle);
        }
        spread
    }

    /// Adds each value to the rows of the track in proportion.
    fn add(&self, values: &[u64], sums: &mut [f64]) {
        for (&value, parts) in values.iter().zip(&self.parts) {
            for &(row, part) in parts {
                sums[row] += value as f64 * part;
            }
        }
    }
}

fn direction(name: &'static str, parts: &[(&DirectionSeries, &RowMapping)], rows: usize) -> TrackDirection {
    let sum = |column: fn(&DirectionSeries) -> &[u64]| {
        if parts.iter().any(|(series, _)| column(series).is_empty()) {
            return Vec::new();
        }
        let mut sums = vec![0.0; rows];
        parts.iter().for_each(|(series, spread)| spread.add(column(series), &mut sums));
        sums.into_iter().map(|sum| sum.round() as u64).collect()
    };
    let mut max = vec![0; rows];
    let mut cells: Vec<BTreeMap<u64, f64>> = vec![BTreeMap::new(); rows];
    for (series, spread) in parts {
        for (&ns, parts) in series.max_ns.iter().zip(&spread.parts) {
            parts.iter().for_each(|&(row, _)| max[row] = ns.max(max[row]));
        }
        for (pairs, parts) in series.cells.iter().zip(&spread.parts) {
            for (pair, &(row, part)) in
                pairs.chunks_exact(2).flat_map(|pair| parts.iter().map(move |part| (pair, part)))
            {
                // 512 buckets cover all 64-bit latencies.
                *cells[row].entry(pair[0].min(511)).or_default() += pair[1] as f64 * part;
            }
        }
    }
    let rounded = |cells: BTreeMap<u64, f64>| {
        cells
            .into_iter()
            .map(|(bucket, count)| [bucket, count.round() as u64])
            .filter(|[_, count]| *count > 0)
            .flatten()
            .collect()
    };
    TrackDirection {
        name,
        ios: sum(|series| &series.ios),
        bytes: sum(|series| &series.bytes),
        max,
        cells: cells.into_iter().map(rounded).collect(),
        mean: means(parts, rows),
    }
}

/// The unweighted mean of the entries' means; empty if no entry has any.
fn means(parts: &[(&DirectionSeries, &RowMapping)], rows: usize) -> Vec<Option<u64>> {
    if parts.iter().all(|(series, _)| series.mean_ns.is_empty()) {
        return Vec::new();
    }
    let mut sums = vec![(0.0, 0.0); rows];
    for (series, spread) in parts {
        for (mean, parts) in series.mean_ns.iter().zip(&spread.parts) {
            for (&(row, part), mean) in parts.iter().filter_map(|part| Some((part, (*mean)?))) {
                sums[row].0 += mean as f64 * part;
                sums[row].1 += part;
            }
        }
    }
    sums.into_iter().map(|(sum, weight)| (weight > 0.0).then(|| (sum / weight).round() as u64)).collect()
}

/// The sum of the entries' depths; unknown if one is unknown.
fn depths(entries: &[&Series], spread: &[RowMapping], edges: &[u64]) -> Vec<Option<f64>> {
    let mut sums = vec![Some(0.0); edges.len() - 1];
    for (entry, spread) in entries.iter().zip(spread) {
        let lengths = edges_of(entry);
        for ((depth, parts), row) in entry.iodepth_mean.iter().zip(&spread.parts).zip(lengths.windows(2)) {
            for &(at, part) in parts {
                let length = (edges[at + 1] - edges[at]).max(1) as f64;
                let weight = part * (row[1] - row[0]) as f64 / length;
                sums[at] = sums[at].zip(*depth).map(|(sum, depth)| sum + depth * weight);
            }
        }
    }
    // Three decimals are more than the chart shows.
    sums.into_iter().map(|sum| sum.map(|depth| (depth * 1000.0).round() / 1000.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start_ms: u64, time_ms: &[u64], ios: &[u64]) -> Series {
        let read = DirectionSeries {
            ios: ios.to_vec(),
            bytes: ios.iter().map(|ios| ios * 10).collect(),
            max_ns: ios.to_vec(),
            cells: ios.iter().map(|&ios| vec![80, ios]).collect(),
            mean_ns: Vec::new(),
        };
        Series {
            jobname: "a".to_owned(),
            interval_ms: 500,
            start_ms,
            time_ms: time_ms.to_vec(),
            iodepth_mean: vec![Some(2.0); time_ms.len()],
            errors: ios.iter().map(|ios| ios / 100).collect(),
            read: Some(read),
            ..Series::default()
        }
    }

    #[test]
    fn one_entry_stays_as_it_is() {
        let found = tracks(&[entry(3, &[500, 1000, 1010], &[100, 200, 7])]);
        assert_eq!(
            (found.len(), found[0].name.as_str(), &found[0].edges),
            (1, "a", &vec![3, 500, 1000, 1010])
        );
        let read = &found[0].directions[0];
        assert_eq!(
            (&read.ios, &read.bytes, &read.max),
            (&vec![100, 200, 7], &vec![1000, 2000, 70], &vec![100, 200, 7])
        );
        assert_eq!(read.cells, [vec![80, 100], vec![80, 200], vec![80, 7]]);
        assert_eq!((&found[0].depth, &found[0].errors), (&vec![Some(2.0); 3], &vec![1, 2, 0]));
    }

    #[test]
    fn clones_with_the_same_rows_are_added_exactly() {
        let one = entry(0, &[500, 1000], &[101, 203]);
        let found = tracks(&[one.clone(), one.clone(), one]);
        assert_eq!((found[0].name.as_str(), &found[0].edges), ("a (3 jobs)", &vec![0, 500, 1000]));
        let read = &found[0].directions[0];
        assert_eq!(
            (&read.ios, &read.cells[1], &read.max),
            (&vec![303, 609], &vec![80, 609], &vec![101, 203])
        );
        assert_eq!((&found[0].depth, &found[0].errors), (&vec![Some(6.0); 2], &vec![3, 6]));
    }

    #[test]
    fn clones_with_other_rows_lose_no_io() {
        let found =
            tracks(&[entry(0, &[500, 1000, 1500], &[100, 100, 100]), entry(250, &[750, 900], &[500, 300])]);
        let track = &found[0];
        assert!(
            track.edges.windows(2).all(|row| row[1] - row[0] >= 250) && track.edges[0] == 0,
            "{:?}",
            track.edges
        );
        assert_eq!(track.edges.last(), Some(&1500));
        let read = &track.directions[0];
        assert_eq!(read.ios.iter().sum::<u64>(), 1100, "{read:?}");
        assert_eq!(track.errors.iter().sum::<u64>(), 11);
        // The second job has two I/Os in flight for 650 of 1500 ms.
        let weighted: f64 = track
            .edges
            .windows(2)
            .zip(&track.depth)
            .map(|(row, depth)| (row[1] - row[0]) as f64 * depth.unwrap())
            .sum();
        assert!((weighted - 2.0 * (1500.0 + 650.0)).abs() < 2.0, "{weighted}");
    }

    #[test]
    fn other_names_and_groups_are_other_tracks() {
        let one = entry(0, &[500], &[1]);
        let other = Series { groupid: 1, ..one.clone() };
        let named = Series { jobname: "b".to_owned(), ..one.clone() };
        let empty = Series::default();
        assert_eq!(tracks(&[one, other, named, empty]).len(), 3);
    }

    #[test]
    fn columns_of_other_lengths_and_falling_times_do_no_harm() {
        let mut odd = entry(700, &[500, 1000, 900], &[1]);
        odd.iodepth_mean = vec![None];
        let found = tracks(&[odd.clone(), odd]);
        assert_eq!(found[0].directions[0].ios.iter().sum::<u64>(), 2);
    }
}
