//! The worker of a job: its name, user, locked memory and control group, its CPUs and NUMA nodes, its nice value and its I/O priority, and
//! the priorities of single I/Os that engines give (`cmdprio`).

use ferrio_job::{
    Cgroup, Choice as _, Diagnostic, EngineKind, IoPriority, JobSpec, MemoryPolicy, NumaMode, PerDirection,
    PlannedJob, PlannedSection, Priorities, PriorityShare, SetupError, WorkerProcess,
};
use ferrio_jobfile::{Job, NodeList, NodeNumbers, Opt, Options, PrioritySplit};
use ferrio_machine::{IoCgroups, Machine, NumaNode};

use crate::as_written::{asks, inert, lacks, name, note, place, refuse};
use crate::findings::Findings;

/// Memory that `lockmem` leaves to everybody else, MiB.
const UNLOCKED_MIB: u64 = 128;

inert! {
    CgroupNodelete CgroupWeight:
        |job| lacks(job, Opt::Cgroup); "the job is in no `cgroup`";
    Ioscheduler:
        |job| EngineKind::from_word(job.options.engine()).is_some_and(EngineKind::is_diskless);
        "this engine does no I/O on disks";
    CpusAllowedPolicy:
        |job| lacks(job, Opt::CpusAllowed) && lacks(job, Opt::Cpumask);
        "the job may run on all CPUs without `cpus_allowed`";
    CmdprioClassIoUring CmdprioHintIoUring CmdprioIoUring:
        |job| !asks(job, Opt::CmdprioPercentageIoUring) && lacks(job, Opt::CmdprioBssplitIoUring);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
    CmdprioClassLibaio CmdprioHintLibaio CmdprioLibaio:
        |job| !asks(job, Opt::CmdprioPercentageLibaio) && lacks(job, Opt::CmdprioBssplitLibaio);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
}

/// The worker, its CPUs and nice value, and all priorities; without those of single I/Os if [`check_priorities`] rejects them.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.worker = worker(&job.options);
    spec.cpus_allowed = match job.options.last_of(&CPUS) {
        Some(given) if given.opt == Opt::Cpumask => {
            let mask: u32 = job.options.value(Opt::Cpumask);
            (0..u32::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect()
        }
        _ => job.options.value(Opt::CpusAllowed),
    };
    spec.nice = i32::try_from(job.options.value::<i64>(Opt::Nice)).unwrap_or(0);
    let shares = names(spec.engine).and_then(|names| shares(job, &names).ok()).unwrap_or_default();
    spec.priorities = Priorities { own: own_priority(&job.options), shares };
}

/// Two ways to write the CPUs of a job; the last one counts.
const CPUS: [Opt; 2] = [Opt::CpusAllowed, Opt::Cpumask];

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
    check_cpus(job, spec, machine, findings);
    keep_off_the_clock(job, spec, machine, findings);
    let most = machine.memory_mib.saturating_sub(UNLOCKED_MIB) << 20;
    if spec.worker.lockmem > most {
        spec.worker.lockmem = most;
        let message = format!("limiting mlocked memory to {}MiB", most >> 20);
        findings.note(note(job, &[Opt::Lockmem], "lockmem-limited", message));
    }
}

/// `gtod_cpu`: the job leaves this CPU alone. fio has a thread there that publishes the time; the clock of a worker needs none.
fn keep_off_the_clock(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    let Some(cpu) = job.options.if_given::<u32>(Opt::GtodCpu) else { return };
    let max = machine.cpus.saturating_sub(1);
    if cpu > max {
        let message = format!("CPU {cpu} too large (max={max})");
        return refuse(
            findings,
            job,
            &[Opt::GtodCpu],
            "no-such-cpu",
            message,
            "name a CPU that this machine has",
        );
    }
    if !CPUS.iter().any(|&opt| job.options.is_given(opt)) {
        let message = format!(
            "gtod_cpu={cpu} has no effect: ferrio has no clock thread, and without `cpus_allowed` or `cpumask` there is no list to remove the CPU from"
        );
        return findings.note(note(job, &[Opt::GtodCpu], "clock-needs-no-cpu", message));
    }
    spec.cpus_allowed.retain(|&allowed| allowed != cpu);
    if spec.cpus_allowed.is_empty() && findings.is_fine() {
        let message = format!("gtod_cpu={cpu} leaves the job no CPU to run on");
        refuse(findings, job, &[Opt::GtodCpu], "no-such-cpu", message, "allow it another CPU");
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

fn check_cpus(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let max = machine.cpus.saturating_sub(1);
    let cpus = job.options.last_of(&CPUS).map(|given| (given.opt, &spec.cpus_allowed));
    let writer = job.options.is_given(Opt::LogCompressionCpus);
    let writer = writer.then_some((Opt::LogCompressionCpus, &spec.logs.writer_cpus));
    for (opt, cpus) in cpus.into_iter().chain(writer) {
        let message = match cpus.iter().find(|&&cpu| cpu > max) {
            Some(cpu) => format!("CPU {cpu} too large (max={max})"),
            None if cpus.is_empty() => "the list names no CPU".to_owned(),
            None => continue,
        };
        refuse(findings, job, &[opt], "no-such-cpu", message, "name CPUs that this machine has");
    }
}

/// Places a job on the CPUs and the memory of the nodes that it names.
pub(crate) fn place_on_nodes(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    if !job.options.is_given(Opt::NumaCpuNodes) && !job.options.is_given(Opt::NumaMemPolicy) {
        return;
    }
    let nodes = NumaNode::online(machine.cpus);
    let mut refuse = |opt, message: String| {
        findings
            .refuse(Diagnostic::error(message, place(job, &[opt])).code("invalid-numa-nodes").job(name(job)));
    };
    if let Some(list) = job.options.if_given(Opt::NumaCpuNodes) {
        match cpus_of(&nodes, &list) {
            Ok(cpus) => spec.cpus_allowed = cpus,
            Err(message) => refuse(Opt::NumaCpuNodes, message),
        }
    }
    if let Some(mode) = job.options.chosen(Opt::NumaMemPolicy) {
        match policy(&nodes, mode, &job.options.value(Opt::NumaMemPolicy)) {
            Ok(policy) => spec.memory_policy = Some(policy),
            Err(message) => refuse(Opt::NumaMemPolicy, message),
        }
    }
    let cpus = job.options.last_of(&CPUS).filter(|_| job.options.is_given(Opt::NumaCpuNodes));
    if let Some(given) = cpus {
        let option = given.opt.row().name;
        let text = format!("{}: numa_cpu_nodes decides where the job runs, not {option}", job.name);
        findings.note(note(job, &[given.opt], "cpus-overridden", text));
    }
}

fn cpus_of(nodes: &[NumaNode], list: &NodeList) -> Result<Vec<u32>, String> {
    let ids = chosen(nodes, list)?;
    let cpus: Vec<u32> =
        nodes.iter().filter(|node| ids.contains(&node.id)).flat_map(|node| node.cpus.clone()).collect();
    if cpus.is_empty() {
        return Err("numa_cpu_nodes: these nodes have no CPU".to_owned());
    }
    Ok(cpus)
}

fn policy(nodes: &[NumaNode], mode: NumaMode, list: &NodeList) -> Result<MemoryPolicy, String> {
    let ids = || chosen(nodes, list);
    Ok(match mode {
        NumaMode::Prefer => MemoryPolicy::Prefer(ids()?[0]),
        NumaMode::Bind => MemoryPolicy::Bind(ids()?),
        NumaMode::Interleave => MemoryPolicy::Interleave(ids()?),
        NumaMode::Local => MemoryPolicy::Local,
        NumaMode::Default => MemoryPolicy::Default,
    })
}

/// The numbers of the nodes that a list names, never none.
fn chosen(nodes: &[NumaNode], list: &NodeList) -> Result<Vec<u32>, String> {
    let all: Vec<u32> = nodes.iter().map(|node| node.id).collect();
    let mut ids = Vec::new();
    for number in list.ranges.iter().flatten().flat_map(|&(first, last)| first..=last) {
        let (id, wrong) = match list.meaning {
            NodeNumbers::Positions => (all.get(number as usize), list.to_string()),
            NodeNumbers::Named | NodeNumbers::Others => {
                (all.iter().find(|&&id| id == number), number.to_string())
            }
        };
        let Some(&id) = id else {
            let there: Vec<String> = all.iter().map(u32::to_string).collect();
            return Err(format!("there is no NUMA node {wrong}, only {}", there.join(",")));
        };
        ids.push(id);
    }
    if list.ranges.is_none() {
        ids.clone_from(&all);
    }
    if list.meaning == NodeNumbers::Others {
        ids = all.into_iter().filter(|id| !ids.contains(id)).collect();
    }
    if ids.is_empty() { Err(format!("`{list}` leaves no NUMA node")) } else { Ok(ids) }
}

/// The options of one engine about the priorities of single I/Os.
struct Names {
    percentage: Opt,
    class: Opt,
    level: Opt,
    hint: Opt,
    split: Opt,
}

/// Engines that can give an I/O a priority of its own, with the names of their options.
const fn names(engine: EngineKind) -> Option<Names> {
    match engine {
        EngineKind::IoUring => Some(Names {
            percentage: Opt::CmdprioPercentageIoUring,
            class: Opt::CmdprioClassIoUring,
            level: Opt::CmdprioIoUring,
            hint: Opt::CmdprioHintIoUring,
            split: Opt::CmdprioBssplitIoUring,
        }),
        EngineKind::Libaio => Some(Names {
            percentage: Opt::CmdprioPercentageLibaio,
            class: Opt::CmdprioClassLibaio,
            level: Opt::CmdprioLibaio,
            hint: Opt::CmdprioHintLibaio,
            split: Opt::CmdprioBssplitLibaio,
        }),
        _ => None,
    }
}

/// Rejects wrong options about single I/Os. As in fio, only the job that has them fails.
pub(crate) fn check_priorities(job: &Job, spec: &JobSpec) -> Result<(), SetupError> {
    let Some(names) = names(spec.engine) else { return Ok(()) };
    shares(job, &names).map(drop).map_err(|problem| SetupError::new(libc::EINVAL, "cmdprio", problem))
}

/// The worker's own priority. The default class, and class 0, is best effort.
fn own_priority(options: &Options) -> Option<IoPriority> {
    let all = [Opt::Prio, Opt::Prioclass, Opt::Priohint];
    let number = |opt| u16::try_from(options.value::<u32>(opt)).unwrap_or(0);
    let [level, class, hint] = all.map(number);
    let given = all.iter().any(|&opt| options.is_given(opt));
    given.then(|| IoPriority::new(class as u8, hint, level as u8))
}

fn shares(job: &Job, names: &Names) -> Result<PerDirection<Vec<PriorityShare>>, String> {
    let options = &job.options;
    let base = base(options, names);
    let Some(split) = options.given(names.split) else {
        let percentages: PerDirection<u64> = options.value(names.percentage);
        return Ok(PerDirection([0, 1, 2].map(|at| {
            let percent = u8::try_from(percentages.0[at]).unwrap_or(0);
            let share = PriorityShare { bytes: None, percent, priority: base[at] };
            Vec::from_iter((percent > 0 && at < 2).then_some(share))
        })));
    };
    if asks(job, names.percentage) {
        return Err("cmdprio_percentage and cmdprio_bssplit options are mutually exclusive".to_owned());
    }
    let [reads, writes]: [Vec<PrioritySplit>; 2] = options.if_given(names.split).ok_or_else(|| {
        format!(
            "invalid cmdprio_bssplit format: `{}`; write `size/percent` or `size/percent/class/level[/hint]`, joined by `:`",
            split.text
        )
    })?;
    for list in [&reads, &writes] {
        if let Some(bytes) = overfull(list) {
            return Err(format!("cmdprio_bssplit total percentage for bs: {bytes} exceeds 100"));
        }
    }
    let shares = |list: Vec<PrioritySplit>, base: IoPriority| {
        let share = |split: PrioritySplit| PriorityShare {
            bytes: Some(split.bytes),
            percent: split.percent,
            priority: split.priority.unwrap_or(base),
        };
        list.into_iter().filter(|split| split.percent > 0).map(share).collect()
    };
    Ok(PerDirection([shares(reads, base[0]), shares(writes, base[1]), Vec::new()]))
}

/// The priority of chosen I/Os per direction: real time unless a class is given.
fn base(options: &Options, names: &Names) -> [IoPriority; 3] {
    let [classes, hints, levels] =
        [names.class, names.hint, names.level].map(|opt| options.per_direction(opt));
    let number = |values: [Option<u64>; 3], at: usize, default| {
        values[at].and_then(|number| u16::try_from(number).ok()).unwrap_or(default)
    };
    [0, 1, 2].map(|at| {
        let class = number(classes, at, IoPriority::REAL_TIME.into());
        IoPriority::new(class as u8, number(hints, at, 0), number(levels, at, 0) as u8)
    })
}

/// The first block size whose shares add up to more than 100 percent.
fn overfull(list: &[PrioritySplit]) -> Option<u64> {
    let sum = |bytes| -> u32 {
        list.iter().filter(|split| split.bytes == bytes).map(|split| u32::from(split.percent)).sum()
    };
    list.iter().map(|split| split.bytes).find(|&bytes| sum(bytes) > 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{jobs_of, null, plan_of, refusals, spec_of};
    use ferrio_job::Direction;

    /// A list of nodes as a job file has it.
    fn list(text: &str) -> NodeList {
        let set = jobs_of(&null(&format!("numa_cpu_nodes={text}\n")));
        set.jobs[0].options.value(Opt::NumaCpuNodes)
    }

    /// Two nodes with CPUs and one with memory only.
    fn nodes() -> Vec<NumaNode> {
        let node = |id, cpus: &[u32]| NumaNode { id, cpus: cpus.to_vec() };
        vec![node(0, &[0, 1, 4]), node(1, &[2, 3]), node(3, &[])]
    }

    #[test]
    fn nodes_are_named_one_by_one_all_others_or_by_place() {
        let chosen = |text| chosen(&nodes(), &list(text)).unwrap();
        assert_eq!(chosen("0-1,3"), [0, 1, 3]);
        assert_eq!(chosen("all"), [0, 1, 3]);
        assert_eq!(chosen("!1"), [0, 3]);
        assert_eq!(chosen("+2"), [3]);
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        let refusal = |text| chosen(&nodes(), &list(text)).unwrap_err();
        assert_eq!(refusal("2"), "there is no NUMA node 2, only 0,1,3");
        assert_eq!(refusal("+3"), "there is no NUMA node +3, only 0,1,3");
        assert_eq!(refusal("!all"), "`!all` leaves no NUMA node");
        assert_eq!(refusal("0-4000000000"), "there is no NUMA node 2, only 0,1,3");
    }

    #[test]
    fn a_job_runs_on_the_cpus_of_its_nodes() {
        assert_eq!(cpus_of(&nodes(), &list("0,1")).unwrap(), [0, 1, 4, 2, 3]);
        assert!(cpus_of(&nodes(), &list("3")).is_err());
    }

    #[test]
    fn policies_name_their_nodes() {
        let policy = |mode, text| policy(&nodes(), mode, &list(text)).unwrap();
        assert_eq!(policy(NumaMode::Prefer, "3"), MemoryPolicy::Prefer(3));
        assert_eq!(policy(NumaMode::Bind, "0-1"), MemoryPolicy::Bind(vec![0, 1]));
        assert_eq!(policy(NumaMode::Interleave, "all"), MemoryPolicy::Interleave(vec![0, 1, 3]));
        assert_eq!(policy(NumaMode::Local, "all"), MemoryPolicy::Local);
        assert_eq!(policy(NumaMode::Default, "all"), MemoryPolicy::Default);
    }

    #[test]
    fn every_machine_has_a_first_node() {
        let job = "[a]\nioengine=null\nsize=4k\nnuma_cpu_nodes=all\nnuma_mem_policy=bind:all\n";
        let spec = spec_of(job);
        assert!(!spec.cpus_allowed.is_empty());
        assert!(matches!(spec.memory_policy, Some(MemoryPolicy::Bind(ids)) if !ids.is_empty()));
        let job = "[a]\nioengine=null\nsize=4k\nnuma_cpu_nodes=1023\n";
        assert!(refusals(job)[0].starts_with("there is no NUMA node 1023"), "{:?}", refusals(job));
    }

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
    fn a_mask_names_cpus_by_its_bits_and_the_last_list_or_mask_counts() {
        let cpus = |text: &str| spec_of(&null(text)).cpus_allowed;
        assert_eq!(cpus("cpumask=5\n"), [0, 2]);
        assert_eq!(cpus("cpus_allowed=3\ncpumask=2\n"), [1]);
        assert_eq!(cpus("cpumask=2\ncpus_allowed=3\n"), [3]);
        assert_eq!(refusals(&null("cpumask=16\n")), ["CPU 4 too large (max=3)"]);
        assert_eq!(refusals(&null("cpumask=0\n")), ["the list names no CPU"]);
        let plan = plan_of(&null("cpumask=3\ncpus_allowed_policy=split\nnumjobs=3\n")).unwrap();
        let each: Vec<_> = plan.jobs.iter().map(|job| job.spec.cpus_allowed[0]).collect();
        assert_eq!(each, [0, 1, 0]);
    }

    #[test]
    fn the_cpu_of_the_clock_is_taken_from_the_cpus_of_the_job() {
        assert_eq!(spec_of(&null("cpus_allowed=0-2\ngtod_cpu=1\n")).cpus_allowed, [0, 2]);
        assert_eq!(
            refusals(&null("cpumask=2\ngtod_cpu=1\n")),
            ["gtod_cpu=1 leaves the job no CPU to run on"]
        );
        assert_eq!(refusals(&null("gtod_cpu=9\n")), ["CPU 9 too large (max=3)"]);
        let plan = plan_of(&null("gtod_cpu=1\n")).unwrap();
        assert!(plan.jobs[0].spec.cpus_allowed.is_empty());
        assert_eq!(plan.diagnostics[0].code, "clock-needs-no-cpu");
        let message = &plan.diagnostics[0].message;
        assert!(message.starts_with("gtod_cpu=1 has no effect: ") && !message.contains("  "), "{message}");
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

    #[test]
    fn cpus_that_are_not_there_are_refused() {
        assert_eq!(refusals(&null("cpus_allowed=0,5\n")), ["CPU 5 too large (max=3)"]);
        assert_eq!(spec_of(&null("cpus_allowed=1-3\n")).cpus_allowed, [1, 2, 3]);
        let log = "write_lat_log\nlog_compression=1k\nlog_compression_cpus=7\n";
        assert_eq!(refusals(&null(log)), ["CPU 7 too large (max=3)"]);
    }

    fn own_bits(options: &str) -> Option<u16> {
        let spec = spec_of(&null(options));
        spec.priorities.own.map(IoPriority::bits)
    }

    /// Size (0 for all), percent and priority of the shares of reads and of writes.
    fn planned_shares(options: &str) -> [Vec<(u64, u8, u16)>; 2] {
        let spec = spec_of(&format!("[a]\nioengine=libaio\nsize=64k\n{options}"));
        let plain = |share: &PriorityShare| (share.bytes.unwrap_or(0), share.percent, share.priority.bits());
        assert!(spec.priorities.shares[Direction::Trim].is_empty());
        [Direction::Read, Direction::Write].map(|d| spec.priorities.shares[d].iter().map(plain).collect())
    }

    fn setup_error(options: &str) -> Option<(i32, String)> {
        let plan = plan_of(&format!("[a]\nioengine=io_uring\nsize=64k\n{options}")).unwrap();
        plan.jobs[0].setup_error.as_ref().map(|error| (error.errno, error.message.clone()))
    }

    #[test]
    fn a_job_has_a_priority_when_one_of_its_parts_is_given_and_best_effort_is_the_class_of_none() {
        assert_eq!(own_bits(""), None);
        assert_eq!(own_bits("prio=5\nprioclass=2\n"), Some(0x4005));
        assert_eq!(own_bits("prio=3\n"), Some(0x4003));
        assert_eq!(own_bits("prioclass=0\n"), Some(0x4000));
        assert_eq!(own_bits("prioclass=1\n"), Some(0x2000));
        assert_eq!(own_bits("prioclass=3\nprio=7\npriohint=1023\n"), Some(0x7fff));
        assert_eq!(own_bits("priohint=1\n"), Some(0x4008));
    }

    #[test]
    fn a_percentage_chooses_among_all_ios_of_a_direction_for_the_real_time_class_by_default() {
        let all = |percent, priority| vec![(0, percent, priority)];
        assert_eq!(planned_shares(""), [vec![], vec![]]);
        assert_eq!(planned_shares("cmdprio_percentage=40\n"), [all(40, 0x2000), all(40, 0x2000)]);
        let two = planned_shares("cmdprio_percentage=40,0\ncmdprio_class=2\ncmdprio=3\n");
        assert_eq!(two, [all(40, 0x4003), vec![]]);
        let parts =
            planned_shares("cmdprio_percentage=1,2\ncmdprio_class=2,3\ncmdprio=3,4\ncmdprio_hint=0,1\n");
        assert_eq!(parts, [all(1, 0x4003), all(2, 0x600c)]);
    }

    #[test]
    fn a_split_chooses_by_size_and_entries_without_a_priority_have_that_of_the_other_options() {
        let text = "cmdprio_class=2\ncmdprio=1\ncmdprio_bssplit=4k/20:8k/40/3/2:8k/0:8k/60/0/3/2,64k/100\n";
        let reads = vec![(4096, 20, 0x4001), (8192, 40, 0x6002), (8192, 60, 0x4013)];
        assert_eq!(planned_shares(text), [reads, vec![(65536, 100, 0x4001)]]);
    }

    #[test]
    fn what_fios_engines_refuse_fails_the_job_alone() {
        assert_eq!(setup_error("cmdprio_percentage=0\ncmdprio_bssplit=4k/50\n"), None);
        for (options, problem) in [
            (
                "cmdprio_percentage=50\ncmdprio_bssplit=4k/50\n",
                "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive",
            ),
            (
                "cmdprio_bssplit=4k/50:8k/10:4k/60\n",
                "cmdprio_bssplit total percentage for bs: 4096 exceeds 100",
            ),
            (
                "cmdprio_bssplit=4k/50/1\n",
                "invalid cmdprio_bssplit format: `4k/50/1`; write `size/percent` or \
                 `size/percent/class/level[/hint]`, joined by `:`",
            ),
        ] {
            assert_eq!(setup_error(options), Some((libc::EINVAL, problem.to_owned())));
        }
    }

    #[test]
    fn the_priorities_of_a_direction_begin_with_the_jobs_own_and_name_each_once() {
        let text = "[a]\nioengine=io_uring\nsize=64k\nprio=3\n\
                    cmdprio_bssplit=4k/10/2/5:8k/10/2/3:16k/10/2/5,4k/5/1/0\n";
        let priorities = spec_of(text).priorities;
        assert_eq!(priorities.of(Direction::Read), [0x4003, 0x4005]);
        assert_eq!(priorities.of(Direction::Write), [0x4003, 0x2000]);
        assert_eq!(priorities.of(Direction::Trim), [0x4003]);
        assert!(priorities.are_chosen());
    }
}
