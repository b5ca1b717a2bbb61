//! What surrounds the I/O of a job: whom it ends, commands before and after it, pauses, the state that ends it early.

use std::path::PathBuf;

use ferrio_plan::{ExitWhat, JobSpec, LifeCycle, PlannedJob, SteadyFigure};

use crate::model::{Command, EndsOthers, EndsWhen, EndsWhich, Pauses, SteadyState};
use crate::section::Asks;
use crate::timeline;

/// Whom a job ends; `exitall` is that of the whole run, which one job switches on for all.
pub(crate) fn ends_others(life: &LifeCycle, exitall: bool) -> Option<EndsOthers> {
    let when = match (exitall, life.exitall_on_error) {
        (true, _) => EndsWhen::End,
        (false, true) => EndsWhen::Error,
        (false, false) => return None,
    };
    let which = match life.exit_what {
        ExitWhat::Group => EndsWhich::Group,
        ExitWhat::Stonewall => EndsWhich::Running,
        ExitWhat::All => EndsWhich::All,
    };
    Some(EndsOthers { when, which })
}

/// The shell commands of each clone; all clones write to the same files.
pub(crate) fn commands(spec: &JobSpec) -> Vec<Command> {
    let all = [
        ("exec_prerun", "prerun", &spec.life.exec_prerun),
        ("exec_postrun", "postrun", &spec.life.exec_postrun),
    ];
    let given = all.into_iter().filter_map(|(option, what, command)| Some((option, what, command.clone()?)));
    given
        .map(|(option, what, command)| Command {
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

pub(crate) fn steady_state(job: &PlannedJob) -> Option<SteadyState> {
    let figure = match job.spec.steadystate?.figure {
        SteadyFigure::Iops => "iops",
        SteadyFigure::Bandwidth => "bw",
        SteadyFigure::Latency => "lat",
    };
    Some(SteadyState { figure, least_seconds: timeline::settled(job) })
}
