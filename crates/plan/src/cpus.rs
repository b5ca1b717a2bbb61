//! The CPUs that a job runs on, and its NUMA nodes.

use ferrio_job::{Diagnostic, JobSpec, MemoryPolicy, NumaMode};
use ferrio_jobfile::{Job, NodeList, NodeNumbers, Opt};
use ferrio_machine::{Machine, NumaNode};

use crate::as_written::{inert, lacks, name, note, place, refuse};
use crate::findings::Findings;

inert! {
    CpusAllowedPolicy:
        |job| lacks(job, Opt::CpusAllowed) && lacks(job, Opt::Cpumask);
        "the job may run on all CPUs without `cpus_allowed`";
}

/// Two ways to write the CPUs of a job; the last one counts.
const CPUS: [Opt; 2] = [Opt::CpusAllowed, Opt::Cpumask];

/// The CPUs of a list or a mask.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.cpus_allowed = match job.options.last_of(&CPUS) {
        Some(given) if given.opt == Opt::Cpumask => {
            let mask: u32 = job.options.value(Opt::Cpumask);
            (0..u32::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect()
        }
        _ => job.options.value(Opt::CpusAllowed),
    };
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    check_cpus(job, spec, machine, findings);
    keep_off_the_clock(job, spec, machine, findings);
}

/// `gtod_cpu`: the job leaves this CPU alone. fio has a thread there that publishes the time; the clock of a worker needs none.
fn keep_off_the_clock(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    let Some(cpu) = job.options.if_given::<u32>(Opt::GtodCpu) else { return };
    let max = machine.cpus.saturating_sub(1);
    if cpu > max {
        let message = format!("CPU {cpu} too large (max={max})");
        let help = "name a CPU that this machine has";
        return refuse(findings, job, &[Opt::GtodCpu], "no-such-cpu", message, help);
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

fn check_cpus(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let max = machine.cpus.saturating_sub(1);
    let cpus = job.options.last_of(&CPUS).map(|given| (given.opt, &spec.cpus_allowed));
    let writer = job.options.is_given(Opt::LogCompressionCpus);
    let writer = writer.then_some((Opt::LogCompressionCpus, &spec.logs.writer_cpus));
    let checkers = spec.verify.as_ref().filter(|_| job.options.is_given(Opt::VerifyAsyncCpus));
    let checkers = checkers.map(|verify| (Opt::VerifyAsyncCpus, &verify.thread_cpus));
    for (opt, cpus) in cpus.into_iter().chain(writer).chain(checkers) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{jobs_of, null, plan_of, refusals, spec_of};

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
    fn cpus_that_are_not_there_are_refused() {
        assert_eq!(refusals(&null("cpus_allowed=0,5\n")), ["CPU 5 too large (max=3)"]);
        assert_eq!(spec_of(&null("cpus_allowed=1-3\n")).cpus_allowed, [1, 2, 3]);
        let log = "write_lat_log\nlog_compression=1k\nlog_compression_cpus=7\n";
        assert_eq!(refusals(&null(log)), ["CPU 7 too large (max=3)"]);
    }
}
