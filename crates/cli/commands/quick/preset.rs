//! The presets: job files of `jobs/`, and what they become for a place.
//!
//! Each has one line for the file, the size, the kind of I/O and the engine, and one `runtime=` in each job that has one; the values of these
//! lines are replaced.

use std::time::Duration;

/// A set of jobs.
#[derive(Debug)]
pub struct Preset {
    /// The word that selects it.
    pub name: &'static str,
    /// The name of its file in `jobs/`.
    pub file: &'static str,
    text: &'static str,
    /// How often each test runs, one after the other; the answer has the best of several.
    pub repetitions: usize,
}

macro_rules! presets {
    ($($name:literal: $file:literal, $repetitions:literal;)+) => {
        /// All presets; the first is the default.
        pub const PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/", $file)),
            repetitions: $repetitions,
        }),+];

        /// The names of all presets.
        pub const NAMES: &[&str] = &[$($name),+];
    };
}

presets! {
    "disk": "quick-disk.fio", 1;
    "database": "quick-database.fio", 1;
    "cloud": "quick-cloud.fio", 1;
    "boot": "quick-boot.fio", 1;
    "diskmark": "quick-diskmark.fio", 5;
}

/// Where the jobs do their I/O, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasurementTarget {
    /// The file or device.
    pub path: String,
    /// Bytes of it that are used; `None` for a whole device.
    pub size: Option<u64>,
    /// I/O bypasses the page cache.
    pub direct: bool,
    /// Jobs may write.
    pub writes: bool,
    /// The path is a temporary file that the run creates and removes.
    pub is_own: bool,
    /// Replaces the run time of each job.
    pub runtime: Option<Duration>,
}

impl Preset {
    /// The preset of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset's job file for this target.
    #[must_use]
    pub fn job_file(&self, measured: &MeasurementTarget) -> String {
        let mut out = String::new();
        for section in sections(self.text) {
            if !measured.writes && writes(section) {
                continue;
            }
            let times = if is_test(section) { self.repetitions } else { 1 };
            for time in 1..=times {
                // The file is needed until the last test is over.
                let lines = section.lines().filter(|line| time == times || !line.starts_with("unlink="));
                lines.filter_map(|line| measured.line(line)).for_each(|line| {
                    out.push_str(&line);
                    out.push('\n');
                });
            }
        }
        out
    }
}

impl MeasurementTarget {
    /// A line of a preset as it has to be; `None` if it has to go.
    fn line(&self, line: &str) -> Option<String> {
        let option = line.split_once('=').map_or(line, |(option, _)| option);
        Some(match option {
            // A colon in a name separates files, unless it is escaped.
            "filename" => format!("filename={}", self.path.replace(':', "\\:")),
            "size" => format!("size={}", self.size?),
            "direct" => format!("direct={}", u8::from(self.direct)),
            // Buffered I/O is only asynchronous with io_uring.
            "ioengine" if !self.direct => "ioengine=io_uring".to_owned(),
            "runtime" => {
                self.runtime.map_or(line.to_owned(), |time| format!("runtime={}ms", time.as_millis()))
            }
            "unlink" if !self.is_own => return None,
            _ if line.starts_with('#') => return None,
            _ => line.to_owned(),
        })
    }
}

/// The parts of a job file that begin with a section, with the comments before the first.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n[").map(|(at, _)| at + 1).collect();
    starts.push(text.len());
    let first = starts[0];
    std::iter::once(&text[..first]).chain(starts.windows(2).map(|ends| &text[ends[0]..ends[1]])).collect()
}

fn is_test(section: &str) -> bool {
    section.lines().any(|line| line.starts_with("runtime="))
}

fn writes(section: &str) -> bool {
    let rw = section.lines().find_map(|line| line.strip_prefix("rw="));
    rw.is_some_and(|rw| rw != "read" && rw != "randread")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> MeasurementTarget {
        MeasurementTarget {
            path: "/data/a:b".to_owned(),
            size: Some(1 << 20),
            direct: true,
            writes: true,
            is_own: true,
            runtime: None,
        }
    }

    #[test]
    fn each_preset_has_one_line_for_each_value_that_is_replaced() {
        for preset in PRESETS {
            let lines = |option: &str| preset.text.lines().filter(|line| line.starts_with(option)).count();
            for option in ["filename=", "size=", "direct=1", "ioengine=libaio", "unlink=1", "[fill]"] {
                assert_eq!(lines(option), 1, "{option} in {}", preset.file);
            }
            let sections = sections(preset.text);
            assert!(sections[1].starts_with("[global]\n"), "{}", preset.file);
            // All but the comments, the defaults and the fill.
            let jobs = sections.len() - 3;
            assert_eq!((lines("runtime="), lines("time_based")), (jobs, jobs), "{}", preset.file);
            assert!(sections[2..].iter().all(|section| section.contains("\nrw=")), "{}", preset.file);
            assert!(sections[sections.len() - 1].contains("unlink=1"), "the last job removes the file");
            assert_eq!(Preset::named(preset.name).map(|found| found.file), Some(preset.file));
        }
    }

    #[test]
    fn values_are_replaced_and_nothing_else() {
        let preset = &PRESETS[0];
        let text = preset.job_file(&measured());
        assert!(text.starts_with("[global]\nfilename=/data/a\\:b\nsize=1048576\ndirect=1\n"), "{text}");
        let job = "[randread-4k-qd32]\nstonewall\ntime_based\nruntime=6s\nrw=randread\nbs=4k\niodepth=32\n";
        assert!(text.contains(job) && text.contains("unlink=1\n"), "{text}");
        let short = MeasurementTarget { runtime: Some(Duration::from_millis(1500)), ..measured() };
        assert!(preset.job_file(&short).contains("runtime=1500ms\n"));
        let buffered = preset.job_file(&MeasurementTarget { direct: false, ..measured() });
        assert!(buffered.contains("direct=0\nioengine=io_uring\n"), "{buffered}");
    }

    #[test]
    fn a_test_that_runs_several_times_removes_the_file_the_last_time() {
        let preset = Preset::named("diskmark").unwrap();
        let text = preset.job_file(&measured());
        assert_eq!(text.matches("[SEQ1M-Q8T1-read]\n").count(), 5, "{text}");
        assert_eq!((text.matches("[fill]\n").count(), text.matches("unlink=1\n").count()), (1, 1), "{text}");
        assert!(text.trim_end().ends_with("unlink=1"), "{text}");
    }

    #[test]
    fn without_writes_only_reads_are_left() {
        for preset in PRESETS {
            let read_only = MeasurementTarget { writes: false, is_own: false, size: None, ..measured() };
            let text = preset.job_file(&read_only);
            assert!(!text.contains("write") && !text.contains("unlink") && !text.contains("size="), "{text}");
            assert!(text.matches("\nrw=").count() >= 3, "{text}");
        }
    }
}
