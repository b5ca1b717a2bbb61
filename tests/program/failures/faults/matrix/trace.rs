//! The output of strace: calls, how often each thread made them, and those that strace let fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::jobs::is_tried;

/// Every position is tried of calls that a thread makes no more often than this.
const FEW: usize = 12;

/// The lines of a trace.
pub struct Trace(Vec<String>);

impl Trace {
    pub fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_default();
        Trace(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// Each call that may fail, and how often the thread made it that made it most often.
    pub fn calls(&self) -> BTreeMap<String, usize> {
        let mut of_threads: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (thread, call) in
            self.0.iter().filter_map(|line| call_in(line)).filter(|(_, call)| is_tried(call))
        {
            *of_threads.entry((thread, call)).or_default() += 1;
        }
        let mut calls = BTreeMap::new();
        for ((_, call), count) in of_threads {
            let most: &mut usize = calls.entry(call.to_owned()).or_default();
            *most = count.max(*most);
        }
        calls
    }

    /// True if the program was traced to its end.
    pub fn is_complete(&self) -> bool {
        self.0.last().is_some_and(|line| line.contains("+++ exited with"))
    }

    /// The lines of calls that failed because strace said so.
    pub fn injected(&self) -> Vec<&String> {
        self.0.iter().filter(|line| line.contains("(INJECTED)")).collect()
    }
}

/// Thread and call of a line `123 call(…`.
fn call_in(line: &str) -> Option<(&str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (call, _) = rest.trim_start().split_once('(')?;
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name(call).then_some((thread, call))
}

/// The positions at which one call of `count` fails, and those from which on all fail.
pub fn positions(count: usize) -> (Vec<usize>, Vec<usize>) {
    let mut single: Vec<usize> = match count {
        0..=FEW => (1..=count).collect(),
        _ => (1..=6).chain((1..=8).map(|part| count * part / 8)).collect(),
    };
    let mut lasting: Vec<usize> = [1, 2, 4, count].into_iter().filter(|&at| at <= count).collect();
    for positions in [&mut single, &mut lasting] {
        positions.sort_unstable();
        positions.dedup();
    }
    (single, lasting)
}

#[test]
fn lines_are_read_and_positions_are_spread() {
    assert_eq!(call_in("12  pread64(3</f>, 0x1) = 1"), Some(("12", "pread64")));
    assert_eq!(call_in("12  <... pread64 resumed>) = 1"), None);
    assert_eq!(call_in("12  +++ exited with 0 +++"), None);
    assert_eq!(positions(3), (vec![1, 2, 3], vec![1, 2, 3]));
    let (single, lasting) = positions(80);
    assert_eq!((single.len(), single[13], lasting), (14, 80, vec![1, 2, 4, 80]));
}
