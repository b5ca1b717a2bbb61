//! The kind of I/O of a job: `rw` and its postfix, the mix of reads and writes, the ranges of a trim.

use ferrio_job::{Direction, JobSpec, ReadWrite, RwPostfix};
use ferrio_jobfile::{Job, Opt, Options};

use crate::as_written::{inert, lacks, refuse};
use crate::findings::Findings;

inert! {
    RwSequencer:
        |job| job.options.value::<RwPostfix>(Opt::Rw) == RwPostfix::None || !rw(job).is_random();
        "it applies only to a random kind with a count, like `rw=randread:8`";
    NumRange:
        |job| lacks(job, Opt::ReadIolog) && !rw(job).does(Direction::Trim); "the job does not trim";
    Rwmixread Rwmixwrite:
        |job| !rw(job).is_mixed(); "only jobs that read and write (rw=rw, rw=randrw) have a mix";
}

/// The only engine that trims several ranges with one command.
const TRIMS_RANGES: &str = "io_uring_cmd";

/// The `rw` kind in force.
pub(crate) fn rw(job: &Job) -> ReadWrite {
    job.options.choice(Opt::Rw)
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if job.options.value::<u32>(Opt::NumRange) <= 1 {
        return;
    }
    let help = "remove `num_range`";
    if rw(job).is_trimwrite() {
        let message = "trimwrite cannot be used with multiple ranges";
        refuse(findings, job, &[Opt::NumRange], "trimwrite-with-ranges", message, help);
    }
    let engine = job.options.engine();
    if rw(job).does(Direction::Trim) && engine != TRIMS_RANGES {
        let message = format!("can't use multiple ranges with IO engine {engine}");
        refuse(findings, job, &[Opt::NumRange], "engine-without-ranges", message, help);
    }
}

/// `rw` and the options about the order of directions.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.rw = rw(job);
    spec.rw_postfix = job.options.value(Opt::Rw);
    spec.sequencer = job.options.choice(Opt::RwSequencer);
    spec.rwmixread = rwmixread(&job.options);
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.opening.readonly && changes_data(spec.rw) {
        let message = format!("job <{}> has write or trim bit set, but fio is in read-only mode", job.name);
        refuse(findings, job, &[Opt::Rw], "write-in-read-only-mode", message, "--readonly was given");
    }
}

/// True for kinds that write or trim.
pub(crate) fn changes_data(rw: ReadWrite) -> bool {
    rw.does(Direction::Write) || rw.does(Direction::Trim)
}

/// True for a job that does not write, whatever happens. One that replays a log writes what is in the log.
pub(crate) fn never_writes(job: &Job) -> bool {
    lacks(job, Opt::ReadIolog) && !rw(job).does(Direction::Write)
}

/// `rwmixread` and `rwmixwrite` set the same number; the last one given takes effect.
fn rwmixread(options: &Options) -> u32 {
    match options.last_of(&[Opt::Rwmixread, Opt::Rwmixwrite]).map(|given| given.opt) {
        Some(Opt::Rwmixwrite) => 100_u32.saturating_sub(options.value(Opt::Rwmixwrite)),
        _ => options.value::<u32>(Opt::Rwmixread).min(100),
    }
}
#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::testing::{first_refusal, jobs_of, null, spec_of, wrong};
    use ferrio_job::RwPostfix;

    #[test]
    fn rwmixread_and_rwmixwrite_are_one_number_and_the_last_counts() {
        let rwmixread = |options: &str| spec_of(&null(options)).rwmixread;
        assert_eq!(rwmixread("rwmixread=70\n"), 70);
        assert_eq!(rwmixread("rwmixread=70\nrwmixwrite=80\n"), 20);
        assert_eq!(rwmixread("rwmixwrite=80\nrwmixread=70\n"), 70);
    }

    #[test]
    fn the_step_of_rw_is_a_count_for_random_and_bytes_for_sequential_kinds() {
        let postfix = |options: &str| spec_of(&null(options)).rw_postfix;
        assert_eq!(postfix("rw=randwrite:8\n"), RwPostfix::Every(8));
        assert_eq!(postfix("rw=write:-4k\n"), RwPostfix::Hole(-4096));
        assert_eq!(postfix("rw=read:4k\nkb_base=1000\n"), RwPostfix::Hole(4000));
        assert_eq!(postfix("rw=read:0\n"), RwPostfix::None);
        assert_eq!(postfix("rw=read:(2*4k)\n"), RwPostfix::Hole(8192));
        assert_eq!(postfix("rw=randread:(2*4)\n"), RwPostfix::Every(8));
        assert_eq!(postfix("rw=write:(1-5)k\n"), RwPostfix::Hole(-4096));
    }

    #[test]
    fn several_ranges_are_for_trims_of_an_engine_that_can() {
        let want = "can't use multiple ranges with IO engine null";
        assert_eq!(first_refusal("rw=randtrim\nnum_range=4\n"), want);
        let want = ["trimwrite cannot be used with multiple ranges", want];
        assert_eq!(wrong("rw=trimwrite\nnum_range=4\n"), want);
        assert!(wrong("rw=trim\nnum_range=1\n").is_empty() && wrong("rw=read\nnum_range=4\n").is_empty());
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
        assert!(plan.jobs[0].spec.opening.readonly);
    }
}
