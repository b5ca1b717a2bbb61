//! What the coordinator sends to the agents: the words of the command line that concern them, and what the job files read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ferrio_hosts::{JobText, PlanText};
use ferrio_job::{Diagnostic, Origin, RunHost};
use ferrio_jobfile::{Environment, JobSet};
use ferrio_report::Format;

use crate::arguments::Item;
use crate::error::Error;
use crate::job_files;
use crate::options::OnHosts;
use crate::settings::ProgramSettings;

/// The plan of an agent, and the jobs as they read here, with the words of the first host: what is wrong with them on any host is found before one is connected.
///
/// # Errors
/// Mistakes in the jobs, or an option that many hosts do not have.
pub fn plan_text(
    items: &[Item],
    settings: &ProgramSettings,
    first: RunHost,
) -> Result<(PlanText, JobSet), Error> {
    refuse_others(items)?;
    let (plan, set) = texts(items, settings, Some(first));
    Ok((PlanText { words: words(items, settings), ..plan }, set?))
}

/// The files and variables that the jobs of a `host` use, also if there are mistakes in the jobs.
pub fn texts(
    items: &[Item],
    settings: &ProgramSettings,
    host: Option<RunHost>,
) -> (PlanText, Result<JobSet, Error>) {
    let used = Arc::new(Mutex::new(Used::default()));
    let set = job_files::read(items, settings, Environment { host, ..recorded(&used) });
    let used = std::mem::take(&mut *used.lock().unwrap_or_else(PoisonError::into_inner));
    let files =
        used.files.iter().map(|(path, content)| JobText::new(&path.to_string_lossy(), content)).collect();
    (PlanText { files, variables: used.variables, ..PlanText::default() }, set)
}

/// Files and variables that the jobs use.
#[derive(Default)]
struct Used {
    files: BTreeMap<PathBuf, Vec<u8>>,
    variables: BTreeMap<String, String>,
}

/// The environment of this machine, which notes what is used of it.
fn recorded(used: &Arc<Mutex<Used>>) -> Environment {
    let Environment { var, read_file, .. } = job_files::environment();
    let (of_variables, of_files) = (Arc::clone(used), Arc::clone(used));
    let note = |used: &Mutex<Used>, note: &dyn Fn(&mut Used)| {
        note(&mut used.lock().unwrap_or_else(PoisonError::into_inner));
    };
    Environment {
        var: Box::new(move |name| {
            let value = var(name)?;
            note(&of_variables, &|used| drop(used.variables.insert(name.to_owned(), value.clone())));
            Some(value)
        }),
        read_file: Box::new(move |path: &Path| {
            let content = read_file(path)?;
            note(&of_files, &|used| drop(used.files.insert(path.to_owned(), content.clone())));
            Ok(content)
        }),
        ..job_files::environment()
    }
}

/// Refuses options that a run on many hosts does not have.
fn refuse_others(items: &[Item]) -> Result<(), Error> {
    let refused = items.iter().filter_map(|item| match item {
        Item::Program { option, origin, .. } if option.row().on_hosts == OnHosts::Refused => {
            let message = format!("--{option} cannot be combined with many hosts");
            Some(Diagnostic::error(message, origin.name_origin()).code("not-on-hosts").help("leave it out"))
        }
        Item::File(name) if name == job_files::STDIN => {
            let message = "a run on many hosts does not read its jobs from standard input";
            Some(Diagnostic::error(message, Origin::Builtin).code("not-on-hosts").help("save them in a file"))
        }
        _ => None,
    });
    let refused: Vec<Diagnostic> = refused.collect();
    if refused.is_empty() { Ok(()) } else { Err(refused.into()) }
}

/// The words for each agent.
fn words(items: &[Item], settings: &ProgramSettings) -> Vec<String> {
    let written = |name: &str, value: &Option<String>| match value {
        Some(value) => format!("--{name}={value}"),
        None => format!("--{name}"),
    };
    let of_item = |item: &Item| match item {
        Item::Program { option, value, .. } => {
            let row = option.row();
            matches!(row.on_hosts, OnHosts::Agents | OnHosts::All).then(|| written(row.name, value))
        }
        Item::Job { name, value, .. } => Some(written(name, value)),
        Item::File(_) => None,
    };
    // Whatever is written here is made from what they send. With the text they have its lines before the run, too.
    let formats = settings.all_formats();
    let document = if formats.have_details() { Format::JsonPlus } else { Format::Json };
    let text = formats.has(Format::Normal).then_some(Format::Normal);
    let sent: Vec<&str> = text.into_iter().chain([document]).map(Format::word).collect();
    let mut words: Vec<String> = items.iter().filter_map(of_item).collect();
    words.push(format!("--output-format={}", sent.join(",")));
    words.push("--".to_owned());
    words.extend(items.iter().filter_map(|item| match item {
        Item::File(name) => Some(name.clone()),
        _ => None,
    }));
    words
}
