//! A text report without what measures time: what is left must be the same in every run of a job, under every program.
//!
//! Numbers that measure time become `#`, in lines whose form is checked to the column on the way: widths, decimals, prefixes and units.
//! Counts, block sizes, depths, labels and the order of lines stay. Percentile blocks become one line each, the latency distribution a
//! single one, because how many lines they take depends on the values in them. A line of unknown form stays as it is.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A number that `num` makes, without its unit.
const NUM: &str = r"\d+(?:\.\d+)?(?:[KMGTPE]i|[kMGTPE])?";

/// Lines of one form: those that match the pattern are shown as the replacement.
struct Form {
    line: Regex,
    shown: &'static str,
}

/// Masks of single lines. `{n}` is a scaled number, `{f}` a float of at least five columns.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms = [
        (r"^(.*: \(groupid=\d+, jobs=\d+\): err=[ \d]\d+)(.*): pid=\d+: {ctime}$", "$1$2: pid=#: TIME"),
        (
            r"^  (read|write|trim|mixed): IOPS={n}, BW={n}(\S*) \({n}(\S*)\)\((\S+)/\d+msec\)(.*)$",
            "  $1: IOPS=#, BW=#$2 (#$3)($4/#msec)$5",
        ),
        (
            r"^    (slat|clat| lat|sync|response) \([num]sec\): min={n}, max={n}, avg={f}, stdev={f}$",
            "    $1 (T): min=#, max=#, avg=#, stdev=#",
        ),
        (
            r"^   bw \({unit}/s\): min={i}, max={i}, per=\d{1,3}\.\d\d%, avg={f}, stdev={f}, samples=\d+$",
            "   bw (U): min=#, max=#, per=#%, avg=#, stdev=#, samples=#",
        ),
        (
            r"^   iops        : min={i}, max={i}, avg={f}, stdev={f}, samples=\d+$",
            "   iops        : min=#, max=#, avg=#, stdev=#, samples=#",
        ),
        (
            r"^  cpu          : usr=\d+\.\d\d%, sys=\d+\.\d\d%, ctx=\d+, majf=\d+, minf=\d+$",
            "  cpu          : usr=#%, sys=#%, ctx=#, majf=#, minf=#",
        ),
        (
            r"^  steadystate  : attained=(yes|no), bw={n}(\S*) \({n}(\S*)\), iops={n}(, lat=)?(?:{n}[num]?sec)?, (\w+ (?:slope|mean dev))=-?\d+\.\d{3}(%?)$",
            "  steadystate  : attained=$1, bw=#$2 (#$3), iops=#$4, $5=#$6",
        ),
        (
            r"^(( +)(READ|WRITE|TRIM|MIXED)): bw={n}(\S+) \({n}(\S+)\), {n}\S+-{n}\S+ \({n}\S+-{n}\S+\), (io=\S+ \(\S+\)), run=\d+-\d+msec$",
            "$1: bw=#$4 (#$5), #-# (#-#), $6, run=#-#msec",
        ),
        (
            r"^(  \w+: )ios=\d+/\d+, sectors=\d+/\d+, merge=\d+/\d+, ticks=\d+/\d+, in_queue=\d+, util=\d+\.\d\d%$",
            "$1 ios=#/#, sectors=#/#, merge=#/#, ticks=#/#, in_queue=#, util=#%",
        ),
        (r"^fio-\S+$", "VERSION"),
    ];
    let form = |(pattern, shown): (&str, &'static str)| {
        let pattern = pattern
            .replace("{n}", NUM)
            .replace("{f}", r"(?:   \d\.\d\d| {0,2}\d{1,2}\.\d\d|\d{2,}\.\d\d)")
            .replace("{i}", r"(?: {4}\d| {3}\d{2}| {2}\d{3}| \d{4}|\d{5,})")
            .replace("{unit}", "(?:  KiB|  MiB|   kB)")
            .replace("{ctime}", r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}");
        Form { line: Regex::new(&pattern).unwrap(), shown }
    };
    forms.map(form).into()
});

/// The lines of a report, masked.
pub fn masked(report: &str) -> Vec<String> {
    let mut lines = report.lines().peekable();
    let mut shown = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim_start().split_once(" percentiles (").is_some() {
            let cells = std::iter::from_fn(|| lines.next_if(|next| next.starts_with("     |")));
            shown.push(percentile_block(line, &cells.collect::<Vec<_>>()));
        } else if is_share(line) {
            let more = std::iter::from_fn(|| lines.next_if(|next| is_share(next)));
            shown.push(distribution(&[line].into_iter().chain(more).collect::<Vec<_>>()));
        } else {
            shown.push(masked_line(line));
        }
    }
    shown
}

fn masked_line(line: &str) -> String {
    let line = FORMS
        .iter()
        .find(|form| form.line.is_match(line))
        .map_or_else(|| line.to_owned(), |form| form.line.replace(line, form.shown).into_owned());
    static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\(file:[^:]+:\d+, func=[^,]+, ").unwrap());
    PLACE.replace(&line, "(file:F:#, func=F, ").into_owned()
}

/// `    clat percentiles (T): 1.00 5.00 ...`, and whatever is wrong with the layout.
fn percentile_block(head: &str, lines: &[&str]) -> String {
    static CELL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^ ( *\d+(?:\.(\d+))?)th=\[( *\d+)\]$").unwrap());
    static UNIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\([num]sec\):$").unwrap());
    let rows: Vec<Vec<Captures<'_>>> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let row = line.strip_prefix("     |").unwrap();
            let (last, ends_in_comma) = (at + 1 == lines.len(), row.ends_with(','));
            assert_ne!(last, ends_in_comma, "a comma joins lines: {line}");
            let cells = row.trim_end_matches(',').split(',');
            cells
                .map(|cell| CELL.captures(cell).unwrap_or_else(|| panic!("the cell {cell} of {line}")))
                .collect()
        })
        .collect();
    let cells = || rows.iter().flatten();
    let decimals = cells().next().and_then(|cell| cell.get(2)).map_or(0, |decimals| decimals.len());
    let width = cells().next().map_or(0, |cell| cell[3].len());
    // A 100th percentile would be wider than the column.
    let in_columns = |cell: &Captures<'_>| cell[1].len() == decimals + 3 && cell[3].len() == width;
    assert!(cells().all(in_columns), "columns of {lines:#?}");
    let longest = cells().map(|cell| cell[3].trim_start().len()).max().unwrap_or(0);
    assert!(width == 5 || width == longest || width == longest.saturating_sub(1), "the width of {lines:#?}");
    let per_line = 73 / (decimals + 10 + width);
    let full = rows.iter().enumerate().all(|(at, row)| row.len() == per_line || at + 1 == rows.len());
    assert!(full && rows.iter().all(|row| row.len() <= per_line), "{per_line} to a line: {lines:#?}");
    let names: Vec<&str> = cells().map(|cell| cell.get(1).unwrap().as_str().trim_start()).collect();
    format!("{} {}", UNIT.replace(head, "(T):"), names.join(" "))
}

fn is_share(line: &str) -> bool {
    let units = ["nsec", "usec", "msec"];
    units.iter().any(|unit| line.starts_with(&format!("  lat ({unit})   : ")))
}

/// One line for the whole distribution: its units and labels ascend, five to a line, and it is about nearly everything (failed I/Os have
/// no latency).
fn distribution(lines: &[&str]) -> String {
    const LABELS: [&str; 12] =
        ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    let (mut places, mut sum) = (Vec::new(), 0.0);
    for (at, line) in lines.iter().enumerate() {
        let (unit, shares) = line.split_once("   : ").unwrap();
        let shares: Vec<&str> = shares.split(", ").collect();
        let full = shares.len() == 5 || lines.get(at + 1).is_none_or(|next| !next.starts_with(unit));
        assert!(full && shares.len() <= 5, "five to a line: {lines:#?}");
        for share in shares {
            let (label, percent) = share.split_once('=').unwrap();
            let unit =
                ["  lat (nsec)", "  lat (usec)", "  lat (msec)"].iter().position(|&known| known == unit);
            places.push((unit.unwrap(), LABELS.iter().position(|&known| known == label).unwrap()));
            sum += percent.strip_suffix('%').unwrap().parse::<f64>().unwrap();
        }
    }
    assert!(places.is_sorted() && (90.0..=101.0).contains(&sum), "{sum}% in {lines:#?}");
    "  lat (T)   : ...".to_owned()
}
