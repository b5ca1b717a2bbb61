//! The kinds of mistakes and messages, as programs see them: one table for the whole program.
//!
//! A code stays the same from version to version, whatever the message says. A new kind of mistake is a new row.

/// One kind of mistake or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Words joined by dashes.
    pub name: &'static str,
    /// What is the matter, one line.
    pub meaning: &'static str,
}

/// Codes about one subject.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Heading.
    pub name: &'static str,
    /// Its codes.
    pub codes: &'static [Code],
}

/// A table of subjects.
macro_rules! subjects {
    ($($subject:literal { $($name:literal: $meaning:literal;)+ })+) => {
        /// All codes, by subject.
        pub static SUBJECTS: &[Subject] = &[$(Subject {
            name: $subject,
            codes: &[$(Code { name: $name, meaning: $meaning }),+],
        }),+];
    };
}

subjects! {
    "Reading job files" {
        "unreadable-job-file": "a job file cannot be read";
        "not-utf-8": "text that is not UTF-8";
        "nul-byte": "a NUL byte in a job file";
        "byte-order-mark": "a job file begins with a byte order mark";
        "long-line": "a line is too long";
        "long-name": "the name of a section is too long";
        "unclosed-section": "a section header without `]`";
        "bracket-in-section": "a section name with a `]` in it";
        "global-in-capitals": "a section is a job, but its name looks like that of the globals";
        "text-after-section": "text behind the `]` of a section header";
        "not-an-option": "a line that is no section header, option or comment";
        "outside-section": "an option before the first section";
        "unreadable-include": "an include file does not exist or cannot be read";
        "circular-include": "an include file includes itself, perhaps by way of others";
        "deep-include": "include files are nested too deeply";
        "endless-include": "include files have too many lines";
        "section-in-include": "an include file has a section header";
        "stdin-used-twice": "two job files or iologs are to be read from standard input";
    }
    "Options and values" {
        "unknown-option": "there is no such option";
        "option-of-other-engine": "the option belongs to an engine that the job does not use";
        "ambiguous-option": "a shortened option that may mean several";
        "deprecated-option": "the option does nothing any more, as in fio";
        "removed-option": "the option is refused, as in fio";
        "missing-value": "an option that needs a value has none";
        "empty-value": "a value is empty";
        "unwanted-value": "an option that takes no value has one";
        "invalid-value": "the value cannot be read";
        "not-a-number": "a number is expected";
        "out-of-range": "a number is too small or too large";
        "unknown-suffix": "letters behind a number that are no unit here";
        "not-a-choice": "a word that the option does not know";
        "invalid-verify-pattern": "the bytes of `verify_pattern` cannot be used";
        "invalid-steadystate-limit": "the limit behind the colon of `steadystate` cannot be used";
        "option-without-effect": "note: an option that changes nothing in the jobs it holds for";
        "argument-without-effect": "note: the text behind the colon of a value changes nothing";
        "job-dropped": "note: which job the mistakes before belong to";
        "too-many": "note: more mistakes than are shown";
    }
    "What this program does not have" {
        "unimplemented-option": "the option is not implemented yet";
        "unimplemented-value": "the option is not implemented yet with this value";
        "unimplemented-engine": "the engine is not implemented yet";
        "unimplemented-program-option": "the option of the program is not implemented yet";
        "unavailable-option": "the option cannot be had here, with the reason";
        "unavailable-value": "the option cannot be had here with this value, with the reason";
        "unavailable-engine": "the engine cannot be had here, with the reason";
        "unknown-engine": "there is no such engine";
        "engine-cannot-offload": "the engine cannot be used with io_submit_mode=offload";
    }
    "Files, sizes and blocks" {
        "not-a-directory": "`directory` or `opendir` names no directory";
        "too-many-files": "a job has more files than are possible";
        "mounted-device": "a job would write to a device that is mounted";
        "write-in-read-only-mode": "a job writes or trims, and `--readonly` is given";
        "size-below-block-size": "`size` is smaller than the smallest block";
        "block-size-too-large": "a block is larger than one request can move";
        "buffers-exceed-memory": "`iodepth` buffers of the largest block do not fit the memory of the machine";
        "alignment-not-a-power-of-two": "`iomem_align` is no power of two";
        "not-a-page-size": "`hugepage-size` is not the size of a page";
        "bssplit-below-bsrange": "`bssplit` has blocks below the smallest of `bsrange`";
        "bs-unaligned-with-verify": "`bs_unaligned` and `verify` exclude each other";
        "engine-cannot-append": "`file_append` with an engine whose files cannot grow";
        "engine-cannot-fill": "`fill_device` with an engine whose files cannot grow";
        "fill-at-random-without-size": "`fill_device` of a job that writes at random, without `size`";
        "opendir-files": "note: how many files `opendir` found";
        "file-ignored": "note: nothing is left of a file to work on";
        "offset-with-append": "note: `offset` of a job that appends to its files";
        "append-without-effect": "note: `file_append` on what is no regular file";
        "append-makes-one-pass": "note: `loops` of a job that appends to its files";
        "bs-unaligned-with-direct": "note: `bs_unaligned` with `direct=1`, which few devices take";
        "block-errors-of-several-files": "`block_error_percentiles` and a job of several files";
    }
    "Zones" {
        "zonesize-without-zonemode": "`zonesize` is given, but no `zonemode`";
        "zonemode-without-zonesize": "`zonemode=strided` without `zonesize`";
        "zoneskip-not-in-bytes": "`zoneskip` of `zonemode=strided` is not in bytes";
        "zones-laid-out-at-once": "`zonemode=zbd` with `create_serialize=0`";
        "zones-off": "note: zones are off because several files are open at once";
        "zone-remainders-with-random-map": "`write_zone_remainder` with `norandommap=0`";
    }
    "Random offsets" {
        "sprandom-without-random-writes": "`sprandom`, and the job does not write at random";
        "sprandom-with-other-generator": "`sprandom` with a `random_generator` other than lfsr";
        "sprandom-with-random-map": "`sprandom` with `norandommap=0`";
        "permute-with-distribution": "random_generator=permute with a `random_distribution` that repeats blocks";
        "permute-with-unequal-blocks": "random_generator=permute with block sizes or alignments that differ by direction";
        "permute-overlaps": "note: random_generator=permute with I/Os longer than the blocks it orders";
        "option-set-by-sprandom": "note: an option that `sprandom` sets";
        "random-map-off": "note: an alignment of its own turns the map of random blocks off";
        "generator-without-effect": "note: random_generator=lfsr with a `random_distribution` that does not use it";
        "generator-switched": "note: a file has more blocks than the generator can name, another one is used";
        "file-exceeds-generator": "note: a file has more blocks than the generator can name";
        "offsets-beyond-file": "note: a distribution or a zone names offsets beyond the end of a file";
    }
    "Contents and verification" {
        "dedupe-without-size": "`dedupe_mode=working_set` without `size`";
        "dedupe-of-several-files": "`dedupe_mode=working_set` and a job of several files";
        "dedupe-above-100-percent": "duplicates and working set make more than 100 percent";
        "dedupe-exceeds-memory": "the table of the dedupe working set needs more memory than the machine can spare";
        "dedupe-global-without-seed": "`dedupe_global` and a job whose seeds come from the system";
        "verify-offset-beyond-interval": "`verify_offset` moves the header out of the verify interval";
        "verify-offset-in-header": "`verify_offset` is inside the header itself";
        "verify-without-pattern": "the `verify` method needs `verify_pattern`";
        "verify-limited": "note: blocks of several sizes are verified without a map";
        "verify-shared-file": "note: several jobs write to a file and verify it";
        "verify-never-runs": "note: writing uses all of `runtime`, nothing is verified after it";
        "replay-overrides-recording": "note: `write_iolog` beside `read_iolog`";
        "stream-not-read-ahead": "note: `pre_read` with an engine that cannot seek";
    }
    "Trims, atomic writes and placement" {
        "trimwrite-with-ranges": "`num_range` above 1 with `rw=trimwrite`";
        "engine-without-ranges": "`num_range` above 1 with an engine that trims one range at a time";
        "engine-without-atomic-writes": "`atomic` with an engine that has no atomic writes";
        "fdp-with-other-placement": "`fdp` together with another `dataplacement`";
    }
    "Rates and times" {
        "rate-in-bytes-and-ios": "`rate` and `rate_iops`, or both of their minimums";
        "minimum-above-rate": "a minimum rate above the rate";
        "poisson-without-rate": "`rate_process=poisson`, and a direction has no rate or less than a block a second";
        "latency-limit-without-latencies": "`max_latency` or `latency_target`, and latencies are not measured";
        "ramp-in-time-and-bytes": "`ramp_time` and `ramp_size`";
        "ramp-size-differs-in-group": "jobs of one group with different `ramp_size`";
        "steadystate-interval-too-short": "`steadystate_check_interval` below a second";
        "steadystate-duration-not-of-intervals": "`steadystate_duration` is no multiple of the check interval, or not above it";
        "steadystate-duration-too-long": "`steadystate_duration` has more checks than are kept";
        "steadystate-interval-differs": "jobs with different `steadystate_check_interval`";
        "steadystate-differs-in-group": "jobs of one group with different steady states";
        "steadystate-without-latencies": "a steady state of latencies, which are not measured";
        "time-based-without-runtime": "note: `time_based` without `runtime`";
        "no-such-clock": "`log_alternate_epoch_clock_id` or `job_start_clock_id` is no clock of this machine";
    }
    "Jobs among each other, CPUs and memory" {
        "too-many-jobs": "more jobs, clones included, than are possible";
        "waits-for-itself": "`wait_for` names the job itself";
        "waits-for-unknown-job": "`wait_for` names no job defined before";
        "waits-for-ambiguous-name": "`wait_for` names several jobs";
        "percentiles-differ-in-group": "jobs that report as one differ in `lat_percentiles`";
        "units-differ-in-group": "note: jobs that report as one differ in `kb_base` or `unit_base`";
        "percentiles-cut": "note: `percentile_list` has more percentiles than are reported";
        "empty-log": "note: a log stays empty, or counts nothing, for what is not measured";
        "histograms-stored-as-text": "note: `log_store_compressed` does not compress logs of histograms";
        "iodepth-sync-engine": "note: `iodepth` above 1 with an engine that has one I/O in flight";
        "cpus-overridden": "note: `numa_cpu_nodes` decides where a job runs, not `cpus_allowed`";
        "issue-time-without-offsets": "`log_issue_time` without `write_lat_log` and `log_offset`";
        "no-such-cpu": "`cpus_allowed` or `log_compression_cpus` names a CPU that is not there, or none";
        "invalid-numa-nodes": "`numa_cpu_nodes` or `numa_mem_policy` names a node that is not there, or none";
    }
    "Command line" {
        "no-jobs": "nothing to run";
        "nothing-to-check": "`check` together with an option that asks for something else";
        "invalid-command": "`man` or `completions` is not written as it should be";
        "invalid-program-option": "an option of the program cannot be used like this";
        "not-found": "a question about an option, engine or checksum that is not there";
        "output-error": "the report cannot be written";
        "unreadable-log": "the log of `--inflate-log` cannot be read, is cut off or no compressed log";
        "fatal-warning": "a warning, and `--warnings-fatal` is given";
    }
    "Figures that may mislead" {
        "short-run": "jobs ran for less than a second";
        "few-ios": "a 99.9th or higher percentile rests on fewer than 1000 samples";
        "cached-reads": "reads came from the page cache and not from the device";
        "buffered-writes": "writes were still in memory when the run ended";
        "sparse-reads": "reads were of holes and came from no device";
        "memory-device": "the files lie in memory";
        "cached-device": "a loop device keeps what it reads and writes in the page cache";
        "worker-saturated": "a worker on a device used a processor nearly all the time";
        "cpus-saturated": "the run kept all processors of the machine busy";
        "clock-not-invariant": "there is no time stamp counter to rely on, times are taken by a call of the kernel";
        "rate-not-held": "a job was slower than its `rate` or `rate_iops` by more than a percent";
        "other-disk-load": "the disk moved clearly more data than the jobs did";
        "other-cpu-load": "other programs or other machines used much of the processors' time";
    }
    "While jobs run" {
        "note": "something to know";
        "no-effect": "an option of the program that does nothing";
        "signals-not-watched": "signals cannot be watched: Ctrl-C ends the run without a report";
        "no-cpu-idleness": "the idleness of the CPUs cannot be measured";
        "no-interim-report": "a report of the run so far is wanted in a format of which there can be only one";
        "trigger": "the trigger ends the run";
        "trigger-failed": "the command of the trigger failed or cannot be run";
        "verify-state-not-saved": "the trigger ends jobs that verify, and how far they had written is not saved";
        "job-not-set-up": "a job cannot be set up and does no I/O";
        "invalid-workload": "no sequence of I/Os can be made for the job";
        "invalid-verify": "the verify options of a job cannot be used";
        "file-not-laid-out": "a file of a job cannot be created or extended";
        "file-not-extended": "a file is too short for the job and may not be extended";
        "file-not-reserved": "the space of a file cannot be reserved (`fallocate`)";
        "file-too-short": "a file ends before an I/O of the job";
        "file-not-synced": "a file cannot be made durable";
        "file-not-removed": "`unlink` cannot remove a file";
        "cache-not-dropped": "the page cache of a file cannot be dropped (`invalidate`)";
        "advice-not-applied": "advice on the access pattern (`fadvise_hint`) is refused or not applied";
        "direct-io-refused": "a file system or device refuses direct I/O";
        "too-many-open-files": "a job opens more files than it may";
        "engine-failed": "an engine cannot be set up or cannot use a file: what to do";
        "engine-fallback": "an engine does its work by way of another one";
        "private-mapping": "`thp` maps files privately: writes do not reach them";
        "random-map-dropped": "there is no memory for the random map: blocks may be repeated";
        "blocks-not-followed": "there is no memory to follow the blocks of `block_error_percentiles`";
        "priority-refused": "an I/O priority or nice value needs a privilege or a newer kernel";
        "command-output": "where the output of `exec_prerun` or `exec_postrun` is saved";
        "command-failed": "`exec_prerun` or `exec_postrun` failed or cannot be run";
        "iolog-not-written": "the I/O log of `write_iolog` cannot be written";
        "rate-below-minimum": "a job is slower than its `rate_min` or `rate_iops_min`";
        "latency-above-maximum": "an I/O takes longer than `max_latency` or `latency_target` allows";
        "latency-target-not-met": "`latency_target` is not met even at depth 1";
        "debug": "a line of `--debug`";
        "io-error": "an I/O failed";
        "log-error": "a log cannot be created or not written to its end; the jobs go on";
        "verify-mismatch": "a block is not what was written";
        "job-failed": "a job ended with an error";
        "terminating": "a signal ends the run";
        "invalid-job": "a mistake without a code of its own";
    }
}

/// The row of a code.
#[must_use]
pub fn find(name: &str) -> Option<&'static Code> {
    SUBJECTS.iter().flat_map(|subject| subject.codes).find(|code| code.name == name)
}

/// Whether a code is in the table.
#[must_use]
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_joined_by_dashes_and_stand_once() {
        let mut names: Vec<_> =
            SUBJECTS.iter().flat_map(|subject| subject.codes).map(|code| code.name).collect();
        let is_code = |name: &str| {
            let word = |word: &str| {
                !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            };
            name.split('-').all(word)
        };
        assert!(names.iter().all(|name| is_code(name)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
