//! Detects whether a launcher (mpirun, srun) has started this process as one of many.

use std::env;
use std::time::SystemTime;

use crate::interruptions::bytes_of_file;
use crate::processes::{Process, ancestors};

/// The rank of a process among those that one launcher has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Number from 0.
    pub rank: u64,
    /// Number of processes.
    pub size: u64,
    /// The environment variable of the rank.
    pub variable: &'static str,
}

/// The variables of launchers: that of the rank, that of the number of ranks, and one without which the others belong to another process.
/// mpirun in a batch job of Slurm leaves the variables of both; those of Slurm then describe the batch script, so they come last, and count
/// only in a step, which the batch script is not.
const VARIABLES: [(&str, &str, Option<&str>); 5] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", None),
    // MPICH, Intel MPI, Cray PALS, and Slurm with --mpi=pmi2.
    ("PMI_RANK", "PMI_SIZE", None),
    // MVAPICH2.
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", None),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", None),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", Some("SLURM_STEP_ID")),
];

/// The rank of this process, if a launcher has started more than one.
#[must_use]
pub fn rank() -> Option<Rank> {
    rank_in(|name| env::var(name).ok())
}

impl Rank {
    /// The start of the launcher's process on this host: the nearest ancestor without the variable of the rank. `None` without `/proc`.
    #[must_use]
    pub fn launched(&self) -> Option<SystemTime> {
        let variable = format!("{}=", self.variable);
        let belongs_to_rank = |process: &Process| {
            let variables = bytes_of_file(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
            variables.split(|&byte| byte == 0).any(|text| text.starts_with(variable.as_bytes()))
        };
        let launcher = ancestors().find(|process| !belongs_to_rank(process))?;
        SystemTime::now().checked_sub(launcher.age()?)
    }
}

fn rank_in(variable: impl Fn(&str) -> Option<String>) -> Option<Rank> {
    let number = |name: &str| variable(name)?.trim().parse::<u64>().ok();
    let found = VARIABLES.into_iter().find_map(|(name, of, only_with)| {
        let is_meant = only_with.is_none_or(|other| variable(other).is_some());
        let rank = number(name).filter(|_| is_meant)?;
        Some(Rank { rank, size: number(of)?, variable: name })
    });
    found.filter(|found| found.size > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<(u64, u64, &'static str)> {
        let value =
            |name: &str| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
        rank_in(value).map(|found| (found.rank, found.size, found.variable))
    }

    #[test]
    fn each_launcher_tells_rank_and_number() {
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(found(&open_mpi), Some((1, 2, "OMPI_COMM_WORLD_RANK")));
        assert_eq!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "4")]), Some((0, 4, "PMI_RANK")));
        let srun = [("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(found(&srun), Some((3, 4, "SLURM_PROCID")));
    }

    #[test]
    fn a_batch_script_and_a_single_rank_are_alone() {
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "5"), ("SLURM_JOB_ID", "2")];
        assert_eq!(found(&batch), None);
        assert_eq!(found(&[("SLURM_NTASKS", "5")]), None, "salloc");
        assert_eq!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "many")]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn the_innermost_launcher_counts() {
        let mpirun_in_a_step = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "2"),
            ("PMI_RANK", "2"),
            ("PMI_SIZE", "3"),
        ];
        assert_eq!(found(&mpirun_in_a_step), Some((2, 3, "PMI_RANK")));
    }
}
