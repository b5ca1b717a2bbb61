//! Where the ranks of a run meet: what is stated, or what the launcher's variables say.

use std::path::PathBuf;

use ferrio_hosts::host_names;
use ferrio_machine::Launcher;

use crate::MeetingError;
use crate::address::{HostPort, derived_ports};

/// The port of pods, which have all ports to themselves.
const POD_PORT: u16 = 8766;

/// A rank of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankOfRun {
    /// Number from 0.
    pub rank: u64,
    /// Number of ranks.
    pub ranks: u64,
    /// What tells the run from others; empty if nothing does.
    pub job: String,
    /// Who has started it, unless the rank is stated.
    pub launcher: Option<Launcher>,
    /// All ranks are on this host.
    pub is_on_one_host: bool,
}

/// Where ranks meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Rank 0 listens on one of the ports of its host.
    Address {
        /// The host, by the names and addresses that it may have.
        hosts: Vec<String>,
        /// The ports, of which rank 0 takes the first that is free.
        ports: Vec<u16>,
    },
    /// The launcher passes rank 0's address on, on this descriptor.
    Pmi(i32),
    /// Rank 0 writes its address into a file.
    File(PathBuf),
}

/// Looks up an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Meeting {
    /// Where this rank meets the others: as `stated` by `--rendezvous`, as `MASTER_ADDR` and `MASTER_PORT` say, through the launcher, or
    /// where the launcher's variables lead. `full_name` is the fully qualified name of this host, if it has one.
    ///
    /// # Errors
    ///
    /// What is stated cannot be read, or nothing leads to rank 0.
    pub fn find(
        me: &RankOfRun,
        stated: Option<&str>,
        variable: Lookup<'_>,
        full_name: &dyn Fn() -> Option<String>,
    ) -> Result<Meeting, MeetingError> {
        if let Some(stated) = stated {
            return Self::stated(stated);
        }
        let master = variable("MASTER_ADDR").zip(variable("MASTER_PORT"));
        if let Some((host, port)) = master.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
            return Ok(Meeting::Address { hosts: vec![host], ports: vec![port] });
        }
        let pmi = variable("PMI_FD").filter(|_| me.launcher == Some(Launcher::Pmi));
        if let Some(descriptor) = pmi {
            return descriptor
                .parse()
                .map(Meeting::Pmi)
                .map_err(|_| MeetingError::Descriptor(descriptor.clone()));
        }
        if me.is_on_one_host && !me.job.is_empty() {
            return Ok(Meeting::Address {
                hosts: vec!["127.0.0.1".to_owned()],
                ports: derived_ports(&me.job),
            });
        }
        match me.launcher {
            Some(Launcher::Slurm) => {
                Ok(Meeting::Address { hosts: vec![first_node(variable)?], ports: derived_ports(&me.job) })
            }
            Some(Launcher::IndexedJob) => Ok(Meeting::Address {
                hosts: vec![first_pod(full_name(), me.rank).ok_or(MeetingError::PodWithoutName)?],
                ports: vec![POD_PORT],
            }),
            Some(Launcher::OpenMpi) => Ok(Meeting::Address {
                hosts: hosts_of_mpirun(variable, me.rank)?,
                ports: derived_ports(&me.job),
            }),
            _ => Err(MeetingError::Unknown),
        }
    }

    fn stated(text: &str) -> Result<Meeting, MeetingError> {
        if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
            return Ok(Meeting::File(path.into()));
        }
        let address = HostPort::parse(text).ok_or_else(|| MeetingError::Unreadable(text.to_owned()))?;
        Ok(Meeting::Address { hosts: vec![address.host], ports: vec![address.port] })
    }
}

/// The node of rank 0, which is the first of a step in all distributions of tasks but one.
fn first_node(variable: Lookup<'_>) -> Result<String, MeetingError> {
    if variable("SLURM_DISTRIBUTION").is_some_and(|how| how.contains("arbitrary")) {
        return Err(MeetingError::NodesOutOfOrder("the distribution of the tasks is arbitrary"));
    }
    if variable("SLURM_HET_SIZE").is_some_and(|size| size != "1") {
        return Err(MeetingError::NodesOutOfOrder("the step is heterogeneous"));
    }
    let list = variable("SLURM_STEP_NODELIST").ok_or(MeetingError::Unknown)?;
    match host_names(&list) {
        // A list of hosts has one at least.
        Ok(names) => names.into_iter().next().ok_or(MeetingError::Unknown),
        Err(error) => Err(MeetingError::NodeList { list, reason: error.to_string() }),
    }
}

/// The name of the pod of rank 0 from that of the pod of this rank, `JOB-RANK.SERVICE.NAMESPACE…`. The name without a service does not
/// resolve in other pods.
fn first_pod(full_name: Option<String>, rank: u64) -> Option<String> {
    let full_name = full_name?;
    let (pod, domain) = full_name.split_once('.')?;
    let job = pod.strip_suffix(&format!("-{rank}"))?;
    (!domain.is_empty()).then(|| format!("{job}-0.{domain}"))
}

/// The addresses of mpirun's host, as Open MPI 4 gives them: `JOBID;tcp://192.0.2.2,10.77.0.254:33545;tcp6://[fd00::2]:48015`. Rank 0 is
/// there by default and in batch jobs. Only rank 0 can see whether it is.
fn hosts_of_mpirun(variable: Lookup<'_>, rank: u64) -> Result<Vec<String>, MeetingError> {
    let uri = variable("OMPI_MCA_orte_hnp_uri").ok_or(MeetingError::Unknown)?;
    if rank == 0 && variable("OMPI_MCA_orte_local_daemon_uri").is_some_and(|own| own != uri) {
        return Err(MeetingError::NotBesideMpirun);
    }
    let hosts: Vec<String> = uri
        .split(';')
        .skip(1)
        .filter_map(|part| part.split_once("://")?.1.rsplit_once(':'))
        .flat_map(|(hosts, _port)| hosts.trim_matches(['[', ']']).split(','))
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    if hosts.is_empty() { Err(MeetingError::Unknown) } else { Ok(hosts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        me: &RankOfRun,
        stated: Option<&str>,
        variables: &[(&str, &str)],
        full_name: Option<&str>,
    ) -> Result<Meeting, MeetingError> {
        let variable =
            |name: &str| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
        Meeting::find(me, stated, &variable, &|| full_name.map(str::to_owned))
    }

    fn me(launcher: Launcher, rank: u64, job: &str) -> RankOfRun {
        RankOfRun { rank, ranks: 4, job: job.to_owned(), launcher: Some(launcher), is_on_one_host: false }
    }

    fn at(hosts: &[&str], ports: Vec<u16>) -> Result<Meeting, MeetingError> {
        Ok(Meeting::Address { hosts: hosts.iter().map(|&host| host.to_owned()).collect(), ports })
    }

    const MASTER: [(&str, &str); 2] = [("MASTER_ADDR", "node1"), ("MASTER_PORT", "29500")];

    #[test]
    fn what_is_stated_counts_before_what_is_found() {
        let slurm = me(Launcher::Slurm, 1, "7.0");
        assert_eq!(found(&slurm, Some("node9:7777"), &MASTER, None), at(&["node9"], vec![7777]));
        assert_eq!(found(&slurm, Some("[fd00::2]:7777"), &MASTER, None), at(&["fd00::2"], vec![7777]));
        assert_eq!(found(&slurm, Some("file:/home/u/r"), &[], None), Ok(Meeting::File("/home/u/r".into())));
        assert_eq!(found(&slurm, None, &MASTER, None), at(&["node1"], vec![29500]));
        for wrong in ["", "node9", ":7777", "node9:0", "node9:70000", "file:", "fd00::2:7777"] {
            assert_eq!(
                found(&slurm, Some(wrong), &[], None),
                Err(MeetingError::Unreadable(wrong.to_owned()))
            );
        }
    }

    #[test]
    fn the_process_manager_is_asked_before_the_list_of_nodes() {
        assert_eq!(found(&me(Launcher::Pmi, 1, ""), None, &[("PMI_FD", "7")], None), Ok(Meeting::Pmi(7)));
        // Of an mpirun around this srun.
        let nodes = [("PMI_FD", "7"), ("SLURM_STEP_NODELIST", "n[02-03]")];
        let ports = derived_ports("7.0");
        assert_eq!(found(&me(Launcher::Slurm, 1, "7.0"), None, &nodes, None), at(&["n02"], ports));
    }

    #[test]
    fn slurm_says_where_rank_0_is_unless_the_order_is_arbitrary() {
        let slurm = me(Launcher::Slurm, 1, "7.0");
        let nodes = ("SLURM_STEP_NODELIST", "host[1,4]");
        assert_eq!(found(&slurm, None, &[nodes], None), at(&["host1"], derived_ports("7.0")));
        let arbitrary = [nodes, ("SLURM_DISTRIBUTION", "arbitrary,pack")];
        let error = found(&slurm, None, &arbitrary, None).unwrap_err().to_string();
        assert!(error.starts_with("the distribution of the tasks is arbitrary, so"), "{error}");
        assert!(error.contains("--rendezvous=HOST:PORT"), "{error}");
        assert!(found(&slurm, None, &[nodes, ("SLURM_HET_SIZE", "2")], None).is_err());
        let error = found(&slurm, None, &[("SLURM_STEP_NODELIST", "n[1")], None).unwrap_err().to_string();
        assert_eq!(error, "SLURM_STEP_NODELIST=n[1: a bracket has no other half in `n[1`");
    }

    #[test]
    fn the_first_pod_has_the_name_of_this_one_with_0() {
        let pod = me(Launcher::IndexedJob, 12, "nightly");
        let name = Some("nightly-12.ferrio.default.svc.cluster.local");
        let first = at(&["nightly-0.ferrio.default.svc.cluster.local"], vec![POD_PORT]);
        assert_eq!(found(&pod, None, &[], name), first);
        for name in [None, Some("nightly-12"), Some("other-1.ferrio"), Some("nightly-12.")] {
            assert_eq!(found(&pod, None, &[], name), Err(MeetingError::PodWithoutName), "{name:?}");
        }
    }

    #[test]
    fn open_mpi_has_rank_0_on_the_host_of_mpirun_or_says_that_it_has_not() {
        let uri = "1760952320.0;tcp://192.0.2.2,10.77.0.254:33545;tcp6://[fd00::2]:48015";
        let mpirun = ("OMPI_MCA_orte_hnp_uri", uri);
        let there = at(&["192.0.2.2", "10.77.0.254", "fd00::2"], derived_ports("9"));
        for (rank, daemon) in [(0, uri), (1, "1760952320.1;tcp://10.77.0.1:5")] {
            let variables = [mpirun, ("OMPI_MCA_orte_local_daemon_uri", daemon)];
            assert_eq!(found(&me(Launcher::OpenMpi, rank, "9"), None, &variables, None), there);
        }
        let elsewhere = [mpirun, ("OMPI_MCA_orte_local_daemon_uri", "1760952320.1;tcp://10.77.0.1:5")];
        let first = me(Launcher::OpenMpi, 0, "9");
        assert_eq!(found(&first, None, &elsewhere, None), Err(MeetingError::NotBesideMpirun));
        // Open MPI 5 does not say.
        assert_eq!(found(&first, None, &[], None), Err(MeetingError::Unknown));
    }

    #[test]
    fn ranks_of_one_host_stay_on_it() {
        let one_host = RankOfRun { is_on_one_host: true, ..me(Launcher::OpenMpi, 1, "9") };
        assert_eq!(found(&one_host, None, &[], None), at(&["127.0.0.1"], derived_ports("9")));
        let nameless = RankOfRun { is_on_one_host: true, ..me(Launcher::Mvapich, 1, "") };
        assert_eq!(found(&nameless, None, &[], None), Err(MeetingError::Unknown));
    }
}
