//! Time for which this process and the processes that it has started wait for a CPU, from `/proc/.../schedstat` and `/proc/.../stat`
//! (proc(5)).
//!
//! A thread that the kernel does not run, because the machine is busy or the quota of a control group is used up, looks like one that
//! hangs. Only the kernel can distinguish them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::{getpid, gettid};

use crate::files::names_in;
use crate::interruptions::text_of_file;
use crate::processes::{process, running_with_descendants};

/// Times of all threads of this process but the calling one, and of its descendants, at the last reading.
#[derive(Debug)]
pub struct CpuWaits {
    looked: Instant,
    threads: HashMap<PathBuf, CpuTimes>,
}

/// The kernel's times of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTimes {
    /// Time on a CPU.
    ran: Duration,
    /// Time that it waited for a CPU before it got one.
    waited: Duration,
    /// Whether it runs, or waits for a CPU now.
    is_runnable: bool,
}

impl CpuWaits {
    /// Takes the first reading.
    #[must_use]
    pub fn begin() -> Self {
        CpuWaits { looked: Instant::now(), threads: threads() }
    }

    /// The time since the last reading, and the longest time in it for which a thread waited for a CPU: 0 if the kernel does not report it.
    pub fn poll(&mut self) -> (Duration, Duration) {
        let threads = threads();
        let now = Instant::now();
        let passed = now - self.looked;
        let since = |(path, now): (&PathBuf, &CpuTimes)| {
            now.waited_since(self.threads.get(path).copied().unwrap_or_default(), passed)
        };
        let waited = threads.iter().map(since).max().unwrap_or_default();
        *self = CpuWaits { looked: now, threads };
        (passed, waited)
    }
}

impl CpuTimes {
    /// Parses `stat` and `schedstat`.
    fn of(stat: &str, schedstat: &str) -> Option<Self> {
        // A process name may contain any characters.
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut times = schedstat.split_whitespace().map(str::parse);
        let mut time = || times.next()?.ok().map(Duration::from_nanos);
        let (ran, waited) = (time()?, time()?);
        Some(CpuTimes { ran, waited, is_runnable: after_name.trim_start().starts_with('R') })
    }

    /// The part of the time that `passed` since `before` in which the thread waited for a CPU. The kernel's times do not include a wait
    /// that is not over.
    fn waited_since(self, before: Self, passed: Duration) -> Duration {
        if self.is_runnable {
            return passed.saturating_sub(self.ran.saturating_sub(before.ran));
        }
        self.waited.saturating_sub(before.waited).min(passed)
    }
}

/// All threads but the calling one, by their directories in `/proc`.
fn threads() -> HashMap<PathBuf, CpuTimes> {
    let mut found = HashMap::new();
    let own = gettid().to_string();
    let this = process(getpid().as_raw());
    for process in running_with_descendants(this.as_slice()) {
        let tasks = PathBuf::from(format!("/proc/{}/task", process.pid));
        let Ok(names) = names_in(&tasks) else { continue };
        for name in names.map_while(Result::ok).filter(|name| **name != *own) {
            let thread = tasks.join(&name);
            let times = || CpuTimes::of(&text_of(&thread, "stat")?, &text_of(&thread, "schedstat")?);
            if let Some(times) = times() {
                found.insert(thread, times);
            }
        }
    }
    found
}

fn text_of(thread: &Path, file: &str) -> Option<String> {
    text_of_file(thread.join(file)).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn times(ran: u64, waited: u64, is_runnable: bool) -> CpuTimes {
        CpuTimes { ran: MS(ran), waited: MS(waited), is_runnable }
    }

    #[test]
    fn a_thread_waits_when_it_could_run_and_does_not() {
        let before = times(50, 20, false);
        // It slept, or waits for an answer.
        assert_eq!(times(50, 20, false).waited_since(before, MS(100)), MS(0));
        assert_eq!(times(60, 50, false).waited_since(before, MS(100)), MS(30));
        // The wait may have begun long ago.
        assert_eq!(times(60, 900, false).waited_since(before, MS(100)), MS(100));
        // It never ran, and it ran all the time.
        assert_eq!(times(0, 0, true).waited_since(CpuTimes::default(), MS(100)), MS(100));
        assert_eq!(times(150, 20, true).waited_since(before, MS(100)), MS(0));
        assert_eq!(times(90, 20, true).waited_since(before, MS(100)), MS(60));
    }

    #[test]
    fn the_texts_of_the_kernel_are_understood() {
        let of = |stat| CpuTimes::of(stat, "5000000 7000000 3\n");
        assert_eq!(of("12 (a) R (b) S 1 2 3\n"), Some(times(5, 7, false)));
        assert_eq!(of("12 (sh) R 1 2 3\n"), Some(times(5, 7, true)));
        assert_eq!(CpuTimes::of("12 (sh) R 1", ""), None);
        assert_eq!(CpuTimes::of("", "1 2 3"), None);
    }

    #[test]
    fn threads_and_children_of_children_are_seen() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; (exec sh -c 'echo $$; read x; :'); :"]);
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let numbers: Vec<String> = {
            use std::io::{BufRead as _, BufReader};
            BufReader::new(shell.stdout.take().unwrap()).lines().take(2).map(Result::unwrap).collect()
        };
        let found = threads();
        let is_seen = |number: &String| found.keys().any(|thread| thread.ends_with(number));
        assert_eq!(numbers.len(), 2);
        assert!(numbers.iter().all(is_seen), "{numbers:?} in {found:?}");
        assert!(!is_seen(&gettid().to_string()));
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
