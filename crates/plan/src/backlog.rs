//! Written blocks that a verifying job checks or trims while it still writes: `verify_backlog` and the trims of
//! `trim_percentage`; and `experimental_verify`, which does without a list of them.

use ferrio_job::{Backlog, BlockTrims, Direction, JobSpec, Overwrites, Verify};
use ferrio_jobfile::{Job, Opt, Options};

use crate::as_written::{asks, refuse};
use crate::findings::Findings;

/// The backlog of checks. Without a list of blocks, there are none.
pub(crate) fn of_checks(options: &Options) -> Backlog {
    if options.value(Opt::ExperimentalVerify) || options.value(Opt::VerifyOnly) {
        return Backlog::default();
    }
    backlog(options, Opt::VerifyBacklog, Opt::VerifyBacklogBatch)
}

/// Which blocks are trimmed, and when.
pub(crate) fn of_trims(options: &Options) -> BlockTrims {
    if options.value(Opt::ExperimentalVerify) {
        return BlockTrims::default();
    }
    BlockTrims {
        percentage: options.value(Opt::TrimPercentage),
        backlog: backlog(options, Opt::TrimBacklog, Opt::TrimBacklogBatch),
        must_be_zero: options.value(Opt::TrimVerifyZero),
    }
}

fn backlog(options: &Options, every: Opt, batch: Opt) -> Backlog {
    let every = options.value(every);
    Backlog { every, batch: Some(options.value(batch)).filter(|&blocks| blocks > 0).unwrap_or(every) }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let trims = spec.verify.as_ref().is_some_and(|verify| verify.trims.is_active());
    if spec.only_verifies() && trims {
        let message = "verify_only cannot know which blocks an earlier run has trimmed";
        let help = "verify in the run that writes, or remove `trim_percentage` from both";
        let opts = [Opt::TrimPercentage, Opt::VerifyOnly];
        refuse(findings, job, &opts, "verify-only-with-trims", message, help);
    }
    writes_can_be_regenerated(job, spec, findings);
}

/// Rules about `experimental_verify`. `size` and `io_size`, which are known with the files, may make a job write a place twice.
pub(crate) fn writes_can_be_regenerated(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !spec.verify.as_ref().is_some_and(|verify| verify.regenerates) {
        return;
    }
    let help = "remove `experimental_verify`: a list of the written blocks takes 24 bytes for each";
    let mut refused = |opts: &[Opt], why: &str| {
        let opts = [&[Opt::ExperimentalVerify], opts].concat();
        refuse(findings, job, &opts, "experimental-verify-impossible", why.to_owned(), help);
    };
    if spec.replay.is_some() {
        refused(&[Opt::ReadIolog], "experimental_verify cannot generate the writes of a log again");
    }
    if spec.zbd.is_some() {
        refused(&[Opt::Zonemode], "experimental_verify does not know where zones have moved the blocks");
    }
    if asks(job, Opt::Sprandom) {
        refused(&[Opt::Sprandom], "experimental_verify cannot generate the writes of sprandom again");
    }
    if spec.overwrites() == Overwrites::Blocks && !spec.has_one_block_size() {
        refused(
            &[],
            "experimental_verify does not know which blocks were overwritten by larger or smaller ones",
        );
    }
    let compares = |verify: &Verify| verify.header_seed == Some(true) || verify.write_sequence == Some(true);
    if spec.may_overwrite() && spec.verify.as_ref().is_some_and(compares) {
        refused(
            &[Opt::VerifyHeaderSeed, Opt::VerifyWriteSequence],
            "experimental_verify does not know which write to a place was the last, whose seed and number `verify_header_seed` and \
             `verify_write_sequence` ask for",
        );
    }
    let mixed = spec.rw.is_mixed();
    if mixed && Direction::ALL.into_iter().any(|direction| spec.rates.limits(direction)) {
        refused(
            &[Opt::Rw],
            "experimental_verify cannot repeat a mix under a rate, in which time chooses the direction",
        );
    }
    if mixed && (spec.limits.ramp_size > 0 || !spec.limits.ramp_time.is_zero()) {
        refused(
            &[Opt::RampTime, Opt::RampSize],
            "experimental_verify cannot repeat a mix that begins again at the end of a ramp",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, null, spec_of, verify_of};

    #[test]
    fn a_batch_is_a_round_unless_it_is_given() {
        let backlog = |options: &str| verify_of(&format!("verify=md5\n{options}")).backlog;
        assert_eq!(backlog(""), Backlog::default());
        assert_eq!(backlog("verify_backlog=2k\n"), Backlog { every: 2048, batch: 2048 });
        assert_eq!(backlog("verify_backlog=4\nverify_backlog_batch=8\n"), Backlog { every: 4, batch: 8 });
        assert!(!backlog("verify_backlog_batch=8\n").is_active());
        assert!(!backlog("verify_backlog=8\nexperimental_verify=1\n").is_active());
        let trims = verify_of("verify=md5\ntrim_percentage=7\ntrim_backlog=3\ntrim_verify_zero=0\n").trims;
        let want = BlockTrims { percentage: 7, backlog: Backlog { every: 3, batch: 3 }, must_be_zero: false };
        assert_eq!(trims, want);
    }

    #[test]
    fn seeds_are_compared_only_by_jobs_that_check_all_blocks_in_order() {
        let compared = |options: &str| {
            let spec = spec_of(&null(&format!("verify=md5\n{options}")));
            spec.checks_header_seed(spec.verify.as_ref().unwrap())
        };
        assert!(compared("rw=randwrite\n"));
        assert!(!compared("rw=randwrite\nverify_backlog=4\n"));
        assert!(compared("rw=randwrite\nverify_backlog=4\nverify_header_seed=1\n"));
        assert!(!compared("rw=randwrite\nnorandommap\n"));
    }

    #[test]
    fn what_cannot_be_told_afterwards_is_refused() {
        let refused = |options: &str| first_refusal(&format!("verify=md5\n{options}"));
        let only = refused("rw=write\nverify_only\ntrim_percentage=5\ntrim_backlog=2\n");
        assert!(only.starts_with("verify_only cannot know"), "{only}");
        let works = |options: &str| spec_of(&null(&format!("verify=md5\n{options}")));
        works("rw=write\nverify_only\ntrim_percentage=5\n");
        let again = |options: &str| refused(&format!("experimental_verify=1\n{options}"));
        assert!(again("rw=randwrite\nnorandommap\nbsrange=4k-8k\n").contains("overwritten"));
        assert!(again("rw=randwrite\nnorandommap\nverify_header_seed=1\n").contains("was the last"));
        assert!(again("rw=write:8k\nverify_write_sequence=1\n").contains("was the last"));
        let longer = "rw=randwrite\nsize=64k\nio_size=128k\n";
        for opt in ["verify_header_seed", "verify_write_sequence"] {
            assert!(again(&format!("{longer}{opt}=1\n")).contains("was the last"), "{opt}");
        }
        assert!(again(&format!("{longer}bsrange=4k-8k\n")).contains("overwritten"));
        assert!(again("rw=randwrite\nsprandom=1\n").contains("writes of sprandom"));
        assert!(again("rw=randrw\nrate_iops=100\n").contains("under a rate"));
        assert!(again("rw=randrw\nramp_time=1\nruntime=3\n").contains("end of a ramp"));
        for options in [
            "rw=randwrite\nbsrange=4k-8k\n",
            "rw=write\nrate_iops=100\n",
            "rw=randrw\n",
            "rw=randwrite\nnorandommap\n",
            longer,
            "rw=randwrite\nsize=128k\nio_size=64k\nverify_header_seed=1\n",
            "rw=randwrite\nverify_header_seed=1\nverify_write_sequence=1\n",
        ] {
            works(&format!("experimental_verify=1\n{options}"));
        }
    }
}
