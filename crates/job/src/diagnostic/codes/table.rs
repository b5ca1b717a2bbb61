//! The codes of all messages, in one table for the whole program.
//!
//! A code is stable: it stays the same when the wording of its message changes. A new kind of message is a new row, which also says
//! where a program that is called `fio` shows it.

use super::{AsFio, Code, Subject};

/// A table of subjects. `lost_file` marks codes which mean that an output file is missing or incomplete ([`Code::means_lost_file`]).
macro_rules! subjects {
    ($($subject:literal { $($name:literal $as_fio:ident $($lost:ident)?: $meaning:literal;)+ })+) => {
        /// All codes, by subject.
        pub static SUBJECTS: &[Subject] = &[$(Subject {
            name: $subject,
            codes: &[$(Code {
                name: $name,
                meaning: $meaning,
                as_fio: AsFio::$as_fio,
                means_lost_file: subjects!(@ $($lost)?),
            }),+],
        }),+];
    };
    (@) => { false };
    (@ lost_file) => { true };
}

subjects! {
    "Reading job files" {
        "unreadable-job-file" Stderr: "a job file cannot be read";
        "not-utf-8" Stderr: "text is not UTF-8";
        "nul-byte" Stderr: "a job file contains a NUL byte";
        "byte-order-mark" Stderr: "a job file starts with a byte order mark";
        "long-line" Stderr: "a line is too long";
        "long-name" Stderr: "the name of a section is too long";
        "unclosed-section" Stderr: "a section header has no `]`";
        "bracket-in-section" Stderr: "a section name contains a `]`";
        "global-in-capitals" Hidden: "a section is a job, but its name looks like `global`";
        "text-after-section" Stderr: "text follows the `]` of a section header";
        "not-an-option" Stderr: "a line is not a section header, an option or a comment";
        "numbered-lines" Stderr: "the lines of a job file begin with their numbers";
        "unset-variable" Hidden: "a value names a variable that is not set, is empty, or is not UTF-8";
        "literal-variable" Hidden: "a value contains the name of a variable without braces, which is not replaced";
        "outside-section" Stderr: "an option precedes the first section";
        "unreadable-include" Stderr: "an include file does not exist or cannot be read";
        "circular-include" Stderr: "an include file includes itself, directly or through others";
        "deep-include" Stderr: "include files are nested too deeply";
        "endless-include" Stderr: "include files have too many lines in total";
        "section-in-include" Stderr: "an include file contains a section header";
        "stdin-used-twice" Stderr: "several job files or I/O logs would be read from stdin";
    }
    "Options and values" {
        "unknown-option" Stderr: "the option does not exist";
        "option-of-other-engine" Stderr: "the option belongs to an engine that the job does not use";
        "ambiguous-option" Stderr: "an abbreviated option matches several options";
        "deprecated-option" Report: "the option no longer has an effect, as in fio";
        "removed-option" Stderr: "the option is refused, as in fio";
        "missing-value" Stderr: "an option that needs a value has none";
        "empty-value" Stderr: "a value is empty";
        "unwanted-value" Stderr: "an option that takes no value has one";
        "invalid-value" Stderr: "the value cannot be parsed";
        "not-a-number" Stderr: "a number is expected";
        "out-of-range" Stderr: "a number is too small or too large";
        "unknown-suffix" Stderr: "the letters after a number are not a unit here";
        "not-a-choice" Stderr: "the option does not accept this word";
        "invalid-verify-pattern" Stderr: "the bytes of `verify_pattern` are invalid";
        "invalid-steadystate-limit" Stderr: "the limit after the colon of `steadystate` is invalid";
        "option-without-effect" Hidden: "note: an option that changes nothing in the jobs it applies to";
        "argument-without-effect" Hidden: "note: the text after the colon of a value changes nothing";
        "job-dropped" Stderr: "note: which job the preceding mistakes belong to";
        "too-many" Stderr: "note: there are more mistakes than shown";
    }
    "Not available" {
        "unimplemented-value" Stderr: "the option is not implemented yet with this value";
        "unimplemented-program-option" Stderr: "the command-line option is not implemented yet";
        "unavailable-option" Stderr: "the option is not available, for the reason given";
        "unavailable-value" Stderr: "the option is not available with this value, for the reason given";
        "unavailable-engine" Stderr: "the engine is not available, for the reason given";
        "external-engine-missing" Stderr: "there is no file at the path of `ioengine=external:PATH`";
        "unknown-engine" Stderr: "the engine does not exist";
        "endless-load" Hidden: "all jobs only make a load, and one of them has no run time";
        "cpuio-without-load" Stderr: "a job of engine `cpuio` has no `cpuload`";
        "exec-without-program" Stderr: "a job of engine `exec` has no `program`";
        "e4defrag-without-donor" Stderr: "a job of engine `e4defrag` has no `donorname`";
        "device-without-direct" Stderr: "`direct` is used with a device that has no page cache";
        "network-options-conflict" Stderr: "options of a network engine exclude each other, or one is missing";
        "http-options-conflict" Stderr: "options of engine `http` are missing or wrong";
        "passthrough-in-zones" Stderr: "`io_uring_cmd` is used with zones, which it does not know";
        "write-mode-without-writes" Stderr: "`write_mode` is used in a job that does not write";
        "apptag-mask" Stderr: "io_uring checks all bits of application tags, and `apptag_mask` says otherwise";
        "engine-cannot-offload" Stderr: "the engine does not support io_submit_mode=offload";
    }
    "Files, sizes and blocks" {
        "not-a-directory" Stderr: "`directory` or `opendir` does not name a directory";
        "unreadable-directory" Stderr: "a directory of `opendir`, or one below it, cannot be read";
        "too-many-files" Stderr: "a job has more files than the limit";
        "layout-overwrites" Stderr: "the layout of a job that only reads would replace a file that holds data";
        "missing-device" Stderr: "a job names a device that does not exist, and would create a regular file in its place";
        "mounted-device" Stderr: "a job would write to a device that is mounted or in use elsewhere";
        "write-in-read-only-mode" Stderr: "a job writes or trims with `--readonly`";
        "size-below-block-size" Stderr: "`size` is smaller than the smallest block";
        "block-size-too-large" Stderr: "a block size is 4 EiB or more";
        "buffers-exceed-memory" Stderr: "`iodepth` buffers of the largest block do not fit in the machine's memory";
        "alignment-not-a-power-of-two" Stderr: "`iomem_align` is not a power of two";
        "not-a-page-size" Stderr: "`hugepage-size` is not a page size";
        "bssplit-below-bsrange" Stderr: "`bssplit` has blocks smaller than the lower bound of `bsrange`";
        "engine-cannot-append" Stderr: "`file_append` is used with an engine whose files cannot grow";
        "engine-cannot-fill" Stderr: "`fill_device` is used with an engine whose files cannot grow";
        "fill-at-random-without-size" Stderr: "a job with `fill_device` writes at random offsets and has no `size`";
        "opendir-files" Report: "note: how many files `opendir` found";
        "files-not-examined" Report: "note: only some of many existing files were examined for the description";
        "file-ignored" Report: "note: the region that a job uses of a file is empty";
        "offset-with-append" Hidden: "note: `offset` has no effect in a job that appends to its files";
        "append-without-effect" Hidden: "note: `file_append` has no effect on anything but a regular file";
        "append-makes-one-pass" Hidden: "note: `loops` has no effect in a job that appends to its files";
        "bs-unaligned-with-direct" Stderr: "note: `bs_unaligned` with `direct=1`, which few devices accept";
        "block-errors-of-several-files" Stderr: "a job with `block_error_percentiles` has several files";
    }
    "Databases" {
        "option-of-databases" Stderr: "the option belongs to databases, and the job has no `workload`";
        "option-of-other-database" Stderr: "the model of the database lacks the option";
        "decided-by-workload" Stderr: "the option contradicts the model of a database";
        "engine-without-shared-files" Stderr: "the engine cannot be used for a database";
        "database-without-end" Stderr: "a database has neither `runtime` nor `transactions`";
        "database-options-conflict" Stderr: "options of a database exclude each other";
        "cleaner-buffers" Stderr: "`iodepth` is more than the buffers of a database's write-back have room for";
        "database-files" Stderr: "the files of a database cannot be used";
        "database-exceeds-free-space" Stderr: "the files of a database do not fit their file system";
    }
    "Zones" {
        "zonesize-without-zonemode" Stderr: "`zonesize` is used without `zonemode`";
        "zonemode-without-zonesize" Stderr: "`zonemode=strided` is used without `zonesize`";
        "zoneskip-not-in-bytes" Stderr: "`zoneskip` of `zonemode=strided` is not in bytes";
        "zones-without-zbd" Stderr: "a size or an offset is in zones without `zonemode=zbd`";
        "zbd-with-experimental-verify" Stderr: "`zonemode=zbd` is used with `experimental_verify`";
        "zbd-with-verify-only" Stderr: "`zonemode=zbd` is used with `verify_only`";
        "zbd-with-other-offsets" Stderr: "`zonemode=zbd` is used with an option that settles the offsets";
        "zbd-without-offsets" Stderr: "`zonemode=zbd` is used with an engine that has no offsets";
        "zbd-trims-of-several-sizes" Stderr: "a job with `zonemode=zbd` has trims of several sizes";
        "recovery-without-continuing" Stderr: "`recover_zbd_write_error` is used without `continue_on_error`";
        "recovery-with-verify" Stderr: "`recover_zbd_write_error` is used with `verify` and an asynchronous engine";
        "region-cut-to-zones" Report: "note: the region that a job writes is cut to whole zones";
        "no-zone-to-use" Hidden: "note: a job with `zonemode=zbd` has found no zone for its first I/O";
        "zones-not-reported" Stderr: "a device does not report its zones";
        "zone-not-reset" Stderr: "a device does not reset a zone";
        "zone-not-finished" Stderr: "a device does not finish a zone";
        "zone-not-repaired" Stderr: "a zone cannot be repaired after a failed write";
        "active-zones-exceeded" Stderr: "more zones are active than the device allows";
        "zones-laid-out-at-once" Stderr: "`zonemode=zbd` is used with `create_serialize=0`";
        "zones-off" Hidden: "note: `zonemode=strided` is off because `openfiles` is above 1";
        "zone-remainders-with-random-map" Stderr: "`write_zone_remainder` is used with `norandommap=0`";
    }
    "Random offsets" {
        "sprandom-without-random-writes" Stderr: "a job with `sprandom` does not write at random offsets";
        "sprandom-with-other-generator" Stderr: "`sprandom` is used with a `random_generator` other than lfsr";
        "sprandom-with-random-map" Stderr: "`sprandom` is used with `norandommap=0`";
        "sprandom-with-conflicting-option" Stderr: "`sprandom` is used with an option that chooses offsets or lengths, or repeats the job";
        "sprandom-with-several-files" Stderr: "a job with `sprandom` has several files";
        "sprandom-value-out-of-range" Stderr: "`spr_op` or `spr_num_regions` is out of range";
        "sprandom-regions-too-small" Stderr: "a region of `sprandom` is smaller than a block";
        "sprandom-regions-smaller-than-cache" Stderr: "`spr_cs` is larger than a region of `sprandom`";
        "sprandom-clones-overlap" Stderr: "clones of a job with `sprandom` write the same blocks";
        "permute-with-distribution" Stderr: "random_generator=permute is used with a `random_distribution` that repeats blocks";
        "permute-with-unequal-blocks" Stderr: "random_generator=permute is used with block sizes or alignments that differ by direction";
        "permute-overlaps" Hidden: "note: random_generator=permute with I/Os longer than the blocks it orders";
        "option-set-by-sprandom" Report: "note: an option that `sprandom` sets";
        "sprandom-may-end-early" Hidden: "note: `number_ios`, `runtime` or `steadystate` may end a job with `sprandom` early";
        "random-map-off" Stderr: "note: `blockalign` turns the map of random blocks off";
        "generator-without-effect" Hidden: "note: random_generator=lfsr with a `random_distribution` that does not use it";
        "generator-switched" Report: "note: a file has more blocks than the generator can number; another one is used";
        "file-exceeds-generator" Report: "note: a file has more blocks than the generator can number";
        "offsets-beyond-file" Hidden: "note: a distribution or a zone names offsets beyond the end of a file";
    }
    "Contents and verification" {
        "dedupe-without-size" Stderr: "`dedupe_mode=working_set` is used without `size`";
        "dedupe-of-several-files" Stderr: "a job with `dedupe_mode=working_set` has several files";
        "dedupe-above-100-percent" Stderr: "duplicates and working set add up to more than 100 percent";
        "dedupe-exceeds-memory" Stderr: "the table of the dedupe working set needs too much of the machine's memory";
        "dedupe-global-without-seed" Stderr: "`dedupe_global` is used while a job takes its seeds from the system";
        "verify-offset-beyond-interval" Stderr: "`verify_offset` moves the header out of the verify interval";
        "verify-interval-too-large" Stderr: "a block of 4 GiB or more is verified as a whole: headers have no room for its length";
        "verify-offset-in-header" Stderr: "`verify_offset` lies within the header itself";
        "verify-layout-without-digest" Stderr: "`verify_layout` asks for headers of releases that store no digest of this `verify` method";
        "verify-without-pattern" Stderr: "the `verify` method needs `verify_pattern`";
        "verify-limited" Stderr: "note: blocks of different sizes overlap, and a block that is partly overwritten is not verified";
        "verify-shared-file" Report: "note: several jobs write to a file and verify it";
        "verify-never-runs" Report: "note: writing uses all of `runtime`, so nothing is verified";
        "verify-cut-short" Hidden: "a job ended before all that it wrote was read back";
        "verify-checks-nothing" Hidden: "note: the options of a job leave nothing to verify";
        "merge-lists-differ" Stderr: "`merge_blktrace_scalars` or `merge_blktrace_iters` does not fit the traces of `read_iolog`";
        "replay-overrides-recording" Stderr: "note: `read_iolog` overrides `write_iolog`";
        "iolog-not-replayable" Stderr: "note: the log of `write_iolog` has file names that a replay cannot read";
        "stream-not-read-ahead" Report: "note: `pre_read` with an engine that cannot seek";
    }
    "Trims, atomic writes and placement" {
        "trimwrite-with-ranges" Stderr: "`num_range` above 1 is used with `rw=trimwrite`";
        "engine-without-ranges" Stderr: "`num_range` above 1 is used with an engine that trims one range at a time";
        "engine-without-atomic-writes" Stderr: "`atomic` is used with an engine that cannot ask for atomic writes";
        "fdp-with-other-placement" Stderr: "`fdp` is used together with another `dataplacement`";
    }
    "Rates and times" {
        "rate-in-bytes-and-ios" Stderr: "`rate` and `rate_iops`, or both of their minimums, are set";
        "minimum-above-rate" Stderr: "a minimum rate is above the rate";
        "poisson-without-rate" Stderr: "a direction of a job with `rate_process=poisson` has no rate, or less than one block per second";
        "latency-limit-without-latencies" Stderr: "`max_latency` or `latency_target` is set, but latencies are not measured";
        "ramp-in-time-and-bytes" Stderr: "both `ramp_time` and `ramp_size` are set";
        "ramp-size-differs-in-group" Stderr: "jobs of one group have different values of `ramp_size`";
        "steadystate-interval-too-short" Stderr: "`steadystate_check_interval` is below one second";
        "steadystate-duration-not-of-intervals" Stderr: "`steadystate_duration` is not a multiple of the check interval, or not above it";
        "steadystate-duration-too-long" Stderr: "`steadystate_duration` covers more checks than are kept";
        "steadystate-interval-differs" Stderr: "jobs have different values of `steadystate_check_interval`";
        "steadystate-differs-in-group" Stderr: "jobs of one group have different steady states";
        "steadystate-without-latencies" Stderr: "a steady state depends on latencies, which are not measured";
        "time-based-without-runtime" Stderr: "note: `time_based` without `runtime`";
        "no-such-clock" Stderr: "`log_alternate_epoch_clock_id` or `job_start_clock_id` is not a clock of this machine";
    }
    "Relations between jobs, CPUs and memory" {
        "too-many-jobs" Stderr: "there are too many jobs, clones included";
        "waits-for-itself" Stderr: "`wait_for` names the job itself";
        "waits-for-unknown-job" Stderr: "`wait_for` names no earlier job";
        "waits-for-other-host" Stderr: "`wait_for` names a job that runs on other hosts only";
        "host-not-in-run" Stderr: "`hosts` names a host that is not one of the run";
        "rank-not-in-run" Stderr: "`ranks` names a rank that is not in the run";
        "waits-for-ambiguous-name" Stderr: "`wait_for` names several jobs";
        "percentiles-differ-in-group" Stderr: "jobs with a common report differ in `lat_percentiles`";
        "units-differ-in-group" Report: "note: jobs with a common report differ in `kb_base` or `unit_base`";
        "percentiles-cut" Stderr: "note: `percentile_list` has more percentiles than are reported";
        "empty-log" Hidden: "note: a log stays empty, or its counts are all 0, because the job does not measure what it records";
        "histograms-stored-as-text" Hidden: "note: `log_store_compressed` does not compress logs of histograms";
        "iodepth-sync-engine" Report: "note: `iodepth` above 1 with an engine that has one I/O in flight";
        "cpus-overridden" Hidden: "note: `numa_cpu_nodes` decides where a job runs, not `cpus_allowed` or `cpumask`";
        "clock-needs-no-cpu" Hidden: "note: `gtod_cpu` without `cpus_allowed` or `cpumask` changes nothing";
        "lockmem-limited" Report: "note: `lockmem` is more memory than can be locked";
        "cgroup-conflict" Stderr: "jobs that run together ask for different cgroups or weights";
        "issue-time-without-offsets" Stderr: "`log_issue_time` is used without `write_lat_log` and `log_offset`";
        "log-sum-without-windows" Stderr: "`log_sum` is used without `log_avg_msec`";
        "log-sum-with-other-log" Stderr: "`log_sum` is combined with a log option whose rows cannot be added up";
        "log-sum-differs" Stderr: "jobs that share a log by `log_sum` differ in windows, columns or clocks";
        "no-such-cpu" Stderr: "an option names a CPU that does not exist, or none";
        "unsafe-file-name" Stderr: "a file would be made with control characters in its name, or outside of its directory because of the name of the job";
        "invalid-numa-nodes" Stderr: "`numa_cpu_nodes` or `numa_mem_policy` names a node that does not exist, or none";
    }
    "Command line" {
        "no-jobs" Stderr: "there is nothing to run";
        "nothing-to-check" Stderr: "`check` is combined with an option that requests something else";
        "sysbench-command" Stderr: "the command line is one of sysbench, without that word in front of it";
        "invalid-command" Stderr: "the arguments of `man` or `completions` are invalid";
        "invalid-program-option" Stderr: "a command-line option is used incorrectly";
        "job-left-out" Hidden: "`--section` skips a `--name` job that follows it";
        "section-not-found" Hidden: "`--section` names a section that does not exist";
        "unknown-job" Stderr: "`--set` names a job that does not exist";
        "invalid-sweep" Stderr: "runs cannot be repeated or swept as the command line says";
        "run-failed" Stderr: "a run of a series failed, and no more begin";
        "sweep-order" Hidden: "note: the order of the runs of a series";
        "repeat-precision" Hidden: "the precision that `--repeat=until:` reached: a note if it is the requested one, a warning if `max` came first";
        "sweep-results" Hidden: "note: where the reports of a series are";
        "invalid-threshold" Stderr: "an expression of `--fail-if` or `--abort-if` is invalid";
        "threshold-without-job" Stderr: "a threshold of `--fail-if` or `--abort-if` can apply to no job";
        "threshold-exceeded" Stderr: "a figure exceeds a threshold of `--fail-if` or `--abort-if`";
        "threshold-not-judged" Stderr: "the report lacks a figure that a threshold of `--fail-if` or `--abort-if` limits";
        "invalid-profile" Stderr: "`--profile` is combined with other jobs, or the options of the profile are invalid";
        "not-found" Stderr: "help, a description or a test is requested for a name that does not exist";
        "output-error" Stderr: "the report cannot be written";
        "unreadable-log" Stderr: "the log of `--inflate-log` cannot be read, is truncated or is not a compressed log";
        "fatal-warning" Stderr: "`--warnings-fatal` turns a warning into this error";
    }
    "Misleading figures" {
        "short-run" Hidden: "jobs ran for less than a second";
        "few-ios" Hidden: "a percentile from the 99.9th up is based on too few samples";
        "cached-reads" Hidden: "reads came from the page cache instead of the device";
        "buffered-writes" Hidden: "writes were still in memory when the run ended";
        "sparse-reads" Hidden: "reads hit holes and did not reach a device";
        "cheap-syncs" Hidden: "syncs returned before a device can have written anything";
        "memory-device" Hidden: "the files are in memory";
        "cached-device" Hidden: "a loop device caches its data in the page cache";
        "libaio-buffered" Hidden: "libaio without direct I/O submits I/Os one at a time, so that `iodepth` is not reached";
        "sizes-rounded" Hidden: "some sizes of `bssplit`, or between the bounds of `bsrange`, never occur: without `bs_unaligned`, sizes are multiples of the smallest one (the upper bound of a range excepted)";
        "worker-saturated" Hidden: "a job that tests a device kept a CPU busy nearly all the time";
        "cpus-saturated" Hidden: "the run kept all CPUs of the machine busy";
        "cpu-limit" Hidden: "the CPU limit of ferrio's control group, or of one above it, stopped threads of the group; the times, added over CPUs, are 1 % of the run or more";
        "cpu-heat" Hidden: "heat slowed down a CPU for 1 % of the run or more; known on Intel's CPUs only";
        "clock-not-invariant" Hidden: "there is no reliable time stamp counter, so each time stamp takes a system call";
        "rate-not-held" Hidden: "a job was more than one percent slower than its `rate`, `rate_iops` or `transaction_rate`";
        "write-back-limits" Hidden: "transactions spent half of their time or more waiting for the write-back";
        "no-transactions" Hidden: "a database ended no transaction in the time that counts";
        "write-back-afterwards" Hidden: "a database went on writing back for long after its last transaction";
        "straggler" Hidden: "a host was much slower than most of the others";
        "late-start" Hidden: "a host began a phase more than 1 ms after the planned time";
        "start-spread" Hidden: "jobs that were started together began their I/O far apart";
        "other-disk-load" Hidden: "the disk transferred clearly more data than the jobs did";
        "other-cpu-load" Hidden: "other programs or other virtual machines used much of the CPU time";
    }
    "Servers and clients" {
        "server-address" Stderr: "a server cannot listen at an address, or a client cannot reach it";
        "server-option" Stderr: "an option or an argument has no effect on a server";
        "server-daemon" Stderr: "a server cannot be started in the background";
        "server-token" Stderr: "the secret that clients and servers share cannot be read";
        "open-server" Stderr: "a server listens to other machines and wants no token: anyone who can reach it may run jobs";
        "foreign-peer" Stderr: "the other end of a connection speaks another protocol";
        "client-option" Stderr: "an option has no effect on jobs that run on servers, or none at its place on the command line";
        "client-jobs" Stderr: "there is no job file for a server, or there are job options on the command line, which are not sent to servers";
        "host-list" Stderr: "a file given to `--client` is not a list of hosts";
    }
    "While jobs run" {
        "note" Stderr: "general information";
        "no-effect" Hidden: "a command-line option has no effect";
        "signals-not-watched" Stderr: "signals cannot be watched, so Ctrl-C ends the run without a report";
        "process-continued" Hidden: "the program was stopped for a while, by SIGSTOP or Ctrl-Z, and its figures include that time";
        "no-cpu-idleness" Stderr: "CPU idleness cannot be measured";
        "metrics-address" Stderr: "the address at which `--metrics` serves the metrics of the run, or why it cannot";
        "run-aborted" Hidden: "warning: a threshold of `--abort-if` is exceeded, so all jobs end early";
        "several-processes" Hidden: "warning: a launcher such as mpirun has started several processes, each of which runs all jobs by itself (`--ranks=off`)";
        "no-interim-report" Stderr: "a report of a running job is requested in a format that allows only one report";
        "event-queue-full" Stderr: "events of a rate arrive faster than the jobs do them";
        "profile-failed" Hidden: "the devices failed the test of the profile `act`";
        "peer-vanished" Hidden: "note: the peer of a network job closed the connection without sending the close message";
        "disk-left-out" Hidden: "note: the counters of a disk cannot be read at the end of the run, so the report omits it";
        "status-file-not-removed" Hidden: "note: the file that requests a report cannot be removed, so none is printed";
        "trigger" Hidden: "the trigger ends the run";
        "trigger-unseen" Hidden: "warning: the file of the trigger cannot be looked for, so it cannot end the run";
        "trigger-failed" Hidden: "the trigger's command failed or cannot be run";
        "verify-state-not-saved" Stderr lost_file: "the verify state of a job cannot be saved; the jobs continue";
        "verify-state-not-removed" Stderr: "the verify state of an earlier run cannot be removed; the jobs continue";
        "verify-state-not-wanted" Stderr: "note: the trigger ends a job whose verify state is not saved, because `verify_state_save` is not set";
        "verify-state-not-loaded" Stderr: "the verify state of `verify_state_load` cannot be read";
        "verify-state-outdated" Stderr: "warning: the verify state of `verify_state_load` is older than what the job's files contain";
        "unreadable-state" Stderr: "a verify state cannot be shown by `ferrio verify-state`";
        "verify-state-advice" Hidden: "note: where `verify_state_load` looks for the verify state";
        "verify-stopped" Report: "note: checking stops where, by the verify state, writing had stopped";
        "job-not-set-up" Stderr: "a job cannot be set up and does no I/O";
        "invalid-workload" Stderr: "the job's I/O sequence cannot be generated";
        "verify-only-without-end" Stderr: "`verify_only` is used with `time_based`";
        "verify-only-with-trims" Stderr: "`verify_only` is used with trims of written blocks";
        "experimental-verify-impossible" Stderr: "`experimental_verify` cannot generate the writes of this job again";
        "invalid-verify" Stderr: "a job's verify options cannot be used";
        "file-not-laid-out" Stderr: "a file of a job cannot be created or extended";
        "file-not-extended" Stderr: "a file is too short for the job and may not be extended";
        "file-not-reserved" Stderr: "the space of a file cannot be reserved (`fallocate`)";
        "file-too-short" Stderr: "a file ends before an I/O of the job";
        "memory-limit" Stderr: "the memory limit of the control group leaves too little for the buffers of a job";
        "file-not-synced" Stderr: "a file cannot be synced to stable storage";
        "job-goes-on" Stderr: "note: a job has not ended 3 s after a signal; it may hang in the kernel. 2 s after another signal (not counting waits for a CPU), the run ends without it";
        "file-not-removed" Stderr: "`unlink` cannot remove a file";
        "file-not-read-ahead" Stderr: "a file cannot be read before the clock starts (`pre_read`)";
        "cache-not-dropped" Stderr: "the page cache of a file cannot be dropped (`invalidate`)";
        "write-hint-refused" Stderr: "the kernel refuses a hint about the lifetime of data (`write_hint`)";
        "advice-not-applied" Hidden: "advice about the access pattern (`fadvise_hint`) is refused or not applied";
        "splice-refused" Stderr: "a file system or device refuses splice(2)";
        "direct-io-refused" Stderr: "a file system or device refuses direct I/O";
        "too-many-open-files" Stderr: "a job opens more files than it may";
        "engine-failed" Stderr: "an engine cannot be set up or cannot use a file; the help says what to do";
        "http-proxy" Hidden: "note: requests go through a proxy that the environment names";
        "http-redirect" Hidden: "note: the server redirects, so that an I/O takes several requests";
        "waiting-for-peer" Report: "note: a job waits until its peer connects";
        "nbd-uri" Stderr: "`uri` of engine nbd is missing, or is no address of an export";
        "connected-to-server" Report: "note: a job is connected to its server";
        "engine-fallback" Hidden: "an engine is not available in this kernel and another one does its work";
        "private-mapping" Hidden: "`thp` maps files privately, so writes do not reach them";
        "random-map-dropped" Stderr: "there is no memory for the random map, so blocks may repeat";
        "blocks-not-followed" Stderr: "there is no memory to track the blocks of `block_error_percentiles`";
        "priority-refused" Stderr: "an I/O priority or nice value needs a privilege or a newer kernel";
        "too-many-workers" Stderr: "a limit of threads or of address space allows no more workers";
        "user-refused" Hidden: "the program may not change to the user or group of `uid` or `gid`";
        "cgroup-failed" Stderr: "the `cgroup` of a job cannot be created, joined or left";
        "io-scheduler-failed" Stderr: "the `ioscheduler` of a disk cannot be set";
        "no-io-scheduler" Hidden: "note: `ioscheduler` has no effect, because the files are not on a disk of this machine";
        "cpu-load" Report: "note: how a job of engine `cpuio` burns CPU time";
        "program" Report: "note: what a job of engine `exec` runs, and where its output is saved";
        "program-failed" Hidden: "the program of a job of engine `exec` failed, or had to be killed";
        "command-output" Report: "where the output of `exec_prerun` or `exec_postrun` is saved";
        "command-failed" Hidden: "`exec_prerun` or `exec_postrun` failed or cannot be run";
        "bad-iolog-line" Stderr: "note: an invalid line of the log of `read_iolog` is skipped; called `ferrio`, the exit status is then at least 1";
        "empty-trace-request" Stderr: "note: a zero-length request in a block trace is skipped";
        "replay-skips-writes" Stderr: "note: `--readonly` leaves out what changes data in a block trace";
        "block-trace" Hidden: "note: a block trace is out of order or cut off, or zone requests in it are left out";
        "unreadable-trace" Stderr: "a block trace cannot be read, or its device is not found";
        "trace-summary" Stderr: "note: threads that the summary of a block trace leaves out, and records that are missing";
        "iolog-not-read" Stderr: "the I/O log of `read_iolog` changed or became unreadable while it was replayed";
        "dedupe-failed" Stderr: "`ferrio dedupe` cannot read the blocks of a file or device";
        "compare" Stderr: "`ferrio compare` cannot compare reports, or a figure is worse than it may be";
        "quick" Stderr: "`ferrio quick` cannot measure a place";
        "report" Stderr: "`ferrio report` cannot make a page";
        "import" Stderr: "`ferrio import` cannot make an I/O log of a trace, or a job of the counters of a database";
        "iolog-not-written" Stderr: "the I/O log of `write_iolog` cannot be written";
        "rate-below-minimum" Stderr: "a job is slower than its `rate_min` or `rate_iops_min`";
        "latency-above-maximum" Stderr: "an I/O takes longer than `max_latency` or `latency_target` allows";
        "latency-target-not-met" Hidden: "`latency_target` is not met even at depth 1";
        "debug" Report: "a debug message (`--debug`)";
        "no-debug-class" Stderr: "`--debug` names an unknown class or an invalid job";
        "silent-debug-class" Hidden: "a class of `--debug` never prints anything";
        "io-error" Stderr: "an I/O failed";
        "io-error-details" Stderr: "what the device or the server said about the I/O that failed";
        "log-error" Stderr lost_file: "a log cannot be created or completed; the jobs continue";
        "log-rows-mixed" Stderr: "the rows of several jobs in one log are not in the order of the jobs";
        "log-writer-not-placed" Stderr: "the thread that writes the logs cannot be kept to `log_compression_cpus`";
        "trim-entries-leaked" Stderr: "note: blocks that were marked for trimming were not trimmed";
        "verified-file-too-short" Hidden: "note: a file is shorter than what a job is to check";
        "verify-mismatch" Stderr: "a block does not contain what was written";
        "verify-damage" Hidden: "note: what a block that failed verification looks like";
        "verify-threads" Stderr: "the threads of `verify_async` cannot be started";
        "verify-dump-failed" Stderr: "what was read of a bad block cannot be saved (`verify_dump`)";
        "job-failed" Stderr: "a job ended with an error";
        "terminating" Report: "a signal ends the run";
        "invalid-job" Stderr: "a mistake without its own code";
    }
    "Many hosts" {
        "hosts" Stderr: "the list of hosts cannot be used";
        "not-on-hosts" Stderr: "an option cannot be used in a run on many hosts";
        "tls" Stderr: "TLS between a server and its clients is not possible";
        "not-permitted" Stderr: "a job from a client wants to use a file or start a program that the server does not permit";
        "host-lost" Stderr: "a host cannot be reached, or is lost before it has sent its results";
        "ranks" Stderr: "the rank of a process or the number of ranks is unknown: neither the launcher nor the command line gives it";
        "rendezvous" Stderr: "the ranks of a launcher do not find each other";
        "rank-refused" Stderr: "warning: something connected to rank 0 that is not a rank of the run";
        "agent" Stderr: "an agent, or the conversation with one, cannot start";
    }
}
