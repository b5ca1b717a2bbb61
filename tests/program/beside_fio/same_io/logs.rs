//! Many jobs in one run, each with an I/O log of its own, and what the logs say.

use std::fs;

use super::options::{Entry, JobOptions};
use crate::support::TestDir;

/// One I/O log: its lines without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub lines: Vec<String>,
}

/// Which program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Fio,
    Ferrio,
    /// ferrio, called fio.
    AsFio,
}

/// Runs all jobs at the same time with the engine null.
pub fn logs(program: Program, jobs: &[JobOptions]) -> Vec<Log> {
    let dir = TestDir::new();
    let mut text = String::from("[global]\nioengine=null\nthread\n");
    for job in jobs {
        text += &format!("{}write_iolog={}.log\n", job.section(), job.name());
    }
    let file = dir.job(&text);
    let run = match program {
        Program::Fio => dir.fio(&[&file]),
        Program::Ferrio => dir.ferrio(&[&file]),
        Program::AsFio => dir.ferrio(&["--as=fio", &file]),
    };
    run.run().succeeded();
    let read = |job: &JobOptions| fs::read_to_string(dir.work().join(format!("{}.log", job.name())));
    jobs.iter()
        .map(|job| Log::new(&read(job).unwrap_or_else(|error| panic!("{program:?}, {job}: {error}"))))
        .collect()
}

impl Log {
    fn new(text: &str) -> Self {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("fio version 3 iolog"));
        let without_time = |line: &str| {
            let (time, rest) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` has no time"));
            assert!(time.parse::<u64>().is_ok(), "`{line}` begins with no time");
            rest.to_owned()
        };
        Log { lines: lines.map(without_time).collect() }
    }

    /// I/Os and syncs, nothing about files.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, action, offset, len] = words[..] else { return None };
            let file = name.rsplit('.').next().and_then(|number| number.parse().ok()).unwrap();
            Some(match action {
                "read" | "write" | "trim" => {
                    Entry::io(known(action), file, offset.parse().unwrap(), len.parse().unwrap())
                }
                _ => Entry::sync(known(action), file),
            })
        };
        self.lines.iter().filter_map(entry).collect()
    }

    /// A copy with 0 for the offset of each sync, which is that of the I/O before and says nothing about the sync.
    pub fn without_offsets_of_syncs(mut self) -> Self {
        for line in &mut self.lines {
            let words: Vec<&str> = line.split(' ').collect();
            if let [name, action, _, "0"] = words[..] {
                *line = format!("{name} {action} 0 0");
            }
        }
        self
    }

    /// A copy without the lines that open and close files.
    pub fn without_opens(mut self) -> Self {
        self.lines.retain(|line| !line.ends_with(" open") && !line.ends_with(" close"));
        self
    }
}

fn known(action: &str) -> &'static str {
    let known = ["read", "write", "trim", "sync", "datasync", "sync_file_range"];
    known.into_iter().find(|word| *word == action).unwrap_or_else(|| panic!("there is no action `{action}`"))
}

/// Where two lists differ first, with a few elements of both from there on.
pub fn difference<T: PartialEq + std::fmt::Debug>(left: &[T], right: &[T]) -> Option<String> {
    let at = (0..left.len().max(right.len())).find(|&at| left.get(at) != right.get(at))?;
    let some = |list: &[T]| format!("{:?}", &list[at.min(list.len())..(at + 3).min(list.len())]);
    Some(format!("at {at} of {} and {}: {} against {}", left.len(), right.len(), some(left), some(right)))
}
