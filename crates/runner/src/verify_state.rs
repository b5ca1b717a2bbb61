//! Verify states: the file in which a job records its writes, and the file of an earlier run that says what to check.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::PoisonError;

use ferrio_job::{Diagnostic, JobSpec, STATE_MISSING, Severity, reason, state_not_opened};
use ferrio_machine::{bytes_of_file, close_file, open_file, retry_interrupted, write_whole};
use ferrio_verify::{Coverage, StateError, VerifyState};
use ferrio_workload::{SEEDS, offset_generator};
use nix::fcntl::OFlag;
use nix::unistd::fsync;

use crate::context::Context;
use crate::failure::Failure;
use crate::write_progress::{WriteProgress, saves_at_syncs};

/// Removes the state that an earlier run has left, before the job changes what it is about: should this run come to no end, no state would
/// say that blocks are there which are not. Only for jobs that save a state themselves; fio leaves the old one until then.
///
/// Returns what the user should know if that fails.
pub(crate) fn remove_outdated(directory: &Path, spec: &JobSpec) -> Vec<Diagnostic> {
    if !spec.compat.removes_outdated_states || !spec.saves_state() || !spec.writes_data() {
        return Vec::new();
    }
    let path = spec.state_file(directory);
    match fs::remove_file(&path).and_then(|()| sync_directory(directory)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            state_file_notes(spec, "verify-state-not-removed", &path, "remove", &error)
        }
        _ => Vec::new(),
    }
}

/// Calls [`remove_outdated`] when the job begins, unless a trigger has saved its last state.
pub(crate) fn remove_outdated_at_start(context: &Context<'_>) -> Vec<Diagnostic> {
    unless_saved(context, |_| remove_outdated(context.state_dir, context.spec))
}

/// Changes the state of a job that saves one, unless a trigger has saved the last one.
fn unless_saved(
    context: &Context<'_>,
    change: impl FnOnce(&WriteProgress) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let Some(progress) = &context.progress else { return Vec::new() };
    let _saving = progress.saving.lock().unwrap_or_else(PoisonError::into_inner);
    if context.control.is_state_saved() { Vec::new() } else { change(progress) }
}

/// Says that the state to be loaded is older than what the files of the job contain, or will contain. fio does not notice. `lays_out`: the
/// files are made anew or extended.
pub(crate) fn note_outdated(spec: &JobSpec, lays_out: bool) -> Option<Diagnostic> {
    let loads = spec.verify.as_ref().is_some_and(|verify| verify.loads_state);
    if !loads || !spec.compat.removes_outdated_states {
        return None;
    }
    let message = match (spec.writes_data(), lays_out) {
        (true, _) => {
            "verify_state_load: this job writes its files again, but the state of an earlier run limits what it reads back: use verify_only to \
             check what that run wrote"
        }
        (false, true) => {
            "verify_state_load: files that the state describes are missing or too short: they are laid out again without the missing data"
        }
        (false, false) => return None,
    };
    Some(
        Diagnostic { severity: Severity::Warning, ..Diagnostic::note(message) }
            .code("verify-state-outdated")
            .job(&spec.name),
    )
}

/// Saves what syncs have covered so far, unless a trigger has saved the last state of the job.
///
/// Returns what the user should know if that fails.
pub(crate) fn save_at_sync(context: &Context<'_>) -> Vec<Diagnostic> {
    unless_saved(context, |progress| {
        let state = state_of(context.spec, Some(progress), 0, context.entropy);
        save(context.state_dir, context.spec, &state, true)
    })
}

/// Saves the state of a job that a trigger ends, for good.
pub(crate) fn save_at_trigger(
    directory: &Path,
    spec: &JobSpec,
    progress: Option<&WriteProgress>,
    writes: u64,
    entropy: [u64; SEEDS],
) -> Vec<Diagnostic> {
    let _saving = progress.map(|progress| progress.saving.lock().unwrap_or_else(PoisonError::into_inner));
    save(directory, spec, &state_of(spec, progress, writes, entropy), true)
}

/// The state of a job. One that verifies no writes has issued `writes` of them, and none is in flight.
pub(crate) fn state_of(
    spec: &JobSpec,
    progress: Option<&WriteProgress>,
    writes: u64,
    entropy: [u64; SEEDS],
) -> VerifyState {
    let (number, slots) = match progress {
        Some(progress) => progress.snapshot(),
        None => (writes, vec![None; spec.depth.iodepth as usize]),
    };
    VerifyState {
        number,
        index: spec.state_index(),
        generator: offset_generator(spec, entropy),
        job: spec.name.clone().into_bytes(),
        slots,
    }
}

/// Writes the state of a job into its file below `directory`. `durable`: it survives a power cut right after this call, which then leaves
/// the state before or this one, and no part of one. The last state of a job that saves at syncs always is: it replaces a durable one.
///
/// Returns what the user should know if that fails; the job goes on.
pub(crate) fn save(directory: &Path, spec: &JobSpec, state: &VerifyState, durable: bool) -> Vec<Diagnostic> {
    let path = spec.state_file(directory);
    let saved = match durable || saves_at_syncs(spec) {
        true => replace(&path, directory, &state.encode()),
        false => write(&path, &state.encode()).and_then(closed),
    };
    match saved {
        Ok(()) => Vec::new(),
        Err((doing, error)) => state_file_notes(spec, "verify-state-not-saved", &path, doing, &error),
    }
}

fn state_file_notes(
    spec: &JobSpec,
    code: &'static str,
    path: &Path,
    doing: &str,
    error: &io::Error,
) -> Vec<Diagnostic> {
    let note = |message: String| Diagnostic::note(message).code(code).job(&spec.name);
    vec![
        note(format!("{doing} state file: {}", reason(error))),
        note(format!("state file: {} (for_write=1)", path.display())),
    ]
}

/// The failed step, and its error.
type SaveError = (&'static str, io::Error);

/// Writes a new file, or overwrites the one that is there.
fn write(path: &Path, bytes: &[u8]) -> Result<File, SaveError> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC;
    let mut file = open_file(path, flags, 0o666).map_err(|error| ("open", error))?;
    write_whole(&mut file, bytes).map_err(|error| ("write", error))?;
    Ok(file)
}

/// A network file system may tell only now that it has no room.
fn closed(file: File) -> Result<(), SaveError> {
    close_file(file).map_err(|error| ("close", error))
}

/// Writes a file beside `path`, and gives it that name once its bytes are on disk. The name is on disk, too, when this returns.
fn replace(path: &Path, directory: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    let new = path.with_extension("state.new");
    let stored = write(&new, bytes).and_then(|file| {
        retry_interrupted(|| fsync(&file)).map_err(|error| ("sync", error))?;
        closed(file)
    });
    let renamed = stored.and_then(|()| fs::rename(&new, path).map_err(|error| ("replace", error)));
    if renamed.is_err() {
        // Half a state is of no use to anybody.
        let _ = fs::remove_file(&new);
    }
    renamed.and_then(|()| sync_directory(directory).map_err(|error| ("replace", error)))
}

/// Makes files that were created, renamed or removed in the directory of states durable.
fn sync_directory(directory: &Path) -> io::Result<()> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let directory = open_file(directory, OFlag::O_RDONLY, 0)?;
    retry_interrupted(|| fsync(&directory))
}

/// The remedy for a file that is no state.
fn advice(error: StateError) -> &'static str {
    match error {
        StateError::Version(_) => {
            "ferrio and fio 3.41 and later write versions 5 and 7, which are read; older releases write other versions: save the state \
             again with a newer one (verify_state_save=1), or remove verify_state_load to check everything"
        }
        StateError::ShortHeader | StateError::Cut | StateError::Corrupt => {
            "the file is damaged, so nothing says how much was written: let the job write again and save its state \
             (verify_state_save=1), or remove verify_state_load to check everything"
        }
    }
}

/// Reads the state that says what a job checks, one that is given or else the file below `directory`; `None` for a job that checks everything.
pub(crate) fn load(
    directory: &Path,
    given: &BTreeMap<String, Vec<u8>>,
    spec: &JobSpec,
) -> Result<Option<Coverage>, Failure> {
    if !spec.verify.as_ref().is_some_and(|verify| verify.loads_state) {
        return Ok(None);
    }
    let path = spec.state_file(directory);
    let given = given.get(&spec.state_name());
    let state = match given.map_or_else(|| bytes_of_file(&path), |state| Ok(state.clone())) {
        Ok(bytes) => VerifyState::decode(&bytes).map_err(|error| (error.to_string(), advice(error))),
        Err(error) => {
            let [message, _] = state_not_opened(&path, &reason(&error), false);
            Err((message, STATE_MISSING))
        }
    };
    let state = state.map_err(|(message, advice)| {
        // fio gives no error number for it.
        Failure::new(0, "verify_state_load")
            .note("verify-state-not-loaded", message)
            .note("verify-state-not-loaded", format!("state file: {} (for_write=0)", path.display()))
            .note("verify-state-advice", advice)
    })?;
    Ok(Some(state.coverage(spec.depth.iodepth)))
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::spec_of;
    use ferrio_verify::WriteCoverage;
    use tempfile::TempDir;

    use super::*;

    fn writer(options: &str) -> JobSpec {
        spec_of(&format!(
            "[a/b]\nioengine=libaio\niodepth=3\nsize=64k\nfilename=/tmp/x\nrw=write\nverify=md5\n{options}"
        ))
    }

    fn state(spec: &JobSpec, progress: &WriteProgress) -> VerifyState {
        state_of(spec, Some(progress), 0, [0; SEEDS])
    }

    #[test]
    fn a_state_has_what_is_in_flight_and_behind_it_what_failed() {
        let spec = writer("");
        let progress = WriteProgress::new(&spec).unwrap();
        for number in 0..3 {
            progress.issued(number as u32, number);
            progress.covers(number + 1);
        }
        progress.completed(0);
        progress.failed(2, 2);
        let state = state(&spec, &progress);
        assert_eq!((state.number, state.slots), (3, vec![None, Some(1), None, Some(2)]));
    }

    #[test]
    fn jobs_that_verify_no_writes_have_empty_slots() {
        let spec =
            spec_of("[a]\nioengine=libaio\niodepth=2\nsize=64k\nfilename=/tmp/x\nrw=read\nverify=md5\n");
        assert!(WriteProgress::new(&spec).is_none());
        let state = state_of(&spec, None, 7, [0; SEEDS]);
        assert_eq!((state.number, state.slots), (7, vec![None, None]));
    }

    #[test]
    fn a_saved_state_is_loaded_by_the_job_of_the_same_name_and_number() {
        let place = TempDir::new().unwrap();
        let spec = writer("verify_state_load=1\n");
        let progress = WriteProgress::new(&spec).unwrap();
        progress.issued(0, 0);
        progress.covers(2);
        assert_eq!(save(place.path(), &spec, &state(&spec, &progress), true), []);
        assert!(place.path().join("local-a.b-0-verify.state").exists());
        let coverage = load(place.path(), &BTreeMap::new(), &spec).unwrap().unwrap();
        assert_eq!(coverage.of(1), WriteCoverage::Check);
        assert!(matches!(coverage.of(0), WriteCoverage::Stop(_)));
        let other = JobSpec { number: 2, ..spec.clone() };
        let failure = load(place.path(), &BTreeMap::new(), &other).unwrap_err();
        assert_eq!(failure.error.errno, 0);
        assert_eq!(failure.notes[0].message, "open state file: No such file or directory");
        assert!(failure.notes[1].message.ends_with("local-a.b-1-verify.state (for_write=0)"));
        let saved = fs::read(place.path().join("local-a.b-0-verify.state")).unwrap();
        let given = BTreeMap::from([("a.b-1".to_owned(), saved)]);
        assert!(load(place.path(), &given, &other).unwrap().is_some());
    }

    #[test]
    fn a_durable_state_replaces_the_one_before_and_leaves_its_file_as_it_is() {
        for policy in ["", "verify_policy=completed\n", "verify_policy=fsynced\nverify_state_save=1\n"] {
            let place = TempDir::new().unwrap();
            let spec = writer(policy);
            let path = place.path().join("local-a.b-0-verify.state");
            let before = place.path().join("before");
            fs::write(&path, "before").unwrap();
            fs::hard_link(&path, &before).unwrap();
            let state = state_of(&spec, None, 7, [0; SEEDS]);
            assert_eq!(save(place.path(), &spec, &state, true), []);
            assert_eq!(fs::read(&before).unwrap(), b"before", "{policy}");
            assert_eq!(fs::read(&path).unwrap(), state.encode(), "{policy}");
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "{policy}");
        }
    }

    #[test]
    fn a_directory_that_is_missing_is_reported_with_the_name_of_the_file() {
        let spec = writer("");
        let state = state_of(&spec, None, 0, [0; SEEDS]);
        let notes = save(Path::new("/nowhere"), &spec, &state, false);
        let lines: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(
            lines,
            [
                "open state file: No such file or directory",
                "state file: /nowhere/local-a.b-0-verify.state (for_write=1)"
            ]
        );
    }

    #[test]
    fn a_full_disk_is_reported() {
        let place = TempDir::new().unwrap();
        let spec = writer("");
        std::os::unix::fs::symlink("/dev/full", place.path().join("local-a.b-0-verify.state")).unwrap();
        let notes = save(place.path(), &spec, &state_of(&spec, None, 0, [0; SEEDS]), false);
        assert_eq!(notes[0].message, "write state file: No space left on device");
    }
}
