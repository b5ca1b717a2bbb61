//! Names of jobs as reports show them.

use ferrio_job::{JobSpec, Plan};

/// fio keeps this many bytes of a job name.
const NAME_BYTES: usize = 127;

/// A job's name as reports show it.
pub(crate) fn report_name(spec: &JobSpec) -> &str {
    truncated(&spec.name, NAME_BYTES)
}

/// Names of jobs by their indices, each once, in order.
pub(crate) fn job_names(plan: &Plan, jobs: impl Iterator<Item = usize>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in jobs.filter_map(|job| Some(&plan.jobs.get(job)?.spec.name)) {
        // Clones follow each other.
        if names.last() != Some(name) && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The longest start of `text` that fits into `bytes` bytes without splitting a character.
fn truncated(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(truncated("abc", 127), "abc");
        assert_eq!(truncated(&"n".repeat(200), 127).len(), 127);
        assert_eq!(truncated("aéé", 4), "aé");
    }
}
