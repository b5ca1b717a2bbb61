//! The action that a command line asks for: a run of its jobs, or an answer without one.

use std::path::PathBuf;

use super::GivenOptions;
use crate::option_values::IdleProf;
use crate::options::ProgramOption;

/// The action that a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run the jobs.
    Run,
    /// Read the jobs and run none.
    Parse,
    /// Print the jobs as command lines.
    ShowCommands,
    /// Plan the jobs, merging traces, and run none.
    MergeTraces,
    /// Print information; there are no jobs.
    Answer(Query),
}

/// Information that is printed without running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// `--version`
    Version,
    /// `--cmdhelp`: all job options or one.
    Options(Option<String>),
    /// `--enghelp`: all engines, one (`libaio`), or an option of one (`libaio,nowait`).
    Engines(Option<String>),
    /// `--debug=help`
    DebugClasses,
    /// `--inflate-log`: the contents of this file.
    InflateLog(PathBuf),
    /// `--crctest`: all functions or those in a list.
    CrcTest(Option<String>),
    /// `--memcpytest`: all methods and lengths or those in a list.
    MemcpyTest(Option<String>),
    /// `--cpuclock-test`
    CpuClockTest,
    /// `--idle-prof=calibrate`
    IdleCalibration,
}

pub(super) fn action(given: &GivenOptions) -> Action {
    if let Some(query) = query(given) {
        Action::Answer(query)
    } else if given.has(ProgramOption::Showcmd) {
        Action::ShowCommands
    } else if given.has(ProgramOption::ParseOnly) {
        Action::Parse
    } else if given.has(ProgramOption::MergeBlktraceOnly) {
        Action::MergeTraces
    } else {
        Action::Run
    }
}

fn query(given: &GivenOptions) -> Option<Query> {
    if given.has(ProgramOption::Version) {
        Some(Query::Version)
    } else if given.has(ProgramOption::Cmdhelp) {
        Some(Query::Options(given.text(ProgramOption::Cmdhelp)))
    } else if given.has(ProgramOption::Enghelp) {
        Some(Query::Engines(given.text(ProgramOption::Enghelp)))
    } else if given
        .values::<String>(ProgramOption::Debug)
        .iter()
        .flat_map(|list| list.split(','))
        .any(|word| word == "help" || word == "?")
    {
        Some(Query::DebugClasses)
    } else if let Some(file) = given.value::<String>(ProgramOption::InflateLog) {
        Some(Query::InflateLog(PathBuf::from(file)))
    } else if given.has(ProgramOption::Crctest) {
        Some(Query::CrcTest(given.text(ProgramOption::Crctest)))
    } else if given.has(ProgramOption::Memcpytest) {
        Some(Query::MemcpyTest(given.text(ProgramOption::Memcpytest)))
    } else if given.has(ProgramOption::CpuclockTest) {
        Some(Query::CpuClockTest)
    } else if given.value(ProgramOption::IdleProf) == Some(IdleProf::Calibrate) {
        Some(Query::IdleCalibration)
    } else {
        None
    }
}
