//! The shell commands of jobs.

use std::path::PathBuf;

use ferrio_job::JobSpec;

use crate::model::JobCommand;

/// The shell commands of each clone; all clones write to the same output files.
pub(crate) fn commands(spec: &JobSpec) -> Vec<JobCommand> {
    let all = [
        ("exec_prerun", "prerun", &spec.life.exec_prerun),
        ("exec_postrun", "postrun", &spec.life.exec_postrun),
    ];
    let command = |(option, what, command): (_, &str, &Option<String>)| {
        let output = PathBuf::from(format!("{}.{what}.txt", spec.name));
        Some(JobCommand { option, command: command.clone()?, output })
    };
    all.into_iter().filter_map(command).collect()
}
