//! How data is verified: `verify` and the options below it.

mod rules;

use ferrio_job::{Direction, JobSpec, ReadWrite, Verify, VerifyMethod, VerifyPolicy};
use ferrio_jobfile::{Job, Opt, Options};

use crate::as_written::{asks, inert, lacks, verifies, verify_method};
use crate::{backlog, block_sizes, direction};

pub(crate) use rules::apply_rules;

inert! {
    DoVerify VerifyLayout VerifyPolicy VerifyInterval VerifyOffset VerifyPatternInterval VerifyFatal VerifyDump VerifyAsync
        VerifyBacklog VerifyBacklogBatch VerifyAsyncCpus ExperimentalVerify VerifyStateSave VerifyStateLoad VerifyWriteSequence
        VerifyHeaderSeed TrimPercentage:
        |job| !verifies(job); "nothing is verified without `verify`";
    VerifyOnly:
        |job| !verifies(job) || !writes(job);
        "a job that writes nothing, or does not verify, has no writes to leave out";
    Verify VerifyPattern:
        |job| verifies(job) && only_trims(job); "a job that only trims has no data to check";
    VerifyFatal VerifyDump VerifyAsync VerifyAsyncCpus VerifyStateLoad VerifyHeaderSeed VerifyWriteSequence:
        |job| is_never_read_back(job); "nothing is read back with `do_verify=0`";
    VerifyFatal VerifyDump VerifyAsync VerifyAsyncCpus VerifyInterval VerifyOffset:
        |job| verify_method(job) == Some(VerifyMethod::Null); "nothing is checked with `verify=null`";
    VerifyLayout VerifyOffset VerifyHeaderSeed VerifyWriteSequence:
        |job| !has_headers(job); "blocks have no headers with this method of `verify`";
    VerifyInterval:
        |job| !has_headers(job) && !asks(job, Opt::VerifyDump);
        "blocks without headers are compared as a whole, and only `verify_dump` divides them";
    VerifyHeaderSeed:
        |job| job.options.is_given(Opt::VerifyPattern); "data from `verify_pattern` has no seed";
    VerifyWriteSequence:
        |job| chooses_ios(job) && !writes(job); "a job that writes nothing does not know the numbers of the writes";
    VerifyWriteSequence:
        |job| chooses_ios(job) && asks(job, Opt::TimeBased) && asks(job, Opt::Runtime);
        "the passes of `time_based` write each block again";
    VerifyWriteSequence:
        |job| chooses_ios(job) && !block_sizes::are_one(&job.options);
        "numbers are compared only if all blocks are of one size";
    VerifyPolicy:
        |job| chooses_ios(job) && !writes(job); "a job that writes nothing has nothing to sync";
    VerifyPolicy:
        |job| is_never_read_back(job) && !asks(job, Opt::VerifyStateSave);
        "nothing is read back with `do_verify=0`, and no state is saved";
    VerifyPatternInterval:
        |job| lacks(job, Opt::VerifyPattern); "there is no `verify_pattern` to restart";
    VerifyAsyncCpus:
        |job| !asks(job, Opt::VerifyAsync); "blocks are checked by the job itself without `verify_async`";
    VerifyBacklogBatch:
        |job| !asks(job, Opt::VerifyBacklog); "it applies only to `verify_backlog`";
    VerifyBacklog VerifyBacklogBatch ExperimentalVerify TrimPercentage:
        |job| chooses_ios(job) && !writes(job); "a job that writes nothing has no written blocks";
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

fn writes(job: &Job) -> bool {
    direction::rw(job).does(Direction::Write)
}

/// True unless a log says what the job does.
fn chooses_ios(job: &Job) -> bool {
    lacks(job, Opt::ReadIolog)
}

fn only_trims(job: &Job) -> bool {
    chooses_ios(job) && matches!(direction::rw(job), ReadWrite::Trim | ReadWrite::RandTrim)
}

fn is_never_read_back(job: &Job) -> bool {
    chooses_ios(job) && writes(job) && !reads_back(&job.options)
}

fn has_headers(job: &Job) -> bool {
    verify_method(job).is_none_or(VerifyMethod::has_header)
}

/// Verification, if requested. The interval is settled when the block sizes are.
///
/// The default of `verify_state_save` depends on the compatibility: fio saves states unless told otherwise, also of `verify_only`,
/// which may then replace the state that says what to check.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let rules = spec.compat;
    let settings = |method| settings(&job.options, method, rules.saves_states_by_default);
    let Some(mut verify) = verify_method(job).map(settings) else { return };
    verify.saves_state &= rules.saves_states_of_checks || !verify.only;
    spec.verify = Some(verify);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::jobs_of;

    #[test]
    fn a_pattern_alone_verifies_unless_that_is_switched_off() {
        let verified = |text: &str| verifies(&jobs_of(text).jobs[0]);
        assert!(verified("[a]\nverify_pattern=0xff\n") && verified("[a]\nverify=md5\n"));
        assert!(!verified("[a]\nverify=0\nverify_pattern=0xff\n") && !verified("[a]\n"));
    }
}
