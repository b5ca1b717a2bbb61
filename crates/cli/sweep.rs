//! Several runs: `--repeat` and `--sweep`. Each run is a process of this program that writes its report into a directory; the table of all
//! of them is the output.

mod children;
mod results;
mod series;

use std::path::Path;

use ferrio_job::{ArgOrigin, Diagnostic, Origin, counted};
use ferrio_jobfile::Opt;
use ferrio_plan::PlanOptions;
use ferrio_sweep::{PointJobs, Rounds, SweepPoint, SweepTable, points};

use crate::arguments::{self, Item, values_of};
use crate::error::Error;
use crate::job_files;
use crate::messages::{Messages, print_text};
use crate::options::ProgramOption;
use crate::outcome::THRESHOLD_EXCEEDED_STATUS;
use crate::report_stream::ReportStream;
use crate::reported_run::check_thresholds;
use crate::settings::{ProgramSettings, SweepSettings};
use results::Results;
use series::Runs;

/// Options of the series itself, which its runs do not get.
const OF_SWEEP: [ProgramOption; 8] = [
    ProgramOption::Repeat,
    ProgramOption::RepeatPause,
    ProgramOption::Results,
    ProgramOption::ShuffleJobs,
    ProgramOption::Sweep,
    ProgramOption::SweepSeed,
    ProgramOption::Output,
    ProgramOption::OutputFormat,
];

/// Added to a status that a signal ended with.
const SIGNALLED: u8 = 128;

/// Checks all points, runs them and writes the table. Returns the exit status.
///
/// # Errors
/// A point cannot be run, the directory of results or the output cannot be written, or a run leaves no report.
pub fn run(
    items: &[Item],
    settings: &ProgramSettings,
    wanted: &SweepSettings,
    messages: Messages,
) -> Result<u8, Error> {
    let files: Vec<String> = arguments::files_of(items).cloned().collect();
    check(items, &files, wanted)?;
    let jobs = jobs_of_points(items, &files, settings, wanted)?;
    let points = points(jobs, &wanted.variables).map_err(|error| refusal(error.to_string(), None))?;
    check_points(items, &points, settings, messages)?;
    let cannot_open =
        |error| Error::OpenOutput { name: settings.output.file().unwrap_or_default().to_owned(), error };
    let output = settings.output.file().map(|name| ReportStream::whole(Path::new(name))).transpose();
    let output = output.map_err(cannot_open)?;
    let results = Results::create(wanted.results.as_deref())?;
    let seed = wanted.seed.unwrap_or_else(new_seed);
    if points.len() > 1 && messages.shows_warnings() {
        let message = format!("the order of the runs is that of --sweep-seed={seed}");
        messages.note(&Diagnostic::note(message).code("sweep-order"));
    }
    let all = Runs { items, points: &points, results: &results, messages };
    let outcome = all.run(wanted, Rounds::new(points.len(), seed))?;
    if let Some(status) = outcome.failed {
        return Ok(status);
    }
    let measured = all.measured(&outcome)?;
    let table = SweepTable::new(&wanted.variables, &measured).show(wanted.table);
    let written = write(&table, output, settings);
    if messages.shows_warnings() {
        let message = format!("the reports are in {}", results.path().display());
        messages.note(&Diagnostic::note(message).code("sweep-results"));
    }
    messages.figure_warnings(&outcome.warnings());
    if let Some(precision) = outcome.precision.as_ref().filter(|_| messages.shows_warnings()) {
        messages.note(precision);
    }
    if outcome.exceeded > 0 {
        let message = format!(
            "{} of {} exceeded a threshold",
            outcome.exceeded,
            counted(outcome.completed.len() as u64, "run")
        );
        messages.note(&Diagnostic::error(message, Origin::Builtin).code("threshold-exceeded"));
    }
    written?;
    Ok(match (outcome.interrupted, outcome.exceeded) {
        (true, _) => SIGNALLED,
        (false, 0) => 0,
        (false, _) => THRESHOLD_EXCEEDED_STATUS,
    })
}

fn refusal(message: impl Into<String>, help: Option<&str>) -> Error {
    Error::refusal("invalid-sweep", message, help)
}

/// Refuses what cannot be run several times.
fn check(items: &[Item], files: &[String], wanted: &SweepSettings) -> Result<(), Error> {
    if files.iter().any(|file| file == job_files::STDIN) {
        let message = "the job file - is standard input, which can be read only once";
        return Err(refusal(message, Some("save the job file, and name it")));
    }
    let has_jobs = items.iter().any(|item| matches!(item, Item::Job { name, .. } if name == "name"));
    if files.len() > 1 && has_jobs {
        let message =
            "with several job files, each is measured by itself, and jobs of the command line belong to none";
        return Err(refusal(message, Some("leave out --name, or write the jobs into a job file")));
    }
    for (index, variable) in wanted.variables.iter().enumerate() {
        if wanted.variables[..index].iter().any(|other| is_same(&variable.name, &other.name)) {
            let message = format!("the option `{}` is swept twice", variable.name);
            return Err(refusal(message, Some("give all values to one --sweep")));
        }
        let mut set =
            values_of(items, ProgramOption::Set).map(|value| value.split('=').next().unwrap_or(value));
        if set.any(|name| is_same(name, &variable.name)) {
            let message = format!("the option `{}` is both set and swept", variable.name);
            return Err(refusal(message, Some("leave out one of --set and --sweep")));
        }
    }
    Ok(())
}

/// True for two names of an option of the same jobs.
fn is_same(one: &str, other: &str) -> bool {
    let split = |name: &str| {
        let (job, option) =
            name.rsplit_once(':').map_or((None, name), |(job, option)| (Some(job.to_owned()), option));
        (job, Opt::named(option).next().ok_or_else(|| option.to_owned()))
    };
    split(one) == split(other)
}

/// The jobs of each point: all, or those of a job file, or with `--shuffle-jobs` those of a section.
fn jobs_of_points(
    items: &[Item],
    files: &[String],
    settings: &ProgramSettings,
    wanted: &SweepSettings,
) -> Result<Vec<PointJobs>, Error> {
    let of_file = |file: Option<&String>| PointJobs { file: file.cloned(), section: None };
    let each: Vec<PointJobs> = match files {
        [] | [_] => vec![of_file(None)],
        several => several.iter().map(|file| of_file(Some(file))).collect(),
    };
    if !wanted.shuffle_jobs {
        return Ok(each);
    }
    let mut all: Vec<PointJobs> = Vec::new();
    for jobs in each {
        let point = SweepPoint { jobs, settings: Vec::new(), directory: String::new() };
        let set = job_files::read(&items_of(items, &point), settings, job_files::environment())?;
        if set.jobs.iter().any(|job| job.from_command_line) {
            let message = "--shuffle-jobs runs the sections of job files one by one, and there are jobs of the command line";
            return Err(refusal(message, Some("write the jobs into a job file")));
        }
        let first = all.len();
        for job in set.jobs {
            if all[first..].iter().all(|other| other.section.as_ref() != Some(&job.name)) {
                all.push(PointJobs { section: Some(job.name), ..point.jobs.clone() });
            }
        }
    }
    if all.is_empty() {
        return Err(job_files::no_jobs(items, &settings.sections));
    }
    Ok(all)
}

/// The settings of a point, which may have one section alone.
fn of_section(settings: &ProgramSettings, jobs: &PointJobs) -> ProgramSettings {
    let mut settings = settings.clone();
    settings.sections = jobs.section.as_ref().map_or(settings.sections, |section| vec![section.clone()]);
    settings
}

/// Plans all points, so that a wrong value of the last one is refused before the first runs. Shows what is to be said about them, once.
fn check_points(
    items: &[Item],
    points: &[SweepPoint],
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<(), Error> {
    let mut shown: Vec<String> = Vec::new();
    for point in points {
        let items = items_of(items, point);
        let settings = &of_section(settings, &point.jobs);
        let set = job_files::read(&items, settings, job_files::environment())?;
        if set.jobs.is_empty() {
            return Err(job_files::no_jobs(&items, &settings.sections));
        }
        let reads_stdin = set.jobs.iter().any(job_files::reads_stdin);
        if reads_stdin {
            let message = "read_iolog=- is standard input, which can be read only once";
            return Err(refusal(message, Some("save the I/O log in a file")));
        }
        let options = PlanOptions { describes_only: true, ..settings.plan_options() };
        let plan = ferrio_plan::plan(&set, &options).map_err(Error::Problems)?;
        check_thresholds(&plan, settings)?;
        settings.check_outputs(&set.sources, Some(&plan))?;
        let all = set.warnings.iter().chain(&settings.notes).chain(&plan.diagnostics);
        for diagnostic in all.filter(|diagnostic| messages.shows(diagnostic)) {
            let text = messages.text_of(diagnostic, &set.sources);
            if !shown.contains(&text) {
                messages.write_coloured(&text);
                shown.push(text);
            }
        }
    }
    Ok(())
}

/// The command line of a point.
fn items_of(items: &[Item], point: &SweepPoint) -> Vec<Item> {
    let place = |name: &str| {
        let swept = items.iter().filter_map(|item| item.value_of(ProgramOption::Sweep));
        let named = |value: &str| value.split('=').next().unwrap_or(value).trim() == name;
        swept.filter(|(value, _)| named(value)).map(|(_, origin)| origin.index).next()
    };
    // A file that is given twice is two points with the same jobs.
    let mut has_file = false;
    let mut is_of_point = |item: &&Item| match item {
        Item::File(name) => {
            let is_new = !has_file && point.jobs.file.as_ref().is_none_or(|file| file == name);
            has_file |= is_new;
            is_new
        }
        _ => true,
    };
    let mut of_point: Vec<Item> = items.iter().filter(&mut is_of_point).cloned().collect();
    of_point.extend(point.settings.iter().map(|(name, value)| {
        let value = format!("{name}={value}");
        let text = format!("--{} {value}", ProgramOption::Sweep);
        let origin = ArgOrigin { index: place(name).unwrap_or_default(), text };
        Item::Program { option: ProgramOption::Set, value: Some(value), origin }
    }));
    if let Some(section) = &point.jobs.section {
        let option = ProgramOption::Section;
        of_point.retain(|item| !item.is(option));
        let origin = ArgOrigin { index: 0, text: format!("--{option}={section}") };
        of_point.push(Item::Program { option, value: Some(section.clone()), origin });
    }
    of_point
}

/// The arguments of a run whose report goes to `report`.
fn arguments(items: &[Item], point: &SweepPoint, report: &Path) -> Vec<String> {
    let mut options = Vec::new();
    let mut files = Vec::new();
    for item in items_of(items, point) {
        match item {
            Item::Program { option, .. } if OF_SWEEP.contains(&option) => {}
            Item::Program { option, value: Some(value), .. } => options.push(format!("--{option}={value}")),
            Item::Program { option, value: None, .. } => options.push(format!("--{option}")),
            Item::Job { name, value: Some(value), .. } => options.push(format!("--{name}={value}")),
            Item::Job { name, value: None, .. } => options.push(format!("--{name}")),
            Item::File(name) => files.push(name),
        }
    }
    // Warnings are shown once, after the table. Errors are shown.
    options.push(format!("--{}", ProgramOption::Quiet));
    options.push(format!("--{}=json+", ProgramOption::OutputFormat));
    options.push(format!("--{}={}", ProgramOption::Output, report.display()));
    options.push("--".to_owned());
    options.into_iter().chain(files).collect()
}

/// A seed that is easy to type.
fn new_seed() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ (now.as_secs() & 0xffff_ffff)
}

fn write(table: &str, output: Option<ReportStream>, settings: &ProgramSettings) -> Result<(), Error> {
    match output {
        Some(output) => output.store(table, settings.output.file().unwrap_or_default()),
        None => print_text(table).map(drop),
    }
}
