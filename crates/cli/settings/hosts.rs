//! The settings of a run on many hosts: which they are, or what the processes that a launcher has started on them are.

use std::time::Duration;

use super::given::GivenOptions;
use crate::option_values::RankCount;
use crate::options::ProgramOption;

/// How long ranks wait for each other.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// A run on many hosts (`--hosts`, `--hosts-file`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// The list of `--hosts`.
    pub list: String,
    /// The file of `--hosts-file`, which takes the place of the list.
    pub file: Option<String>,
    /// The command to reach a host, instead of ssh.
    pub via: Option<String>,
    /// How ferrio is called on the hosts, if the user says so.
    pub ferrio: Option<String>,
    /// Hosts that lack this program get a copy.
    pub copy: bool,
}

impl HostSettings {
    /// `None` if the jobs run here.
    pub(super) fn of(given: &GivenOptions) -> Option<Self> {
        let list: Option<String> = given.value(ProgramOption::Hosts);
        let file = given.value(ProgramOption::HostsFile);
        (list.is_some() || file.is_some()).then(|| HostSettings {
            list: list.unwrap_or_default(),
            file,
            via: given.value(ProgramOption::Via),
            ferrio: given.value(ProgramOption::FerrioPath),
            copy: given.has(ProgramOption::Copy),
        })
    }
}

/// What the command line says about ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSettings {
    /// How many there are.
    pub count: Option<RankCount>,
    /// Which this process is, from 0.
    pub rank: Option<u64>,
    /// Where they meet.
    pub rendezvous: Option<String>,
    /// How long they wait for each other.
    pub timeout: Duration,
}

impl Default for RankSettings {
    fn default() -> Self {
        RankSettings { count: None, rank: None, rendezvous: None, timeout: DEFAULT_TIMEOUT }
    }
}

impl RankSettings {
    pub(super) fn of(given: &GivenOptions) -> Self {
        RankSettings {
            count: given.value(ProgramOption::Ranks),
            rank: given.value(ProgramOption::Rank),
            rendezvous: given.value(ProgramOption::Rendezvous),
            timeout: given.value(ProgramOption::RendezvousTimeout).unwrap_or(DEFAULT_TIMEOUT),
        }
    }
}
