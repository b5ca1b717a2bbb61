//! Log files that jobs would write.

use std::collections::HashSet;
use std::path::PathBuf;

use ferrio_job::log_files;

use crate::facts::Facts;
use crate::model::Log;
use crate::section::Section;

/// Log files of all clones, each once, in the order of their numbers.
pub(crate) fn of(section: &Section<'_>, facts: &Facts) -> Vec<Log> {
    let mut seen = HashSet::new();
    let all = section.instances.iter().flat_map(|job| log_files(&job.spec));
    let mut logs = Vec::new();
    for log in all {
        let path = PathBuf::from(log.path);
        if seen.insert(path.clone()) {
            let known = facts.logs.get(&path).copied().unwrap_or_default();
            let (window_ms, shared) = (log.window_ms, log.shared);
            logs.push(Log { path, window_ms, shared, existing_bytes: known.size, place: known.place });
        }
    }
    logs
}
