//! Detects whether a launcher (mpirun, srun, an Indexed Job of Kubernetes) has started this process as one of many.

use std::env;
use std::time::SystemTime;

use crate::interruptions::bytes_of_file;
use crate::processes::{Process, ancestors};

/// Who starts processes as ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// mpirun of Open MPI.
    OpenMpi,
    /// mpiexec of MPICH, Intel MPI or Cray PALS, and `srun --mpi=pmi2`.
    Pmi,
    /// mpirun of MVAPICH2.
    Mvapich,
    /// Flux.
    Flux,
    /// srun of Slurm.
    Slurm,
    /// torchrun, and others that set the same variables.
    Torch,
    /// An Indexed Job or a JobSet of Kubernetes.
    IndexedJob,
}

/// The rank of a process among those that one launcher has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Who has started it.
    pub launcher: Launcher,
    /// Number from 0.
    pub rank: u64,
    /// Number of processes; `None` if the launcher does not tell.
    pub size: Option<u64>,
    /// The environment variable of the rank.
    pub variable: &'static str,
    /// Number from 0 among the processes on this host.
    pub local_rank: Option<u64>,
    /// Number of processes on this host.
    pub local_size: Option<u64>,
    /// What tells this start from others of the launcher, if the environment has it.
    pub job: Option<String>,
}

/// Looks up an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The variables of a launcher.
struct Row {
    launcher: Launcher,
    rank: &'static str,
    /// `None`: the launcher does not tell.
    size: Option<&'static str>,
    /// Variables without which the others belong to another process or mean something else.
    only_with: &'static [&'static str],
    local_rank: &'static str,
    local_size: fn(Lookup<'_>) -> Option<u64>,
    job: fn(Lookup<'_>) -> Option<String>,
}

/// The launchers, the innermost first: mpirun in a batch job of Slurm leaves the variables of both; those of Slurm then describe the batch
/// script or the daemon of mpirun, so they come later, and count only in a step, which the batch script is not. An operator of Kubernetes
/// may run any of them in a pod of an Indexed Job, which comes last.
const ROWS: [Row; 8] = [
    Row {
        launcher: Launcher::OpenMpi,
        rank: "OMPI_COMM_WORLD_RANK",
        size: Some("OMPI_COMM_WORLD_SIZE"),
        only_with: &[],
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        local_size: |of| number(of, "OMPI_COMM_WORLD_LOCAL_SIZE"),
        // Of versions 4 and 5, then of 4 alone.
        job: |of| of("PMIX_NAMESPACE").or_else(|| of("OMPI_MCA_ess_base_jobid")),
    },
    Row {
        launcher: Launcher::Pmi,
        rank: "PMI_RANK",
        size: Some("PMI_SIZE"),
        only_with: &[],
        local_rank: "MPI_LOCALRANKID",
        local_size: |of| number(of, "MPI_LOCALNRANKS"),
        job: |of| of("PMI_JOBID"),
    },
    Row {
        // `mpiexec -pmi-port`: the number of ranks has to be asked of a server.
        launcher: Launcher::Pmi,
        rank: "PMI_ID",
        size: None,
        only_with: &["PMI_PORT"],
        local_rank: "MPI_LOCALRANKID",
        local_size: |of| number(of, "MPI_LOCALNRANKS"),
        job: |_| None,
    },
    Row {
        launcher: Launcher::Mvapich,
        rank: "MV2_COMM_WORLD_RANK",
        size: Some("MV2_COMM_WORLD_SIZE"),
        only_with: &[],
        local_rank: "MV2_COMM_WORLD_LOCAL_RANK",
        local_size: |of| number(of, "MV2_COMM_WORLD_LOCAL_SIZE"),
        job: |_| None,
    },
    Row {
        launcher: Launcher::Flux,
        rank: "FLUX_TASK_RANK",
        size: Some("FLUX_JOB_SIZE"),
        only_with: &[],
        local_rank: "FLUX_TASK_LOCAL_ID",
        local_size: |_| None,
        job: |of| of("FLUX_JOB_ID"),
    },
    Row {
        launcher: Launcher::Slurm,
        rank: "SLURM_PROCID",
        size: Some("SLURM_STEP_NUM_TASKS"),
        only_with: &["SLURM_STEP_ID"],
        local_rank: "SLURM_LOCALID",
        local_size: |of| {
            let node = usize::try_from(number(of, "SLURM_NODEID")?).ok()?;
            tasks_on_node(&of("SLURM_STEP_TASKS_PER_NODE")?, node)
        },
        job: |of| Some(format!("{}.{}", of("SLURM_JOB_ID")?, of("SLURM_STEP_ID")?)),
    },
    Row {
        launcher: Launcher::Torch,
        rank: "RANK",
        size: Some("WORLD_SIZE"),
        // `RANK` alone may be anybody's.
        only_with: &["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"],
        local_rank: "LOCAL_RANK",
        local_size: |of| number(of, "LOCAL_WORLD_SIZE"),
        job: |of| of("TORCHELASTIC_RUN_ID"),
    },
    Row {
        launcher: Launcher::IndexedJob,
        rank: "JOB_COMPLETION_INDEX",
        size: None,
        only_with: &[],
        local_rank: "",
        local_size: |_| None,
        // The name of the pod is that of the job and the index.
        job: |of| {
            let host = of("HOSTNAME")?;
            let pod = host.split('.').next()?;
            Some(pod.strip_suffix(&format!("-{}", number(of, "JOB_COMPLETION_INDEX")?))?.to_owned())
        },
    },
];

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

/// The rank of this process, if a launcher has started more than one, or does not tell how many.
#[must_use]
pub fn rank() -> Option<Rank> {
    rank_in(&|name| env::var(name).ok())
}

fn rank_in(variable: Lookup<'_>) -> Option<Rank> {
    let found = ROWS.iter().find_map(|row| {
        let is_meant = row.only_with.iter().all(|name| variable(name).is_some());
        let rank = number(variable, row.rank).filter(|_| is_meant)?;
        let size = match row.size {
            Some(name) => Some(number(variable, name)?),
            None => None,
        };
        Some(Rank {
            launcher: row.launcher,
            rank,
            size,
            variable: row.rank,
            local_rank: number(variable, row.local_rank),
            local_size: (row.local_size)(variable),
            job: (row.job)(variable),
        })
    });
    found.filter(|found| found.size.is_none_or(|size| size > 1 && found.rank < size))
}

fn number(variable: Lookup<'_>, name: &str) -> Option<u64> {
    variable(name)?.trim().parse().ok()
}

/// The tasks of a node in a list such as `5,1(x2)`, which is 5, 1 and 1.
fn tasks_on_node(list: &str, node: usize) -> Option<u64> {
    let mut before = 0_usize;
    for item in list.split(',') {
        let (tasks, nodes) = match item.strip_suffix(')').and_then(|item| item.split_once("(x")) {
            Some((tasks, nodes)) => (tasks, nodes.parse().ok()?),
            None => (item, 1_usize),
        };
        before = before.checked_add(nodes)?;
        if node < before {
            return tasks.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn rank_of(variables: Variables<'_>) -> Option<Rank> {
        rank_in(&|name| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned()))
    }

    fn found(variables: Variables<'_>) -> Option<(u64, Option<u64>, &'static str)> {
        rank_of(variables).map(|found| (found.rank, found.size, found.variable))
    }

    #[test]
    fn each_launcher_tells_rank_number_place_and_job() {
        let rows: [(Variables<'_>, _, _); 8] = [
            (
                &[
                    ("OMPI_COMM_WORLD_RANK", "1"),
                    ("OMPI_COMM_WORLD_SIZE", "4"),
                    ("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
                    ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
                    ("PMIX_RANK", "1"),
                    ("PMIX_NAMESPACE", "prterun-vm-77@1"),
                    ("OMPI_MCA_ess_base_jobid", "1760952321"),
                ],
                (Launcher::OpenMpi, 1, Some(4)),
                (Some(0), Some(2), Some("prterun-vm-77@1")),
            ),
            (
                &[("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "4")],
                (Launcher::Pmi, 0, Some(4)),
                (Some(0), Some(4), None),
            ),
            (
                &[("PMI_RANK", "2"), ("PMI_SIZE", "4"), ("PMI_JOBID", "3.0")],
                (Launcher::Pmi, 2, Some(4)),
                (None, None, Some("3.0")),
            ),
            (&[("PMI_PORT", "host1:38557"), ("PMI_ID", "1")], (Launcher::Pmi, 1, None), (None, None, None)),
            (
                &[
                    ("SLURM_JOB_ID", "2"),
                    ("SLURM_STEP_ID", "0"),
                    ("SLURM_PROCID", "6"),
                    ("SLURM_STEP_NUM_TASKS", "7"),
                    ("SLURM_LOCALID", "0"),
                    ("SLURM_NODEID", "2"),
                    ("SLURM_STEP_TASKS_PER_NODE", "5,1(x2)"),
                ],
                (Launcher::Slurm, 6, Some(7)),
                (Some(0), Some(1), Some("2.0")),
            ),
            (
                &[("FLUX_TASK_RANK", "1"), ("FLUX_JOB_SIZE", "2"), ("FLUX_JOB_ID", "f9")],
                (Launcher::Flux, 1, Some(2)),
                (None, None, Some("f9")),
            ),
            (
                &[
                    ("RANK", "1"),
                    ("WORLD_SIZE", "2"),
                    ("MASTER_ADDR", "a"),
                    ("MASTER_PORT", "29500"),
                    ("LOCAL_RANK", "1"),
                    ("LOCAL_WORLD_SIZE", "2"),
                ],
                (Launcher::Torch, 1, Some(2)),
                (Some(1), Some(2), None),
            ),
            (
                &[("JOB_COMPLETION_INDEX", "12"), ("HOSTNAME", "nightly-1-12")],
                (Launcher::IndexedJob, 12, None),
                (None, None, Some("nightly-1")),
            ),
        ];
        for (variables, expected, (local_rank, local_size, job)) in rows {
            let found = rank_of(variables).unwrap();
            assert_eq!((found.launcher, found.rank, found.size), expected, "{variables:?}");
            assert_eq!((found.local_rank, found.local_size), (local_rank, local_size), "{variables:?}");
            assert_eq!(found.job.as_deref(), job, "{variables:?}");
        }
    }

    #[test]
    fn a_batch_script_and_a_single_rank_are_alone() {
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "5"), ("SLURM_JOB_ID", "2")];
        assert_eq!(found(&batch), None);
        assert_eq!(found(&[("SLURM_NTASKS", "5")]), None, "salloc");
        assert_eq!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "many")]), None);
        assert_eq!(found(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), None, "of somebody else");
        assert_eq!(found(&[("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "a")]), None, "no port");
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
        assert_eq!(found(&mpirun_in_a_step), Some((2, Some(3), "PMI_RANK")));
        let mpirun_in_a_pod = [
            ("JOB_COMPLETION_INDEX", "0"),
            ("HOSTNAME", "launcher-0"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
        ];
        assert_eq!(found(&mpirun_in_a_pod), Some((3, Some(4), "OMPI_COMM_WORLD_RANK")));
    }

    #[test]
    fn tasks_per_node_are_read_as_slurm_writes_them() {
        let tasks = |list| (0..5).map(|node| tasks_on_node(list, node)).collect::<Vec<_>>();
        assert_eq!(tasks("5,1(x2)"), [Some(5), Some(1), Some(1), None, None]);
        assert_eq!(tasks("1(x4)"), [Some(1), Some(1), Some(1), Some(1), None]);
        assert_eq!(tasks("x,2(x)"), [None; 5]);
        assert_eq!(tasks_on_node("1(x18446744073709551615),1(x9)", usize::MAX), None);
    }
}
