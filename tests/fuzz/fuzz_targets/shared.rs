//! What all targets do with what they were given: build the jobs and say everything that can be said of them.

use std::io;

use ferrio_jobfile::{
    Builder, Environment, JobSet, Multi, Problems, SplitEntry, ValueKind, diagnostics_json,
    diagnostics_render, rows, showcmd,
};

/// A machine whose files are the texts between NUL bytes: `0` is the first, `d/0` the same one in a directory.
pub fn environment(files: &[&[u8]]) -> Environment {
    let files: Vec<Vec<u8>> = files.iter().map(|file| file.to_vec()).collect();
    Environment {
        var: Box::new(|name| match name {
            "V" => Some("$ncpus${W}".to_owned()),
            "N" => Some("a\nb\u{0}[;".to_owned()),
            _ => None,
        }),
        read_file: Box::new(move |path| {
            let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            let file = number.and_then(|number: usize| files.get(number).cloned());
            file.ok_or_else(|| io::ErrorKind::NotFound.into())
        }),
        ncpus: 3,
        ..Environment::default()
    }
}

/// Finishes the jobs, see [`look_at`].
#[allow(dead_code)]
pub fn finish(builder: Builder) -> Option<JobSet> {
    look_at(builder.finish())
}

/// Looks at all jobs, or shows what is wrong both ways.
pub fn look_at(jobs: Result<JobSet, Problems>) -> Option<JobSet> {
    match jobs {
        Ok(set) => {
            let shown = showcmd(&set);
            assert!(shown.is_empty() || shown.ends_with('\n'));
            diagnostics_render(&set.warnings, &set.sources, true);
            diagnostics_json(&set.warnings, &set.sources);
            for job in set.jobs.iter().take(4) {
                job.options.engine();
                for row in rows().iter().filter(|row| job.options.is_given(row.opt)) {
                    match row.kind {
                        ValueKind::Str | ValueKind::StrList => drop(job.options.list(row.opt)),
                        ValueKind::EnumList | ValueKind::WordList => drop(job.options.words(row.opt)),
                        ValueKind::Bssplit => {
                            drop(job.options.value::<[Option<Vec<SplitEntry>>; 3]>(row.opt))
                        }
                        ValueKind::Int | ValueKind::Size | ValueKind::Time if row.multi != Multi::No => {
                            job.options.per_direction(row.opt);
                        }
                        _ => {}
                    }
                }
            }
            Some(set)
        }
        Err(problems) => {
            assert!(!problems.diagnostics.is_empty());
            assert!(!problems.render(true).is_empty());
            assert!(!ferrio_jobfile::diagnostics_json(&problems.diagnostics, &problems.sources).is_empty());
            None
        }
    }
}
