//! `log_sum`: the jobs of a reporting group write one log, with the sum of what they did in each window.

use std::collections::HashMap;
use std::ops::Range;

use ferrio_job::{Diagnostic, Logs, PlannedJob, PlannedSection, WindowValue, log_files};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, refuse};
use crate::findings::Findings;
use crate::logs::resolve_prefixes;

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if !asks(job, Opt::LogSum) {
        return;
    }
    if !asks(job, Opt::LogAvgMsec) {
        let message = "log_sum adds up windows, and log_avg_msec is their length";
        let help = "give `log_avg_msec=1000`, or remove `log_sum`";
        refuse(findings, job, &[Opt::LogSum], "log-sum-without-windows", message, help);
    }
    let is_given = |opt: &Opt| match opt {
        Opt::WriteHistLog => job.options.is_given(*opt),
        opt => asks(job, *opt),
    };
    let others = [Opt::WriteHistLog, Opt::LogCompression, Opt::LogStoreCompressed];
    for opt in others.into_iter().filter(is_given) {
        let message = format!("log_sum cannot be combined with {}", opt.row().name);
        let help = "remove one of them, or set the option in jobs without `log_sum`";
        refuse(findings, job, &[opt, Opt::LogSum], "log-sum-with-other-log", message, help);
    }
}

/// Gives each reporting group logs of its own.
///
/// Without a prefix, the logs of a group are named after its entry in the report, not after each of its jobs. Logs whose names would be
/// those of another group have the group's number in their names.
pub(crate) fn separate_groups(jobs: &mut [PlannedJob], clones: &[(&Job, Range<usize>)]) {
    name_after_entries(jobs, clones);
    let mut groups_of: HashMap<String, Vec<u32>> = HashMap::new();
    for spec in jobs.iter().map(|job| &job.spec).filter(|spec| spec.logs.summed) {
        for log in log_files(spec) {
            let groups = groups_of.entry(log.path).or_default();
            if !groups.contains(&spec.group) {
                groups.push(spec.group);
            }
        }
    }
    for spec in jobs.iter_mut().map(|job| &mut job.spec).filter(|spec| spec.logs.summed) {
        if log_files(spec).iter().any(|log| groups_of[&log.path].len() > 1) {
            spec.logs.group_in_names = Some(spec.group);
        }
    }
}

fn name_after_entries(jobs: &mut [PlannedJob], clones: &[(&Job, Range<usize>)]) {
    let mut first = 0;
    for (job, range) in clones {
        for at in range.clone() {
            if at > 0 && !jobs[at - 1].spec.shares_entry_with(&jobs[at].spec) {
                first = at;
            }
            if jobs[at].spec.logs.summed {
                let name = jobs[first].spec.name.clone();
                resolve_prefixes(job, &mut jobs[at].spec, &name);
            }
        }
    }
}

/// Jobs that add to one log have the same windows.
pub(crate) fn agree(jobs: &[PlannedJob], sections: &[PlannedSection], findings: &mut Findings) {
    type Form = (bool, Option<u32>, WindowValue, [bool; 3], Option<i32>);
    let mut known: HashMap<String, (Form, &str)> = HashMap::new();
    for section in sections {
        for spec in jobs[section.jobs.clone()].iter().map(|job| &job.spec) {
            for log in log_files(spec) {
                let Logs { summed, window_value, offset, prio, issue_time, epoch_clock, .. } = spec.logs;
                let form = (summed, log.window_ms, window_value, [offset, prio, issue_time], epoch_clock);
                let (first, name) = *known.entry(log.path.clone()).or_insert((form, &section.name));
                if first == form || !(first.0 || form.0) {
                    continue;
                }
                let message = format!(
                    "{} and {name} write the log {} with different windows, columns or clocks, or without log_sum",
                    section.name, log.path
                );
                let help = "give both the same options of logs, or logs of different names";
                let problem = Diagnostic::error(message, section.origin.clone());
                findings.refuse(problem.code("log-sum-differs").help(help).job(&section.name));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, null, plan_of, refusals, spec_of};

    #[test]
    fn sums_of_several_jobs_need_windows_that_agree() {
        let sum = "write_iops_log=x\nlog_sum=1\n";
        let windows = format!("{sum}log_avg_msec=100\n");
        let logs = spec_of(&null(&windows));
        assert!(logs.logs.summed && log_files(&logs)[0].path == "x_iops.log");
        assert_eq!(first_refusal(sum), "log_sum adds up windows, and log_avg_msec is their length");
        for other in ["write_hist_log", "log_compression", "log_store_compressed"] {
            let value = if other == "log_compression" { "64k" } else { "1" };
            let message = format!("log_sum cannot be combined with {other}");
            assert_eq!(first_refusal(&format!("{windows}{other}={value}\n")), message);
        }
        let global = "[global]\nioengine=null\nsize=4k\n";
        let two = |first: &str, second: &str| refusals(&format!("{global}[a]\n{first}[b]\n{second}"));
        assert!(plan_of(&format!("{global}[a]\n{windows}[b]\n{windows}")).is_ok());
        let message = [
            "b and a write the log x_iops.log with different windows, columns or clocks, or without log_sum",
        ];
        assert_eq!(two(&windows, &format!("{sum}log_avg_msec=200\n")), message);
        assert_eq!(two(&windows, "write_iops_log=x\nlog_avg_msec=100\nper_job_logs=0\n"), message);
        assert!(plan_of(&format!("{global}[a]\n{windows}[b]\nwrite_iops_log=y\n")).is_ok());
    }

    #[test]
    fn each_reporting_group_has_a_log() {
        let paths = |text: &str| {
            let sum = "[global]\nioengine=null\nsize=4k\nlog_sum=1\nlog_avg_msec=100\n";
            let plan = plan_of(&format!("{sum}{text}")).unwrap();
            let logs = plan.jobs.iter().flat_map(|job| log_files(&job.spec));
            logs.map(|log| log.path).collect::<Vec<_>>()
        };
        let named = "write_iops_log=x\ngroup_reporting\n";
        assert_eq!(paths(&format!("{named}[a]\nnumjobs=2\n[b]\n")), ["x_iops.log"; 3]);
        assert_eq!(
            paths(&format!("{named}[a]\n[b]\nnew_group\n[c]\n[d]\nwrite_iops_log=y\n")),
            ["x_iops.0.log", "x_iops.1.log", "x_iops.1.log", "y_iops.log"]
        );
        let unnamed = "write_iops_log\n[a]\nnumjobs=2\n[b]\n[c]\nstonewall\n";
        assert_eq!(
            paths(&format!("group_reporting\n{unnamed}")),
            ["a_iops.log", "a_iops.log", "a_iops.log", "c_iops.log"]
        );
        assert_eq!(paths(unnamed), ["a_iops.log", "a_iops.log", "b_iops.log", "c_iops.log"]);
    }
}
