//! How data is verified: `verify` and the options below it.

use ferrio_job::{Character, Direction, JobSpec, Verify, VerifyMethod, VerifyPolicy};
use ferrio_jobfile::{Job, Opt, Options};
use ferrio_verify::{SpecError, Verifier, VerifySpec};

use crate::as_written::{asks, inert, lacks, note, refuse};
use crate::findings::Findings;
use crate::{backlog, direction};

inert! {
    DoVerify VerifyLayout VerifyPolicy VerifyInterval VerifyOffset VerifyPatternInterval VerifyFatal VerifyDump VerifyAsync
        VerifyBacklog VerifyBacklogBatch VerifyAsyncCpus ExperimentalVerify VerifyStateSave VerifyStateLoad VerifyWriteSequence
        VerifyHeaderSeed TrimPercentage:
        |job| !verifies(job); "nothing is verified without `verify`";
    VerifyOnly:
        |job| !verifies(job) || !direction::rw(job).does(Direction::Write);
        "a job that writes nothing, or does not verify, has no writes to leave out";
    VerifyLayout:
        |job| method(job).is_some_and(|method| !method.has_header()); "blocks have no headers with this method of `verify`";
    VerifyPatternInterval:
        |job| lacks(job, Opt::VerifyPattern); "there is no `verify_pattern` to restart";
    VerifyAsyncCpus:
        |job| !asks(job, Opt::VerifyAsync); "blocks are checked by the job itself without `verify_async`";
    VerifyBacklogBatch:
        |job| !asks(job, Opt::VerifyBacklog); "it applies only to `verify_backlog`";
    VerifyBacklog VerifyBacklogBatch ExperimentalVerify TrimPercentage:
        |job| !direction::rw(job).does(Direction::Write) && lacks(job, Opt::ReadIolog);
        "a job that writes nothing has no written blocks";
    VerifyBacklog VerifyBacklogBatch ExperimentalVerify:
        |job| !reads_back(&job.options); "nothing is read back with `do_verify=0`";
    VerifyBacklog VerifyBacklogBatch:
        |job| asks(job, Opt::VerifyOnly); "a job that only verifies has no writes to check meanwhile";
    VerifyBacklog VerifyBacklogBatch TrimPercentage:
        |job| asks(job, Opt::ExperimentalVerify); "`experimental_verify` keeps no list of written blocks";
    TrimVerifyZero TrimBacklog TrimBacklogBatch:
        |job| !asks(job, Opt::TrimPercentage); "no written block is trimmed without `trim_percentage`";
    TrimBacklogBatch:
        |job| !asks(job, Opt::TrimBacklog); "it applies only to `trim_backlog`";
}

/// Whether the job verifies data; `verify_pattern` alone implies it.
pub(crate) fn verifies(job: &Job) -> bool {
    method(job).is_some()
}

/// Verification, if requested. The interval is settled when the block sizes are.
///
/// The default of `verify_state_save` is that of the program's character: fio saves states unless told otherwise.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.verify = method(job).map(|method| settings(&job.options, method, spec.character == Character::Fio));
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    verify_intervals_fit_the_blocks(job, spec, findings);
    blocks_of_several_sizes_need_a_map(job, spec, findings);
    writers_share_no_file(job, spec, findings);
    a_runtime_leaves_no_time_to_read_back(job, spec, findings);
    a_verifying_pass_has_an_end(job, spec, findings);
    backlog::apply_rules(job, spec, findings);
}

/// The method in force; `verify_pattern` alone implies `pattern_hdr`.
fn method(job: &Job) -> Option<VerifyMethod> {
    match job.options.is_given(Opt::Verify) {
        true => job.options.chosen(Opt::Verify),
        false => job.options.is_given(Opt::VerifyPattern).then_some(VerifyMethod::PatternHdr),
    }
}

fn settings(options: &Options, method: VerifyMethod, saves_state: bool) -> Verify {
    let policies = options.words(Opt::VerifyPolicy).map_or(Vec::new(), |(words, _)| words);
    Verify {
        method,
        interval: options.value(Opt::VerifyInterval),
        layout: options.choice(Opt::VerifyLayout),
        offset: options.value(Opt::VerifyOffset),
        pattern: options.if_given(Opt::VerifyPattern),
        pattern_interval: options.value(Opt::VerifyPatternInterval),
        fatal: options.value(Opt::VerifyFatal),
        dump: options.value(Opt::VerifyDump),
        threads: options.value(Opt::VerifyAsync),
        thread_cpus: options.value(Opt::VerifyAsyncCpus),
        only: options.value(Opt::VerifyOnly),
        read_back: reads_back(options),
        backlog: backlog::of_checks(options),
        regenerates: options.value(Opt::ExperimentalVerify),
        trims: backlog::of_trims(options),
        header_seed: options.if_given(Opt::VerifyHeaderSeed),
        write_sequence: options.if_given(Opt::VerifyWriteSequence),
        // What was synced was completed too.
        policy: if policies.contains(&VerifyPolicy::Fsynced.word()) {
            VerifyPolicy::Fsynced
        } else {
            VerifyPolicy::Completed
        },
        saves_state: options.if_given(Opt::VerifyStateSave).unwrap_or(saves_state),
        loads_state: options.value(Opt::VerifyStateLoad),
    }
}

fn reads_back(options: &Options) -> bool {
    options.value(Opt::DoVerify) || options.value(Opt::VerifyOnly)
}

fn verify_intervals_fit_the_blocks(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let range = |direction| (spec.block[direction].min, spec.block[direction].max);
    let reads = spec.rw.does(Direction::Read).then(|| range(Direction::Read));
    let writes = range(Direction::Write);
    let Some(verify) = &mut spec.verify else { return };
    let given = Some(verify.interval).filter(|&bytes| bytes > 0);
    verify.interval = ferrio_verify::resolve_interval(given, writes, reads);
    let verify = verify.clone();
    if let Err(error) = VerifySpec::of(spec, &verify).and_then(Verifier::new) {
        let (opts, code, message, help): (&[Opt], _, _, _) = match error {
            SpecError::OffsetBeyondInterval { .. } => (
                &[Opt::VerifyOffset, Opt::VerifyInterval],
                "verify-offset-beyond-interval",
                "cannot offset verify header beyond the verify interval".to_owned(),
                error.to_string(),
            ),
            SpecError::NoDigest { .. } => (
                &[Opt::VerifyLayout],
                "verify-layout-without-digest",
                error.to_string(),
                "use `verify=sha3-512`, or leave out `verify_layout`".to_owned(),
            ),
            SpecError::OffsetInHeader { .. } => (
                &[Opt::VerifyOffset],
                "verify-offset-in-header",
                error.to_string(),
                "remove `verify_offset`, or use a larger one".to_owned(),
            ),
            SpecError::Pattern(_) => (
                &[Opt::VerifyPattern],
                "invalid-verify-pattern",
                error.to_string(),
                "write at least one byte, and `%o` only where its eight bytes fit".to_owned(),
            ),
            SpecError::PatternMissing(_) => (
                &[Opt::Verify],
                "verify-without-pattern",
                error.to_string(),
                "set the expected bytes with `verify_pattern`".to_owned(),
            ),
        };
        let opts = if opts.iter().any(|&opt| job.options.is_given(opt)) { opts } else { &[Opt::Verify] };
        refuse(findings, job, opts, code, message, &help);
    }
}

fn blocks_of_several_sizes_need_a_map(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.verify.is_some() && !spec.random_map && !spec.has_one_block_size() {
        let text = "norandommap given for variable block sizes, verify limited";
        findings.warn(note(job, &[Opt::Norandommap], "verify-limited", text));
    }
}

fn writers_share_no_file(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let clones: u64 = job.options.value(Opt::Numjobs);
    let read_back = spec.verify.as_ref().is_some_and(|verify| verify.read_back);
    if read_back && spec.rw.does(Direction::Write) && clones > 1 && !names_differ(job) {
        let text = "multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.";
        findings.warn(note(job, &[Opt::Verify], "verify-shared-file", text));
    }
}

/// True when file names distinguish jobs, clones and files.
fn names_differ(job: &Job) -> bool {
    let format = job.options.value::<String>(Opt::FilenameFormat).to_ascii_lowercase();
    !job.options.is_given(Opt::Filename)
        && job.options.value(Opt::UniqueFilename)
        && ["$jobname", "$jobnum", "$filenum"].iter().all(|part| format.contains(part))
}

/// Without writes nothing takes the time of `time_based`, and the choices of the job never end.
fn a_verifying_pass_has_an_end(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.only_verifies() && spec.limits.time_based {
        let message = "verify_only with time_based would never begin to verify";
        let help = "remove `time_based`: the job then reads back what one run without it writes";
        refuse(findings, job, &[Opt::TimeBased, Opt::VerifyOnly], "verify-only-without-end", message, help);
    }
}

fn a_runtime_leaves_no_time_to_read_back(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let waits = |verify: &Verify| verify.read_back && !verify.backlog.happen();
    let read_back = spec.verify.as_ref().is_some_and(waits);
    let only_writes = spec.rw.does(Direction::Write) && !spec.rw.does(Direction::Read);
    if read_back && only_writes && spec.limits.time_based {
        let text = "verification read phase will never start because write phase uses all of runtime";
        findings.warn(note(job, &[Opt::Verify], "verify-never-runs", text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, jobs_of, notes_of, null, spec_of};

    #[test]
    fn an_interval_that_does_not_divide_the_blocks_becomes_their_common_divisor() {
        let interval = |text: &str| spec_of(&null(text)).verify.unwrap().interval;
        assert_eq!(interval("rw=write\nverify=md5\nverify_interval=1000\n"), 4096);
        assert_eq!(interval("rw=write\nverify=md5\nbsrange=8k-64k\n"), 8192);
        assert_eq!(interval("rw=write\nverify=md5\nbs=16k\nverify_interval=4k\n"), 4096);
    }

    #[test]
    fn a_header_beyond_its_interval_is_refused() {
        let want = "cannot offset verify header beyond the verify interval";
        assert_eq!(first_refusal("rw=write\nbs=4k\nverify=md5\nverify_offset=4090\n"), want);
    }

    #[test]
    fn blocks_of_several_sizes_without_a_map_are_warned_of() {
        let warned = |options: &str| {
            let notes = notes_of(&format!("rw=randwrite\nverify=md5\n{options}"));
            notes.iter().any(|note| note == "norandommap given for variable block sizes, verify limited")
        };
        assert!(warned("norandommap\nbsrange=4k-8k\n") && warned("norandommap\nbs=4k,8k\n"));
        assert!(!warned("norandommap\n") && !warned("bsrange=4k-8k\n"));
    }

    #[test]
    fn clones_that_verify_files_they_share_are_warned_of() {
        let warned = |options: &str| {
            let notes = crate::testing::notes(&null(&format!("rw=write\nverify=md5\n{options}")));
            notes.iter().any(|note| note.starts_with("multiple writers"))
        };
        assert!(warned("numjobs=2\nfilename=f\n"));
        assert!(warned("numjobs=2\nfilename_format=$jobname.$filenum\n"));
        assert!(!warned("numjobs=2\n"));
        assert!(!warned("numjobs=2\nfilename_format=$filenum-$JOBNAME-$jobnum\n"));
        assert!(!warned("filename=f\n"));
        assert!(warned("numjobs=2\nunique_filename=0\n"));
    }

    #[test]
    fn a_write_phase_that_takes_all_the_time_is_warned_of() {
        let warned = |options: &str| {
            let notes = notes_of(&format!("rw=write\nverify=md5\n{options}"));
            notes.iter().any(|note| note.starts_with("verification read phase will never start"))
        };
        assert!(warned("time_based\nruntime=1\n"));
        assert!(!warned("runtime=1\n") && !warned("time_based\nruntime=1\ndo_verify=0\n"));
        assert!(!warned("time_based\nruntime=1\nverify_backlog=8\n"));
    }

    #[test]
    fn a_pattern_alone_verifies_unless_that_is_switched_off() {
        let verified = |text: &str| verifies(&jobs_of(text).jobs[0]);
        assert!(verified("[a]\nverify_pattern=0xff\n") && verified("[a]\nverify=md5\n"));
        assert!(!verified("[a]\nverify=0\nverify_pattern=0xff\n") && !verified("[a]\n"));
    }
}
