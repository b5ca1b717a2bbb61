//! A section too long to be searched means what a short one means.
#![allow(clippy::unwrap_used)]

use ferrio_jobfile::{Builder, Environment, Job, JobSet, Multi, Opt, SplitEntry, ValueKind, rows};
use proptest::prelude::*;
use proptest::sample::select;

/// Lines whose repetitions add up, in part or not at all.
const LINES: [&str; 18] = [
    "bs=4k",
    "bs=,8k",
    "bsrange=1k-2k",
    "bsrange=,,4k-8k",
    "bssplit=4k/50:8k",
    "bssplit=,16k/100",
    "iodepth=4",
    "norandommap",
    "filename=a:b",
    "filename=c",
    "opendir=d",
    "opendir=e",
    "directory=x:y",
    "rate=1m,2m",
    "rate=,,3m",
    "description=two words",
    "rate_iops=,5",
    "verify=md5",
];

fn set(text: &str) -> JobSet {
    let mut builder = Builder::new(Environment::default());
    builder.file("j.fio", text.as_bytes());
    builder.finish().unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// Everything that can be asked about every option.
fn answers(job: &Job) -> Vec<String> {
    let options = &job.options;
    let answer = |opt: Opt| {
        let given = options.given(opt).map(|given| (&given.text, &given.value));
        let merged = match opt.row().kind {
            ValueKind::Str | ValueKind::StrList => format!("{:?}", options.list(opt)),
            ValueKind::EnumList | ValueKind::WordList => format!("{:?}", options.words(opt)),
            ValueKind::Bssplit => format!("{:?}", options.value::<[Option<Vec<SplitEntry>>; 3]>(opt)),
            ValueKind::Int | ValueKind::Size | ValueKind::Time if opt.row().multi != Multi::No => {
                format!("{:?}", options.per_direction(opt))
            }
            _ => String::new(),
        };
        let last = options.last_of(&[opt, Opt::Iodepth]).map(|given| given.opt);
        format!("{opt:?} {given:?} {merged} {last:?}")
    };
    rows().iter().map(|row| answer(row.opt)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_irrelevant_lines_change_no_answer(
        globals in prop::collection::vec(select(&LINES[..]), 0..6),
        own in prop::collection::vec(select(&LINES[..]), 0..20),
    ) {
        let start = format!("[global]\nthread\n{}\n[a]\n", globals.join("\n"));
        let short = set(&format!("{start}thread\n{}\n", own.join("\n")));
        let long = set(&format!("{start}{}{}\n", "thread\n".repeat(100), own.join("\n")));
        prop_assert_eq!(answers(&short.jobs[0]), answers(&long.jobs[0]));
    }
}

#[test]
fn a_list_may_be_given_name_by_name_however_long_it_is() {
    let names: Vec<String> = (0..20_000).map(|number| format!("f{number}")).collect();
    let lines: String = names.iter().map(|name| format!("filename={name}\n")).collect();
    for text in [format!("[a]\n{lines}"), format!("[global]\n{lines}[a]\n")] {
        assert_eq!(set(&text).jobs[0].options.list(Opt::Filename), names);
    }
}
