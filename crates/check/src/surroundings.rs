//! Facts about a job other than its I/O: jobs it ends, its commands, pauses, steady state and logs.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ferrio_job::{ExitWhat, JobSpec, Plan, PlannedJob, PlannedLog, log_files};

use crate::facts::Facts;
use crate::model::{CheckedLog, EndsOthers, EndsWhen, EndsWhich, JobCommand, Pauses, SteadyEnd};
use crate::section::{CheckedSection, JobWork};
use crate::timeline;

/// The jobs of a run, to find which of them each one ends.
pub(crate) struct EndableJobs {
    /// `exitall`, which one job switches on for all.
    exitall: bool,
    instances: usize,
    of_group: HashMap<u32, usize>,
}

impl EndableJobs {
    pub(crate) fn of(plan: &Plan) -> EndableJobs {
        let mut of_group: HashMap<u32, usize> = HashMap::new();
        plan.jobs.iter().for_each(|job| *of_group.entry(job.spec.group).or_default() += 1);
        let exitall = plan.jobs.iter().any(|job| job.spec.life.exitall);
        EndableJobs { exitall, instances: plan.jobs.len(), of_group }
    }

    /// Which jobs a job ends; `None` if it ends no other.
    pub(crate) fn ends_others(&self, spec: &JobSpec) -> Option<EndsOthers> {
        let when = match (self.exitall, spec.life.exitall_on_error) {
            (true, _) => EndsWhen::End,
            (false, true) => EndsWhen::Error,
            (false, false) => return None,
        };
        let group = self.of_group.get(&spec.group).copied().unwrap_or(0);
        let (which, reached) = match spec.life.exit_what {
            ExitWhat::Group => (EndsWhich::Group, group),
            ExitWhat::Stonewall => (EndsWhich::Running, self.instances),
            ExitWhat::All => (EndsWhich::All, self.instances),
        };
        (reached > 1).then_some(EndsOthers { when, which })
    }
}

/// The shell commands of each clone; all clones write to the same files.
pub(crate) fn commands(spec: &JobSpec) -> Vec<JobCommand> {
    let all = [
        ("exec_prerun", "prerun", &spec.life.exec_prerun),
        ("exec_postrun", "postrun", &spec.life.exec_postrun),
    ];
    let given = all.into_iter().filter_map(|(option, what, command)| Some((option, what, command.clone()?)));
    given
        .map(|(option, what, command)| JobCommand {
            option,
            command,
            output: PathBuf::from(format!("{}.{what}.txt", spec.name)),
        })
        .collect()
}

pub(crate) fn pauses(spec: &JobSpec) -> Option<Pauses> {
    let think = &spec.think;
    (!think.time.is_zero() && spec.works()).then(|| Pauses {
        seconds: think.time.as_secs_f64(),
        after_ios: think.blocks,
        after_seconds: Some(think.iotime.as_secs_f64()).filter(|&seconds| seconds > 0.0),
    })
}

pub(crate) fn steady_state(job: &PlannedJob) -> Option<SteadyEnd> {
    let figure = job.spec.steadystate?.figure.word();
    Some(SteadyEnd { figure, least_seconds: timeline::settled(job) })
}

/// Log files of all clones, each once, in the order of their numbers.
pub(crate) fn logs(section: &CheckedSection<'_>, facts: &Facts) -> Vec<CheckedLog> {
    let mut seen = HashSet::new();
    let all = section.instances.iter().flat_map(|job| log_files(&job.spec));
    all.filter(|log| seen.insert(log.path.clone()))
        .map(|PlannedLog { path, window_ms, shared, .. }| {
            let path = PathBuf::from(path);
            let known = facts.logs.get(&path).copied().unwrap_or_default();
            CheckedLog { path, window_ms, shared, existing_bytes: known.size, place: known.place }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::report;

    #[test]
    fn a_job_ends_whom_it_can_reach() {
        let ends = |text: &str| {
            let report = report(&format!("[global]\nioengine=null\nsize=4k\n{text}"));
            report.jobs.iter().map(|job| job.ends_others).collect::<Vec<_>>()
        };
        let at_end = |which| Some(EndsOthers { when: EndsWhen::End, which });
        assert_eq!(ends("[a]\n[b]\n"), [None, None]);
        assert_eq!(
            ends("[a]\nexitall\n[b]\nexit_what=all\n"),
            [at_end(EndsWhich::Group), at_end(EndsWhich::All)]
        );
        assert_eq!(
            ends("exitall\n[a]\n[b]\nnew_group\nexit_what=stonewall\n"),
            [None, at_end(EndsWhich::Running)]
        );
        let on_error = Some(EndsOthers { when: EndsWhen::Error, which: EndsWhich::Group });
        assert_eq!(ends("[a]\nexitall_on_error\nnumjobs=2\n"), [on_error]);
    }

    #[test]
    fn commands_and_pauses_are_told_as_written() {
        let report = report(
            "[a]\nioengine=null\nsize=4k\nexec_prerun=echo hi > /tmp/x\nexec_postrun=false\nthinktime=5ms\nthinktime_iotime=1s\n",
        );
        let job = &report.jobs[0];
        let ends: Vec<_> =
            job.commands.iter().map(|one| (one.option, &*one.command, one.output.to_str())).collect();
        let want = [
            ("exec_prerun", "echo hi > /tmp/x", Some("a.prerun.txt")),
            ("exec_postrun", "false", Some("a.postrun.txt")),
        ];
        assert_eq!(ends, want);
        let pauses = job.pauses.unwrap();
        assert_eq!((pauses.seconds, pauses.after_ios, pauses.after_seconds), (0.005, None, Some(1.0)));
    }
}
