//! What `--showcmd` prints is a command line for the same plan as the job file it shows.
//!
//! Its form is fio's, which quotes nothing but descriptions, so that no shell can read every line of it: the line is taken apart
//! here by the names of the options, and generated values hold no ` --`. Where fio's form cannot say what a job file says is shown by
//! the tests at the end.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use ferrio_job::ArgOrigin;
use ferrio_job::{PlannedJob, Seeding};
use ferrio_jobfile::{
    Builder, Environment, JobSet, Opt, OptionRow, OptionScope, Problems, ValueKind, rows, showcmd,
};
use ferrio_plan::{PlanOptions, plan};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Engines jobs of these tests use; the first is everybody's unless told otherwise.
const ENGINES: [&str; 4] = ["null", "psync", "libaio", "io_uring"];

fn builder() -> Builder {
    let read_file = |path: &Path| match path.to_str() {
        Some("inc") => Ok(b"iodepth=4\ninclude nested\n".to_vec()),
        Some("nested") => Ok(b"norandommap ; of the nested file\nbs=2k,${SIZE}\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let var = |name: &str| (name == "SIZE").then(|| "16k".to_owned());
    Builder::new(Environment {
        read_file: Box::new(read_file),
        var: Box::new(var),
        ncpus: 3,
        ..Environment::default()
    })
}

fn written(files: &[&str]) -> Result<JobSet, Problems> {
    let mut builder = builder();
    files.iter().for_each(|text| builder.file("t.fio", text.as_bytes()));
    builder.finish()
}

/// The jobs of a line of `--showcmd`.
fn typed(line: &str) -> Result<JobSet, Problems> {
    let mut builder = builder();
    for (index, word) in (1..).zip(words(line)) {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let value = match name {
            "description" => value.map(|text| text.trim_matches('"')),
            _ => value,
        };
        let origin = ArgOrigin { index, text: format!("--{word}") };
        builder.command_option(name, value, origin);
    }
    builder.finish()
}

/// The options of a line, without their dashes.
fn words(line: &str) -> Vec<&str> {
    let line = line.trim_end_matches('\n').strip_prefix("fio ").unwrap();
    line.split(" --")
        .map(|word| word.strip_prefix("--").unwrap_or(word).trim_end())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The plan, or why there is none. What reports echo says `name` on a command line only, and sizes that are drawn anew each
/// time are left out.
fn planned(set: Result<JobSet, Problems>) -> Result<Vec<PlannedJob>, Vec<String>> {
    let set = set.map_err(messages)?;
    let mut jobs = plan(&set, &PlanOptions::default()).map_err(messages)?.jobs;
    for job in &mut jobs {
        job.spec.options = job.spec.options.iter().filter(|(name, _)| name != "name").cloned().collect();
        if job.spec.seeding == Seeding::FromSystem {
            job.spec.limits.size = 0;
            job.spec.files.iter_mut().for_each(|file| (file.size, file.real_size) = (0, 0));
        }
    }
    Ok(jobs)
}

fn messages(problems: Problems) -> Vec<String> {
    // What comes from one place of a file may come from several on a command line.
    let messages: BTreeSet<String> =
        problems.diagnostics.into_iter().map(|problem| problem.message).collect();
    messages.into_iter().collect()
}

/// The plan of a job file, and of its only line of `--showcmd`; or why there is no plan.
fn both(file: &str) -> [Result<Vec<PlannedJob>, Vec<String>>; 2] {
    let set = written(&[file]).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    let line = showcmd(&set);
    [planned(Ok(set)), planned(typed(&line))]
}

#[track_caller]
fn same(file: &str) {
    let [file_plan, line_plan] = both(file);
    assert!(file_plan.is_ok(), "{file_plan:?}");
    assert_eq!(file_plan, line_plan, "{file}");
}

/// Some values of an option; `None` is the bare name.
fn values(row: &OptionRow) -> Vec<Option<String>> {
    let all = |texts: &[&str]| texts.iter().map(|&text| Some(text.to_owned())).collect();
    match row.kind {
        ValueKind::Flag => vec![None, Some("1".to_owned()), Some("0".to_owned())],
        ValueKind::Bool => all(&["0", "1"]),
        ValueKind::Int => {
            let least = row.min.unwrap_or(0);
            let most = row.max.unwrap_or(i128::MAX).min(least + 3);
            (least..=most).map(|number| Some(number.to_string())).collect()
        }
        ValueKind::Size => all(&["512", "4k", "4K,8k", "0x1000", "(2*4k)", "$pagesize*2", "${SIZE}"]),
        ValueKind::SizeZone => all(&["64k", "50%", "1m"]),
        ValueKind::SizeRange => all(&["64k", "64k-1m"]),
        ValueKind::Range => all(&["4k-16k", ",1k-4k", "512-8k,4k-4k"]),
        ValueKind::Time => all(&["10", "500ms", "(2*3)", "1m"]),
        ValueKind::TimeRange => all(&["1", "1-3", "500ms-2s"]),
        ValueKind::Float | ValueKind::FloatList => all(&["0.5", "50:99.50", "99.9:1:50"]),
        ValueKind::Str => all(&["x", "two words", "a=b", "-5", "\\"]),
        ValueKind::StrList => all(&["x", "x:y", "one two"]),
        ValueKind::OptStr => vec![None, Some("log".to_owned())],
        ValueKind::Bssplit => all(&["4k/50:8k", "4k/10:64k/50:32k/40,8k/100"]),
        ValueKind::Pattern => all(&["0xff", "\"abc\"-12"]),
        ValueKind::CpuList => all(&["0", "0-$ncpus"]),
        ValueKind::ErrorList => all(&["EIO", "EIO:ENOSPC,2", ",ENOSPC:5"]),
        ValueKind::NodeList => all(&["0", "all"]),
        ValueKind::NumaPolicy => all(&["default", "local", "prefer:0", "bind:0", "interleave:0"]),
        ValueKind::IdList => all(&["0", "1,2-4"]),
        ValueKind::PrioBssplit => all(&["4k/50:8k/50", "4k/50/1/2:8k/50/2,64k/100"]),
        ValueKind::EnumArg => {
            let arguments = ["", ":8", ":1.5", ":0.5%"];
            let with = |word: &str| arguments.map(|argument| Some(format!("{word}{argument}")));
            row.words().flat_map(with).collect()
        }
        ValueKind::Enum | ValueKind::EnumList | ValueKind::WordList => {
            row.words().map(|word| Some(word.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// Lines that mean something only in each other's company.
const TOGETHER: [&str; 16] = [
    "zonemode=strided\nzonesize=64k\nzonerange=256k\nzoneskip=64k",
    "zonemode=strided\nzonesize=128k",
    "rate=2m,1m\nrate_min=1m,512k\nratecycle=500",
    "rate_iops=100\nrate_iops_min=50,,10",
    "thinktime=10ms\nthinktime_spin=1ms\nthinktime_blocks=4\nthinktime_blocks_type=issue",
    "thinktime=1\nthinktime_iotime=2s",
    "exec_prerun=sh -c 'echo a  b' > /dev/null\nexec_postrun=x -y",
    "continue_on_error=io\nignore_error=EIO:28,ETIME\nerror_dump=1",
    "write_bw_log=l\nlog_avg_msec=250\nlog_window_value=max\nper_job_logs=0",
    "write_lat_log\nlog_offset=1\nlog_prio=1\nlog_issue_time=0",
    "write_hist_log=h\nlog_hist_msec=100\nlog_hist_coarseness=3",
    "ss=iops:0.5%\nss_dur=10s\nss_ramp=2\nsteadystate_check_interval=2",
    "rw=randrw\nbssplit=4k/60:16k/,8k/100\nunified_rw_reporting=both",
    "nrfiles=3\nfilesize=64k-256k\nfile_service_type=roundrobin",
    "startdelay=1-1500ms\nexitall\nexit_what=stonewall",
    "numa_cpu_nodes=0\nnuma_mem_policy=interleave:0",
];

/// Lines that a job of an engine may have, each of which makes a plan by itself, with the engine they need if it is a certain one.
static LINES: LazyLock<Vec<(Option<&str>, String)>> = LazyLock::new(|| {
    let mut lines = Vec::new();
    for text in TOGETHER {
        lines.push((None, text.to_owned()));
    }
    for row in rows() {
        let engine = match row.scope {
            OptionScope::Core => None,
            OptionScope::Engines(owners) => {
                match ENGINES.into_iter().find(|engine| owners.contains(engine)) {
                    Some(engine) => Some(engine),
                    None => continue,
                }
            }
            OptionScope::Database | OptionScope::Profile(_) => continue,
        };
        // `name` begins a job on a command line, and these two ask for directories and files that are there.
        if matches!(row.opt, Opt::Name | Opt::Directory | Opt::Opendir | Opt::ReadIolog | Opt::Ioengine) {
            continue;
        }
        let names = std::iter::once(row.name).chain(row.aliases.iter().copied());
        for name in names {
            for value in values(row) {
                let line = value.map_or(name.to_owned(), |value| format!("{name}={value}"));
                let file = format!("[a]\nioengine={}\nsize=1m\n{line}\n", engine.unwrap_or(ENGINES[0]));
                if planned(written(&[&file])).is_ok() {
                    lines.push((engine, line));
                }
            }
        }
    }
    lines
});

/// Lines of a section that uses `engine`.
fn lines(engine: &'static str) -> impl Strategy<Value = Vec<String>> {
    let usable: Vec<String> = LINES
        .iter()
        .filter(|(needed, _)| needed.is_none_or(|needed| needed == engine))
        .map(|(_, line)| line.clone())
        .collect();
    prop::collection::vec(select(usable), 0..6)
}

/// A section: its head, its engine if it chooses one, its lines in any order, perhaps an include and names of files.
fn section(
    head: impl Strategy<Value = String>,
    inherited: Option<&'static str>,
) -> impl Strategy<Value = String> {
    let engine = match inherited {
        Some(inherited) => prop_oneof![Just(None), select(&ENGINES[..]).prop_map(Some)]
            .prop_map(move |own| (own.unwrap_or(inherited), own))
            .boxed(),
        None => select(&ENGINES[..]).prop_map(|engine| (engine, Some(engine))).boxed(),
    };
    let extras = [
        "include inc",
        "filename=f1:f2",
        "filename=g\\:h",
        "directory=.",
        "kb_base=1000",
        "bs=4k ; c",
        "numjobs=3",
        "size=$ncpus*65536",
    ];
    let parts = (head, engine, subsequence(extras.to_vec(), 0..3));
    parts
        .prop_flat_map(|(head, (engine, own), extras)| {
            let fixed = own.map(|engine| format!("ioengine={engine}"));
            let extras: Vec<String> = extras.into_iter().map(str::to_owned).collect();
            lines(engine).prop_map(move |lines| {
                let all: Vec<String> = lines.into_iter().chain(extras.clone()).collect();
                (head.clone(), fixed.clone(), all)
            })
        })
        .prop_flat_map(|(head, fixed, all)| {
            let all: Vec<String> = all.into_iter().chain(fixed).collect();
            Just(all).prop_shuffle().prop_map(move |lines| format!("[{head}]\n{}\n", lines.join("\n")))
        })
}

/// A job file with at most one `[global]`, before its jobs; jobs may wait for the one before.
fn file() -> impl Strategy<Value = String> {
    let name = "[a-f][a-f0-9 ._/:=-]{0,6}[a-f0-9]";
    let globals = prop_oneof![
        Just(("".to_owned(), "psync")),
        select(&ENGINES[..]).prop_flat_map(|engine| {
            lines(engine).prop_map(move |lines| {
                (format!("[global]\nioengine={engine}\nsize=1m\n{}\n", lines.join("\n")), engine)
            })
        }),
    ];
    globals.prop_flat_map(move |(globals, engine)| {
        // A shown line has no quotes, like fio's: ` --` inside a name would begin an option.
        let names = name.prop_filter("names without ` --`", |name| !name.contains(" --"));
        let job = (section(names, Some(engine)), any::<bool>());
        prop::collection::vec(job, 1..4).prop_map(move |jobs| {
            let mut text = globals.clone();
            let mut before = None;
            for (job, waits) in &jobs {
                text.push_str(job);
                if let Some(name) = before.filter(|_| *waits) {
                    text.push_str(&format!("wait_for={name}\n"));
                }
                before = job[1..].split(']').next();
            }
            text
        })
    })
}

proptest! {
    // PROPTEST_CASES asks for more.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_job_file_and_the_command_line_shown_for_it_make_the_same_plan(file in file()) {
        let [file_plan, line_plan] = both(&file);
        prop_assert_eq!(file_plan, line_plan);
    }
}

#[test]
fn lines_that_belong_together_make_a_plan() {
    let plan = |text: &str| planned(written(&[&format!("[a]\nioengine=null\nsize=1m\n{text}\n")]));
    let refused: Vec<_> =
        TOGETHER.into_iter().filter_map(|text| plan(text).err().map(|why| (text, why))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn most_options_take_part_in_the_generated_files() {
    let mut names: Vec<&str> = LINES.iter().map(|(_, line)| line.split('=').next().unwrap()).collect();
    names.dedup();
    assert!(names.len() > 150, "{}: {names:?}", names.len());
    assert!(LINES.iter().any(|(engine, _)| *engine == Some("io_uring")));
}

#[test]
fn order_that_matters_is_kept() {
    same("[a]\nioengine=null\nsize=1m\nfilename=x\ndirectory=.\nbs=1k\nkb_base=1000\nbs=2k\n");
    same("[global]\nfilename=g\nsize=1m\n[a]\ndirectory=.\nfilename=h\n[b]\n");
    same("[a]\nuserspace_reap\nsize=1m\nioengine=null\nioengine=libaio\nblocksize=,8k\n");
    same(
        "[global]\nioengine=io_uring\nhipri\nsize=1m\n[a]\nioengine=null\n[b b]\nhipri=0\nnumjobs=2\nstonewall\n",
    );
}

/// Whether a job file and its command line differ. What fio prints is kept, for scripts that read it.
fn differs(file: &str) -> bool {
    let [file_plan, line_plan] = both(file);
    assert!(file_plan.is_ok(), "{file_plan:?}");
    file_plan != line_plan
}

#[test]
fn a_global_section_behind_a_job_would_have_to_reopen_the_globals() {
    // Shown as options of the job before it, as all globals so far: `--name=a ... --bs=8k --name=b`.
    assert!(differs("[a]\nioengine=null\nsize=1m\n[global]\nbs=8k\n[b]\nioengine=null\nsize=1m\n"));
    // A second one before the first job repeats the first, and file names add up.
    assert!(differs("[global]\nioengine=null\nsize=1m\nfilename=g\n[global]\nbs=8k\n[a]\n"));
}

#[test]
fn a_name_inside_a_section_begins_a_job_on_a_command_line() {
    assert!(differs("[a]\nioengine=null\nsize=1m\nname=shown\n"));
    // and one without a name cannot begin
    assert!(differs("[]\nioengine=null\nsize=1m\n"));
}

#[test]
fn a_second_file_waits_for_the_first_and_a_second_command_line_for_nothing() {
    let files = ["[a]\nioengine=null\nsize=1m\n", "[b]\nioengine=null\nsize=1m\n"];
    let set = written(&files).unwrap();
    let shown = showcmd(&set);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2);
    let second = planned(typed(lines[1])).unwrap();
    let jobs = planned(Ok(set)).unwrap();
    assert!(jobs[1].spec.stonewall && !second[0].spec.stonewall);
}
