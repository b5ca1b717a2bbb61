//! The pass/fail check of the profile `act`: in each hour, only few reads may be slow. The table has the shares of slow reads.

use std::fmt::Write as _;
use std::time::Duration;

use ferrio_job::Direction;
use ferrio_results::RunResult;
use ferrio_stats::{JobStats, Latency};

/// Latencies in ms, each with the percentage of reads that may take longer.
const LATENCY_LIMITS: [(u64, f64); 3] = [(1, 5.0), (8, 1.0), (64, 0.1)];

/// The percentages of reads that exceed each limit: by total latency, then by the device's part.
type SliceShares = [[f64; 3]; 2];

/// The result of the check.
#[derive(Debug)]
pub struct VerdictJudgement {
    /// The table and the verdict, in fio's format.
    pub text: String,
    /// True if all devices were fast enough.
    pub passed: bool,
}

/// Checks a run of `act`, hour by hour.
#[derive(Debug, Default)]
pub struct ActVerdict {
    /// Totals at the end of the last slice.
    before: JobStats,
    slices: Vec<SliceShares>,
}

impl ActVerdict {
    /// Duration of a slice; the run is observed at the end of each slice.
    pub const SLICE: Duration = Duration::from_secs(3600);

    /// Observes a run in progress; a slice ends when its hour is over.
    pub fn observe(&mut self, result: &RunResult) {
        if result.elapsed >= Self::SLICE * (self.slices.len() as u32 + 1) {
            self.end_slice(result);
        }
    }

    /// Evaluates the whole run.
    pub fn finish(mut self, result: &RunResult) -> VerdictJudgement {
        self.end_slice(result);
        let within =
            |shares: &[f64; 3]| shares.iter().zip(LATENCY_LIMITS).all(|(share, (_, most))| *share <= most);
        let passed = !self.slices.is_empty() && self.slices.iter().flatten().all(within);
        VerdictJudgement { text: self.text(passed), passed }
    }

    fn end_slice(&mut self, result: &RunResult) {
        let mut all = JobStats::default();
        result.jobs.iter().for_each(|job| all.merge(&job.stats));
        let Some(slice) = all.since(&self.before) else { return };
        let reads = &slice.directions[Direction::Read as usize];
        if reads.ios > 0 {
            self.slices.push([shares(reads.lat()), shares(reads.clat.as_deref())]);
        }
        self.before = all;
    }

    fn text(&self, passed: bool) -> String {
        let mut text = String::from(
            "        trans                   device\n        %>(ms)                  %>(ms)\n slice\t  1\t  8\t 64\t  1\t  8\t 64\n \
             -----  -----   -----  ------   -----   -----  ------\n",
        );
        for (at, slice) in self.slices.iter().enumerate() {
            let shares: Vec<String> = slice.iter().flatten().map(|share| format!("{share:.2}")).collect();
            let _ = writeln!(text, "{:5}\t{}", at + 1, shares.join("\t"));
        }
        let verdict = if passed { "PASSED" } else { "FAILED" };
        let _ = writeln!(text, "\nact: test complete, device(s): {verdict}");
        text
    }
}

fn shares(latency: Option<&Latency>) -> [f64; 3] {
    LATENCY_LIMITS.map(|(ms, _)| {
        let Some(latency) = latency.filter(|latency| latency.count() > 0) else { return 0.0 };
        100.0 * latency.count_above(ms * 1_000_000) as f64 / latency.count() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_results::JobResult;
    use ferrio_stats::DirectionRecorder;

    /// A run of 1000 reads, of which this many took 2 ms and the others 100 µs.
    fn run(slow: u64, hours: u64) -> RunResult {
        let mut recorder = DirectionRecorder::new(false, true, true, true);
        (0..1000).for_each(|at| recorder.record_synchronous(if at < slow { 2_000_000 } else { 100_000 }));
        let mut stats = JobStats::default();
        stats.directions[Direction::Read as usize] = recorder.finish(1000);
        stats.directions[Direction::Read as usize].ios = 1000;
        let jobs = vec![JobResult { stats, ..JobResult::default() }];
        RunResult { jobs, elapsed: Duration::from_secs(hours * 3600), ..RunResult::default() }
    }

    #[test]
    fn a_twentieth_of_the_reads_may_take_more_than_a_millisecond() {
        let VerdictJudgement { text, passed } = ActVerdict::default().finish(&run(50, 1));
        assert!(passed);
        assert!(text.contains("\n    1\t5.00\t0.00\t0.00\t5.00\t0.00\t0.00\n"), "{text}");
        assert!(text.ends_with("\nact: test complete, device(s): PASSED\n"), "{text}");
        let failed = ActVerdict::default().finish(&run(51, 1));
        assert!(!failed.passed && failed.text.ends_with("FAILED\n"));
    }

    #[test]
    fn an_hour_counts_by_itself() {
        let mut verdict = ActVerdict::default();
        verdict.observe(&run(51, 0));
        assert!(verdict.slices.is_empty());
        verdict.observe(&run(51, 1));
        // The figures of a run are sums, so the second hour brought nothing.
        let text = verdict.finish(&run(51, 2)).text;
        assert_eq!(text.matches("5.10").count(), 2, "{text}");
    }

    #[test]
    fn nothing_read_is_no_success() {
        assert!(!ActVerdict::default().finish(&RunResult::default()).passed);
    }
}
