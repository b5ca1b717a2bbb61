//! Several jobs on one file.

use std::collections::HashMap;

use ferrio_job::{FileSpec, JobSpec};
use ferrio_jobfile::Opt;

use super::{Info, Observation, RiskContext, RiskRule, Run, Warning};
use crate::section::{JobWork, is_stored, phases_of};

pub(super) const RULES: &[RiskRule] = &[
    ("verify-shared-file", Warning, Run(verify_shared_file)),
    ("same-sequence", Warning, Run(same_sequence)),
    ("shared-writers", Info, Run(shared_writers)),
];

/// The use of a file by one clone.
#[derive(Clone, Copy)]
struct FileUser<'a> {
    section: usize,
    spec: &'a JobSpec,
    file: &'a FileSpec,
}

/// One job verifies data that another writes at the same time.
fn verify_shared_file(run: &RiskContext<'_>) -> Vec<Observation> {
    shared(run, |uses| {
        let checks =
            |spec: &JobSpec| spec.verify.as_ref().is_some_and(|verify| verify.read_back || !spec.changes());
        let (mut checkers, mut writers) = (Furthest::default(), Furthest::default());
        let checked = by_offset(uses).into_iter().any(|one| {
            let (is_checker, is_writer) = (checks(one.spec), one.spec.changes());
            let found =
                is_checker && writers.reaches_beyond(one) || is_writer && checkers.reaches_beyond(one);
            if is_checker {
                checkers.add(one);
            }
            if is_writer {
                writers.add(one);
            }
            found
        });
        checked.then(|| {
            Observation::new(
                format!("{} is verified while several jobs write it", uses[0].file.path.display()),
                "verification will fail: give each job its own file or region (offset_increment)",
                &[Opt::Verify],
            )
        })
    })
}

/// Jobs access the same blocks in the same order: all but the first find them cached.
fn same_sequence(run: &RiskContext<'_>) -> Vec<Observation> {
    shared(run, |uses| {
        let mut same: Vec<_> =
            uses.iter().copied().filter(|one| !one.spec.rw.is_random() && one.spec.works()).collect();
        let file = same.first()?.file;
        same.retain(|one| one.file.offset == file.offset);
        if same.len() < 2 {
            return None;
        }
        let start = if file.offset == 0 { "its start".to_owned() } else { format!("offset {}", file.offset) };
        let message =
            format!("{} jobs access {} from {start} in the same order", same.len(), file.path.display());
        let advice = "caches and the device merge accesses to the same blocks: use offset_increment";
        Some(Observation::new(message, advice, &[Opt::Numjobs, Opt::Filename]).sections(sections(&same)))
    })
}

/// Several jobs write randomly to the same part of a file.
fn shared_writers(run: &RiskContext<'_>) -> Vec<Observation> {
    shared(run, |uses| {
        let writers: Vec<_> = uses
            .iter()
            .copied()
            .filter(|one| one.spec.changes() && one.spec.rw.is_random() && one.spec.events.is_none())
            .collect();
        let mut end = 0;
        let overlapping = by_offset(&writers).into_iter().any(|one| {
            let begins_before = one.file.offset < end;
            end = end.max(one.file.end());
            begins_before
        });
        overlapping.then(|| {
            let message =
                format!("{} jobs write to the same part of {}", writers.len(), uses[0].file.path.display());
            let advice = "harmless on a device; in a file, jobs may wait for its lock";
            Observation::new(message, advice, &[Opt::Numjobs, Opt::Filename]).sections(sections(&writers))
        })
    })
}

/// Calls `look` for every file that several clones of one phase use. An observation without sections concerns all of them.
fn shared(run: &RiskContext<'_>, look: impl Fn(&[FileUser<'_>]) -> Option<Observation>) -> Vec<Observation> {
    let mut observations = Vec::new();
    for phase in phases_of(run.sections) {
        let mut order: Vec<(u64, u64)> = Vec::new();
        let mut by_file: HashMap<(u64, u64), Vec<FileUser<'_>>> = HashMap::new();
        let mut numbers: HashMap<&std::path::Path, u64> = HashMap::new();
        // A job that waits for another does not run at the same time.
        for section in phase.iter().filter(|section| section.waits_for.is_none()) {
            for (spec, file) in section.files().filter(|(_, file)| is_stored(file) && !file.missing_device) {
                let next = numbers.len() as u64;
                let number = *numbers.entry(&file.path).or_insert(next);
                let identity = run.facts.files.get(&file.path).and_then(|facts| facts.identity);
                let key = identity.unwrap_or((number, u64::MAX - 1));
                let uses = by_file.entry(key).or_default();
                if uses.is_empty() {
                    order.push(key);
                }
                uses.push(FileUser { section: section.index, spec, file });
            }
        }
        for key in order {
            let Some(uses) = by_file.get(&key).filter(|uses| uses.len() > 1) else { continue };
            if let Some(one) = look(uses) {
                let all = if one.sections.is_empty() { sections(uses) } else { one.sections.clone() };
                observations.push(one.sections(all));
            }
        }
    }
    observations
}

fn sections(uses: &[FileUser<'_>]) -> Vec<usize> {
    let mut sections: Vec<_> = uses.iter().map(|one| one.section).collect();
    sections.dedup();
    sections
}

/// Regions in the order of their starts: each overlaps the earlier ones that end after its start.
fn by_offset<'u, 'a>(uses: &'u [FileUser<'a>]) -> Vec<&'u FileUser<'a>> {
    let mut sorted: Vec<_> = uses.iter().collect();
    sorted.sort_by_key(|one| one.file.offset);
    sorted
}

/// The two latest ends of regions of different jobs, among those with the earliest starts.
#[derive(Default)]
struct Furthest<'a> {
    last: Option<(u64, &'a JobSpec)>,
    of_another: Option<(u64, &'a JobSpec)>,
}

impl<'a> Furthest<'a> {
    /// Whether the region of another job ends after the start of this one.
    fn reaches_beyond(&self, one: &FileUser<'_>) -> bool {
        let ends = [self.last, self.of_another].into_iter().flatten();
        ends.into_iter().any(|(end, spec)| end > one.file.offset && !std::ptr::eq(spec, one.spec))
    }

    fn add(&mut self, one: &FileUser<'a>) {
        let new = (one.file.end(), one.spec);
        match self.last {
            Some((end, spec)) if std::ptr::eq(spec, one.spec) => self.last = Some((end.max(new.0), spec)),
            Some(last) if last.0 < new.0 => (self.last, self.of_another) = (Some(new), Some(last)),
            Some(_) => {
                if self.of_another.is_none_or(|other| other.0 < new.0) {
                    self.of_another = Some(new);
                }
            }
            None => self.last = Some(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, report, risks};

    fn two(options: &str) -> String {
        format!("[a]\nfilename=f\nsize=1m\nnumjobs=2\n{options}")
    }

    #[test]
    fn sequential_clones_on_one_file_read_the_same_blocks() {
        let report = report(&two(""));
        let found = risks(&report, "same-sequence");
        assert_eq!(found[0].message, "2 jobs access f from its start in the same order");
        assert_eq!(found[0].jobs, ["a"]);
        assert!(!has("same-sequence", &two("offset_increment=1m\n")));
        assert!(!has("same-sequence", &two("rw=randread\n")));
        assert!(!has("same-sequence", "[a]\nsize=1m\nnumjobs=2\n"));
        assert!(!has("same-sequence", "[global]\nfilename=f\nsize=1m\n[a]\n[b]\nstonewall\n"));
    }

    #[test]
    fn random_writers_of_one_region_are_reported() {
        assert!(has("shared-writers", &two("rw=randwrite\n")));
        assert!(!has("shared-writers", &two("rw=randwrite\noffset_increment=1m\n")));
        assert!(!has("shared-writers", &two("rw=randread\n")) && !has("shared-writers", &two("rw=write\n")));
    }

    #[test]
    fn verified_data_with_several_writers_is_reported() {
        let text = two("rw=randwrite\nverify=md5\n");
        let report = report(&text);
        assert_eq!(risks(&report, "verify-shared-file").len(), 1);
        assert!(!report.notes.iter().any(|note| note.contains("multiple writers")), "{:?}", report.notes);
        assert!(!has("verify-shared-file", &two("rw=randwrite\nverify=md5\noffset_increment=1m\n")));
        assert!(!has("verify-shared-file", &two("verify=md5\n")));
    }
}
