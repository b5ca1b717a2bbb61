use super::status::{states, workload_letter};
use super::*;
use ferrio_job::{JobSpec, ReadWrite};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{JobProgress, JobState};

const MIB: u64 = 1 << 20;

fn timed(name: &str, rw: ReadWrite, seconds: u64) -> JobSpec {
    let mut spec = default_job(name);
    spec.rw = rw;
    spec.limits.size = 100 << 30;
    spec.limits.runtime = Duration::from_secs(seconds);
    spec.limits.time_based = true;
    spec
}

/// Two random mixed jobs of 5 s and a sequential writer of 4 s limited to 1 MiB/s.
fn example() -> Plan {
    let mut limited = timed("b", ReadWrite::Write, 4);
    limited.rates.bytes.0 = [MIB; 3];
    plan(vec![timed("a", ReadWrite::RandMixed, 5), timed("a", ReadWrite::RandMixed, 5), limited])
}

fn job(state: JobState, ms: u64, read_ios: u64, write_ios: u64) -> JobProgress {
    JobProgress {
        state,
        elapsed: Duration::from_millis(ms),
        measured: Duration::from_millis(ms),
        bytes: [read_ios * 4096, write_ios * 4096, 0],
        ios: [read_ios, write_ios, 0],
        transactions: 0,
        open_files: 1,
    }
}

fn totals(ms: u64, jobs: &[JobProgress]) -> Progress {
    Progress { elapsed: Duration::from_millis(ms), jobs: jobs.to_vec() }
}

fn live() -> LiveLine {
    LiveLine::new(Compat::Fio, Duration::from_secs(1), None)
}

#[test]
fn the_line_of_a_mixed_run_develops_as_fio_shows_it() {
    use JobState::{Reaped, Running};
    let (plan, mut live) = (example(), live());
    let mut line = |ms, first: (u64, u64), second: (u64, u64), third: (JobState, u64)| {
        let jobs = [
            job(Running, ms, first.0, first.1),
            job(Running, ms, second.0, second.1),
            job(third.0, ms.min(4000), 0, third.1),
        ];
        live.update(&plan, &totals(ms, &jobs), None)
    };
    let short = Some("Jobs: 3 (f=3), 0B/s-1024KiB/s\r".to_owned());
    assert_eq!(line(1000, (490, 500), (490, 500), (Running, 256)), short);
    assert_eq!(line(2000, (980, 1000), (980, 1000), (Running, 512)), short);
    assert_eq!(
        line(3000, (1463, 1502), (1463, 1502), (Running, 769)).unwrap(),
        "Jobs: 3 (f=3), 0B/s-1024KiB/s: [m(2),W(1)][60.0%][r=3864KiB/s,w=5044KiB/s][r=966,w=1261 IOPS][eta 00m:02s]\r"
    );
    assert_eq!(
        line(4000, (1950, 2002), (1950, 2002), (Running, 1026)).unwrap(),
        "Jobs: 3 (f=3), 0B/s-1024KiB/s: [m(2),W(1)][80.0%][r=3896KiB/s,w=5028KiB/s][r=974,w=1257 IOPS][eta 00m:01s]\r"
    );
    assert_eq!(
        line(5000, (2430, 2520), (2430, 2520), (Reaped, 1030)).unwrap(),
        "Jobs: 2 (f=2): [m(2),_(1)][55.6%][r=3840KiB/s,w=4160KiB/s][r=960,w=1040 IOPS][eta 00m:04s]                \r"
    );
}

#[test]
fn a_line_comes_once_per_interval_and_never_after_the_end() {
    let (plan, mut live) = (plan(vec![timed("a", ReadWrite::Read, 9)]), live());
    let mut printed = |ms, state| live.update(&plan, &totals(ms, &[job(state, ms, ms, 0)]), None).is_some();
    let running = [250, 500, 750, 950, 951, 1500, 1901, 1902].map(|ms| printed(ms, JobState::Running));
    assert_eq!(running, [false, false, false, false, true, false, false, true]);
    assert!(!printed(9000, JobState::Reaped));
}

#[test]
fn while_nothing_moves_every_look_after_the_first_second_prints() {
    let (plan, mut live) = (plan(vec![timed("a", ReadWrite::Read, 9)]), live());
    let mut printed = |ms, state, ios| live.update(&plan, &totals(ms, &[job(state, ms, ios, 0)]), None);
    use JobState::{Ramp, Running};
    assert_eq!(printed(1000, Ramp, 0).unwrap(), "Jobs: 1 (f=0)\r");
    assert!(printed(1250, Ramp, 0).is_some() && printed(1500, Ramp, 7).is_some(), "a ramp is no progress");
    assert!(printed(1750, Running, 9).is_some());
    assert!(printed(2000, Running, 9).is_none(), "from the first bytes on the interval counts");
}

#[test]
fn after_a_ramp_rates_are_those_since_the_start() {
    let mut ramping = timed("a", ReadWrite::Read, 9);
    ramping.limits.ramp_time = Duration::from_secs(4);
    let (plan, mut live) = (plan(vec![ramping]), live());
    let mut line = |ms, state, measured| {
        let job = JobProgress { measured: Duration::from_millis(measured), ..job(state, ms, ms / 10, 0) };
        live.update(&plan, &totals(ms, &[job]), None).unwrap()
    };
    assert_eq!(line(4000, JobState::Ramp, 0), "Jobs: 1 (f=0): [/(1)][-.-%][eta 00m:09s]\r");
    let first = "Jobs: 1 (f=1): [R(1)][38.5%][r=400KiB/s][r=100 IOPS][eta 00m:08s]\r";
    assert_eq!(line(5000, JobState::Running, 1000), first);
    let second = "Jobs: 1 (f=1): [R(1)][46.2%][r=400KiB/s][r=100 IOPS][eta 00m:07s]\r";
    assert_eq!(line(6000, JobState::Running, 2000), second);
}

#[test]
fn jobs_that_set_up_their_files_lower_the_percentage() {
    let (plan, mut live) = (plan(vec![timed("a", ReadWrite::Read, 10); 3]), live());
    let jobs = [
        job(JobState::Running, 5000, 1000, 0),
        job(JobState::Verifying, 5000, 1000, 0),
        job(JobState::SettingUp, 0, 0, 0),
    ];
    let line = live.update(&plan, &totals(5000, &jobs), None).unwrap();
    // A third of the way, and two run while one sets up.
    assert_eq!(line, "Jobs: 2 (f=2): [R(1),V(1),I(1)][16.7%][r=1600KiB/s][r=400 IOPS][eta 00m:10s]\r");
}

#[test]
fn a_waiting_job_shows_no_percentage_and_a_ramping_one_no_progress() {
    let mut delayed = timed("a", ReadWrite::Read, 9);
    delayed.limits.ramp_time = Duration::from_secs(20);
    let (plan, mut live) = (plan(vec![delayed]), live());
    assert_eq!(
        live.update(&plan, &totals(3000, &[job(JobState::Initialized, 0, 0, 0)]), None).unwrap(),
        "Jobs: 0 (f=0)\r"
    );
    assert_eq!(
        live.update(&plan, &totals(4000, &[job(JobState::Ramp, 4000, 0, 0)]), None).unwrap(),
        "Jobs: 1 (f=0): [/(1)][-.-%][eta 00m:25s]\r"
    );
}

#[test]
fn a_newline_keeps_a_line() {
    let plan = plan(vec![timed("a", ReadWrite::Read, 60)]);
    let mut live = LiveLine::new(Compat::Fio, Duration::from_secs(1), Some(Duration::from_millis(1500)));
    let starts = [1000, 2000, 3000, 4000, 5000, 6000, 7000].map(|ms| {
        let text = live.update(&plan, &totals(ms, &[job(JobState::Running, ms, ms, 0)]), None).unwrap();
        text.starts_with('\n')
    });
    assert_eq!(starts, [false, false, false, true, false, true, false]);
}

#[test]
fn a_newline_is_a_part_of_the_line_when_the_next_one_is_padded() {
    let plan = plan(vec![timed("a", ReadWrite::Read, 60)]);
    let mut live = LiveLine::new(Compat::Fio, Duration::from_secs(1), Some(Duration::from_millis(500)));
    let [.., before, with_newline, after] = [1000, 2000, 3000, 4000, 5000]
        .map(|ms| live.update(&plan, &totals(ms, &[job(JobState::Running, ms, ms, 0)]), None).unwrap());
    assert!(before.starts_with("\nJobs: 1 (f=1): [R(1)][5.0%]") && before.ends_with("s]\r"), "{before:?}");
    assert!(with_newline.starts_with("\nJobs") && with_newline.ends_with("s]\r"), "{with_newline:?}");
    assert!(after.ends_with("s]\r"), "{after:?}");
    let mut live = LiveLine::new(Compat::Fio, Duration::from_secs(1), None);
    live.newline_due = true;
    live.update(&plan, &totals(4000, &[job(JobState::Running, 4000, 4000, 0)]), None);
    let padded = live.update(&plan, &totals(5000, &[job(JobState::Running, 5000, 8000, 0)]), None).unwrap();
    assert!(padded.ends_with("s] \r"), "{padded:?}");
}

#[test]
fn rate_limits_in_ios_are_plain_integers() {
    let mut spec = timed("a", ReadWrite::Mixed, 9);
    spec.rates.iops.0 = [100, 200, 400];
    let line =
        live().update(&plan(vec![spec]), &totals(1000, &[job(JobState::Running, 1000, 1, 1)]), None).unwrap();
    assert_eq!(line, "Jobs: 1 (f=1), 0-300 IOPS\r");
}

#[test]
fn minimum_rates_precede_the_limits() {
    let mut spec = timed("a", ReadWrite::Mixed, 9);
    spec.rates.min_iops.0 = [10, 20, 40];
    let line = |spec: &JobSpec| {
        live()
            .update(&plan(vec![spec.clone()]), &totals(1000, &[job(JobState::Running, 1000, 1, 1)]), None)
            .unwrap()
    };
    assert_eq!(line(&spec), "Jobs: 1 (f=1), 30-0 IOPS\r");
    spec.rates.min_bytes.0 = [1024, 1024, 0];
    spec.rates.bytes.0 = [8192, 8192, 0];
    assert_eq!(line(&spec), "Jobs: 1 (f=1), 2048B/s-16.0KiB/s\r");
    spec.units.significant_figures = 5;
    assert_eq!(line(&spec), "Jobs: 1 (f=1), 2048B/s-16384B/s\r");
}

#[test]
fn limits_of_jobs_in_their_ramp_do_not_count() {
    let mut spec = timed("a", ReadWrite::Read, 9);
    spec.rates.bytes.0 = [MIB; 3];
    let plan = plan(vec![spec.clone(), spec]);
    let line = |states: [JobState; 2]| {
        live().update(&plan, &totals(1000, &states.map(|state| job(state, 1000, 1, 0))), None).unwrap()
    };
    use JobState::{Ramp, Running};
    assert_eq!(line([Ramp, Ramp]), "Jobs: 2 (f=0)\r");
    assert_eq!(line([Ramp, Running]), "Jobs: 2 (f=1), 0B/s-1024KiB/s\r");
}

#[test]
fn the_line_is_decimal_or_in_bits_if_all_jobs_are() {
    let units = |kb_base, unit_base, significant_figures| Units { kb_base, unit_base, significant_figures };
    let line = |first: Units, second: Units| {
        let specs = [first, second].map(|units| {
            let mut spec = timed("a", ReadWrite::Read, 8);
            (spec.units, spec.rates.bytes.0) = (units, [4_000_000; 3]);
            spec
        });
        let plan = plan(specs.to_vec());
        let jobs = [job(JobState::Running, 4000, 4000, 0), job(JobState::Running, 4000, 4000, 0)];
        let line = live().update(&plan, &totals(4000, &jobs), None).unwrap();
        (line[13..].split(':').next().unwrap().to_owned(), line.split(['[', ']']).nth(5).unwrap().to_owned())
    };
    let want = |limits: &str, rate: &str| (format!(", 0B/s-{limits}"), format!("r={rate}"));
    let (decimal, bits) = (units(1000, 8, 4), units(1024, 1, 4));
    assert_eq!(line(decimal, decimal), want("8000kB/s", "8192kB/s"));
    assert_eq!(line(bits, bits), want("7813KiB/s", "62.5Mibit/s"));
    assert_eq!(line(units(1000, 1, 4), units(1000, 1, 2)), want("8MB/s", "65.5Mbit/s"));
    assert_eq!(line(decimal, bits), want("7813KiB/s", "8000KiB/s"));
    assert_eq!(line(bits, decimal), want("7813KiB/s", "8000KiB/s"));
}

#[test]
fn letters_show_what_a_job_does() {
    use ReadWrite::{
        Mixed, RandMixed, RandRead, RandTrim, RandTrimWrite, RandWrite, Read, Trim, TrimWrite, Write,
    };
    let kinds =
        [Read, Write, Mixed, Trim, TrimWrite, RandRead, RandWrite, RandMixed, RandTrim, RandTrimWrite];
    let letters: String = kinds.into_iter().map(|rw| workload_letter(&timed("a", rw, 1))).collect();
    assert_eq!(letters, "RWMDWrwmdw");
    let mut one_sided = timed("a", RandMixed, 1);
    one_sided.rwmixread = 100;
    assert_eq!(workload_letter(&one_sided), 'r');
    one_sided.rwmixread = 0;
    assert_eq!(workload_letter(&one_sided), 'w');
}

#[test]
fn equal_neighbours_are_condensed() {
    let spec = timed("a", ReadWrite::Read, 1);
    let states_of = |all: &[JobState]| {
        let looks: Vec<JobProgress> = all.iter().map(|&state| job(state, 0, 0, 0)).collect();
        states(&looks.iter().map(|totals| (&spec, totals)).collect::<Vec<_>>())
    };
    use JobState::{Failed, Finishing, Fsyncing, Initialized, NotCreated, Ramp, Reaped, Running, SettingUp};
    assert_eq!(
        states_of(&[
            Running,
            Running,
            Reaped,
            Running,
            Failed,
            NotCreated,
            Initialized,
            SettingUp,
            Ramp,
            Fsyncing,
            Finishing
        ]),
        "R(2),_(1),R(1),X(1),P(1),I(2),/(1),F(1),f(1)"
    );
}

fn ferrio() -> LiveLine {
    LiveLine::new(Compat::Ferrio, Duration::from_secs(1), None)
}

#[test]
fn ferrio_shows_states_and_rates_from_the_first_second_of_every_phase() {
    use JobState::{Initialized, NotCreated, Ramp, Reaped, Running};
    let (mut first, mut second) = (timed("a", ReadWrite::Read, 2), timed("b", ReadWrite::RandWrite, 3));
    first.limits.ramp_time = Duration::from_secs(1);
    second.stonewall = true;
    second.limits.startdelay = (Duration::from_secs(1), Duration::from_secs(1));
    let (plan, mut live) = (plan(vec![first, second]), ferrio());
    let mut line = |ms: u64, a: (JobState, u64), b: (JobState, u64)| {
        let jobs = [job(a.0, ms, a.1, 0), job(b.0, ms.saturating_sub(4000), 0, b.1)];
        live.update(&plan, &totals(ms, &jobs), None).unwrap()
    };
    let lines = [
        line(1000, (Ramp, 100), (NotCreated, 0)),
        line(2000, (Running, 300), (NotCreated, 0)),
        line(4000, (Reaped, 500), (Initialized, 0)),
        line(5000, (Reaped, 500), (Running, 50)),
    ];
    let want = [
        "Jobs: 1 (f=0): [/(1),P(1)][ramp][r=400KiB/s][r=100 IOPS][eta 00m:06s]\r",
        "Jobs: 1 (f=1): [R(1),P(1)][33.3%][r=800KiB/s][r=200 IOPS][eta 00m:04s]\r",
        "Jobs: 0 (f=0): [_(1),I(1)][50.0%][r=400KiB/s][r=100 IOPS][eta 00m:04s]\r",
        "Jobs: 1 (f=1): [_(1),w(1)][71.4%][w=200KiB/s][w=50 IOPS][eta 00m:02s] \r",
    ];
    assert_eq!(lines, want);
}

#[test]
fn ferrio_prints_once_per_interval_even_while_nothing_moves() {
    let (plan, mut live) = (plan(vec![timed("a", ReadWrite::Read, 9)]), ferrio());
    let mut printed = |ms| live.update(&plan, &totals(ms, &[job(JobState::Ramp, ms, 0, 0)]), None).is_some();
    assert_eq!([1000, 1250, 1900, 2000].map(&mut printed), [true, false, false, true]);
}

#[test]
fn a_narrow_terminal_leaves_out_the_least_important_parts() {
    let mut spec = timed("a", ReadWrite::Mixed, 9);
    spec.rates.bytes.0 = [100 * MIB; 3];
    let line = |columns| {
        let jobs = [job(JobState::Running, 3000, 30_000, 60_000)];
        let text = ferrio().update(&plan(vec![spec.clone()]), &totals(3000, &jobs), Some(columns)).unwrap();
        let text = text.strip_suffix('\r').unwrap().to_owned();
        assert!(text.chars().count() < columns, "{columns}: {text}");
        text
    };
    assert_eq!(
        line(120),
        "Jobs: 1 (f=1), 0B/s-200MiB/s: [M(1)][33.3%][r=39.1MiB/s,w=78.1MiB/s][r=10.0k,w=20.0k IOPS][eta 00m:06s]"
    );
    assert_eq!(
        line(90),
        "Jobs: 1 (f=1): [M(1)][33.3%][r=39.1MiB/s,w=78.1MiB/s][r=10.0k,w=20.0k IOPS][eta 00m:06s]"
    );
    assert_eq!(line(80), "Jobs: 1: [M(1)][r=39.1MiB/s,w=78.1MiB/s][r=10.0k,w=20.0k IOPS][eta 00m:06s]");
    assert_eq!(line(60), "Jobs: 1: [r=39.1MiB/s,w=78.1MiB/s][eta 00m:06s]");
    assert_eq!(line(30), "Jobs: 1: [eta 00m:06s]");
    assert_eq!(line(10), "Jobs: 1: ");
    assert_eq!(line(2), "J");
}

#[test]
fn a_line_of_fio_is_cut_at_the_width() {
    let plan = plan(vec![timed("a", ReadWrite::Read, 9)]);
    let text =
        live().update(&plan, &totals(3000, &[job(JobState::Running, 3000, 900, 0)]), Some(60)).unwrap();
    assert_eq!(text, "Jobs: 1 (f=1): [R(1)][33.3%][r=1200KiB/s][r=300 IOPS][eta 0\r");
}

#[test]
fn a_shorter_line_leaves_nothing_of_a_longer_one() {
    let plan = plan(vec![timed("a", ReadWrite::Read, 9)]);
    let mut live = ferrio();
    let mut line =
        |ms, ios| live.update(&plan, &totals(ms, &[job(JobState::Running, ms, ios, 0)]), Some(60)).unwrap();
    let (long, short) = (line(1000, 123_456), line(2000, 123_456));
    assert!(long.contains("IOPS") && !short.contains("IOPS"), "{long:?} {short:?}");
    assert_eq!(long.len(), short.len());
    assert!(short.ends_with("s]            \r"), "{short:?}");
}

#[test]
fn sessions_of_a_database_show_their_transactions_per_second() {
    use crate::database::testing::{database_plan, innodb};
    let mut plan = database_plan("bank", &innodb());
    plan.jobs.iter_mut().for_each(|job| job.spec.limits.runtime = Duration::from_secs(9));
    let mut live = ferrio();
    let mut line = |ms, transactions: [u64; 2], columns| {
        let session = |transactions: u64| JobProgress {
            transactions,
            ..job(JobState::Running, ms, 9 * transactions, transactions)
        };
        let jobs = [session(transactions[0]), session(transactions[1]), job(JobState::Running, ms, 0, 0)];
        live.update(&plan, &totals(ms, &jobs), Some(columns)).unwrap()
    };
    let first =
        "Jobs: 3 (f=3): [m(3)][11.1%][r=70.3MiB/s,w=8000KiB/s][r=18.0k,w=2000 IOPS][2000 TPS][eta 00m:08s]\r";
    assert_eq!(line(1000, [1500, 500], 120), first);
    let narrow = line(2000, [1600, 650], 45);
    assert_eq!(narrow.trim_end(), "Jobs: 3: [250 TPS][eta 00m:07s]");
    assert!(line(3000, [1600, 650], 120).starts_with("Jobs: 3 (f=3): [m(3)][33.3%][0 TPS][eta 00m:06s]"));
}

#[test]
fn a_line_of_several_hosts_has_the_sums_of_their_jobs() {
    let plan = example();
    let status = |ms, ios| {
        let jobs = [JobState::Running; 3].map(|state| job(state, ms, ios, 0));
        LiveStatus::new(&plan, &totals(ms, &jobs), Compat::Fio)
    };
    let mut live = live();
    let start = [status(1000, 100), status(1000, 100)];
    assert_eq!(live.update_together(start.iter(), None).unwrap(), "Jobs: 6 (f=6), 0B/s-2048KiB/s\r");
    let later = [status(4000, 300), status(4000, 500)];
    assert_eq!(
        live.update_together(later.iter(), None).unwrap(),
        "Jobs: 6 (f=6), 0B/s-2048KiB/s: [m(2),W(1),m(2),W(1)][80.0%][r=2400KiB/s][r=600 IOPS][eta 00m:01s]\r"
    );
}
