//! Why ranks cannot meet.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why it is unknown where rank 0 is. Each message says what to state instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeetingError {
    /// `--rendezvous` with something else.
    #[error("`{0}` is no place to meet: --rendezvous takes HOST:PORT or file:PATH")]
    Unreadable(String),
    /// Nothing in the environment leads to rank 0.
    #[error("nothing in the environment says where rank 0 is: {STATE_IT}")]
    Unknown,
    /// Slurm's list of nodes is not in the order of ranks.
    #[error("{0}, so the list of nodes does not say where rank 0 is: {STATE_IT}")]
    NodesOutOfOrder(&'static str),
    /// Slurm's list of nodes is no list.
    #[error("SLURM_STEP_NODELIST={list}: {reason}")]
    NodeList {
        /// The list.
        list: String,
        /// What is wrong.
        reason: String,
    },
    /// A pod without a name in DNS.
    #[error(
        "this pod has no name in DNS (`subdomain` and a headless Service give it one), so rank 0 cannot be found: {STATE_IT}"
    )]
    PodWithoutName,
    /// Rank 0 of Open MPI is not where mpirun is.
    #[error("rank 0 is not on the host of mpirun, so the others cannot find it: {STATE_IT}")]
    NotBesideMpirun,
    /// `PMI_FD` is no number.
    #[error("PMI_FD={0} is no descriptor")]
    Descriptor(String),
}

/// What a user can do when rank 0 is not found.
const STATE_IT: &str = "state --rendezvous=HOST:PORT with an address of rank 0's host, or --rendezvous=file:PATH with a file in a directory \
                        that all hosts share";

/// Why ranks do not come together.
#[derive(Debug, Error)]
pub enum RendezvousError {
    /// It is unknown where.
    #[error(transparent)]
    Meeting(#[from] MeetingError),
    /// Rank 0 cannot listen.
    #[error("rank 0 cannot listen on {address}: {error}")]
    Listen {
        /// Address and port.
        address: String,
        /// The reason.
        error: io::Error,
    },
    /// Some ranks did not come.
    #[error(
        "{} after {} s: {missing}; look whether they run, and whether they reach this host at {place}",
        if *.count == 1 { "a rank is missing" } else { "ranks are missing" },
        .timeout.as_secs()
    )]
    Missing {
        /// The ranks, as a list of ranges.
        missing: String,
        /// How many.
        count: usize,
        /// How long rank 0 has waited.
        timeout: Duration,
        /// Where it has listened.
        place: String,
    },
    /// Rank 0 was not found in time.
    #[error("rank 0 was not found at {place} within {} s: {reason}", .timeout.as_secs())]
    NotFound {
        /// Where it was looked for.
        place: String,
        /// How long.
        timeout: Duration,
        /// Why the last attempt failed.
        reason: String,
    },
    /// Rank 0 does not want this rank.
    #[error("rank 0 refuses this rank: {0}")]
    Refused(String),
    /// Rank 0 has given up, and says so to the user.
    #[error("rank 0 has given up, because ranks have not come: {0}")]
    Incomplete(String),
    /// Rank 0 ended before all ranks had come.
    #[error("rank 0 ended before all ranks had come: {0}")]
    Abandoned(String),
    /// A signal has ended the wait.
    #[error("a signal came before all ranks had")]
    Stopped,
    /// The launcher does not answer as it should.
    #[error("the launcher's process manager (PMI_FD): {0}")]
    Pmi(String),
    /// The file of the rendezvous.
    #[error("the rendezvous file {}: {error}", .path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The kernel refuses something else.
    #[error("{0}")]
    Io(#[from] io::Error),
}
