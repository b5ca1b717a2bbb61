//! Where the worker of a job runs: CPUs, NUMA nodes, nice value.

use ferrio_job::{Choice as _, Diagnostic, JobSpec, MemoryPolicy, NumaMode};
use ferrio_jobfile::{Argument, Job, Opt, Value};
use ferrio_machine::{Machine, NumaNode, id_list};

use crate::as_written::{lacks, note, place, refuse};
use crate::findings::Findings;
use crate::inert::inert;

inert! {
    CpusAllowedPolicy:
        |job| lacks(job, Opt::CpusAllowed) && lacks(job, Opt::Cpumask);
        "the job may run on all CPUs without `cpus_allowed`";
}

/// The CPUs and the nice value of the worker.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.cpus_allowed = job.options.cpus(Opt::CpusAllowed).unwrap_or_default();
    spec.nice = i32::try_from(job.options.value::<i64>(Opt::Nice)).unwrap_or(0);
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let max = machine.cpus.saturating_sub(1);
    for (opt, cpus) in
        [(Opt::CpusAllowed, &spec.cpus_allowed), (Opt::LogCompressionCpus, &spec.logs.writer_cpus)]
    {
        if !job.options.is_given(opt) {
            continue;
        }
        let message = match cpus.iter().find(|&&cpu| cpu > max) {
            Some(cpu) => format!("CPU {cpu} too large (max={max})"),
            None if cpus.is_empty() => "no CPU is left to run on".to_owned(),
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
        findings.refuse(Diagnostic::error(message, place(job, &[opt])).code("invalid-numa-nodes"));
    };
    if let Some(text) = job.options.text(Opt::NumaCpuNodes) {
        match cpus_of(&nodes, text) {
            Ok(cpus) => spec.cpus_allowed = cpus,
            Err(message) => refuse(Opt::NumaCpuNodes, message),
        }
    }
    if let Some(Value::Word(mode, argument)) = job.options.given(Opt::NumaMemPolicy).map(|given| &given.value)
    {
        let named = match argument {
            Argument::Nodes(nodes) => nodes,
            _ => "all",
        };
        match policy(&nodes, NumaMode::from_word(mode).unwrap_or(NumaMode::Default), named) {
            Ok(policy) => spec.memory_policy = Some(policy),
            Err(message) => refuse(Opt::NumaMemPolicy, message),
        }
    }
    if job.options.is_given(Opt::NumaCpuNodes) && job.options.is_given(Opt::CpusAllowed) {
        let text = format!("{}: numa_cpu_nodes decides where the job runs, not cpus_allowed", job.name);
        findings.note(note(job, &[Opt::CpusAllowed], "cpus-overridden", text));
    }
}

fn cpus_of(nodes: &[NumaNode], text: &str) -> Result<Vec<u32>, String> {
    let ids = chosen(nodes, text)?;
    let cpus: Vec<u32> =
        nodes.iter().filter(|node| ids.contains(&node.id)).flat_map(|node| node.cpus.clone()).collect();
    if cpus.is_empty() {
        return Err("numa_cpu_nodes: these nodes have no CPU".to_owned());
    }
    Ok(cpus)
}

fn policy(nodes: &[NumaNode], mode: NumaMode, named: &str) -> Result<MemoryPolicy, String> {
    let ids = || chosen(nodes, named);
    Ok(match mode {
        NumaMode::Prefer => MemoryPolicy::Prefer(ids()?[0]),
        NumaMode::Bind => MemoryPolicy::Bind(ids()?),
        NumaMode::Interleave => MemoryPolicy::Interleave(ids()?),
        NumaMode::Local => MemoryPolicy::Local,
        NumaMode::Default => MemoryPolicy::Default,
    })
}

/// Nodes as libnuma writes them: a list, `all`, `!` for all others, `+` for positions among the existing nodes. The result is never empty.
fn chosen(nodes: &[NumaNode], text: &str) -> Result<Vec<u32>, String> {
    let all = || nodes.iter().map(|node| node.id);
    let named = text.trim_start_matches(['!', '+']);
    let listed = if named == "all" { Some(all().collect()) } else { id_list(named) };
    let mut ids = listed.ok_or_else(|| format!("`{text}` is no list of NUMA nodes"))?;
    if text.starts_with('+') && named != "all" {
        ids = ids.iter().map(|&at| all().nth(at as usize).unwrap_or(u32::MAX)).collect();
    }
    if let Some(id) = ids.iter().find(|&&id| all().all(|there| there != id)) {
        let there: Vec<String> = all().map(|id| id.to_string()).collect();
        let wrong = if text.starts_with('+') { text.to_owned() } else { id.to_string() };
        return Err(format!("there is no NUMA node {wrong}, only {}", there.join(",")));
    }
    if text.starts_with('!') {
        ids = all().filter(|id| !ids.contains(id)).collect();
    }
    if ids.is_empty() { Err(format!("`{text}` leaves no NUMA node")) } else { Ok(ids) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{null, refusals, spec_of};

    /// Two nodes with CPUs and one with memory only.
    fn nodes() -> Vec<NumaNode> {
        let node = |id, cpus: &[u32]| NumaNode { id, cpus: cpus.to_vec() };
        vec![node(0, &[0, 1, 4]), node(1, &[2, 3]), node(3, &[])]
    }

    #[test]
    fn nodes_are_named_one_by_one_all_others_or_by_place() {
        let chosen = |text| chosen(&nodes(), text).unwrap();
        assert_eq!(chosen("0-1,3"), [0, 1, 3]);
        assert_eq!(chosen("all"), [0, 1, 3]);
        assert_eq!(chosen("!1"), [0, 3]);
        assert_eq!(chosen("+2"), [3]);
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        let refusal = |text| chosen(&nodes(), text).unwrap_err();
        assert_eq!(refusal("2"), "there is no NUMA node 2, only 0,1,3");
        assert_eq!(refusal("+3"), "there is no NUMA node +3, only 0,1,3");
        assert_eq!(refusal("!all"), "`!all` leaves no NUMA node");
        assert_eq!(refusal("0-4000000000"), "`0-4000000000` is no list of NUMA nodes");
        assert_eq!(refusal("x"), "`x` is no list of NUMA nodes");
    }

    #[test]
    fn a_job_runs_on_the_cpus_of_its_nodes() {
        assert_eq!(cpus_of(&nodes(), "0,1").unwrap(), [0, 1, 4, 2, 3]);
        assert!(cpus_of(&nodes(), "3").is_err());
    }

    #[test]
    fn policies_name_their_nodes() {
        let policy = |word, argument| policy(&nodes(), word, argument).unwrap();
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
    fn cpus_that_are_not_there_are_refused() {
        assert_eq!(refusals(&null("cpus_allowed=0,5\n")), ["CPU 5 too large (max=3)"]);
        assert_eq!(spec_of(&null("cpus_allowed=1-3\n")).cpus_allowed, [1, 2, 3]);
        let log = "write_lat_log\nlog_compression=1k\nlog_compression_cpus=7\n";
        assert_eq!(refusals(&null(log)), ["CPU 7 too large (max=3)"]);
    }
}
