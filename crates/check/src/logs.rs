//! Log files that jobs would write: their names, and how often a row is added.

use std::collections::HashSet;
use std::path::PathBuf;

use ferrio_job::JobSpec;

use crate::facts::Facts;
use crate::model::Log;
use crate::section::Section;

/// Log files of all clones, each once, in the order of their numbers.
pub(crate) fn of(section: &Section<'_>, facts: &Facts) -> Vec<Log> {
    let mut seen = HashSet::new();
    let specs = section.instances.iter().map(|job| &job.spec);
    let all = specs.flat_map(|spec| files(spec).map(move |file| (spec, file)));
    all.filter(|(_, (path, _))| seen.insert(path.clone()))
        .map(|(spec, (path, window_ms))| {
            let known = facts.logs.get(&path).copied().unwrap_or_default();
            let (existing_bytes, place) = (known.size, known.place);
            Log { path, window_ms, shared: spec.logs.shared, existing_bytes, place }
        })
        .collect()
}

/// Names of the log files of a job, with the time between two rows in ms where there is one, 0 where there are no rows. What is
/// not measured has no log.
pub(crate) fn files(spec: &JobSpec) -> impl Iterator<Item = (PathBuf, Option<u32>)> {
    let (logs, measure) = (&spec.logs, &spec.measure);
    let windows = |ms: u32| Some(ms).filter(|&ms| ms > 0);
    let window = windows(logs.avg_msec);
    let bw = if logs.bw_disabled { Some(0) } else { windows(logs.bw_avg_msec) };
    let histograms = if measure.clat { logs.hist_msec } else { 0 };
    let all = [
        (&logs.bw, "bw", true, bw),
        (&logs.lat, "lat", measure.lat, window),
        (&logs.lat, "slat", measure.slat, window),
        (&logs.lat, "clat", measure.clat, window),
        (&logs.iops, "iops", true, windows(logs.iops_avg_msec)),
        (&logs.hist, "clat_hist", true, Some(histograms)),
    ];
    let named = all.into_iter().filter_map(move |(prefix, kind, wanted, window)| {
        let prefix = prefix.as_ref().filter(|_| wanted)?;
        Some((PathBuf::from(logs.file_name(spec.number, prefix, kind)), window))
    });
    named.collect::<Vec<_>>().into_iter()
}
