//! Options that change or exclude each other once a whole job is known. One function per rule, in the order they apply.

use ferrio_jobfile::{Diagnostic, Job, Opt};

use crate::findings::Findings;
use crate::names::FORMAT;
use crate::resolve::value_origin;
use crate::sizes::{Extent, Sizing};
use crate::spec::{Direction, JobSpec};
use crate::{Machine, measure};

/// Applies all rules to a job.
pub(crate) fn apply(
    job: &Job,
    spec: &mut JobSpec,
    sizing: &Sizing,
    machine: &Machine,
    findings: &mut Findings,
) {
    read_only_refuses_writers(job, spec, findings);
    a_rate_is_in_bytes_or_in_ios(job, spec, findings);
    size_holds_a_block(job, sizing, findings);
    blocks_fit_a_request(job, spec, findings);
    cpus_exist(job, spec, machine, findings);
    readers_keep_existing_data(spec);
    alignment_ends_the_random_map(job, spec, findings);
    time_based_needs_a_runtime(job, spec, findings);
    verify_intervals_fit_the_blocks(job, spec, findings);
    verification_may_be_less_than_hoped(job, spec, findings);
    a_polling_thread_hides_submission(spec);
    measure::drop_unmeasured_percentiles(&mut spec.measure);
    measure::join_intervals(job, &mut spec.measure, &spec.logs);
    measure::drop_disabled_bandwidth_log(job, &mut spec.logs, findings);
    sync_engines_have_depth_one(spec, findings);
}

fn read_only_refuses_writers(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.readonly && (spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim)) {
        let message = format!("job <{}> has write or trim bit set, but fio is in read-only mode", job.name);
        findings.refuse(
            Diagnostic::error(message, value_origin(&job.options, Opt::Rw)).help("--readonly was given"),
        );
    }
}

fn a_rate_is_in_bytes_or_in_ios(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let limits = |rates: [u64; 3]| rates.iter().any(|&rate| rate > 0);
    if limits(spec.rates.bytes.0) && limits(spec.rates.iops.0) {
        let origin = value_origin(&job.options, Opt::RateIops);
        findings.refuse(Diagnostic::error("rate and rate_iops are mutually exclusive", origin));
    }
}

fn size_holds_a_block(job: &Job, sizing: &Sizing, findings: &mut Findings) {
    if let Some(Extent::Bytes(size)) = sizing.size
        && size > 0
        && size < sizing.min_block
    {
        let what = "size too small, must not be less than minimum block size";
        let message = format!("{what}: {size} < {}", sizing.min_block);
        findings.refuse(Diagnostic::error(message, value_origin(&job.options, Opt::Size)));
    }
}

/// One request moves at most 4 GiB - 1.
fn blocks_fit_a_request(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let largest = spec.block.0.iter().map(|block| block.max).max().unwrap_or(0);
    if largest > u64::from(u32::MAX) {
        let given = job.options.last_of(&[Opt::Bs, Opt::Bsrange]);
        let origin = given.map(|given| given.value_origin.clone()).unwrap_or_default();
        let message = format!("block size {largest} is too large, the most is {}", u32::MAX);
        findings.refuse(Diagnostic::error(message, origin));
    }
}

fn cpus_exist(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    if !job.options.is_given(Opt::CpusAllowed) {
        return;
    }
    let max = machine.cpus.saturating_sub(1);
    let message = match spec.cpus_allowed.iter().find(|&&cpu| cpu > max) {
        Some(cpu) => format!("CPU {cpu} too large (max={max})"),
        None if spec.cpus_allowed.is_empty() => "no CPU is left to run on".to_owned(),
        None => return,
    };
    findings.refuse(Diagnostic::error(message, value_origin(&job.options, Opt::CpusAllowed)));
}

/// What a job reads must not be thrown away when it is laid out.
fn readers_keep_existing_data(spec: &mut JobSpec) {
    spec.overwrite |= spec.rw.does(Direction::Read);
}

/// Only random offsets are aligned; the map knows blocks of the smallest size and no others.
fn alignment_ends_the_random_map(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if !spec.rw.is_random() {
        for block in &mut spec.block.0 {
            block.align = block.min;
        }
    } else if spec.random_map && spec.block.0.iter().any(|block| block.align != block.min) {
        let origin = value_origin(&job.options, Opt::Ba);
        findings.warn("Any use of blockalign= turns off randommap", &origin);
        spec.random_map = false;
    }
}

fn time_based_needs_a_runtime(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if spec.limits.time_based && spec.limits.runtime.is_zero() {
        let origin = value_origin(&job.options, Opt::TimeBased);
        findings.warn("time_based requires a runtime/timeout setting", &origin);
        spec.limits.time_based = false;
    }
}

fn verify_intervals_fit_the_blocks(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let range = |direction| (spec.block[direction].min, spec.block[direction].max);
    let reads = spec.rw.does(Direction::Read).then(|| range(Direction::Read));
    let writes = range(Direction::Write);
    let Some(verify) = &mut spec.verify else { return };
    let given = Some(verify.interval).filter(|&bytes| bytes > 0);
    verify.interval = ferrio_verify::resolve_interval(given, writes, reads);
    let verify = verify.clone();
    if let Err(error) = ferrio_verify::Verifier::new(spec.verifier(&verify)) {
        let given = job.options.last_of(&[Opt::Verify, Opt::VerifyOffset]);
        let origin = given.map(|given| given.value_origin.clone()).unwrap_or_default();
        findings.refuse(Diagnostic::error(error.to_string(), origin));
    }
}

fn verification_may_be_less_than_hoped(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let Some(verify) = &spec.verify else { return };
    if !spec.random_map && spec.block.0.iter().any(|block| block.min != block.max) {
        let origin = value_origin(&job.options, Opt::Norandommap);
        findings.warn("norandommap given for variable block sizes, verify limited", &origin);
    }
    let origin = value_origin(&job.options, Opt::Verify);
    let only_writes = spec.rw.does(Direction::Write) && !spec.rw.does(Direction::Read);
    let clones = job.options.int(Opt::Numjobs).unwrap_or(1);
    let shares_files = clones > 1 && !names_differ(job);
    if verify.read_back && shares_files && spec.rw.does(Direction::Write) {
        findings.warn(
            "multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.",
            &origin,
        );
    }
    if verify.read_back && only_writes && spec.limits.time_based {
        let text = "verification read phase will never start because write phase uses all of runtime";
        findings.warn(text, &origin);
    }
}

/// Whether the names of a job's files tell jobs, clones and files apart.
fn names_differ(job: &Job) -> bool {
    let format = job.options.text(Opt::FilenameFormat).unwrap_or(FORMAT).to_ascii_lowercase();
    !job.options.is_given(Opt::Filename)
        && ["$jobname", "$jobnum", "$filenum"].iter().all(|part| format.contains(part))
}

/// With `sqthread_poll` submitting is a store to memory: there is no submission latency to see.
fn a_polling_thread_hides_submission(spec: &mut JobSpec) {
    if spec.engine_options.sqthread_poll {
        spec.measure.slat = false;
    }
}

fn sync_engines_have_depth_one(spec: &JobSpec, findings: &mut Findings) {
    if spec.depth.iodepth > 1 && spec.is_sync() {
        let note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        findings.note(note.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::testing::{jobs_of, plan_of, refusals, spec_of};

    fn null(options: &str) -> String {
        format!("[a]\nioengine=null\nsize=64k\n{options}")
    }

    #[test]
    fn writers_and_trimmers_are_refused_under_readonly() {
        let readonly = PlanOptions { readonly: true, ..PlanOptions::default() };
        for kind in ["write", "randrw", "trim"] {
            let set = jobs_of(&null(&format!("rw={kind}\n")));
            let problems = crate::plan(&set, &readonly).unwrap_err();
            let want = "job <a> has write or trim bit set, but fio is in read-only mode";
            assert_eq!(problems.diagnostics[0].message, want);
        }
        let plan = crate::plan(&jobs_of(&null("rw=randread\n")), &readonly).unwrap();
        assert!(plan.jobs[0].spec.readonly);
    }

    #[test]
    fn two_kinds_of_rate_are_refused() {
        assert_eq!(refusals(&null("rate=1m\nrate_iops=9\n")), ["rate and rate_iops are mutually exclusive"]);
        assert!(plan_of(&null("rate=1m\nrate_iops=0\n")).is_ok());
    }

    #[test]
    fn a_size_below_one_block_is_refused() {
        let want = "size too small, must not be less than minimum block size: 2048 < 4096";
        assert_eq!(refusals("[a]\nsize=2k\n"), [want]);
    }

    #[test]
    fn a_block_beyond_a_request_is_refused() {
        let want = "block size 8589934592 is too large, the most is 4294967295";
        assert_eq!(refusals("[a]\nsize=16g\nbs=8g\n"), [want]);
    }

    #[test]
    fn cpus_that_are_not_there_are_refused() {
        assert_eq!(refusals(&null("cpus_allowed=0,5\n")), ["CPU 5 too large (max=3)"]);
        assert_eq!(spec_of(&null("cpus_allowed=1-3\n")).cpus_allowed, [1, 2, 3]);
    }

    #[test]
    fn jobs_that_read_overwrite() {
        assert!(spec_of(&null("rw=randrw\n")).overwrite);
        assert!(!spec_of(&null("rw=write\n")).overwrite);
        assert!(spec_of(&null("rw=write\noverwrite=1\n")).overwrite);
    }

    #[test]
    fn an_alignment_of_its_own_ends_the_random_map() {
        let plan = plan_of(&null("rw=randread\nba=8k\n")).unwrap();
        assert!(!plan.jobs[0].spec.random_map);
        assert_eq!(plan.notes, ["Any use of blockalign= turns off randommap"]);
        let sequential = spec_of(&null("rw=read\nba=8k\n"));
        assert_eq!((sequential.random_map, sequential.block.0[0].align), (true, 4096));
    }

    #[test]
    fn time_based_without_runtime_is_dropped_or_fatal() {
        let text = null("time_based\n");
        let plan = plan_of(&text).unwrap();
        assert!(!plan.jobs[0].spec.limits.time_based);
        assert_eq!(plan.notes, ["time_based requires a runtime/timeout setting"]);
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&text), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "time_based requires a runtime/timeout setting");
        assert!(spec_of(&null("time_based\nruntime=1\n")).limits.time_based);
    }

    #[test]
    fn a_deep_queue_on_a_synchronous_engine_is_said_once() {
        let plan = plan_of("[global]\nsize=4k\niodepth=8\nioengine=psync\n[a]\nnumjobs=2\n[b]\n").unwrap();
        let want = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        assert_eq!(plan.notes, [want]);
        assert!(plan_of(&null("iodepth=8\n")).unwrap().notes.is_empty());
    }

    #[test]
    fn an_interval_that_does_not_divide_the_blocks_becomes_their_common_divisor() {
        let interval = |text: &str| spec_of(&null(text)).verify.unwrap().interval;
        assert_eq!(interval("rw=write\nverify=md5\nverify_interval=1000\n"), 4096);
        assert_eq!(interval("rw=write\nverify=md5\nbsrange=8k-64k\n"), 8192);
        assert_eq!(interval("rw=write\nverify=md5\nbs=16k\nverify_interval=4k\n"), 4096);
    }

    #[test]
    fn a_header_beyond_its_interval_is_refused() {
        let refused =
            refusals("[a]\nioengine=null\nsize=64k\nrw=write\nbs=4k\nverify=md5\nverify_offset=4090\n");
        assert_eq!(refused.len(), 1, "{refused:?}");
    }

    #[test]
    fn clones_that_verify_files_they_share_are_warned_of() {
        let warned = |options: &str| {
            let notes = plan_of(&null(&format!("rw=write\nverify=md5\n{options}"))).unwrap().notes;
            notes.iter().any(|note| note.starts_with("multiple writers"))
        };
        assert!(warned("numjobs=2\nfilename=f\n"));
        assert!(warned("numjobs=2\nfilename_format=$jobname.$filenum\n"));
        assert!(!warned("numjobs=2\n"));
        assert!(!warned("numjobs=2\nfilename_format=$filenum-$JOBNAME-$jobnum\n"));
        assert!(!warned("filename=f\n"));
    }
}
