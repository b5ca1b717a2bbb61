//! The worker of a job: its name, user, locked memory, control group, disk scheduler and nice value.

use ferrio_job::{Cgroup, Diagnostic, EngineKind, JobSpec, PlannedJob, PlannedSection, WorkerProcess};
use ferrio_jobfile::{Job, Opt, Options};
use ferrio_machine::{IoCgroups, Machine};

use crate::as_written::{engine_is, inert, lacks, note};
use crate::findings::Findings;

/// Memory that `lockmem` leaves to everybody else, MiB.
const UNLOCKED_MIB: u64 = 128;

inert! {
    CgroupNodelete CgroupWeight:
        |job| lacks(job, Opt::Cgroup); "the job is in no `cgroup`";
    Ioscheduler:
        |job| engine_is(job, EngineKind::is_diskless);
        "this engine does no I/O on disks";
}

/// The worker and its nice value.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.worker = worker(&job.options);
    spec.nice = i32::try_from(job.options.value::<i64>(Opt::Nice)).unwrap_or(0);
}

fn worker(options: &Options) -> WorkerProcess {
    // -1, which is also the largest number of 32 bits, is no user to the kernel: it means `unchanged`.
    let id = |opt| options.if_given::<u32>(opt).filter(|&id| id != u32::MAX);
    let text = |opt| options.text(opt).filter(|text| !text.is_empty()).map(str::to_owned);
    WorkerProcess {
        comm: text(Opt::Comm),
        uid: id(Opt::Uid),
        gid: id(Opt::Gid),
        lockmem: options.value(Opt::Lockmem),
        io_scheduler: text(Opt::Ioscheduler),
        cgroup: text(Opt::Cgroup).map(|name| Cgroup {
            name,
            weight: options.if_given::<u32>(Opt::CgroupWeight),
            keep: options.value(Opt::CgroupNodelete),
        }),
    }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    let most = machine.memory_mib.saturating_sub(UNLOCKED_MIB) << 20;
    if spec.worker.lockmem > most {
        spec.worker.lockmem = most;
        let message = format!("limiting mlocked memory to {}MiB", most >> 20);
        findings.note(note(job, &[Opt::Lockmem], "lockmem-limited", message));
    }
}

/// Jobs that run together must agree on their control groups: one group has one weight, and in version 2 the I/O of a process
/// belongs to one group.
pub(crate) fn check_cgroups(jobs: &[PlannedJob], sections: &[PlannedSection], findings: &mut Findings) {
    if jobs.iter().any(|job| job.spec.worker.cgroup.is_some()) {
        let per_thread = IoCgroups::mounted().is_none_or(|groups| groups.per_thread);
        check_cgroups_of(jobs, sections, per_thread, findings);
    }
}

fn check_cgroups_of(
    jobs: &[PlannedJob],
    sections: &[PlannedSection],
    per_thread: bool,
    findings: &mut Findings,
) {
    let group = |section: &PlannedSection| jobs.get(section.jobs.start)?.spec.worker.cgroup.as_ref();
    for (at, section) in sections.iter().enumerate() {
        let together = sections[..at].iter().filter(|other| other.phase == section.phase);
        for other in together {
            let message = match (group(other), group(section)) {
                (Some(a), Some(b)) if a.name == b.name && a.weight != b.weight => format!(
                    "the jobs {} and {} give the cgroup {} different weights",
                    other.name, section.name, a.name
                ),
                (a, b) if !per_thread && a.map(|group| &group.name) != b.map(|group| &group.name) => format!(
                    "the jobs {} and {} run at the same time in different cgroups, but cgroup version 2 accounts all I/O of \
                     a process in one cgroup",
                    other.name, section.name
                ),
                _ => continue,
            };
            let help = "give both the same cgroup and weight, separate them with `stonewall`, or start ferrio once for each";
            let problem = Diagnostic::error(message, section.origin.clone()).code("cgroup-conflict");
            findings.refuse(problem.help(help).job(&section.name));
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{null, plan_of, refusals, spec_of};

    #[test]
    fn a_worker_has_the_name_and_user_and_group_that_are_given() {
        assert_eq!(spec_of(&null("")).worker, WorkerProcess::default());
        let text =
            "comm=reader\nuid=65534\ngid=0\nlockmem=1m\ncgroup=slow\ncgroup_weight=250\ncgroup_nodelete=1\n";
        let want = WorkerProcess {
            comm: Some("reader".to_owned()),
            uid: Some(65534),
            gid: Some(0),
            lockmem: 1 << 20,
            io_scheduler: None,
            cgroup: Some(Cgroup { name: "slow".to_owned(), weight: Some(250), keep: true }),
        };
        assert_eq!(spec_of(&null(text)).worker, want);
        assert_eq!(spec_of(&null("uid=4294967295\n")).worker.uid, None, "as -1: unchanged");
        let scheduler = spec_of("[a]\nsize=4k\nioscheduler=bfq\n").worker.io_scheduler;
        assert_eq!(scheduler.as_deref(), Some("bfq"));
    }

    #[test]
    fn locked_memory_leaves_some_to_the_machine() {
        // The machine of these tests has 1 GiB.
        let plan = plan_of(&null("lockmem=100g\n")).unwrap();
        assert_eq!(plan.jobs[0].spec.worker.lockmem, 896 << 20);
        assert_eq!(plan.diagnostics[0].message, "limiting mlocked memory to 896MiB");
    }

    #[test]
    fn jobs_that_run_together_agree_on_their_cgroups() {
        let conflicts = |text: &str, per_thread| {
            let plan = plan_of(&format!("[global]\nioengine=null\nsize=4k\n{text}")).unwrap();
            let mut findings = Findings::default();
            check_cgroups_of(&plan.jobs, &plan.sections, per_thread, &mut findings);
            findings.into_problems().len()
        };
        let different = "[a]\ncgroup=x\n[b]\ncgroup=y\n";
        assert_eq!((conflicts(different, true), conflicts(different, false)), (0, 1));
        assert_eq!(conflicts("[a]\ncgroup=x\n[b]\n", false), 1, "no group is another group");
        assert_eq!(conflicts("[a]\ncgroup=x\n[b]\nstonewall\ncgroup=y\n", false), 0);
        assert_eq!(conflicts("cgroup=x\n[a]\nnumjobs=2\n[b]\n", false), 0);
        let weights =
            "[global]\nioengine=null\nsize=4k\ncgroup=x\n[a]\ncgroup_weight=100\n[b]\ncgroup_weight=200\n";
        let want = "the jobs a and b give the cgroup x different weights";
        assert_eq!(refusals(weights), [want]);
    }
}
