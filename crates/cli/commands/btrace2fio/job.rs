//! The job that does the average I/O of some threads.

use std::fmt::Write as _;

use ferrio_jobfile::escaped_name;
use ferrio_trace::RequestsSummary;

use super::{ThreadGroup, TraceJobOptions};

/// Maximum number of sizes in fio's `bssplit`.
const MAX_SIZES: usize = 64;

/// Index of trims among the kinds of requests.
const TRIMS: usize = 2;

/// The section of a group. Trims have a section of their own, as no job mixes them with reads or writes as threads do.
pub(super) fn text(group: &ThreadGroup, request: &TraceJobOptions) -> String {
    let kinds = [0, 1, TRIMS].map(|at| group.kind(at));
    let does = kinds.each_ref().map(|kind| kind.ios > 0);
    let mut text = String::new();
    let rw = match does {
        [true, true, _] => Some("randrw"),
        [true, false, _] => Some("randread"),
        [false, true, _] => Some("randwrite"),
        [false, false, _] => None,
    };
    // Writing to a string cannot fail.
    if let Some(rw) = rw {
        let section =
            JobSection { group, request, kinds: &kinds, rw, has: [does[0], does[1], false], suffix: "" };
        let _ = section.write(&mut text);
    }
    if does[TRIMS] {
        let suffix = if rw.is_some() { "_trim" } else { "" };
        let has = [false, false, true];
        let _ = JobSection { group, request, kinds: &kinds, rw: "randtrim", has, suffix }.write(&mut text);
    }
    text
}

struct JobSection<'a> {
    group: &'a ThreadGroup,
    request: &'a TraceJobOptions,
    kinds: &'a [RequestsSummary; 3],
    rw: &'a str,
    /// True for each kind of request that this section does.
    has: [bool; 3],
    suffix: &'a str,
}

impl JobSection<'_> {
    fn write(&self, text: &mut String) -> std::fmt::Result {
        let JobSection { group, request, kinds, .. } = self;
        let names: Vec<String> = group.pids.iter().map(|pid| format!("pid{pid}{}", self.suffix)).collect();
        writeln!(text, "[{}]", names.join(","))?;
        writeln!(text, "numjobs={}\ndirect=1", group.pids.len())?;
        match group.depth().min(request.most_depth) {
            1 => writeln!(text, "ioengine=sync")?,
            depth => writeln!(text, "ioengine=libaio\niodepth={depth}")?,
        }
        writeln!(text, "rw={}", self.rw)?;
        if self.has[0] && self.has[1] {
            let (reads, writes) = (kinds[0].ios, kinds[1].ios);
            writeln!(text, "rwmixread={}", (200 * reads + reads + writes) / (2 * (reads + writes)))?;
        }
        let random =
            self.of_kinds(|at| group.average(|thread| thread.kinds[at].random_percent()).to_string());
        writeln!(
            text,
            "percentage_random={}",
            random.map(|share| share.unwrap_or_else(|| "0".into())).join(",")
        )?;
        let files: Vec<String> = group.files.iter().map(|file| escaped_name(file)).collect();
        writeln!(text, "filename={}", files.join(":"))?;
        let (begins_us, lasts_us) = group.times_us();
        if begins_us >= 1_000_000 {
            writeln!(text, "startdelay={}s", begins_us / 1_000_000)?;
        }
        writeln!(text, "runtime={}s", lasts_us.div_ceil(1_000_000).max(1))?;
        writeln!(text, "bssplit={}", self.list(|at| sizes(&kinds[at])))?;
        if request.limits_rates {
            let jobs = group.pids.len() as u64;
            let rates = self.of_kinds(|at| format!("{}k", (group.kib_per_second(at) / jobs).max(1)));
            let rates = rates.map(Option::unwrap_or_default).join(",");
            writeln!(text, "rate={}", rates.trim_end_matches(','))?;
        }
        for line in &request.added {
            writeln!(text, "{line}")?;
        }
        writeln!(text)
    }

    fn of_kinds(&self, value: impl Fn(usize) -> String) -> [Option<String>; 3] {
        [0, 1, TRIMS].map(|at| self.has[at].then(|| value(at)))
    }

    /// Values of the section's kinds, separated by commas.
    fn list(&self, value: impl Fn(usize) -> String) -> String {
        self.of_kinds(value).into_iter().flatten().collect::<Vec<_>>().join(",")
    }
}

/// The sizes of requests with their percentages. Rare sizes are omitted, and the last one gets the rest.
fn sizes(kind: &RequestsSummary) -> String {
    let all: Vec<(u32, u64)> = kind.by_frequency().collect();
    let share = |ios: u64| ios * 100 / kind.ios.max(1);
    let kept = all.iter().take(MAX_SIZES).filter(|(_, ios)| share(*ios) > 0).count().max(1).min(all.len());
    let entry = |(at, (size, ios)): (usize, &(u32, u64))| match at + 1 == kept {
        true => format!("{size}/"),
        false => format!("{size}/{}", share(*ios)),
    };
    all.iter().take(kept).enumerate().map(entry).collect::<Vec<_>>().join(":")
}
