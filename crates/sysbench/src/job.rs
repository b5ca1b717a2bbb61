//! The job file with the load of a test of `fileio` (`--show-job`).
//!
//! It is as close as options of jobs come: fio counts the syncs of each file and the writes of each job, and draws reads and writes of a mix
//! at random.

use ferrio_job::OpenSync;
use ferrio_plan::sysbench::{FileIoMode, FileTest, SysbenchFileio};

use crate::general::GeneralOptions;

/// The text of the job file.
pub fn job(options: &SysbenchFileio, general: &GeneralOptions) -> String {
    let mut lines = vec!["[sysbench]".to_owned()];
    lines.extend(accesses(options));
    lines.extend(engine(options));
    lines.extend(syncs(options));
    lines.extend(threads_and_limits(options, general));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The share of writes.
fn writes(options: &SysbenchFileio) -> f64 {
    match options.test {
        FileTest::SequentialRead | FileTest::RandomRead => 0.0,
        FileTest::RandomMix => 1.0 / (1.0 + options.rw_ratio),
        FileTest::SequentialCreate | FileTest::SequentialRewrite | FileTest::RandomWrite => 1.0,
    }
}

fn accesses(options: &SysbenchFileio) -> Vec<String> {
    let (rw, random) = match options.test {
        FileTest::SequentialCreate | FileTest::SequentialRewrite => ("write", false),
        FileTest::SequentialRead => ("read", false),
        FileTest::RandomRead => ("randread", true),
        FileTest::RandomWrite => ("randwrite", true),
        FileTest::RandomMix => ("randrw", true),
    };
    let mut lines = vec![format!("rw={rw}")];
    if options.test == FileTest::RandomMix {
        lines.push(format!("rwmixread={:.0}", 100.0 * (1.0 - writes(options))));
    }
    let names: Vec<String> =
        (0..options.files).map(|index| SysbenchFileio::file_name(index).display().to_string()).collect();
    lines.push(format!("filename={}", names.join(":")));
    lines.push(format!("filesize={}", options.file_size()));
    lines.push(format!("size={}", options.file_size() * u64::from(options.files)));
    let merged = if random { 1 } else { u64::from(options.merged_requests.max(1)) };
    lines.push(format!("bs={}", options.block * merged));
    lines.push(format!("file_service_type={}", if random { "random" } else { "sequential" }));
    if random {
        lines.push("norandommap=1".to_owned());
    }
    if matches!(options.test, FileTest::SequentialRewrite | FileTest::RandomWrite | FileTest::RandomMix) {
        lines.push("overwrite=1".to_owned());
    }
    lines.extend(["invalidate=0", "fadvise_hint=0", "fallocate=none", "zero_buffers=1"].map(str::to_owned));
    lines
}

fn engine(options: &SysbenchFileio) -> Vec<String> {
    let mut lines = match options.io_mode {
        FileIoMode::Sync => vec!["ioengine=psync".to_owned()],
        FileIoMode::Async { backlog } => {
            vec![
                "ioengine=libaio".to_owned(),
                format!("iodepth={backlog}"),
                format!("iodepth_batch_complete_max={backlog}"),
            ]
        }
        FileIoMode::Mmap => vec!["ioengine=mmap".to_owned()],
    };
    match options.flags.open_sync() {
        OpenSync::Sync => lines.push("sync=1".to_owned()),
        OpenSync::Dsync => lines.push("sync=dsync".to_owned()),
        _ => {}
    }
    if options.flags.direct {
        lines.push("direct=1".to_owned());
    }
    lines
}

fn syncs(options: &SysbenchFileio) -> Vec<String> {
    if writes(options) == 0.0 {
        return Vec::new();
    }
    let sync = if options.fdatasync { "fdatasync" } else { "fsync" };
    // A job syncs one file after so many writes of its own; sysbench syncs all files after so many requests.
    let every = match options.fsync_all {
        true => 1.0,
        false => options.fsync_freq as f64 * writes(options) / f64::from(options.files),
    };
    let mut lines = Vec::new();
    if options.fsync_freq > 0 || options.fsync_all {
        if every < 1.0 {
            lines.push(format!(
                "# sysbench syncs {:.1} files for each write; a job syncs one at most",
                1.0 / every
            ));
        }
        lines.push(format!("{sync}={:.0}", every.round().max(1.0)));
    }
    if options.fsync_end {
        lines.push("end_fsync=1".to_owned());
    }
    lines
}

fn threads_and_limits(options: &SysbenchFileio, general: &GeneralOptions) -> Vec<String> {
    let threads = u64::from(general.threads);
    let mut lines = vec![format!("numjobs={threads}"), "thread=1".to_owned(), "group_reporting=1".to_owned()];
    match general.seed {
        Some(seed) => lines.push(format!("randseed={}", seed.unsigned_abs())),
        None => lines.push("randrepeat=0".to_owned()),
    }
    if let Some(events) = general.events {
        // sysbench counts the events of all threads, and repeats the files until they are done.
        let events = events.div_ceil(threads);
        lines.push(format!("number_ios={events}"));
        lines.push(format!("io_size={}", events.saturating_mul(options.block)));
    }
    if let Some(time) = general.time {
        if general.events.is_none() {
            lines.push("time_based=1".to_owned());
        }
        lines.push(format!("runtime={time}"));
    }
    if let Some(rate) = general.rate {
        lines.push(format!("rate_iops={}", u64::from(rate).div_ceil(threads)));
        lines.push("rate_process=poisson".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::SysbenchCommandLine;
    use crate::log::testing;

    fn job_of(text: &str) -> String {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (log, _, _) = testing::log();
        let line = SysbenchCommandLine::read(&words, &log).unwrap();
        let general = GeneralOptions::read(&line, &log).unwrap();
        let options = crate::fileio::read(&line, &general, true, &log).unwrap();
        job(&options, &general)
    }

    #[test]
    fn a_run_becomes_the_job_of_the_same_load() {
        let job = job_of(
            "--file-num=4 --file-total-size=64M --file-test-mode=rndrw --threads=4 --file-extra-flags=direct --time=1",
        );
        insta::assert_snapshot!(job, @r"
        [sysbench]
        rw=randrw
        rwmixread=60
        filename=test_file.0:test_file.1:test_file.2:test_file.3
        filesize=16777216
        size=67108864
        bs=16384
        file_service_type=random
        norandommap=1
        overwrite=1
        invalidate=0
        fadvise_hint=0
        fallocate=none
        zero_buffers=1
        ioengine=psync
        direct=1
        fsync=10
        end_fsync=1
        numjobs=4
        thread=1
        group_reporting=1
        randrepeat=0
        time_based=1
        runtime=1
        ");
    }

    #[test]
    fn every_job_can_be_planned() {
        for mode in ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"] {
            for more in [
                "",
                "--file-io-mode=async --file-extra-flags=direct,dsync",
                "--file-io-mode=mmap --file-fsync-freq=1 --file-fsync-mode=fdatasync",
                "--rate=50 --events=9 --time=0 --file-fsync-all --rand-seed=3",
            ] {
                let job = job_of(&format!(
                    "--file-test-mode={mode} --file-num=2 --file-total-size=1M --threads=2 {more}"
                ));
                ferrio_plan::testing::plan_of(&job).unwrap_or_else(|problems| panic!("{job}: {problems:?}"));
            }
        }
    }
}
