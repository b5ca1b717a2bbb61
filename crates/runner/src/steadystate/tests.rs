//! Windows with counters set by hand; ticks are ns.

use ferrio_job::JobSpec;
use ferrio_plan::testing::{default_job, plan};

use super::*;

const SECOND: u64 = 1_000_000_000;
/// Ticks of the first look.
const START: u64 = 1000 * SECOND;

/// Jobs that are watched over a window of three checks.
struct Bench {
    watch: SteadyWatch,
    controls: Vec<JobControl>,
    looks: u64,
}

impl Bench {
    fn new(specs: Vec<JobSpec>) -> Self {
        let controls: Vec<JobControl> = specs.iter().map(|_| JobControl::default()).collect();
        let watch = SteadyWatch::new(&plan(specs)).unwrap();
        controls.iter().for_each(|control| control.begin_measuring(START));
        let mut bench = Bench { watch, controls, looks: 0 };
        bench.poll_at(START);
        bench
    }

    fn poll_at(&mut self, now: u64) -> Duration {
        self.watch.poll(now, &Clock::monotonic(), &self.controls)
    }

    /// A second passes, in which each job has done `ios` I/Os of 4 KiB, each in `ns`.
    fn second(&mut self, done: &[(u64, u64)]) {
        for (control, &(ios, ns)) in self.controls.iter().zip(done) {
            let all = control.live.ios()[0] + ios;
            control.live.store(0, all, all * 4096);
            let (sum, count) = control.live.latency();
            control.live.store_latency(sum + ios * ns, count + ios);
        }
        self.looks += 1;
        self.poll_at(START + self.looks * SECOND);
    }

    fn iops(&mut self, ios: u64) {
        self.second(&[(ios, 1000)]);
    }

    fn stopped(&self) -> Vec<bool> {
        self.controls.iter().map(JobControl::stop_requested).collect()
    }

    fn results(self) -> Vec<(usize, SteadyResult)> {
        self.watch.results().collect()
    }

    fn result(self) -> SteadyResult {
        let mut results = self.results();
        assert_eq!(results.len(), 1);
        results.remove(0).1
    }
}

fn job(figure: SteadyFigure, slope: bool, limit: f64, percent: bool) -> JobSpec {
    let mut spec = default_job("a");
    spec.steadystate = Some(SteadyState {
        figure,
        slope,
        limit,
        percent,
        duration: Duration::from_secs(3),
        ramp: Duration::ZERO,
        interval: Duration::from_secs(1),
    });
    spec
}

fn iops_of(result: &SteadyResult) -> Vec<u64> {
    result.checks.iter().map(|check| check.iops).collect()
}

#[test]
fn a_full_window_below_the_limit_ends_the_job() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 5.0, true)]);
    bench.iops(969);
    bench.iops(888);
    assert_eq!(bench.stopped(), [false], "the window is not full");
    bench.iops(933);
    assert_eq!(bench.stopped(), [true]);
    let result = bench.result();
    assert_eq!((result.attained, result.max_deviation, result.slope), (true, 42.0, 0.0));
    assert!((result.criterion - 100.0 * 42.0 / 930.0).abs() < 1e-12);
    assert_eq!(iops_of(&result), [969, 888, 933]);
    assert_eq!(result.checks[0].bw, 969 * 4096);
}

#[test]
fn the_window_slides_until_it_is_steady() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 10.0, false)]);
    for ios in [100, 500, 1000] {
        bench.iops(ios);
    }
    assert_eq!(bench.stopped(), [false]);
    bench.iops(1010);
    bench.iops(1000);
    assert_eq!(bench.stopped(), [true]);
    assert_eq!(iops_of(&bench.result()), [1000, 1010, 1000]);
}

#[test]
fn the_limit_itself_is_not_steady() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 10.0, false)]);
    [90, 110, 100].into_iter().for_each(|ios| bench.iops(ios));
    assert_eq!(bench.stopped(), [false]);
    let result = bench.result();
    assert_eq!((result.attained, result.criterion, result.max_deviation), (false, 10.0, 10.0));
}

#[test]
fn a_slope_is_judged_without_its_sign_and_relative_to_the_whole_mean() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, true, 9.0, false)]);
    [1030, 1020, 1010].into_iter().for_each(|ios| bench.iops(ios));
    assert_eq!(bench.stopped(), [false]);
    [1000, 995].into_iter().for_each(|ios| bench.iops(ios));
    assert_eq!(bench.stopped(), [true]);
    let result = bench.result();
    assert_eq!((result.slope, result.criterion, result.max_deviation), (-7.5, -7.5, 0.0));

    let mut bench = Bench::new(vec![job(SteadyFigure::Bandwidth, true, 1.0, true)]);
    [1000, 1001, 1003].into_iter().for_each(|ios| bench.iops(ios));
    let result = bench.result();
    assert_eq!((result.attained, result.slope), (true, 1.5 * 4096.0));
    // The mean of 4096 * 3004 / 3 bytes per second is not whole.
    assert!((result.criterion - 100.0 * 6144.0 / 4_101_461.0).abs() < 1e-12, "{}", result.criterion);
}

#[test]
fn a_latency_is_the_mean_of_its_interval() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Latency, false, 2.0, false)]);
    bench.second(&[(10, 107)]);
    bench.second(&[(1000, 109)]);
    bench.second(&[(10, 108)]);
    let result = bench.result();
    let latencies: Vec<u64> = result.checks.iter().map(|check| check.lat_ns).collect();
    assert_eq!((latencies, result.max_deviation, result.attained), (vec![107, 109, 108], 1.0, true));
}

#[test]
fn an_interval_in_which_nothing_is_done_is_never_steady_in_percent() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 50.0, true)]);
    [0, 0, 0].into_iter().for_each(|ios| bench.iops(ios));
    let result = bench.result();
    assert_eq!((result.attained, result.criterion), (false, 0.0));
}

#[test]
fn jobs_that_report_alone_are_judged_alone() {
    let alone = || job(SteadyFigure::Iops, false, 1.0, true);
    let mut bench = Bench::new(vec![alone(), alone()]);
    for ios in [100, 200, 300] {
        bench.second(&[(500, 1), (ios, 1)]);
    }
    assert_eq!(bench.stopped(), [true, false]);
    let results = bench.results();
    assert_eq!((results[0].0, results[1].0), (0, 1));
    assert_eq!((results[0].1.attained, results[1].1.attained), (true, false));
}

#[test]
fn a_reporting_group_has_one_window_over_sums_and_pooled_latencies() {
    let grouped =
        |group| JobSpec { group, group_reporting: true, ..job(SteadyFigure::Iops, false, 1.0, true) };
    let mut bench = Bench::new(vec![grouped(0), grouped(0), grouped(1)]);
    for (a, b) in [(100, 300), (200, 200), (300, 100)] {
        bench.second(&[(a, 10), (b, 20), (a, 10)]);
    }
    assert_eq!(bench.stopped(), [true, true, false], "the sums are steady, the single job is not");
    let results = bench.results();
    assert_eq!((results[0].0, results[1].0), (1, 2), "the last job of a group has its window");
    assert_eq!(iops_of(&results[0].1), [400, 400, 400]);
    assert_eq!(results[0].1.checks[0].lat_ns, (100 * 10 + 300 * 20) / 400);
}

#[test]
fn a_ramp_is_left_out() {
    let mut spec = job(SteadyFigure::Iops, false, 1.0, true);
    if let Some(state) = &mut spec.steadystate {
        state.ramp = Duration::from_secs(2);
    }
    let mut bench = Bench::new(vec![spec]);
    for ios in [7, 9, 500, 500] {
        bench.iops(ios);
    }
    assert_eq!(bench.stopped(), [false]);
    bench.iops(500);
    assert_eq!(bench.stopped(), [true]);
    assert_eq!(iops_of(&bench.result()), [500, 500, 500]);
}

#[test]
fn a_job_that_began_between_two_checks_has_the_rate_of_the_time_it_had() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 1.0, true)]);
    // Its ramp ended a quarter of a second after the first look: counters begin there.
    bench.controls[0].begin_measuring(START + SECOND / 4);
    bench.iops(750);
    bench.iops(1000);
    // A tenth of a second before the check it begins again: too short for a rate.
    bench.controls[0].live.store(0, 0, 0);
    bench.controls[0].begin_measuring(START + 2 * SECOND + 9 * SECOND / 10);
    bench.iops(100);
    bench.iops(1000);
    assert_eq!(iops_of(&bench.result()), [1000, 1000, 1000]);
}

#[test]
fn a_late_check_is_of_the_time_that_passed_and_the_next_keeps_the_beat() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 1.0, true)]);
    bench.controls[0].live.store(0, 500, 500 * 4096);
    assert_eq!(bench.poll_at(START + SECOND / 2), Duration::from_millis(500), "nothing is due");
    bench.controls[0].live.store(0, 1500, 1500 * 4096);
    assert_eq!(bench.poll_at(START + 3 * SECOND / 2), Duration::from_millis(500));
    assert_eq!(iops_of(&bench.result()), [1000]);
}

#[test]
fn jobs_that_are_over_or_not_measured_yet_do_not_count() {
    let mut bench = Bench::new(vec![job(SteadyFigure::Iops, false, 1.0, true)]);
    bench.controls[0].set_state(JobState::Ramp);
    bench.iops(10);
    bench.controls[0].set_state(JobState::Finishing);
    bench.iops(10);
    assert_eq!(iops_of(&bench.result()), [0; 0]);
    assert!(SteadyWatch::new(&Plan::default()).is_none());
}

#[test]
fn the_largest_deviation_counts_whichever_side_it_is_on() {
    // Mean 930: 39, 42 and 3 away.
    assert_eq!(deviation(&[969, 888, 933]), 42.0);
    assert_eq!(deviation(&[1_395_843, 1_855_488]), 229_822.5);
    assert_eq!(deviation(&[10, 10, 10, 50]), 30.0);
    assert_eq!(deviation(&[7, 7]), 0.0);
}

#[test]
fn a_slope_is_that_of_the_line_of_least_squares() {
    assert_eq!(slope(&[329, 338]), 9.0);
    assert_eq!(slope(&[10, 20, 30, 40]), 10.0);
    assert_eq!(slope(&[40, 20]), -20.0);
    // x 0..4 around 1.5, y around 4: (-1.5*-3 + -0.5*1 + 0.5*3 + 1.5*-1) / (2.25 + 0.25 + 0.25 + 2.25)
    assert!((slope(&[1, 5, 7, 3]) - 0.8).abs() < 1e-12);
    assert_eq!(slope(&[5, 9, 5]), 0.0);
}

#[test]
fn too_few_values_are_flat() {
    assert_eq!((mean(&[]), deviation(&[]), slope(&[]), slope(&[7])), (0.0, 0.0, 0.0, 0.0));
}

#[test]
fn large_values_keep_their_slope() {
    let values: Vec<u64> = (0..1000).map(|i| (1 << 40) + 3 * i).collect();
    assert!((slope(&values) - 3.0).abs() < 1e-6);
}
