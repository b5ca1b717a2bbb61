//! Work without I/O: the load of `cpuio`, and the program of `exec`.

use std::time::Duration;

use crate::choice::choices;

choices! {
    /// `cpumode`: what keeps the CPU busy.
    pub enum CpuMode default Noop {
        Noop: "noop", "An empty loop";
        Qsort: "qsort", "Sorting 262144 numbers in four orders, which uses caches and memory as well";
    }
}

/// How much CPU time a job of engine `cpuio` burns: busy stretches with pauses in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLoad {
    /// `cpuload`: busy share of the time in percent, 1..=100; 0 for other engines.
    pub percent: u32,
    /// `cpuchunks`: length of a busy stretch; with `cpumode=qsort` the sorting decides.
    pub chunk: Duration,
    /// `cpumode`: the work of a busy stretch.
    pub mode: CpuMode,
}

impl CpuLoad {
    /// The pause after a stretch that was busy for `busy`.
    #[must_use]
    pub fn pause(&self, busy: Duration) -> Duration {
        let percent = self.percent.clamp(1, 100);
        busy * (100 - percent) / percent
    }
}

/// The program that a job of engine `exec` runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// `program`: path, or name that is looked up in `PATH`.
    pub path: String,
    /// `arguments` as written, if they are given.
    pub arguments: Option<String>,
    /// `grace_time`: time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// `std_redirect`: the output goes to files.
    pub redirects: bool,
}

impl Program {
    /// The arguments of a job, with `%r` for its run time in whole seconds and `%n` for its name.
    #[must_use]
    pub fn arguments_of(&self, job: &str, runtime: Duration) -> Option<String> {
        let written = self.arguments.as_ref()?;
        let mut text = String::with_capacity(written.len());
        let mut rest = written.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            text.push_str(before);
            let seconds = runtime.as_secs().to_string();
            let (meaning, taken) = match after.as_bytes().first() {
                Some(b'r') => (seconds.as_str(), 1),
                Some(b'n') => (job, 1),
                _ => ("%", 0),
            };
            text.push_str(meaning);
            rest = &after[taken..];
        }
        text.push_str(rest);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_makes_the_load_the_busy_share() {
        let pause = |percent| CpuLoad { percent, ..CpuLoad::default() }.pause(Duration::from_millis(50));
        assert_eq!([50, 100, 25, 1].map(|percent| pause(percent).as_millis()), [50, 0, 150, 4950]);
    }

    #[test]
    fn arguments_know_the_run_time_and_the_name_and_nothing_else() {
        let arguments = |text: &str| {
            let program = Program { arguments: Some(text.to_owned()), ..Program::default() };
            program.arguments_of("x", Duration::from_millis(2900)).unwrap()
        };
        assert_eq!(arguments("hi %r %n"), "hi 2 x");
        assert_eq!(arguments("%n%n-%r%"), "xx-2%");
        assert_eq!(arguments("%% %x 100%"), "%% %x 100%", "as fio leaves them");
        assert_eq!(Program::default().arguments_of("x", Duration::ZERO), None);
    }
}
