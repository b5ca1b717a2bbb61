//! sysbench's command line: recognised, and answered with the job that does the same.
//!
//! ferrio does not run sysbench's tests, but each command line of its file test has a job with the same load.

mod job;

use std::ffi::OsString;
use std::path::Path;

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::Sources;

use super::subcommand::Invocation;
use crate::error::Error;
use crate::messages::print;
use job::Command;

/// What to know about sysbench's tests here; the answer of `ferrio help sysbench`.
pub const ABOUT: &str = "\
ferrio does not run sysbench's tests. For the test `fileio`, `ferrio sysbench`
followed by the arguments of sysbench prints a job file that does the same:

  ferrio sysbench fileio --file-test-mode=rndrw --threads=4 run

  sysbench                     option of a job
  --file-total-size=SIZE       size=SIZE
  --file-num=N                 nrfiles=N
  --file-block-size=SIZE       bs=SIZE
  --file-test-mode=seqwr       rw=write
                   seqrewr     rw=write, overwrite=1
                   seqrd       rw=read
                   rndrd       rw=randread
                   rndwr       rw=randwrite
                   rndrw       rw=randrw
  --file-rw-ratio=1.5          rwmixread=60
  --file-io-mode=async         ioengine=libaio, iodepth=N of --file-async-backlog
                 mmap          ioengine=mmap
  --file-extra-flags=direct    direct=1 (sync: sync=1, dsync: sync=dsync)
  --file-fsync-freq=N          fsync=N
  --file-fsync-mode=fdatasync  fdatasync=N
  --file-fsync-end             end_fsync=1
  --threads=N, --num-threads   numjobs=N
  --time=SECONDS, --max-time   runtime=SECONDS, time_based
  --events=N, --max-requests   number_ios, divided by numjobs; without time_based
  --rate=N, --tx-rate          rate_iops=N, rate_process=poisson
  prepare                      nothing: a job lays out its files
  cleanup                      unlink=1

The other tests (cpu, memory, threads, mutex) do not measure files.
";

/// Options of sysbench that fio does not have.
const OPTIONS: [&str; 19] = [
    "file-num",
    "file-block-size",
    "file-total-size",
    "file-test-mode",
    "file-io-mode",
    "file-async-backlog",
    "file-extra-flags",
    "file-fsync-freq",
    "file-fsync-all",
    "file-fsync-end",
    "file-fsync-mode",
    "file-merged-requests",
    "file-rw-ratio",
    "num-threads",
    "max-requests",
    "max-time",
    "tx-rate",
    "init-rng",
    "test",
];

/// The tests that are part of sysbench.
const TESTS: [&str; 5] = ["fileio", "cpu", "memory", "threads", "mutex"];

/// True if a command line without the word `sysbench` can only be one of sysbench.
pub fn is_meant(words: &[OsString]) -> bool {
    let is_option = |word: &OsString| {
        let word = word.to_string_lossy();
        let name = word.strip_prefix("--").map(|body| body.split_once('=').map_or(body, |(name, _)| name));
        name.is_some_and(|name| OPTIONS.contains(&name.replace('_', "-").as_str()))
    };
    let is_test = |word: &OsString| {
        let test = TESTS.iter().any(|test| word == test);
        test && words.len() > 1 && !Path::new(word).exists()
    };
    words.iter().any(is_option) || words.first().is_some_and(is_test)
}

/// Reports that there is no sysbench yet, and prints the job that does the same on standard output. The status is 1.
///
/// # Errors
/// Standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let words: Vec<String> =
        invocation.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (error, job) = match (Command { words: &words }).answer() {
        Ok((advice, job)) => {
            let error = Diagnostic::error("ferrio does not run the tests of sysbench yet", Origin::Builtin);
            (error.code("sysbench-command").help(advice), job)
        }
        Err(invalid) => (*invalid, None),
    };
    invocation.messages.show(&[error], &Sources::default());
    print(|out| out.write_all(job.unwrap_or_default().as_bytes()).map(|()| false))
}

impl Command<'_> {
    /// What to do instead, and the job of a test that can be one.
    ///
    /// # Errors
    /// A value of an option cannot be that of a job.
    fn answer(&self) -> Result<(&'static str, Option<String>), Box<Diagnostic>> {
        const TABLE: &str = "`ferrio help sysbench` shows how to write its test `fileio` as a job";
        match self.value(&["test"]).or_else(|| self.words().next()) {
            Some("fileio") => {}
            Some(test) if TESTS.contains(&test) => {
                return Ok((
                    "this test does not measure files, and ferrio measures only files and devices",
                    None,
                ));
            }
            // Options of files belong to no other test.
            _ if self.value(&OPTIONS).is_some() => {}
            _ => return Ok((TABLE, None)),
        }
        Ok(match self.words().last() {
            Some("prepare") => ("nothing has to be prepared: a job lays out its files before it runs", None),
            Some("cleanup") => ("add unlink=1 to the job, which then removes its files when it ends", None),
            Some("help") => (TABLE, None),
            _ => (
                "the job on standard output does the same: save it in a file and run `ferrio FILE`; \
                 `ferrio help sysbench` explains its lines",
                Some(self.job()?),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn meant(text: &str) -> bool {
        is_meant(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_of_sysbench_are_recognised() {
        for text in [
            "--test=fileio run",
            "fileio --threads=2 run",
            "fileio prepare",
            "--num-threads=4 --name=a",
            "cpu run",
        ] {
            assert!(meant(text), "{text}");
        }
        for text in
            ["fileio", "--name=a --threads=4", "run", "job.fio --rw=read", "--name=fileio", "--filename=test"]
        {
            assert!(!meant(text), "{text}");
        }
    }

    #[test]
    fn a_run_becomes_the_job_of_the_same_load() {
        let words = words(
            "--test=fileio --file-total-size=8G --file-test-mode=rndrw --file-rw-ratio=3 --file_num=16 \
             --file-extra-flags=direct --max-time=300 --max-requests=0 --num-threads=4 --file-fsync-freq=0 run",
        );
        insta::assert_snapshot!(Command { words: &words }.job().unwrap(), @r"
        [sysbench]
        rw=randrw
        rwmixread=75
        size=8G
        nrfiles=16
        filename_format=$jobname.0.$filenum
        overwrite=1
        file_service_type=random
        norandommap=1
        bs=16k
        direct=1
        end_fsync=1
        numjobs=4
        thread
        group_reporting
        time_based
        runtime=300
        ");
    }

    #[test]
    fn every_job_that_is_advised_can_be_planned() {
        for mode in ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"] {
            for more in [
                "",
                " --file-io-mode=async --file-extra-flags=direct,dsync",
                " --file-io-mode=mmap",
                " --rate=50 --events=9 --time=0 --file-fsync-all=on",
            ] {
                let words = words(&format!(
                    "fileio --file-test-mode={mode} --file-num=2 --file-total-size=1M --threads=2{more} run"
                ));
                let job = Command { words: &words }.job().unwrap();
                ferrio_plan::testing::plan_of(&job).unwrap_or_else(|problems| panic!("{job}: {problems:?}"));
            }
        }
    }

    #[test]
    fn values_that_no_job_can_have_are_refused() {
        for (option, why) in [
            ("file-rw-ratio=inf", "a finite number from 0"),
            ("file-rw-ratio=NaN", "a finite number from 0"),
            ("file-rw-ratio=-1", "a finite number from 0"),
            ("file-block-size=x", ""),
            ("file-total-size=8Q", ""),
            ("file-num=many", "a whole number"),
            ("threads=-4", "a whole number"),
            ("file-fsync-freq=x", "a whole number"),
            ("time=x", ""),
            ("file-test-mode=rndxx", "rndrw is expected"),
            ("file-io-mode=fast", "async or mmap"),
            ("file-extra-flags=direct,x", "direct, sync or dsync"),
        ] {
            let words = words(&format!("fileio --{option} run"));
            let message = Command { words: &words }.answer().unwrap_err().message;
            let (name, value) = option.split_once('=').unwrap();
            let value = value.rsplit(',').next().unwrap();
            let start = format!("invalid value `{value}` for sysbench's option `--{name}`: ");
            assert!(message.len() > start.len() && message.starts_with(&start), "{message}");
            assert!(message.contains(why), "{message}");
        }
        let huge = words("fileio --file-rw-ratio=1e308 run");
        assert!(Command { words: &huge }.job().unwrap().contains("rwmixread=100\n"));
    }

    #[test]
    fn other_words_get_an_answer_of_their_own() {
        let advice = |text: &str| {
            let words = words(text);
            let (advice, job) = Command { words: &words }.answer().unwrap();
            assert_eq!(job, None, "{text}");
            advice
        };
        assert!(advice("fileio prepare").contains("nothing has to be prepared"));
        assert!(advice("fileio cleanup").contains("unlink=1"));
        assert!(advice("cpu run").contains("measures only files"));
        assert!(advice("oltp_read_only run").contains("ferrio help sysbench"));
        assert!(advice("fileio help").contains("ferrio help sysbench"));
    }
}
