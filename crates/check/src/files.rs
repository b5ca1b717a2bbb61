//! The effect of a run on each file, and the space that its places need.

use ferrio_job::{ByFile, Direction, FileKind, FileSpec, JobSpec, layout_of};
use std::collections::{HashMap, HashSet};

use crate::facts::{Facts, FileFacts};
use crate::model::{CheckedFile, CheckedFileKind, LayoutAction};
use crate::section::{CheckedSection, JobWork};

/// A file of the report; `made_before` says that an earlier job lays it out.
pub(crate) fn file(spec: &JobSpec, planned: &FileSpec, known: FileFacts, made_before: bool) -> CheckedFile {
    CheckedFile {
        path: planned.path.clone(),
        last_path: (planned.distinct() > 1).then(|| planned.last_path().to_owned()),
        files: planned.distinct(),
        size_is_mean: planned.run.as_ref().is_some_and(|run| run.is_mean),
        kind: match planned.kind {
            _ if spec.engine.is_diskless() => CheckedFileKind::None,
            FileKind::Regular => CheckedFileKind::Regular,
            FileKind::Block => CheckedFileKind::Block,
            FileKind::Char => CheckedFileKind::Char,
            FileKind::Pretend => CheckedFileKind::None,
        },
        action: action(spec, planned, made_before),
        offset: planned.offset,
        size: planned.size,
        existing_bytes: planned.found,
        allocated_bytes: known.allocated,
        place: known.place,
        unlink: spec.layout.unlink && planned.kind == FileKind::Regular,
    }
}

/// The action of a run on a file. `made_before` says that an earlier job lays it out.
pub(crate) fn action(spec: &JobSpec, file: &FileSpec, made_before: bool) -> LayoutAction {
    if spec.engine.is_diskless() || file.kind == FileKind::Pretend {
        return LayoutAction::None;
    }
    if file.kind != FileKind::Regular || spec.opening.readonly {
        return LayoutAction::Use;
    }
    if made_before {
        return LayoutAction::UseEarlier;
    }
    if spec.replay.is_some() && file.found.is_none() {
        return if spec.does(Direction::Write) { LayoutAction::CreateOnOpen } else { LayoutAction::Missing };
    }
    if spec.replay.is_some() {
        return LayoutAction::Use;
    }
    if !file.extend {
        return match file.found {
            None if spec.layout.create_on_open => LayoutAction::CreateOnOpen,
            // It is large enough only after an earlier job.
            found if found.is_none_or(|bytes| bytes < file.end()) && !spec.layout.create_on_open => {
                LayoutAction::UseEarlier
            }
            _ => LayoutAction::Use,
        };
    }
    let layout = layout_of(spec);
    match (file.found, layout.fills) {
        (Some(_), _) if !layout.replaces => LayoutAction::Grow,
        (None, true) => LayoutAction::CreateFilled,
        (None, false) => LayoutAction::CreateEmpty,
        (Some(_), true) => LayoutAction::ReplaceFilled,
        (Some(_), false) => LayoutAction::ReplaceEmpty,
    }
}

/// The space for files that the jobs create or extend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpaceNeed {
    pub(crate) bytes: u64,
    /// Number of new files.
    pub(crate) files: u64,
}

/// The additional space per place: every file once, at its largest. Layout precedes all jobs, so a file that is removed at the end of its
/// job still takes space at the same time as all others.
pub(crate) fn space_needs(sections: &[CheckedSection<'_>], facts: &Facts) -> HashMap<usize, SpaceNeed> {
    // The largest size of each file, and the facts about it.
    let mut sizes: ByFile<(u64, FileFacts)> = ByFile::default();
    for (spec, file) in sections.iter().flat_map(CheckedSection::files) {
        // A job that fills a device uses the space that is left.
        let fills = !spec.fill_device && (spec.does(Direction::Write) || file.extend);
        if fills && file.kind == FileKind::Regular && !spec.opening.readonly {
            let known = facts.files.get(&file.path).copied().unwrap_or_default();
            sizes.update(file, |before, _| {
                let (size, known) = before.unwrap_or((0, known));
                (file.end().max(size), known)
            });
        }
    }
    let mut space_needs: HashMap<usize, SpaceNeed> = HashMap::new();
    let mut seen = HashSet::new();
    for (&(size, known), count) in sizes.values() {
        // Of several files, only the first was queried.
        let again = count == 1 && known.identity.is_some_and(|identity| !seen.insert(identity));
        if let Some(place) = known.place.filter(|_| !again) {
            let sum = space_needs.entry(place).or_default();
            let each = size.saturating_sub(known.allocated.unwrap_or(0));
            sum.bytes = sum.bytes.saturating_add(each.saturating_mul(count));
            if known.identity.is_none() {
                sum.files = sum.files.saturating_add(count);
            }
        }
    }
    space_needs
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::testing::{report, report_with};

    fn actions(text: &str) -> Vec<LayoutAction> {
        report(text).jobs.iter().flat_map(|job| &job.files).map(|file| file.action).collect()
    }

    #[test]
    fn readers_find_filled_files_and_writers_empty_ones() {
        assert_eq!(actions("[a]\nsize=1m\n"), [LayoutAction::CreateFilled]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\n"), [LayoutAction::CreateEmpty]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\noverwrite=1\n"), [LayoutAction::CreateFilled]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\ncreate_on_open=1\n"), [LayoutAction::CreateOnOpen]);
        assert_eq!(actions("[a]\nsize=1m\nioengine=null\n"), [LayoutAction::None]);
        assert_eq!(
            actions("[a]\nsize=1m\nfilename=f\n[b]\nsize=1m\nfilename=f\n"),
            [LayoutAction::CreateFilled, LayoutAction::UseEarlier]
        );
    }

    #[test]
    fn what_is_there_is_used_replaced_or_grown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, [0; 8192]).unwrap();
        let on = |options: &str| actions(&format!("[a]\nfilename={}\n{options}", file.display()));
        assert_eq!(on("size=8k\n"), [LayoutAction::Use]);
        assert_eq!(on("size=16k\n"), [LayoutAction::ReplaceFilled]);
        assert_eq!(on("size=16k\nrw=write\n"), [LayoutAction::ReplaceEmpty]);
        assert_eq!(on("size=16k\nrw=trim\n"), [LayoutAction::Grow]);
    }

    /// The answer of a check about the files of jobs, as listed or counted.
    #[derive(Debug, PartialEq)]
    struct Sums {
        created: u64,
        space_needs: u64,
        new_files: u64,
        files: Vec<(LayoutAction, u64, u64)>,
        volume: crate::model::Volume,
        failed: Vec<bool>,
    }

    fn sums(text: &str, describes_only: bool) -> Sums {
        let set = ferrio_plan::testing::jobs_of(text);
        let options = ferrio_plan::PlanOptions { describes_only, ..ferrio_plan::PlanOptions::default() };
        let plan = ferrio_plan::plan(&set, &options).unwrap();
        let is_counted = plan.jobs.iter().any(|job| job.spec.files.iter().any(|file| file.run.is_some()));
        assert_eq!(is_counted, describes_only, "{text}");
        let mut facts = crate::testing::facts(&plan);
        for (path, known) in &mut facts.files {
            let found = std::fs::metadata(path).ok();
            known.allocated = found.as_ref().map(std::fs::Metadata::len);
            known.identity = found.map(|found| (1, std::os::unix::fs::MetadataExt::ino(&found)));
        }
        let report = crate::check(&set, &plan, &facts, None);
        let mut files: std::collections::BTreeMap<(String, u64), (LayoutAction, u64)> = Default::default();
        for file in report.jobs.iter().flat_map(|job| &job.files) {
            let entry = files.entry((format!("{:?}", file.action), file.size)).or_insert((file.action, 0));
            entry.1 += file.files;
        }
        Sums {
            created: report.totals.create_bytes,
            space_needs: report.places[0].needed_bytes,
            new_files: report.places[0].needed_files,
            files: files.into_iter().map(|((_, size), (action, count))| (action, size, count)).collect(),
            volume: report.totals.volume,
            failed: report.jobs.iter().map(|job| job.setup_error.is_some()).collect(),
        }
    }

    #[test]
    fn files_that_are_counted_add_up_to_those_that_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let there = [(0, 8192), (1, 8192), (7, 8192), (8, 4096), (9, 8192), (400, 65536), (1199, 8192)];
        for (number, size) in there {
            std::fs::write(dir.path().join(format!("a.0.{number}")), vec![1; size]).unwrap();
        }
        std::fs::write(dir.path().join("a.0.03"), "x").unwrap();
        let in_dir = |text: &str| format!("[global]\ndirectory={}\n{text}", dir.path().display());
        let names = (0..600).map(|number| format!("filename=n{number}\n")).collect::<String>();
        for text in [
            "[a]\nnrfiles=1200\nsize=10m\n",
            "[a]\nnrfiles=1200\nsize=10m\nrw=write\nnumjobs=2\n",
            "[a]\nnrfiles=1200\nfilesize=8k\nrw=trim\n",
            "[a]\nnrfiles=300\nnumjobs=4\nsize=5000001\nrw=randrw\n",
            "[a]\nnrfiles=1200\nsize=10m\noffset=64k\noffset_increment=10%\nnumjobs=2\n",
            "[a]\nnrfiles=1200\nsize=10m\nfilename_format=same\n",
            "[a]\nnrfiles=600\nnumjobs=2\nsize=10m\nfilename_format=a.0.$filenum\nrw=write\n",
            "[a]\nnrfiles=600\nnumjobs=3\nsize=10m\nfilename_format=$filenum.$jobnum.$filenum\n",
            "[a]\nnrfiles=600\nnumjobs=3\nsize=10m\nfilename_format=d$filenum/f\n",
            "[a]\nnrfiles=1200\nsize=10m\nioengine=null\nrw=randwrite\n",
            "[a]\nnrfiles=1200\nsize=80m\nzonemode=zbd\nzonesize=16k\nrw=randwrite\n",
            "[a]\nnrfiles=1200\nsize=10m\ncreate_on_open=1\nrw=write\n[b]\nnrfiles=1200\n",
            // Files of other jobs, by the same list and by their paths.
            "[a]\nnrfiles=1200\nsize=10m\nrw=write\n[b]\nfilename_format=a.0.$filenum\nnrfiles=2000\nsize=20m\n",
            "[a]\nnrfiles=1200\nsize=10m\n[b]\nfilename=a.0.17:a.0.2000\nsize=64k\n[c]\nfilename=a.0.5\n",
            "[b]\nfilename=a.0.17\nsize=64k\n[a]\nnrfiles=1200\nsize=10m\nrw=write\n",
        ] {
            let text = in_dir(text);
            assert_eq!(sums(&text, true), sums(&text, false), "{text}");
        }
        let text = in_dir(&format!("[a]\nsize=6m\nnumjobs=2\nrw=write\n{names}"));
        assert_eq!(sums(&text, true), sums(&text, false));
    }

    #[test]
    fn space_counts_every_file_once_at_its_largest_less_what_it_takes_now() {
        let text = "[a]\nfilename=f\nrw=write\nsize=1m\nnumjobs=2\n[b]\nfilename=f\nrw=write\nsize=3m\n[c]\nfilename=r\nsize=1m\n";
        let report = report_with(text, |facts| {
            facts.files.get_mut(Path::new("f")).unwrap().allocated = Some(1 << 20);
        });
        assert_eq!(report.places[0].needed_bytes, 3 << 20);
        assert_eq!(report.totals.create_bytes, 4 << 20);
    }
}
