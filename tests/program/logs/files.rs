//! Log files of whole runs: names, columns and rows, side by side with those of real fio.

use std::fs;

use nix::time::{ClockId, clock_gettime};

use crate::support::{TestDir, json_file, number, same};

/// Options of a job that reads and writes 1 MiB of nothing, in order.
const MIX: [&str; 5] = ["--name=a", "--ioengine=null", "--size=1m", "--rw=rw", "--bs=4k,8k"];

/// Names of the log files in the work directory.
fn names(dir: &TestDir) -> Vec<String> {
    let entries = fs::read_dir(dir.work()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> =
        entries.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".log")).collect();
    names.sort();
    names
}

/// One column of a log as numbers.
fn column(dir: &TestDir, name: &str, column: usize) -> Vec<u64> {
    dir.rows(name).iter().map(|row| row[column].parse().unwrap()).collect()
}

/// Runs both programs and compares all log files; `settled` says what of each row does not depend on time.
fn compare(more: &[&str], settled: fn(&[String]) -> Vec<String>) {
    let words = [&MIX[..], more].concat();
    let logs = |fio: bool| {
        let dir = TestDir::new();
        if fio {
            dir.fio(&words).run().succeeded()
        } else {
            dir.ferrio(&words).run().succeeded()
        };
        let log = |name: String| {
            let rows: Vec<_> = dir.rows(&name).iter().map(|row| settled(row)).collect();
            (name, rows)
        };
        names(&dir).into_iter().map(log).collect::<Vec<_>>()
    };
    let (fio, ferrio) = (logs(true), logs(false));
    assert!(!fio.is_empty() && fio.iter().any(|(_, rows)| !rows.is_empty()), "{more:?} writes nothing");
    same!("fio": fio, "ferrio": ferrio, "logs of {more:?}");
}

/// The columns after the value of a row.
fn behind_the_value(row: &[String]) -> Vec<String> {
    row[2..].to_vec()
}

#[test]
fn rows_of_single_ios_have_the_columns_of_fio() {
    needs!("fio");
    compare(&["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x"], behind_the_value);
    compare(&["--write_lat_log=x", "--log_offset=1"], behind_the_value);
    compare(&["--write_bw_log=x", "--log_prio=1"], behind_the_value);
    compare(&["--write_lat_log=x", "--write_iops_log", "--log_offset=1", "--log_prio=1"], behind_the_value);
}

#[test]
fn rows_of_an_asynchronous_engine_have_the_columns_of_fio() {
    needs!("fio");
    compare(&["--write_lat_log=x", "--log_offset=1", "--iodepth=4"], behind_the_value);
}

#[test]
fn one_file_for_all_jobs_has_the_rows_of_one_job_behind_those_of_the_other() {
    needs!("fio");
    let log = ["--write_lat_log=x", "--per_job_logs=0", "--log_offset=1"];
    let second = ["--name=b", "--stonewall", "--ioengine=null", "--size=256k", "--rw=write"];
    compare(&[&log[..], &second, &log].concat(), behind_the_value);
}

#[test]
fn one_file_for_all_jobs_keeps_what_earlier_runs_wrote() {
    let dir = TestDir::new();
    let words = [&MIX[..], &["--write_lat_log=x", "--per_job_logs=0", "--numjobs=2"]].concat();
    dir.ferrio(&words).run().succeeded();
    let once = dir.rows("x_clat.log").len();
    dir.ferrio(&words).run().succeeded();
    assert_eq!(dir.rows("x_clat.log").len(), 2 * once);
    assert_eq!(names(&dir), ["x_clat.log", "x_lat.log", "x_slat.log"]);
}

#[test]
fn rows_of_windows_have_the_columns_of_fio() {
    needs!("fio");
    let first = |row: &[String]| vec![row.len().to_string(), row[3..].join(", ")];
    let windows = ["--log_avg_msec=100", "--write_lat_log=x", "--write_bw_log=x", "--number_ios=1"];
    for more in [&[][..], &["--log_offset=1"], &["--log_prio=1"], &["--log_max_value=1"]] {
        compare(&[&windows, more].concat(), first);
    }
}

#[test]
fn a_window_logs_its_average_its_maximum_or_both() {
    let dir = TestDir::new();
    let words = [&MIX[..], &["--rate_iops=2000,1000", "--write_lat_log=x", "--log_avg_msec=20"]].concat();
    dir.ferrio(&[&words[..], &["--log_window_value=both"]].concat()).run().succeeded();
    let both = dir.rows("x_clat.1.log");
    assert!(both.len() > 2 && both.iter().all(|row| row.len() == 6), "{both:?}");
    let (average, maximum) = (column(&dir, "x_clat.1.log", 1), column(&dir, "x_clat.1.log", 2));
    assert!(average.iter().zip(&maximum).all(|(average, maximum)| average <= maximum), "{both:?}");
    dir.ferrio(&[&MIX[..], &["--write_lat_log=y", "--log_window_value=both"]].concat()).run().succeeded();
    assert!(column(&dir, "y_clat.1.log", 2).iter().all(|&maximum| maximum == 0), "no window, no maximum");
}

/// Jobs of a third of a second, after a ramp, whose I/Os complete one by one or in a queue.
const RAMPED: [&[&str]; 3] =
    [&["--ioengine=null"], &["--ioengine=null", "--iodepth=8"], &["--ioengine=libaio", "--iodepth=8"]];

/// Runs such a job with these logs.
fn ramped(dir: &TestDir, engine: &[&str], logs: &[&str]) -> serde_json::Value {
    let job =
        ["--output-format=json", "--name=a", "--filename=f", "--size=1m", "--rw=randrw", "--time_based"];
    let words = [&job[..], &["--runtime=300ms", "--ramp_time=50ms"], engine, logs].concat();
    dir.ferrio(&words).run().succeeded().json()
}

#[test]
fn histograms_count_every_io_after_the_ramp_and_averages_are_those_of_the_report() {
    for engine in RAMPED {
        let dir = TestDir::new();
        // One window, which the end of the job ends.
        let logs = ["--write_lat_log=x", "--log_avg_msec=1m", "--log_window_value=both"];
        let histograms = ["--write_hist_log=x", "--log_hist_msec=30", "--log_hist_coarseness=6"];
        let report = ramped(&dir, engine, &[&logs[..], &histograms].concat());
        for (at, direction) in ["read", "write"].into_iter().enumerate() {
            let at = at.to_string();
            let figure = |path: &str| report.pointer(&format!("/jobs/0/{direction}/{path}")).unwrap().clone();
            let rows = dir.rows("x_clat_hist.1.log");
            let counts = rows.iter().filter(|row| row[1] == at).flat_map(|row| &row[3..]);
            let counted: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
            assert_eq!(figure("total_ios"), counted, "{direction} of {engine:?}");
            for kind in ["clat", "lat"] {
                let rows = dir.rows(&format!("x_{kind}.1.log"));
                let rows: Vec<_> = rows.iter().filter(|row| row[3] == at).collect();
                let mean = figure(&format!("{kind}_ns/mean")).as_f64().unwrap().round().to_string();
                let logged = [rows[0][1].clone(), rows[0][2].clone()];
                let reported = [mean, figure(&format!("{kind}_ns/max")).to_string()];
                assert_eq!((rows.len(), logged), (1, reported), "{kind} of {direction} of {engine:?}");
            }
        }
    }
}

#[test]
fn each_window_of_a_running_job_has_one_row_in_each_direction() {
    for engine in RAMPED {
        let dir = TestDir::new();
        ramped(&dir, engine, &["--write_lat_log=x", "--log_avg_msec=20"]);
        for (kind, at) in
            [("slat", "0"), ("slat", "1"), ("clat", "0"), ("clat", "1"), ("lat", "0"), ("lat", "1")]
        {
            let rows = dir.rows(&format!("x_{kind}.1.log"));
            let times = rows.iter().filter(|row| row[2] == at).map(|row| row[0].parse::<u64>().unwrap());
            let mut windows: Vec<u64> = times.map(|ms| ms / 20).collect();
            // The end of the job ends a window, too.
            let last = windows.pop();
            if kind == "slat" && engine.len() == 1 {
                assert_eq!(last, None, "such a job has no submission latencies");
                continue;
            }
            assert!(
                windows.len() > 3 && windows.is_sorted_by(|a, b| a < b),
                "{kind} of {engine:?}: {windows:?}"
            );
        }
    }
}

#[test]
fn issue_times_grow_and_stand_in_the_logs_of_submission_and_completion_only() {
    let dir = TestDir::new();
    let words =
        [&MIX[..], &["--write_lat_log=x", "--write_bw_log=x", "--log_offset=1", "--log_issue_time=1"]];
    dir.ferrio(&words.concat()).run().succeeded();
    let issued = column(&dir, "x_clat.1.log", 6);
    assert!(issued.is_sorted() && issued[0] < issued[issued.len() - 1], "{issued:?}");
    for (row, issued) in dir.rows("x_clat.1.log").iter().zip(issued) {
        let [time_ms, latency]: [u64; 2] = [0, 1].map(|at: usize| row[at].parse().unwrap());
        assert_eq!((issued + latency) / 1_000_000, time_ms, "{row:?}");
    }
    for name in ["x_lat.1.log", "x_bw.1.log"] {
        assert!(column(&dir, name, 6).iter().all(|&issued| issued == 0), "{name}");
    }
}

#[test]
fn a_total_latency_is_the_sum_of_submission_and_completion() {
    let dir = TestDir::new();
    let job =
        ["--name=a", "--filename=f", "--size=256k", "--ioengine=libaio", "--iodepth=1", "--write_lat_log=x"];
    dir.ferrio(&job).run().succeeded();
    let [slat, clat, lat] = ["slat", "clat", "lat"].map(|kind| column(&dir, &format!("x_{kind}.1.log"), 1));
    let sums: Vec<u64> = slat.iter().zip(&clat).map(|(slat, clat)| slat + clat).collect();
    assert_eq!(sums.len(), 64);
    assert_eq!(sums, lat);
}

#[test]
fn times_count_from_the_epoch_of_the_chosen_clock() {
    let now = |clock| clock_gettime(clock).unwrap().tv_sec() as u64;
    for (more, clock) in [
        (&["--log_unix_epoch=1"][..], ClockId::CLOCK_REALTIME),
        (&["--log_alternate_epoch=1", "--log_alternate_epoch_clock_id=1"], ClockId::CLOCK_MONOTONIC),
    ] {
        let dir = TestDir::new();
        let before = now(clock);
        // The averaged rates come from the main thread, the single latencies from the worker.
        let logs = ["--write_lat_log=x", "--rate_iops=2000,1000", "--ramp_time=20ms"];
        dir.ferrio(&[&MIX[..], &logs, more].concat()).run().succeeded();
        let rates = ["--write_iops_log=x", "--log_avg_msec=20", "--rate_iops=2000,1000"];
        dir.ferrio(&[&MIX[..], &rates, more].concat()).run().succeeded();
        let after = now(clock);
        for name in ["x_clat.1.log", "x_iops.1.log"] {
            let times = column(&dir, name, 0);
            let seconds = before..=after;
            assert!(!times.is_empty() && times.iter().all(|ms| seconds.contains(&(ms / 1000))), "{times:?}");
        }
    }
}

#[test]
fn the_start_of_a_job_is_told_by_the_chosen_clock() {
    let ms = |time: nix::sys::time::TimeSpec| time.tv_sec() as u64 * 1000 + time.tv_nsec() as u64 / 1_000_000;
    let now = |clock| ms(clock_gettime(clock).unwrap());
    for (number, clock) in [("0", ClockId::CLOCK_REALTIME), ("1", ClockId::CLOCK_MONOTONIC)] {
        for more in [&[][..], &["--ramp_time=20ms"]] {
            let dir = TestDir::new();
            let before = now(clock);
            let clock_id = format!("--job_start_clock_id={number}");
            let output = format!("--output={}", dir.beside("report").display());
            let words =
                [&MIX[..], &["--output-format=json", &output, &clock_id, "--rate_iops=2000,1000"], more];
            dir.ferrio(&words.concat()).run().succeeded();
            let start = json_file(&dir.beside("report"))["jobs"][0]["job_start"].as_u64().unwrap();
            assert!((before..=now(clock)).contains(&start), "clock {number}: {start} is not after {before}");
        }
    }
}

#[test]
fn what_is_not_measured_has_the_files_of_fio() {
    needs!("fio");
    let logs = ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--write_hist_log=x"];
    for more in [
        &["--gtod_reduce=1", "--output-format=json"][..],
        &["--disable_bw=1"],
        &["--disable_lat=1", "--disable_slat=1"],
        &["--disable_clat=1", "--log_hist_msec=1"],
    ] {
        let files = |fio: bool| {
            let dir = TestDir::new();
            let words = [&MIX[..], &logs, more].concat();
            let run = if fio { dir.fio(&words).run() } else { dir.ferrio(&words).run() };
            run.succeeded();
            names(&dir).into_iter().map(|name| (dir.rows(&name).len(), name)).collect::<Vec<_>>()
        };
        let (fio, ferrio) = (files(true), files(false));
        if more[0] == "--gtod_reduce=1" {
            assert!(ferrio.iter().all(|(rows, _)| *rows == 0), "{ferrio:?}");
        }
        same!("fio": fio, "ferrio": ferrio, "{more:?}");
    }
}

/// Jobs of 5000 I/Os per second for one second, in windows of so many ms. The others measure no latency, have many in flight, or no log.
const WINDOWS: [(&str, u64, &str); 9] = [
    ("w1", 1, ""),
    ("w2", 2, ""),
    ("w5", 5, ""),
    ("w10", 10, ""),
    ("w20", 20, ""),
    ("unmeasured", 1, "disable_lat=1\ndisable_clat=1\ndisable_slat=1\n"),
    ("queued", 1, "iodepth=8\n"),
    ("sampled1", 1, "bwavgtime=1\niopsavgtime=1\n"),
    ("sampled20", 20, "bwavgtime=20\niopsavgtime=20\n"),
];

#[test]
fn each_io_is_in_the_window_in_which_it_completed_however_short_the_window_is() {
    let dir = TestDir::new();
    let mut jobs = "[global]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nrate_iops=5000\n".to_owned();
    jobs += "time_based\nruntime=1\nper_job_logs=1\n";
    for (name, window, more) in WINDOWS {
        jobs += &format!("[{name}]\n{more}");
        if !name.starts_with("sampled") {
            jobs += &format!("log_avg_msec={window}\nwrite_iops_log={name}\nwrite_bw_log={name}\n");
        }
    }
    let report = dir.ferrio(&["--output-format=json", &dir.job(&jobs)]).run().succeeded().json();
    for (index, (name, window, _)) in WINDOWS.into_iter().enumerate() {
        let at = |key: &str| format!("/jobs/{index}/read/{key}");
        let figure = |key: &str| report.pointer(&at(key)).unwrap().as_f64().unwrap();
        // A window that ends with the job is full. What was in flight then completed after it.
        let after = if name == "queued" { 8 } else { 1 };
        for (log, total, unit) in [("iops", "total_ios", 1), ("bw", "io_kbytes", 4)] {
            let total = number(&report, &at(total));
            let samples = number(&report, &at(&format!("{log}_samples")));
            let mean = figure(&format!("{log}_mean"));
            let is_all = |moved: u64| {
                assert!(moved <= total && total - moved <= after * unit, "{name} {log}: {moved} of {total}");
            };
            is_all((mean * samples as f64 * window as f64 / 1000.0).round() as u64);
            if name.starts_with("sampled") {
                continue;
            }
            let file = format!("{name}_{log}.{}.log", index + 1);
            let (times, rates) = (column(&dir, &file, 0), column(&dir, &file, 1));
            assert!(times.is_sorted_by(|a, b| a < b), "a row per window: {times:?}");
            let full = samples as usize;
            assert!(times.len() - full <= 1, "only the last window is not full: {times:?}");
            let (times, rates) = (&times[..full], &rates[..full]);
            assert!(times.iter().all(|time| time % window == 0), "{times:?}");
            let sum = rates.iter().sum::<u64>();
            is_all(sum * window / 1000);
            assert!((mean - sum as f64 / samples as f64).abs() < 0.01, "{name} {log}: {mean}");
            assert_eq!(number(&report, &at(&format!("{log}_max"))), *rates.iter().max().unwrap());
            assert_eq!(number(&report, &at(&format!("{log}_min"))), *rates.iter().min().unwrap());
        }
    }
}

/// With `gtod_reduce`, windows end when the clock happens to be read: their rates are exact, but their mean is not that of the whole run.
#[test]
fn samples_in_text_and_terse_reports_are_those_of_the_document_and_add_up_to_the_ios() {
    let dir = TestDir::new();
    let mut jobs =
        "[global]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nrate_iops=5000\nbwavgtime=20\n".to_owned();
    jobs += "iopsavgtime=20\ntime_based\nruntime=1\n[a]\n[reduced]\ngtod_reduce=1\n";
    let formats = "--output-format=normal:text,json:document,terse:terse";
    dir.ferrio(&[formats, &dir.job(&jobs)]).run().succeeded();
    let (text, terse) = (dir.read("text"), dir.read("terse"));
    let report: serde_json::Value = serde_json::from_str(&dir.read("document")).unwrap();
    let number = |word: &str| word.parse::<f64>().unwrap();
    for (index, name) in ["a", "reduced"].into_iter().enumerate() {
        let at = |key: &str| report.pointer(&format!("/jobs/{index}/read/{key}")).unwrap().as_f64().unwrap();
        let part = text.split(&format!("\n{name}: (groupid=")).nth(1).unwrap();
        let row = terse.lines().find(|line| line.split(';').nth(2) == Some(name)).unwrap();
        let row: Vec<&str> = row.split(';').collect();
        for (log, total, unit) in [("iops", "total_ios", 1.0), ("bw", "io_kbytes", 4.0)] {
            let [samples, mean, min, max] =
                ["samples", "mean", "min", "max"].map(|key| at(&format!("{log}_{key}")));
            assert!(samples > 0.0 && min <= mean && mean <= max, "{name} {log}: {min} {mean} {max}");
            if name == "a" {
                let moved = mean * samples * 0.02;
                assert!((moved - at(total)).abs() <= unit + 0.5, "{log}: {moved} of {}", at(total));
            }
            let is_line = |line: &&str| line.trim_start().starts_with(log) && line.contains("samples=");
            let line = part.lines().find(is_line).unwrap();
            let figure = |key: &str| {
                let value = line.split(&format!("{key}=")).nth(1).unwrap();
                number(value.split([',', ' ']).find(|word| !word.is_empty()).unwrap())
            };
            assert_eq!([figure("min"), figure("max"), figure("samples")], [min, max, samples], "{line}");
            assert!((figure("avg") - mean).abs() <= 0.01, "{mean}: {line}");
            if log == "bw" {
                // Version 3: least, most, share, mean and deviation of the bandwidth of reads.
                assert_eq!([number(row[41]), number(row[42])], [min, max], "{row:?}");
                assert!((number(row[44]) - mean).abs() <= 0.01, "{mean}: {row:?}");
            }
        }
    }
}

#[test]
fn the_rate_of_a_partial_window_is_over_its_true_length() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--rw=randread", "--size=1g", "--bs=4k", "--rate_iops=5000"];
    // The job ends between the middle and the end of its only window.
    let logs =
        ["--time_based", "--runtime=1", "--log_avg_msec=1900", "--write_iops_log=x", "--write_bw_log=x"];
    let words = [&words[..], &logs, &["--output-format=json"]].concat();
    let report = dir.ferrio(&words).run().succeeded().json();
    for (log, total) in [("x_iops.1.log", "total_ios"), ("x_bw.1.log", "io_kbytes")] {
        let (times, rates) = (column(&dir, log, 0), column(&dir, log, 1));
        assert_eq!(times.len(), 1, "{times:?}");
        let total = number(&report, &format!("/jobs/0/read/{total}")) as f64;
        // The row has the next full millisecond, and a whole number.
        let length_ms = total * 1000.0 / rates[0] as f64;
        let late = times[0] as f64 - length_ms;
        assert!((-0.3..1.3).contains(&late), "{log}: {total} in {length_ms} ms, at {}", times[0]);
    }
}

#[test]
fn called_fio_the_histogram_log_has_no_row_of_a_partial_interval() {
    let dir = TestDir::new();
    let words = ["--as=fio", "--name=a", "--ioengine=null", "--size=1m", "--rw=read", "--bs=4k"];
    // No interval ends before the job does.
    let log = ["--write_hist_log=x", "--log_hist_msec=3600000"];
    dir.ferrio(&[&words[..], &log].concat()).run().succeeded();
    assert_eq!(dir.rows("x_clat_hist.1.log").len(), 0);
    dir.ferrio(&[&words[1..], &log].concat()).run().succeeded();
    assert_eq!(dir.rows("x_clat_hist.1.log").len(), 1, "called ferrio, all I/Os are counted");
}

#[test]
fn histograms_count_every_io() {
    let dir = TestDir::new();
    let words = ["--write_hist_log=x", "--log_hist_msec=20", "--log_hist_coarseness=6", "--write_lat_log=x"];
    dir.ferrio(&[&MIX[..], &["--rate_iops=2000,1000"], &words].concat()).run().succeeded();
    let histograms = dir.rows("x_clat_hist.1.log");
    let ios = dir.rows("x_clat.1.log");
    for direction in ["0", "1"] {
        let of = |rows: &[Vec<String>], at: usize| -> Vec<Vec<String>> {
            rows.iter().filter(|row| row[at] == direction).cloned().collect()
        };
        let (histograms, ios) = (of(&histograms, 1), of(&ios, 2));
        assert!(histograms.len() > 1 && histograms.iter().all(|row| row.len() == 3 + 29), "{histograms:?}");
        let counted: usize =
            histograms.iter().flat_map(|row| &row[3..]).map(|n| n.parse::<usize>().unwrap()).sum();
        assert_eq!(counted, ios.len(), "the rest is a row at the end");
        let last = &histograms[histograms.len() - 1];
        assert_eq!(last[2], if direction == "0" { "4096" } else { "8192" });
        assert!(last[0].parse::<u64>().unwrap() >= ios[ios.len() - 1][0].parse().unwrap());
    }
    let report = dir.ferrio(&[&MIX[..], &["--write_hist_log=y", "--output-format=json"]].concat()).run();
    assert!(number(&report.succeeded().json(), "/jobs/0/read/total_ios") > 0);
    assert_eq!(dir.rows("y_clat_hist.1.log").len(), 0, "without an interval the log stays empty");
}

#[test]
fn a_clock_that_does_not_exist_is_refused() {
    let dir = TestDir::new();
    let words = ["--write_lat_log=x", "--log_alternate_epoch=1", "--log_alternate_epoch_clock_id=999"];
    let run = dir.ferrio(&[&MIX[..], &words].concat()).run().ended_with(1);
    assert!(run.stderr.contains("there is no clock with the number 999"), "{}", run.stderr);
}

#[test]
fn jobs_of_a_group_write_one_log_of_their_sums() {
    let dir = TestDir::new();
    let job = "[global]\nioengine=null\nsize=1g\nrw=randread\nrate_iops=1000\nnumber_ios=1000\ngroup_reporting\n\
               write_iops_log=x\nwrite_bw_log=x\nwrite_lat_log=x\nlog_avg_msec=100\nlog_sum=1\n[a]\nnumjobs=2\n[b]\n";
    let report = dir.ferrio(&["--output-format=json", &dir.job(job)]).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 3000);
    assert_eq!(names(&dir), ["x_bw.log", "x_clat.log", "x_iops.log", "x_lat.log", "x_slat.log"]);
    for name in ["x_iops.log", "x_bw.log", "x_lat.log"] {
        let times = column(&dir, name, 0);
        assert!(times.len() > 1 && times.iter().all(|ms| ms % 100 == 0), "{name}: {times:?}");
        assert!(
            times.windows(2).all(|pair| pair[0] < pair[1]),
            "one row for each window of {name}: {times:?}"
        );
    }
    // A job alone has a thousand I/Os.
    let ios: u64 = column(&dir, "x_iops.log", 1).iter().map(|rate| rate / 10).sum();
    assert!((1001..=3300).contains(&ios), "{ios} of 3000 I/Os");
    let page = dir.ferrio(&["report", "x_iops.log", "x_bw.log", "-o", "-"]).run().succeeded().stdout;
    assert!(page.starts_with("<!doctype html>"));
}

#[test]
fn two_groups_write_two_logs_of_sums() {
    let dir = TestDir::new();
    let job = "[global]\nioengine=null\nsize=1g\nrw=randread\nrate_iops=1000\nnumber_ios=500\ngroup_reporting\nnumjobs=2\n\
               write_iops_log=x\nlog_avg_msec=100\nlog_sum=1\n[a]\n[b]\nnew_group\nrate_iops=4000\nnumber_ios=2000\n";
    dir.ferrio(&[&dir.job(job)]).run().succeeded();
    assert_eq!(names(&dir), ["x_iops.0.log", "x_iops.1.log"]);
    let ios = |name| column(&dir, name, 1).iter().map(|rate| rate / 10).sum::<u64>();
    let (slow, fast) = (ios("x_iops.0.log"), ios("x_iops.1.log"));
    // What is left at the end of a job has no window.
    assert!(
        (501..=1100).contains(&slow) && (2001..=4400).contains(&fast),
        "{slow} of 1000, {fast} of 4000 I/Os"
    );
}

#[test]
fn sums_without_windows_are_refused() {
    let dir = TestDir::new();
    let run = dir.ferrio(&[&MIX[..], &["--write_iops_log=x", "--log_sum=1"]].concat()).run().ended_with(1);
    assert!(
        run.stderr.contains("log_sum adds up windows, and log_avg_msec is their length"),
        "{}",
        run.stderr
    );
    assert_eq!(names(&dir), [""; 0]);
}
