//! Compressed logs: `log_compression`, `log_store_compressed`, `log_compression_cpus` and `--inflate-log`, side by side with real fio.

use std::fs;

use nix::sys::signal::Signal;

use crate::support::{Run, TestDir, number, same};

/// A job that reads and writes 1 MiB of nothing, in order.
const MIX: [&str; 5] = ["--name=a", "--ioengine=null", "--size=1m", "--rw=rw", "--bs=4k,8k"];

/// Names of the files in the work directory, without the report of fio.
fn names(dir: &TestDir) -> Vec<String> {
    dir.files().into_iter().map(|(name, _)| name).collect()
}

fn inflate(dir: &TestDir, name: &str) -> Run {
    dir.ferrio(&["--inflate-log", name]).run()
}

/// What of each row does not depend on time.
fn settled(text: &str) -> Vec<String> {
    text.lines().map(|line| line.splitn(3, ", ").nth(2).unwrap_or_default().to_owned()).collect()
}

#[test]
fn stored_logs_inflate_to_the_rows_of_fio() {
    needs!("fio");
    let logs = ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--log_store_compressed=1"];
    for more in
        [&["--log_compression=1k"][..], &[], &["--log_offset=1", "--log_compression=64k"], &["--log_prio=1"]]
    {
        let words = [&MIX[..], &logs, more].concat();
        let dir = TestDir::new();
        dir.ferrio(&words).run().succeeded();
        let theirs = TestDir::new();
        theirs.fio(&words).run().succeeded();
        same!("fio": names(&theirs), "ferrio": names(&dir), "{more:?}");
        for name in names(&dir) {
            let ferrio = inflate(&dir, &name).succeeded().stdout;
            let fio = theirs.fio(&["--inflate-log", &name]).run().stdout;
            same!("fio": settled(&fio), "ferrio": settled(&ferrio), "{name} with {more:?}");
            // Records of fio 3.33 are shorter.
            let read = inflate(&theirs, &name).succeeded().stdout;
            same!("fio": fio, "ferrio": read, "{name} of fio with {more:?}");
        }
    }
}

#[test]
fn stored_logs_are_zlib_streams_of_records() {
    needs!("python3");
    let dir = TestDir::new();
    let words = ["--write_lat_log=x", "--log_store_compressed=1", "--log_compression=1k", "--log_offset=1"];
    dir.ferrio(&[&MIX[..], &words].concat()).run().succeeded();
    let script = "import sys, zlib, struct\n\
         data, sizes, rows = open('x_clat.1.log.fz', 'rb').read(), [], []\n\
         while data:\n\
         \u{20}   stream = zlib.decompressobj()\n\
         \u{20}   records = stream.decompress(data)\n\
         \u{20}   assert stream.eof\n\
         \u{20}   data = stream.unused_data\n\
         \u{20}   sizes.append(len(records))\n\
         \u{20}   rows += struct.iter_unpack('<QQQIHHQQ', records)\n\
         assert all(size <= 1024 and size % 48 == 0 for size in sizes), sizes\n\
         for time, value, most, kind, prio, nothing, bs, offset in rows:\n\
         \u{20}   assert (kind >> 28, most, prio, nothing) == (8, 0, 0, 0)\n\
         \u{20}   print(time, value, kind & 0xfffffff, bs, offset, 0, sep=', ')\n";
    let python = dir.program("python3", &["-c", script]).run().succeeded();
    let inflated = inflate(&dir, "x_clat.1.log.fz").succeeded();
    assert!(inflated.stdout.lines().count() > 100);
    assert_eq!(python.stdout, inflated.stdout);
}

#[test]
fn all_columns_survive_compression() {
    let dir = TestDir::new();
    let more = ["--write_lat_log=x", "--log_offset=1", "--log_issue_time=1", "--log_window_value=both"];
    dir.ferrio(&[&MIX[..], &more, &["--log_store_compressed=1"]].concat()).run().succeeded();
    let text = inflate(&dir, "x_clat.1.log.fz").succeeded().stdout;
    let rows: Vec<Vec<u64>> =
        text.lines().map(|line| line.split(", ").map(|number| number.parse().unwrap()).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 8), "{text}");
    let issued: Vec<u64> = rows.iter().map(|row| row[7]).collect();
    assert!(issued.is_sorted() && issued[0] < issued[issued.len() - 1], "{issued:?}");
}

#[test]
fn compression_alone_changes_rates_in_windows_and_nothing_else() {
    needs!("fio");
    let logs = ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--log_compression=64k"];
    let slow = ["--rate_iops=2000,1000", "--log_avg_msec=40", "--output-format=json"];
    let run = |fio: bool, more: &[&str]| {
        let dir = TestDir::new();
        let words = [&MIX[..], &logs, more].concat();
        let run = if fio { dir.fio(&words).run() } else { dir.ferrio(&words).run() };
        (run.succeeded(), dir)
    };
    for (name, columns) in [("x_clat.1.log", 5), ("x_bw.1.log", 5)] {
        let read = |fio| fs::read_to_string(run(fio, &[]).1.work().join(name)).unwrap();
        let (fio, ferrio) = (read(true), read(false));
        same!("fio": settled(&fio), "ferrio": settled(&ferrio), "{name}");
        assert!(ferrio.lines().all(|line| line.split(", ").count() == columns));
    }
    for fio in [true, false] {
        let (ran, dir) = run(fio, &slow);
        // Each I/O is a sample of the rates, and each window has the mean of ones.
        let report = ran.json();
        for direction in ["read", "write"] {
            let ios = number(&report, &format!("/jobs/0/{direction}/total_ios"));
            assert_eq!(number(&report, &format!("/jobs/0/{direction}/iops_samples")), ios);
            assert_eq!(number(&report, &format!("/jobs/0/{direction}/bw_samples")), ios);
        }
        let rows = dir.rows("x_iops.1.log");
        assert!(rows.len() >= 2 && rows.iter().all(|row| row[1] == "1"), "{rows:?}");
    }
}

#[test]
fn a_bandwidth_log_has_windows_of_its_own_interval_and_latencies_keep_theirs() {
    needs!("fio");
    let more = ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--log_compression=1k"];
    let windows = ["--rate_iops=2000,1000", "--size=6m", "--log_avg_msec=100", "--bwavgtime=10"];
    let rows = |fio: bool| {
        let dir = TestDir::new();
        let words = [&MIX[..], &more, &windows].concat();
        if fio {
            dir.fio(&words).run().succeeded()
        } else {
            dir.ferrio(&words).run().succeeded()
        };
        ["bw", "iops", "clat"].map(|kind| dir.rows(&format!("x_{kind}.1.log")).len())
    };
    for [bw, iops, clat] in [rows(true), rows(false)] {
        assert!(bw >= 2 * iops && bw >= 2 * clat, "{bw} rows of 10 ms, {iops} and {clat} of 100 ms");
    }
}

#[test]
fn files_that_are_no_whole_compressed_log_are_answered() {
    let dir = TestDir::new();
    let run = inflate(&dir, "none.fz").ended_with(1);
    assert!(run.stderr.contains("fopen: No such file or directory"), "{}", run.stderr);
    fs::write(dir.work().join("text"), "this is no log\n").unwrap();
    let run = inflate(&dir, "text").ended_with(1);
    assert!(run.stderr.contains("failed inflating log: -3"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    fs::write(dir.work().join("empty"), "").unwrap();
    assert_eq!(inflate(&dir, "empty").succeeded().stdout, "");
    let words = ["--write_lat_log=x", "--log_store_compressed=1", "--log_compression=1k"];
    dir.ferrio(&[&MIX[..], &words].concat()).run().succeeded();
    let log = fs::read(dir.work().join("x_lat.1.log.fz")).unwrap();
    fs::write(dir.work().join("half"), &log[..log.len() / 2]).unwrap();
    let whole = inflate(&dir, "x_lat.1.log.fz").succeeded().stdout;
    let run = inflate(&dir, "half").ended_with(1);
    assert!(whole.starts_with(&run.stdout) && !run.stdout.is_empty() && run.stdout.ends_with('\n'));
    assert!(run.stderr.contains("failed inflating log: -5: truncated"), "{}", run.stderr);
}

#[test]
fn the_writer_of_logs_runs_on_the_cpus_that_jobs_name() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\nsize=1m\ntime_based\nruntime=1h\nrate_iops=1000\nwrite_lat_log\n\
         log_compression=4k\n[a]\nlog_compression_cpus=0\n[b]\n[c]\nlog_compression_cpus=0\n",
    );
    let mut running = dir.ferrio(&[&job]).start();
    let pid = running.pid();
    let allowed = || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let mut statuses =
            tasks.map(|task| fs::read_to_string(task.unwrap().path().join("status")).unwrap_or_default());
        let status = statuses.find(|status| status.starts_with("Name:\tferrio-logs\n"))?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(list.trim().to_owned())
    };
    // The run handles signals once its three workers exist, beside the main thread and the writer.
    let threads = || fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    running.until("the writer is pinned", || threads() >= 5 && allowed().as_deref() == Some("0"));
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    let words = ["--write_lat_log=x", "--log_compression=1k", "--log_compression_cpus=4000"];
    let run = dir.ferrio(&[&MIX[..], &words].concat()).run().ended_with(1);
    assert!(run.stderr.contains("4000"), "{}", run.stderr);
}

#[test]
fn options_of_compression_are_checked_and_told_when_they_do_nothing() {
    let dir = TestDir::new();
    for (more, why) in [("--log_compression=100", "1024"), ("--log_compression=513m", "536870912")] {
        let run = dir.ferrio(&[&MIX[..], &["--write_lat_log=x", more]].concat()).run().ended_with(1);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    let run = dir.ferrio(&[&MIX[..], &["--log_compression=1k"]].concat()).run().succeeded();
    assert!(run.stderr.contains("`log_compression` has no effect here"), "{}", run.stderr);
}
