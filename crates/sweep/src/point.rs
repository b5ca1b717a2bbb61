//! The points of a sweep.

use crate::variable::{MAX_POINTS, SweepVariable};

/// The variables have more combinations than [`MAX_POINTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sweep has more than {MAX_POINTS} points: leave out values")]
pub struct TooManyPoints;

/// The jobs that a point measures, if not all jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointJobs {
    /// The job file, if each file is measured by itself.
    pub file: Option<String>,
    /// The section of the job file, if each section is measured by itself.
    pub section: Option<String>,
}

/// One combination of jobs and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// The jobs that it measures.
    pub jobs: PointJobs,
    /// Name and value of each variable.
    pub settings: Vec<(String, String)>,
    /// The name of the directory, unique among the points: `iodepth=4,bs=8k`. Empty for the only point of a series without sweep.
    pub directory: String,
}

impl SweepPoint {
    /// The name in messages: `iodepth=4,bs=8k`. Empty for the only point of a series without sweep.
    #[must_use]
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        self.jobs.names().cloned().chain(settings).collect::<Vec<_>>().join(",")
    }

    /// The cells of the table in the order of its columns. Each section has a table of its own and thus no column.
    #[must_use]
    pub fn cells(&self) -> Vec<&str> {
        let values = self.settings.iter().map(|(_, value)| value.as_str());
        self.jobs.file.iter().map(String::as_str).chain(values).collect()
    }
}

impl PointJobs {
    /// The file and the section, where points differ in them.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.file.iter().chain(&self.section)
    }
}

/// All combinations of the jobs and values; the last variable changes first.
///
/// # Errors
/// There are too many.
pub fn points(jobs: Vec<PointJobs>, variables: &[SweepVariable]) -> Result<Vec<SweepPoint>, TooManyPoints> {
    let values = variables.iter().map(|variable| variable.values.len());
    let count = values.fold(jobs.len(), usize::saturating_mul);
    if count > MAX_POINTS {
        return Err(TooManyPoints);
    }
    let mut points: Vec<SweepPoint> = jobs
        .into_iter()
        .map(|jobs| SweepPoint { jobs, settings: Vec::new(), directory: String::new() })
        .collect();
    for variable in variables {
        let with = |point: &SweepPoint, value: &String| {
            let mut point = point.clone();
            point.settings.push((variable.name.clone(), value.clone()));
            point
        };
        points = points
            .iter()
            .flat_map(|point| variable.values.iter().map(move |value| with(point, value)))
            .collect();
    }
    let mut taken: Vec<String> = Vec::new();
    for point in &mut points {
        let name = directory(point);
        let numbered = (2_u64..).map(|number| format!("{name}~{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        point.directory = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.push(point.directory.clone());
    }
    Ok(points)
}

/// Most bytes in the name of a directory, which leaves room for a number.
const MAX_NAME_BYTES: usize = 200;

/// A directory name without slashes, of a length that file systems allow. Job files are named without directory and extension.
fn directory(point: &SweepPoint) -> String {
    let file = point.jobs.file.as_deref().map(|file| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    });
    let settings = point.settings.iter().map(|(name, value)| format!("{name}={value}"));
    let mut name =
        file.into_iter().chain(point.jobs.section.clone()).chain(settings).collect::<Vec<_>>().join(",");
    name = name.replace(|sign: char| sign == '/' || sign.is_control(), "_");
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    // `..` and `.` are directories that exist.
    if name.starts_with('.') { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(text: &str) -> SweepVariable {
        SweepVariable::parse(text).unwrap()
    }

    fn directories(files: &[&str], variables: &[&str]) -> Vec<String> {
        let of_file =
            |file: Option<&&str>| PointJobs { file: file.map(|file| (*file).to_owned()), section: None };
        let files = match files {
            [] => vec![of_file(None)],
            files => files.iter().map(|file| of_file(Some(file))).collect(),
        };
        let variables: Vec<SweepVariable> = variables.iter().map(|text| variable(text)).collect();
        points(files, &variables).unwrap().into_iter().map(|point| point.directory).collect()
    }

    #[test]
    fn all_combinations_are_there_once() {
        let all = directories(&[], &["iodepth=1,4", "bs=4k,8k"]);
        assert_eq!(all, ["iodepth=1,bs=4k", "iodepth=1,bs=8k", "iodepth=4,bs=4k", "iodepth=4,bs=8k"]);
        assert_eq!(directories(&[], &[]), [""]);
        assert_eq!(directories(&["d/a.fio", "b.fio"], &["bs=1"]), ["a,bs=1", "b,bs=1"]);
    }

    #[test]
    fn directories_are_names_of_their_own() {
        assert_eq!(directories(&["d/a.fio", "e/a.fio"], &[]), ["a", "a~2"]);
        assert_eq!(directories(&[], &["filename=/dev/a,_dev_a"]), ["filename=_dev_a", "filename=_dev_a~2"]);
        assert_eq!(directories(&["..fio", "b"], &[]), ["_.", "b"]);
        let long = "é".repeat(300);
        assert!(directories(&[], &[&format!("filename={long}")])[0].len() <= MAX_NAME_BYTES);
    }

    #[test]
    fn sections_have_directories_of_their_own() {
        let jobs = ["a", "b/c"]
            .map(|section| PointJobs { file: Some("x.fio".to_owned()), section: Some(section.to_owned()) });
        let all = points(jobs.to_vec(), &[variable("bs=1,2")]).unwrap();
        let names: Vec<&str> = all.iter().map(|point| point.directory.as_str()).collect();
        assert_eq!(names, ["x,a,bs=1", "x,a,bs=2", "x,b_c,bs=1", "x,b_c,bs=2"]);
        assert_eq!((all[3].label().as_str(), all[3].cells()), ("x.fio,b/c,bs=2", vec!["x.fio", "2"]));
    }

    #[test]
    fn too_many_points_are_refused() {
        let all = ["a=1..32:1", "b=1..32:1"].map(variable);
        assert_eq!(points(vec![PointJobs::default()], &all), Err(TooManyPoints));
        assert_eq!(points(vec![PointJobs::default()], &all[..1]).unwrap().len(), 32);
    }
}
