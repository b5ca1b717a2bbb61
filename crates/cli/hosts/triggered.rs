//! The end of jobs by the trigger of a client: the states of all jobs go to the client, and commands run on both sides.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_hosts::{JobText, Stream, ToCoordinator, UserRequest};
use ferrio_job::{Plan, reason};
use ferrio_jobfile::Opt;
use ferrio_runner::Trigger;

use super::Voice;
use super::limits::Limits;

/// Bytes of a state at most.
const MAX_STATE: u64 = 1 << 20;

/// Time between two looks for the file of the trigger.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// On a server: sends the states of the jobs, which it does not keep, and runs the command.
pub fn finish(voice: &Voice, plan: &Plan, directory: &Path, command: Option<&str>, limits: &Limits) {
    for spec in plan.jobs.iter().map(|job| &job.spec) {
        let path = spec.state_file(directory);
        let Ok(state) = fs::read(&path) else { continue };
        voice.say(ToCoordinator::State { job: spec.state_name(), data: STANDARD.encode(state) });
        // The client has it.
        let _ = fs::remove_file(path);
    }
    let Some(command) = command else { return };
    let problem = match limits.allows_exec {
        true => run(command).err().map(|error| reason(&error)),
        false => Some("the server must be started with --allow-exec or FERRIO_ALLOW_EXEC=1".to_owned()),
    };
    if let Some(problem) = problem {
        voice.text(Stream::Error, format!("trigger command `{command}` cannot be run: {problem}\n"));
    }
}

/// Runs a command of the shell to its end.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &str) -> io::Result<()> {
    Command::new("/bin/sh").args(["-c", command]).stdin(Stdio::null()).status().map(drop)
}

/// On the client: fires the trigger on all servers once its file appears or its time is over. Returns whether it has.
///
/// # Errors
/// The thread that looks for the file cannot be started.
pub fn watch(
    trigger: &Trigger,
    remote: Option<String>,
    requests: Sender<UserRequest>,
) -> io::Result<Arc<AtomicBool>> {
    let is_fired = Arc::new(AtomicBool::new(false));
    let (file, timeout, fired) = (trigger.file.clone(), trigger.timeout, Arc::clone(&is_fired));
    thread::Builder::new().spawn(move || {
        let begin = Instant::now();
        // A link that leads nowhere counts as well.
        let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
        while !file.as_ref().is_some_and(is_there) && timeout.is_none_or(|time| begin.elapsed() < time) {
            thread::sleep(LOOK_INTERVAL);
        }
        if let Some(file) = &file {
            let _ = fs::remove_file(file);
        }
        fired.store(true, Ordering::Release);
        // The run may just have ended.
        let _ = requests.send(UserRequest::Trigger { command: remote });
    })?;
    Ok(is_fired)
}

/// The states that the client has of jobs of a server, by job, if a job may load one.
pub fn states(address: &str, texts: &[JobText]) -> BTreeMap<String, String> {
    let loads = texts.iter().any(|file| file.text.contains(Opt::VerifyStateLoad.row().name));
    let Ok(files) = fs::read_dir(".") else { return BTreeMap::new() };
    let state = |name: &str| -> Option<(String, String)> {
        let job = name.strip_prefix(address)?.strip_prefix('-')?.strip_suffix("-verify.state")?;
        let is_small = fs::metadata(name).is_ok_and(|file| file.len() <= MAX_STATE);
        let state = fs::read(name).ok().filter(|_| is_small)?;
        Some((job.to_owned(), STANDARD.encode(state)))
    };
    let files = files.filter(|_| loads && !address.is_empty()).filter_map(Result::ok);
    files.filter_map(|file| state(file.file_name().to_str()?)).collect()
}

/// The file of a state on the client; `None` for a name that no job has.
pub fn state_path(address: &str, job: &str) -> Option<PathBuf> {
    let is_name = !job.is_empty() && !job.contains(['/', '\0']);
    let address = if address.is_empty() { "local" } else { address };
    is_name.then(|| PathBuf::from(format!("{address}-{job}-verify.state")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_called_after_address_and_job() {
        let path = |address, job| state_path(address, job).map(|path| path.display().to_string());
        assert_eq!(path("10.0.0.1", "a-0").as_deref(), Some("10.0.0.1-a-0-verify.state"));
        assert_eq!(path("", "a-0").as_deref(), Some("local-a-0-verify.state"));
        assert_eq!(path("h", "../x"), None);
    }
}
