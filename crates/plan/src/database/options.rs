//! Which options of other jobs a database has: a decision for each group of them, and a table of exceptions.

use ferrio_job::{DatabaseModel, Diagnostic, Distribution};
use ferrio_jobfile::{GivenOption, Job, Opt, OptionRow, OptionScope, OptionStatus, Value};

use crate::as_written::{is_zero, name};
use crate::findings::Findings;
use crate::status::InertOptions;

/// Whether a job that models a database has an option of other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionSupport {
    /// It means what it means in other jobs.
    Works,
    /// The model decides it: the end of the sentence "workload=... decides"; and what to use instead.
    Decided(&'static str, &'static str),
    /// It cannot matter, for this reason.
    NoEffect(&'static str),
}

use OptionSupport::{Decided, NoEffect, Works};

const CHOICE_OF_IOS: OptionSupport =
    Decided("what is read and written", "`ferrio help workload` explains the models");
const FILES: OptionSupport =
    Decided("which files it has", "`nrfiles`, `filename` or `directory` and `size` describe the data files");
const PACE: OptionSupport =
    Decided("when its I/Os begin", "`transaction_rate` limits the transactions per second");
const ERRORS: OptionSupport = Decided(
    "that its first error ends it",
    "without one of its I/Os, no later transaction would be that of a database",
);
const VERIFICATION: OptionSupport =
    Decided("what its pages contain, and verifies none", "verify with a job of its own");

/// The answer for the options of one of fio's groups: those about I/O or files are refused, except for the [`EXCEPTIONS`].
fn support_of_group(row: &OptionRow) -> OptionSupport {
    match (row.category, row.group) {
        (_, "verify" | "trim") => VERIFICATION,
        (_, "rate" | "thinktime" | "io_flow" | "latprof") => PACE,
        (_, "err") => ERRORS,
        ("io", "io_buf") => Works,
        ("io", _) => CHOICE_OF_IOS,
        ("file", _) => FILES,
        _ => Works,
    }
}

/// Makes the table of options with another answer than their group, each row as `answer: options;`.
macro_rules! exceptions {
    ($($support:expr => $($opt:ident)+;)+) => {
        const EXCEPTIONS: &[(OptionSupport, &[Opt])] = &[$(($support, &[$(Opt::$opt),+])),+];
    };
}

exceptions! {
    Works =>
        Filename Directory Nrfiles Size Filetype AllowFileCreate AllowMountedWrite Fallocate CreateSerialize CreateFsync
        CreateOnly PreRead Unlink Direct Buffered Invalidate FadviseHint Ioscheduler
        Ioengine Iodepth Bs Mem IomemAlign RandomDistribution Randrepeat Randseed;
    CHOICE_OF_IOS => BlockErrorPercentiles;
    Decided("how long its I/Os are", "`bs` is the size of a page, and `log_block` that of an append to the log") =>
        Bsrange Bssplit Ba BsUnaligned BsIsSeqRand Atomic;
    Decided("how many I/Os are in flight", "`numjobs` is the number of sessions, `iodepth` the most I/Os of its write-back") =>
        IodepthBatch IodepthBatchCompleteMin IodepthBatchCompleteMax IodepthLow SerializeOverlap IoSubmitMode;
    Decided("when it syncs", "`commit_sync` and `write_back_sync` say how") =>
        Fsync Fdatasync SyncFileRange EndFsync FsyncOnClose EndSyncfs Sync;
    Decided(
        "when its jobs begin and end: none of them waits for a command",
        "put the command into a job of its own, and let one job wait for the other with `wait_for`",
    ) =>
        ExecPrerun ExecPostrun;
    Decided("when it ends", "`transactions` and `runtime` limit it") =>
        IoSize NumberIos Loops RampSize Steadystate SteadystateDuration SteadystateRampTime SteadystateCheckInterval MaxLatency;
    VERIFICATION => VerifyOnly;
    NoEffect("a database reads and writes pages again and again") =>
        Norandommap Softrandommap RandomGenerator RandomSequenceStride;
    NoEffect("the files of a database are laid out full of data") => Overwrite AllowLayoutOverwrite;
    NoEffect("a database makes one pass") => UnlinkEachLoop;
}

/// The answer for an option of other jobs that is implemented.
fn support(opt: Opt) -> OptionSupport {
    let exception = EXCEPTIONS.iter().find(|(_, opts)| opts.contains(&opt));
    exception.map_or_else(|| support_of_group(opt.row()), |(support, _)| *support)
}

/// The answer for an assignment; those of options of engines and of databases work.
fn support_of(given: &GivenOption) -> OptionSupport {
    match given.opt {
        // Each job would draw a delay of its own from a range.
        Opt::Startdelay if matches!(given.value, Value::Range(low, high) if low != high) => {
            Decided("that its jobs begin together", "give one delay, such as startdelay=2s")
        }
        Opt::Thread if is_zero(&given.value) => NoEffect("the jobs of a database are threads of one process"),
        Opt::TimeBased if is_zero(&given.value) => {
            NoEffect("a database goes on until `transactions` or `runtime` end it")
        }
        opt if opt.row().scope == OptionScope::Core && opt.row().status == OptionStatus::Works => {
            support(opt)
        }
        _ => Works,
    }
}

/// Whether an assignment remains in a job with this model.
pub(super) fn is_kept(job: &Job, given: &GivenOption, model: DatabaseModel) -> bool {
    if given.opt.row().scope == OptionScope::Database {
        return without_effect(job, given.opt, model).is_none();
    }
    given.opt.row().scope != OptionScope::Core
        || (support_of(given) == Works && is_distribution_of_pages(given))
            && (given.opt != Opt::Nrfiles || model != DatabaseModel::Rocksdb)
        || !matches!(given.opt.row().status, OptionStatus::Works)
}

/// The reason why an option of databases has no effect beside the others of this job, if it has none.
fn without_effect(job: &Job, opt: Opt, model: DatabaseModel) -> Option<&'static str> {
    let or_preset = |opt: Opt, word: &str| {
        let given = job.options.given(opt).map(|given| given.text.as_str());
        given.or(opt.preset(model)).is_some_and(|value| value == word)
    };
    let is_off = |opt: Opt| match job.options.if_given::<bool>(opt) {
        Some(on) => !on,
        None => opt.preset(model) == Some("0"),
    };
    // No model changes nothing by default.
    let changes_nothing = job.options.if_given::<f64>(Opt::PagesChanged) == Some(0.0);
    match opt {
        Opt::PagesUsed if !job.options.is_given(Opt::BufferPool) => {
            Some("it counts pages that may be in the pool of `buffer_pool`")
        }
        Opt::DoubleWriteFilename | Opt::DoubleWriteSize if is_off(Opt::DoubleWrite) => {
            Some("there is no double-write area with double_write=0")
        }
        Opt::GroupCommit if or_preset(Opt::CommitSync, "dsync") => {
            Some("each write of the log is durable with commit_sync=dsync")
        }
        Opt::GroupCommit if or_preset(Opt::CommitSync, "none") => {
            Some("commits do not sync the log with commit_sync=none")
        }
        Opt::WriteBackBatch | Opt::WriteBackInterval | Opt::WriteBackSync | Opt::DirtyPages
            if changes_nothing =>
        {
            Some("pages_changed=0 leaves nothing to write back")
        }
        Opt::DoubleWrite | Opt::DoubleWriteFilename | Opt::DoubleWriteSize
            if changes_nothing && !is_off(Opt::DoubleWrite) =>
        {
            Some("pages_changed=0 leaves nothing to write twice")
        }
        Opt::FullPageWrites if changes_nothing && !is_off(Opt::FullPageWrites) => {
            Some("pages_changed=0 leaves no changed page to append to the log")
        }
        _ => None,
    }
}

/// Refuses what the model decides, and says of inherited options that they are left out.
pub(super) fn check<'a>(
    job: &'a Job,
    model: DatabaseModel,
    inert: &mut InertOptions<'a>,
    findings: &mut Findings,
) {
    for given in job.options.all() {
        if let Some(reason) = without_effect(job, given.opt, model) {
            inert.add(job, given, reason);
            continue;
        }
        match support_of(given) {
            NoEffect(reason) => inert.add(job, given, reason),
            Decided(what, help) => decided(job, given, model, what, help, findings),
            Works if !is_distribution_of_pages(given) => {
                let help = "pages are chosen by random, zipf, zipf_exact, pareto or normal";
                decided(job, given, model, "what is read and written", help, findings);
            }
            Works if given.opt == Opt::Nrfiles && model == DatabaseModel::Rocksdb => {
                let help = "each file is a table: `size` and `table_size` say how many there are";
                decided(job, given, model, "which files it has", help, findings);
            }
            Works => {}
        }
    }
}

/// A database has only the distributions that are defined for any number of pages.
fn is_distribution_of_pages(given: &GivenOption) -> bool {
    use ferrio_jobfile::Argument;
    match &given.value {
        Value::Word(_, Argument::Distribution(distribution)) => {
            matches!(distribution, Distribution::Uniform | Distribution::Skewed(_))
        }
        _ => true,
    }
}

/// An option of the section is a mistake, one that it inherits is meant for other jobs.
fn decided(
    job: &Job,
    given: &GivenOption,
    model: DatabaseModel,
    what: &str,
    help: &str,
    findings: &mut Findings,
) {
    let option = given.name;
    let message = format!("workload={model} decides {what}");
    let is_own = job.own.iter().any(|own| own.origin == given.origin);
    if is_own {
        let problem = Diagnostic::error(message, given.origin.clone()).code("decided-by-workload");
        findings.refuse(problem.label(format!("remove `{option}`")).help(help).job(name(job)));
    } else {
        let text = format!("`{option}`, which the job inherits, is ignored: {message}");
        let note = Diagnostic::note(text).code("decided-by-workload").at(given.origin.clone());
        findings.warn(note.help(help).job(name(job)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_one_and_says_more_than_its_group() {
        let all: Vec<Opt> = EXCEPTIONS.iter().flat_map(|(_, opts)| opts.iter().copied()).collect();
        for (support, opts) in EXCEPTIONS {
            for opt in *opts {
                let row = opt.row();
                assert!(row.scope == OptionScope::Core && row.status == OptionStatus::Works, "{}", row.name);
                assert_ne!(*support, support_of_group(row), "{}", row.name);
                assert_eq!(all.iter().filter(|other| *other == opt).count(), 1, "{}", row.name);
            }
        }
    }
}
