//! Unsupported options: noted when they cannot matter to their job, refused otherwise, never silently ignored.

use std::collections::{HashMap, HashSet};

use ferrio_job::{Choice as _, Diagnostic, EngineKind, InertOption, Origin};
use ferrio_jobfile::{
    GivenOption, Job, Opt, OptionRow, OptionScope, OptionStatus, Value, ValueKind, absent_word,
};

use crate::as_written::{Inert, is_zero, name};
use crate::findings::Findings;
use crate::{
    block_sizes, buffers, cpus, direction, durability, engine, files, http, life_cycle, limits, logs,
    measure, memory, nbd, network, priorities, process, queue_depth, random, rates, replay, sizes, sprandom,
    steadystate, verify, work, zbd, zones,
};

/// The tables of all subjects. The first row that applies to an option gives the reason.
const TABLES: [&[Inert]; 27] = [
    // First, because a log takes the place of options of all subjects: no other reason is right then.
    replay::INERT,
    block_sizes::INERT,
    buffers::INERT,
    cpus::INERT,
    direction::INERT,
    durability::INERT,
    engine::INERT,
    files::INERT,
    http::INERT,
    life_cycle::INERT,
    limits::INERT,
    logs::INERT,
    measure::INERT,
    memory::INERT,
    nbd::INERT,
    network::INERT,
    priorities::INERT,
    process::INERT,
    queue_depth::INERT,
    random::INERT,
    rates::INERT,
    sizes::INERT,
    sprandom::INERT,
    steadystate::INERT,
    verify::INERT,
    zbd::INERT,
    zones::INERT,
];

/// Assignments without effect in some job, and those that matter to some job.
#[derive(Debug, Default)]
pub(crate) struct InertOptions<'a> {
    found: Vec<(&'a Job, &'a GivenOption, &'static str)>,
    /// How many jobs each matters to.
    used: HashMap<(Opt, &'a Origin), usize>,
}

impl<'a> InertOptions<'a> {
    /// Adds an assignment without effect in a job.
    pub(crate) fn add(&mut self, job: &'a Job, given: &'a GivenOption, reason: &'static str) {
        self.found.push((job, given, reason));
    }

    /// Adds the globals that a job does not inherit.
    pub(crate) fn add_not_inherited(&mut self, job: &'a Job) {
        for given in job.options.not_inherited() {
            let reason = match given.opt {
                Opt::Name => "jobs are named by their sections",
                _ => "jobs do not inherit it in fio",
            };
            self.add(job, given, reason);
        }
    }

    /// Options without effect in every job they apply to. A global option that matters to one job is not among them.
    pub(crate) fn of_all_jobs(self) -> Vec<InertOption> {
        let mut all: Vec<InertOption> = Vec::new();
        let (mut places, mut jobs) = (HashSet::new(), HashSet::new());
        for (job, given, reason) in self.found {
            if self.used.get(&(given.opt, &given.origin)).is_some_and(|&jobs| jobs > 0) {
                continue;
            }
            let option = given.opt.row().name;
            let same = |known: &InertOption| (known.option, known.reason) == (option, reason);
            let at = all.iter().position(same).unwrap_or_else(|| {
                all.push(InertOption { option, reason, jobs: Vec::new(), origins: Vec::new() });
                all.len() - 1
            });
            if jobs.insert((at, name(job))) {
                all[at].jobs.push(name(job).to_owned());
            }
            if places.insert((at, &given.origin)) {
                all[at].origins.push(given.origin.clone());
            }
        }
        all
    }
}

/// Notes options without effect.
pub(crate) fn note(inert: &[InertOption], findings: &mut Findings) {
    for option in inert {
        let note = Diagnostic::note(option.to_string()).code("option-without-effect");
        let origin = option.origins.first().cloned().unwrap_or_default();
        findings.note(Diagnostic { jobs: option.jobs.clone(), ..note.at(origin) });
    }
}

/// Checks every option in force for a job.
pub(crate) fn check<'a>(job: &'a Job, inert: &mut InertOptions<'a>, findings: &mut Findings) {
    for given in job.options.all() {
        if is_private_to_a_missing_engine(job, given.opt.row()) {
            // The engine itself is refused, with one reason for all its options.
        } else if let Some(reason) = reason(job, given) {
            inert.add(job, given, reason);
        } else {
            *inert.used.entry((given.opt, &given.origin)).or_default() += 1;
            let why = absent_choice(given).or_else(|| refusal(given).filter(|_| !is_off(given)));
            if let Some(why) = why {
                findings.refuse_unsupported(why.job(name(job)));
            }
        }
    }
}

/// Adds the options among `opts` of a checked job that have no effect for a reason that only the machine told.
pub(crate) fn add_found<'a>(job: &'a Job, opts: &[Opt], found: &'static str, inert: &mut InertOptions<'a>) {
    for given in job.options.all().filter(|given| opts.contains(&given.opt)) {
        if !asks_for_nothing(given) && reason(job, given).is_none() {
            if let Some(jobs) = inert.used.get_mut(&(given.opt, &given.origin)) {
                *jobs -= 1;
            }
            inert.add(job, given, found);
        }
    }
}

/// In which jobs options have no effect: the names of options, and the reason that a note gives. For the reference.
#[must_use]
pub fn without_effect() -> Vec<(Vec<&'static str>, &'static str)> {
    let names = |opts: &[Opt]| opts.iter().map(|opt| opt.row().name).collect();
    let rows = TABLES.into_iter().flatten().map(|row| (names(row.opts), row.reason));
    rows.chain([(names(buffers::LAYOUT_CONTENTS), buffers::NOTHING_TO_LAY_OUT)]).collect()
}

fn is_private_to_a_missing_engine(job: &Job, row: &OptionRow) -> bool {
    matches!(row.scope, OptionScope::Engines(_)) && EngineKind::from_word(job.options.engine()).is_none()
}

/// The reason why an assignment has no effect in its job, if it has none.
fn reason(job: &Job, given: &GivenOption) -> Option<&'static str> {
    match given.opt.row().status {
        // The reader of job files has already warned about it.
        OptionStatus::NoEffect(_) if given.opt.row().kind == ValueKind::Ignored => None,
        OptionStatus::NoEffect(reason) => Some(reason),
        _ if asks_for_nothing(given) => None,
        _ if work::is_about_io(job, given.opt) => Some("the engine does no I/O"),
        _ => {
            let mut rows = TABLES.into_iter().flatten().filter(|row| row.opts.contains(&given.opt));
            rows.find(|row| (row.when)(job)).map(|row| row.reason)
        }
    }
}

/// Options that do more when their default is given than when they are left out: a check that is left out where it may fail is then made.
const INSIST: [Opt; 2] = [Opt::VerifyHeaderSeed, Opt::VerifyWriteSequence];

/// True for a value that changes nothing: off, or the default. 0 is a value like others of a number that is not 0 by default.
fn asks_for_nothing(given: &GivenOption) -> bool {
    is_off(given)
        || matches!(given.value, Value::Switch(false))
        || (is_default(given.opt.row(), given) && !INSIST.contains(&given.opt))
}

/// True for a value that switches an unsupported option off.
fn is_off(given: &GivenOption) -> bool {
    let row = given.opt.row();
    let text = given.text.trim();
    match row.status {
        OptionStatus::OnlyOff(off) => off.contains(&text) || (off.contains(&"0") && is_zero(&given.value)),
        OptionStatus::Unavailable(_) => is_default(row, given),
        _ => false,
    }
}

/// The declared default; 0 where none is declared.
fn is_default(row: &OptionRow, given: &GivenOption) -> bool {
    match row.default {
        "" | "0" => is_zero(&given.value),
        default => given.text.trim() == default,
    }
}

/// Refuses a word that is unavailable, of an option that works.
fn absent_choice(given: &GivenOption) -> Option<Diagnostic> {
    let Value::Word(word, _) = &given.value else { return None };
    let reason = absent_word(given.opt, word)?;
    let message = format!("option `{}={word}` is not available: {reason}", given.opt.row().name);
    let problem = Diagnostic::error(message, given.value_origin.clone()).code("unavailable-value");
    Some(problem.help("choose another word, or remove the option"))
}

/// Refuses an unsupported option, and says what it does in fio and what to do.
fn refusal(given: &GivenOption) -> Option<Diagnostic> {
    const WITHOUT: &str = "remove the option to run the job without it";
    let row = given.opt.row();
    let (code, message, origin, help) = match row.status {
        OptionStatus::Works | OptionStatus::NoEffect(_) => return None,
        OptionStatus::OnlyOff(off) => {
            let allowed: Vec<_> = off.iter().map(|word| format!("`{word}`")).collect();
            let help = format!("{WITHOUT}; only {} is accepted", allowed.join(", "));
            let message = format!("option `{}` is not implemented yet", row.name);
            ("unimplemented-value", message, &given.value_origin, help)
        }
        OptionStatus::Unavailable(reason) => {
            let message = format!("option `{}` is not available: {reason}", row.name);
            ("unavailable-option", message, &given.origin, WITHOUT.to_owned())
        }
    };
    let label = format!("its purpose: {}", row.help);
    Some(Diagnostic::error(message, origin.clone()).code(code).label(label).help(help))
}

#[cfg(test)]
mod everywhere;
#[cfg(test)]
mod tests;
