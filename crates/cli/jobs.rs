//! Feeds the command line and job files to the job file reader.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use ferrio_jobfile::{Builder, Environment, JobSet};
use ferrio_plan::Machine;

use crate::arguments::Item;
use crate::exit::Stop;

/// The jobs of a command line and the files it names; `sections` keeps only jobs of these names.
///
/// # Errors
/// A file that cannot be read, or everything wrong in what was read.
pub fn read(items: &[Item], sections: &[String]) -> Result<JobSet, Stop> {
    let mut builder = Builder::new(environment());
    builder.sections(sections.to_vec());
    for item in items {
        match item {
            Item::Job { name, value: Some(job), origin } if name == "name" => {
                builder.begin_job(job, origin.clone())
            }
            Item::Job { name, value, origin } => {
                builder.command_option(name, value.as_deref(), origin.clone())
            }
            Item::Program { .. } | Item::File(_) => {}
        }
    }
    for item in items {
        if let Item::File(name) = item {
            let text = content(name).map_err(|error| Stop::JobFile { name: name.clone(), error })?;
            builder.file(name, &text);
        }
    }
    builder.finish().map_err(Stop::Problems)
}

fn content(name: &str) -> io::Result<Vec<u8>> {
    if name == "-" {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text)?;
        return Ok(text);
    }
    fs::read(name)
}

/// What job files may ask of this machine.
fn environment() -> Environment {
    let machine = Machine::ask();
    Environment {
        var: Box::new(|name| std::env::var(name).ok()),
        read_file: Box::new(|path: &Path| fs::read(path)),
        pagesize: machine.page_size,
        mb_memory: machine.memory_mib,
        ncpus: u64::from(machine.cpus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arguments, options};

    fn jobs(words: &[&str]) -> Result<JobSet, Stop> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, &options::options())?;
        read(&items, &[])
    }

    #[test]
    fn command_line_jobs_come_before_those_of_files_and_globals_reach_the_first_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("j.fio");
        fs::write(&file, "[b]\nsize=4k\n").unwrap();
        let set = jobs(&[file.to_str().unwrap(), "--bs=8k", "--name=a", "--size=1m"]).unwrap();
        let names: Vec<_> = set.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(set.jobs[1].options.rwt(ferrio_jobfile::Opt::Bs)[0], Some(8192));
    }

    #[test]
    fn a_missing_job_file_is_named() {
        let stop = jobs(&["/nonexistent/j.fio"]).unwrap_err();
        let want = "error: unable to open '/nonexistent/j.fio' job file: No such file or directory";
        assert_eq!(stop.to_string(), want);
    }

    #[test]
    fn a_wrong_value_points_at_its_argument() {
        let stop = jobs(&["--name=a", "--iodepth=0"]).unwrap_err();
        assert!(stop.to_string().contains("--iodepth=0"), "{stop}");
    }
}
