//! Boards for tests.

use std::time::Duration;

use ferrio_job::{JobSpec, ReadWrite};
use ferrio_plan::testing::{default_job, plan};
use ferrio_report::{BAND_STARTS_NS, HostState, LiveFigures, LiveLatency, LiveTable};
use ferrio_results::JobState;

use crate::board::Board;

/// One second of a job that reads and writes. Its rates and latencies go up and down with the number of the second, `at`.
fn second(at: u64) -> LiveFigures {
    let iops = 12_000.0 + 1000.0 * (at % 7) as f64;
    let mut bands = [0; BAND_STARTS_NS.len()];
    for (band, count) in [
        (6, 300),
        (7, 9000 + at as u32 % 7 * 900),
        (8, 2500),
        (9, 40 * (at as u32 % 5)),
        (13, u32::from(at.is_multiple_of(20))),
    ] {
        bands[band] = count;
    }
    LiveFigures {
        iops: [iops, iops / 4.0, 0.0],
        bandwidth: [iops * 4096.0, iops * 1024.0, 0.0],
        latency: Some(LiveLatency { p50: 36_512, p99: 99_000 + at * 100, max: 4_077_000 }),
        depth: Some(7.96),
        transactions: None,
        errors: 0,
        bands,
    }
}

/// A run of two minutes, half over, of jobs with these names that read and write.
pub(crate) fn board(names: &[&str]) -> Board {
    let job =
        |(number, name): (u32, &&str)| JobSpec { number, rw: ReadWrite::RandMixed, ..default_job(name) };
    let mut table = LiveTable::new(&plan((1..).zip(names).map(job)));
    table.elapsed = Duration::from_secs(60);
    table.states = vec![(JobState::Running, names.len())];
    for entry in table.entries.iter_mut().chain([&mut table.all]) {
        entry.history = (1..=60).map(second).collect();
        entry.state = JobState::Running;
        entry.left = Some(60);
    }
    Board::new(table)
}

/// A minute of a run on hosts of these names, each of which has a job that reads and writes.
pub(crate) fn hosts_board(names: &[&str]) -> Board {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut table = LiveTable::of_hosts(&names, Duration::from_secs(1));
    for rank in 0..names.len() {
        table.set_host(rank, HostState::Running, None, Duration::from_secs(60));
    }
    (table.directions, table.all.state) = ([true, true, false], JobState::Running);
    for entry in table.entries.iter_mut().chain([&mut table.all]) {
        entry.history = (1..=60).map(second).collect();
    }
    Board::new(table)
}
