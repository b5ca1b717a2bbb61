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
    let flag = |option, query| given.has(option).then_some(query);
    let text = |option| given.has(option).then(|| given.text(option));
    let debug = given.values::<String>(ProgramOption::Debug);
    let asks_for_classes =
        || debug.iter().flat_map(|list| list.split(',')).any(|word| word == "help" || word == "?");
    flag(ProgramOption::Version, Query::Version)
        .or_else(|| text(ProgramOption::Cmdhelp).map(Query::Options))
        .or_else(|| text(ProgramOption::Enghelp).map(Query::Engines))
        .or_else(|| asks_for_classes().then_some(Query::DebugClasses))
        .or_else(|| given.text(ProgramOption::InflateLog).map(|file| Query::InflateLog(file.into())))
        .or_else(|| text(ProgramOption::Crctest).map(Query::CrcTest))
        .or_else(|| text(ProgramOption::Memcpytest).map(Query::MemcpyTest))
        .or_else(|| flag(ProgramOption::CpuclockTest, Query::CpuClockTest))
        .or_else(|| {
            let how = given.value(ProgramOption::IdleProf);
            (how == Some(IdleProf::Calibrate)).then_some(Query::IdleCalibration)
        })
}
