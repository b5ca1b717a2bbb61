//! The job file with the load of a command line of sysbench.

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{Opt, check_value};

/// A command line of sysbench, as far as it matters to a job.
pub(super) struct Command<'a> {
    pub(super) words: &'a [String],
}

impl<'a> Command<'a> {
    /// The first of these options that is given, and its last value.
    fn given<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &'a str)> {
        let of = |wanted: &str| {
            let given = self.words.iter().rev().filter_map(|word| word.strip_prefix("--"));
            let mut pairs = given.map(|body| body.split_once('=').unwrap_or((body, "on")));
            pairs.find(|(name, _)| name.replace('_', "-") == wanted).map(|(_, value)| value)
        };
        names.iter().find_map(|name| Some((*name, of(name)?)))
    }

    /// The last value of the first of these options that is given.
    pub(super) fn value(&self, names: &[&str]) -> Option<&'a str> {
        self.given(names).map(|(_, value)| value)
    }

    /// A number; without the option, or with 0, there is none.
    fn count(&self, names: &[&str]) -> Result<Option<u64>, Box<Diagnostic>> {
        let Some((name, text)) = self.given(names) else { return Ok(None) };
        match text.parse() {
            Ok(count) => Ok(Some(count).filter(|&count| count > 0)),
            Err(_) => Err(invalid(name, text, "a whole number from 0 is expected")),
        }
    }

    /// The value of an option that becomes that of an option of the job.
    fn checked(&self, names: &[&str], default: &'a str, opt: Opt) -> Result<&'a str, Box<Diagnostic>> {
        let Some((name, text)) = self.given(names) else { return Ok(default) };
        match check_value(opt, text) {
            Ok(()) => Ok(text),
            Err((why, help)) => {
                let error = invalid(name, text, &why);
                Err(if let Some(help) = help { Box::new(error.help(help)) } else { error })
            }
        }
    }

    /// The share of reads in percent, of a ratio of reads to writes.
    fn read_share(&self) -> Result<f64, Box<Diagnostic>> {
        const RATIO: &str = "file-rw-ratio";
        let text = self.value(&[RATIO]).unwrap_or("1.5");
        match text.parse::<f64>() {
            Ok(ratio) if ratio.is_finite() && ratio >= 0.0 => Ok(100.0 * (ratio / (1.0 + ratio))),
            _ => Err(invalid(RATIO, text, "a finite number from 0 is expected, such as 1.5")),
        }
    }

    fn switch(&self, name: &str, default: bool) -> bool {
        self.value(&[name]).map_or(default, |value| !matches!(value, "off" | "false" | "0"))
    }

    /// The words that are no options: the test, unless `--test` names it, and its command.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// The job file of `run`.
    pub(super) fn job(&self) -> Result<String, Box<Diagnostic>> {
        let mut lines = vec!["[sysbench]".to_owned()];
        let block = self.checked(&["file-block-size"], "16k", Opt::Bs)?;
        let reads_only = self.add_accesses(&mut lines)?;
        lines.push(format!("bs={block}"));
        self.add_engine(&mut lines)?;
        self.add_open_flags(&mut lines)?;
        if !reads_only {
            self.add_syncs(&mut lines)?;
        }
        self.add_threads_and_limits(&mut lines, block)?;
        Ok(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// Adds the direction and order of I/Os, and the files. True if the job only reads.
    fn add_accesses(&self, lines: &mut Vec<String>) -> Result<bool, Box<Diagnostic>> {
        let mode = self.value(&["file-test-mode"]).unwrap_or("rndrw");
        let (rw, random) = match mode {
            "seqwr" | "seqrewr" => ("write", false),
            "seqrd" => ("read", false),
            "rndrd" => ("randread", true),
            "rndwr" => ("randwrite", true),
            "rndrw" => ("randrw", true),
            _ => {
                let modes = "seqwr, seqrewr, seqrd, rndrd, rndwr or rndrw is expected";
                return Err(invalid("file-test-mode", mode, modes));
            }
        };
        let reads_only = matches!(mode, "seqrd" | "rndrd");
        lines.push(format!("rw={rw}"));
        if mode == "rndrw" {
            lines.push(format!("rwmixread={:.0}", self.read_share()?));
        }
        lines.push(format!("size={}", self.checked(&["file-total-size"], "2G", Opt::Size)?));
        lines.push(format!("nrfiles={}", self.count(&["file-num"])?.unwrap_or(128)));
        // All threads of sysbench use the same files.
        lines.push("filename_format=$jobname.0.$filenum".to_owned());
        if !reads_only && mode != "seqwr" {
            lines.push("overwrite=1".to_owned());
        }
        lines.push(format!("file_service_type={}", if random { "random" } else { "sequential" }));
        if random {
            lines.push("norandommap=1".to_owned());
        }
        Ok(reads_only)
    }

    fn add_engine(&self, lines: &mut Vec<String>) -> Result<(), Box<Diagnostic>> {
        match self.value(&["file-io-mode"]) {
            Some("async") => {
                lines.push("ioengine=libaio".to_owned());
                lines.push(format!("iodepth={}", self.count(&["file-async-backlog"])?.unwrap_or(128)));
            }
            Some("mmap") => lines.push("ioengine=mmap".to_owned()),
            None | Some("sync") => {}
            Some(other) => return Err(invalid("file-io-mode", other, "sync, async or mmap is expected")),
        }
        Ok(())
    }

    fn add_open_flags(&self, lines: &mut Vec<String>) -> Result<(), Box<Diagnostic>> {
        for flag in self.value(&["file-extra-flags"]).unwrap_or_default().split(',') {
            match flag {
                "direct" => lines.push("direct=1".to_owned()),
                "sync" => lines.push("sync=1".to_owned()),
                "dsync" => lines.push("sync=dsync".to_owned()),
                "" => {}
                other => return Err(invalid("file-extra-flags", other, "direct, sync or dsync is expected")),
            }
        }
        Ok(())
    }

    fn add_syncs(&self, lines: &mut Vec<String>) -> Result<(), Box<Diagnostic>> {
        let all = self.switch("file-fsync-all", false);
        let sync = if self.value(&["file-fsync-mode"]) == Some("fdatasync") { "fdatasync" } else { "fsync" };
        let freq = self.count(&["file-fsync-freq"])?;
        let every = match self.value(&["file-fsync-freq"]) {
            _ if all => 1,
            Some(_) => freq.unwrap_or(0),
            None => 100,
        };
        if every > 0 {
            lines.push(format!("{sync}={every}"));
        }
        if self.switch("file-fsync-end", true) && !all {
            lines.push("end_fsync=1".to_owned());
        }
        Ok(())
    }

    fn add_threads_and_limits(&self, lines: &mut Vec<String>, block: &str) -> Result<(), Box<Diagnostic>> {
        let threads = self.count(&["num-threads", "threads"])?.unwrap_or(1);
        lines.push(format!("numjobs={threads}"));
        lines.push("thread".to_owned());
        lines.push("group_reporting".to_owned());
        let events = self.count(&["max-requests", "events"])?;
        if let Some(events) = events {
            // sysbench counts the events of all threads, and repeats the files until they are done.
            let events = events.div_ceil(threads);
            lines.push(format!("number_ios={events}"));
            lines.push(format!("io_size=({events}*{block})"));
        }
        let time = self.checked(&["max-time", "time"], "10", Opt::Runtime)?;
        if time != "0" {
            if events.is_none() {
                lines.push("time_based".to_owned());
            }
            lines.push(format!("runtime={time}"));
        }
        if let Some(rate) = self.count(&["tx-rate", "rate"])? {
            lines.push(format!("rate_iops={rate}"));
            lines.push("rate_process=poisson".to_owned());
        }
        Ok(())
    }
}

/// The error about a value of one of sysbench's options.
fn invalid(name: &str, value: &str, why: &str) -> Box<Diagnostic> {
    let message = format!("invalid value `{value}` for sysbench's option `--{name}`: {why}");
    Box::new(Diagnostic::error(message, Origin::Builtin).code("invalid-program-option"))
}
