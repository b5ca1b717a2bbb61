//! Inheritance, order and engines, from text to options.

use std::io;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::diagnostics_json;
use crate::value::Amount;

fn machine() -> Environment {
    let read_file = |path: &Path| match path.to_str() {
        Some("i") => Ok(b"iodepth=4\ninclude k\nbs=8k\n".to_vec()),
        Some("k") => Ok(b"rw=write\n".to_vec()),
        Some("d/near") => Ok(b"bs=2k\n".to_vec()),
        Some("self") => Ok(b"include self\n".to_vec()),
        Some("section") => Ok(b"[z]\n".to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let var = |name: &str| Some(name.to_lowercase()).filter(|_| name == "SIZE" || name == "RW");
    Environment { read_file: Box::new(read_file), var: Box::new(var), ncpus: 2, ..Environment::default() }
}

fn build(fill: impl FnOnce(&mut Builder)) -> Result<JobSet, String> {
    build_as(Compat::Ferrio, fill)
}

fn build_as(compat: Compat, fill: impl FnOnce(&mut Builder)) -> Result<JobSet, String> {
    let mut builder = Builder::new(Environment { compat, ..machine() });
    fill(&mut builder);
    builder.finish().map_err(|problems| problems.render(false))
}

fn jobs(text: &str) -> JobSet {
    build(|builder| builder.file("j.fio", text.as_bytes())).unwrap_or_else(|problems| panic!("{problems}"))
}

fn problems(text: &str) -> String {
    build(|builder| builder.file("j.fio", text.as_bytes())).expect_err(text)
}

fn argument(builder: &mut Builder, text: &str) {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    builder.command_option(name, value, ArgOrigin { index: 0, text: format!("--{text}") });
}

fn section(builder: &mut Builder, name: &str) {
    builder.section(name, &ArgOrigin { index: 0, text: format!("--section={name}") });
}

fn own(job: &Job) -> Vec<(&str, &str)> {
    job.own.iter().map(|given| (given.opt.row().name, given.text.as_str())).collect()
}

fn names(set: &JobSet) -> Vec<&str> {
    set.jobs.iter().map(|job| job.name.as_str()).collect()
}

const K: u64 = 1024;

#[test]
fn a_job_is_a_copy_of_the_globals_above_it() {
    let set = jobs(
        "[global]\nsize=16k\n[a]\n[global]\nblocksize=8k\n[b]\nbs=16k\n[global2]\nthread\n[c]\nsize=4k\n",
    );
    assert_eq!(names(&set), ["a", "b", "c"]);
    let [a, b, c] = &set.jobs[..] else { panic!() };
    assert_eq!(a.options.per_direction(Opt::Bs), [None; 3]);
    assert_eq!(b.options.per_direction(Opt::Bs), [Some(16 * K); 3]);
    assert_eq!(c.options.per_direction(Opt::Bs), [Some(8 * K); 3]);
    assert_eq!(
        (b.options.if_given::<bool>(Opt::Thread), c.options.if_given::<bool>(Opt::Thread)),
        (None, Some(true))
    );
    assert_eq!(c.options.if_given(Opt::Size), Some(Amount::Bytes(4 * K)));
    let all: Vec<_> = c.options.all().map(|given| given.text.as_str()).collect();
    assert_eq!(all, ["16k", "8k", "", "4k"]);
    assert_eq!(own(b), [("bs", "16k")]);
    assert_eq!(
        set.globals.iter().map(|given| given.opt).collect::<Vec<_>>(),
        [Opt::Size, Opt::Bs, Opt::Thread]
    );
}

#[test]
fn directions_left_alone_keep_what_was_set_before() {
    let set = jobs(
        "[global]\nbs=1k\n[a]\nbs=,8k\n[b]\nbs=1k,2k,512\nbs=4k,\nsync_file_range=write\nsync_file_range=wait_after:4\n",
    );
    assert_eq!(set.jobs[0].options.per_direction(Opt::Bs), [Some(K), Some(8 * K), Some(8 * K)]);
    assert_eq!(set.jobs[1].options.per_direction(Opt::Bs), [Some(4 * K), Some(2 * K), Some(512)]);
    let words = set.jobs[1].options.words(Opt::SyncFileRange);
    assert_eq!(words, Some((vec!["write", "wait_after"], Some(4))));
}

#[test]
fn file_names_add_up_and_directories_do_not() {
    let set = jobs("[global]\nfilename=g\n[a]\nfilename=x:y\ndirectory=d:e\nfilename=z\n");
    let options = &set.jobs[0].options;
    assert_eq!(options.list(Opt::Filename), ["g", "x", "y", "z"]);
    assert_eq!(options.list(Opt::Directory), ["d", "e"]);
    let set = jobs("[global]\nopendir=a\n[a]\nopendir=b\nopendir=c\n[b]\n");
    assert_eq!(set.jobs[0].options.list(Opt::Opendir), ["a", "b", "c"]);
    assert_eq!(set.jobs[1].options.list(Opt::Opendir), ["a"]);
}

#[test]
fn kb_base_counts_before_and_file_names_after_everything_else_of_a_section() {
    let set = jobs("[a]\nfilename=x\nbs=1k\nkb_base=1000\nbs=2k\n");
    assert_eq!(own(&set.jobs[0]), [("kb_base", "1000"), ("bs", "1k"), ("bs", "2k"), ("filename", "x")]);
    assert_eq!(set.jobs[0].options.per_direction(Opt::Bs)[0], Some(2000));
    let set = jobs("[global]\nkb_base=1000\n[a]\nbs=4k\n");
    assert_eq!(set.jobs[0].options.per_direction(Opt::Bs)[0], Some(4000), "it is inherited");
}

#[test]
fn the_command_line_counts_from_left_to_right() {
    let order = |arguments: &[&str]| {
        let set = build(|builder| arguments.iter().for_each(|text| argument(builder, text)));
        set.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let bs = |set: &JobSet| set.jobs[0].options.per_direction(Opt::Bs)[0];
    assert_eq!(bs(&order(&["name=a", "bs=4k", "kb_base=1000"])), Some(4096));
    assert_eq!(bs(&order(&["name=a", "kb_base=1000", "bs=4k"])), Some(4000));
    let set = order(&["iodepth=2", "name=a", "bs=1k", "name=global", "bs=2k", "name=b"]);
    assert_eq!(names(&set), ["a", "b"]);
    assert_eq!(own(&set.jobs[0]), [("name", "a"), ("bs", "1k")]);
    assert_eq!(set.jobs[1].options.per_direction(Opt::Bs)[0], Some(2 * K));
    assert!(
        set.jobs.iter().all(|job| job.from_command_line && job.options.if_given(Opt::Iodepth) == Some(2_u32))
    );
}

#[test]
fn globals_of_the_command_line_serve_the_first_file_only() {
    let set = build(|builder| {
        argument(builder, "bs=1k");
        argument(builder, "name=x");
        builder.file("f1", b"[global]\nsize=4k\n[one]\n[two]\nbs=2k\n");
        builder.file("f2", b"[three]\n");
    });
    let set = set.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(names(&set), ["x", "one", "two", "three"]);
    let seen: Vec<_> = set
        .jobs
        .iter()
        .map(|job| (job.options.per_direction(Opt::Bs)[0], job.file_number, job.first_of_file))
        .collect();
    let bs = |count: u64| Some(count * K);
    assert_eq!(seen, [(bs(1), 0, false), (bs(1), 0, true), (bs(2), 0, false), (None, 1, true)]);
    assert!(!set.jobs[3].options.is_given(Opt::Size));
    assert!(set.globals.is_empty(), "a report shows those of the last file");
}

#[test]
fn named_sections_are_kept_and_others_are_not_read() {
    let text = "[global]\nbs=1k\n[a]\n[b]\nno_such_option=1\n[c]\n[d]\n";
    let set = build(|builder| {
        argument(builder, "name=p");
        section(builder, "d");
        section(builder, "a");
        argument(builder, "name=q");
        argument(builder, "bs=4k");
        builder.file("j.fio", text.as_bytes());
        builder.file("k.fio", text.as_bytes());
    });
    let set = set.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(names(&set), ["p", "a", "d", "a", "d"], "a job before the selection is kept");
    assert_eq!(
        set.jobs[1].options.per_direction(Opt::Bs)[0],
        Some(K),
        "options of a --name left out go nowhere"
    );
    let codes: Vec<_> = set.warnings.iter().map(|warning| (warning.code, warning.message.as_str())).collect();
    assert_eq!(codes, [("job-left-out", "the job `q` is left out: `--section` before it does not name it")]);
}

#[test]
fn fio_forgets_the_named_sections_after_the_first_file_and_makes_skipped_options_globals() {
    let set = build_as(Compat::Fio, |builder| {
        section(builder, "a");
        argument(builder, "name=q");
        argument(builder, "bs=4k");
        builder.file("j.fio", b"[a]\n[b]\n");
        builder.file("k.fio", b"[a]\n[b]\n");
    });
    let set = set.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(names(&set), ["a", "a", "b"]);
    let bs: Vec<_> = set.jobs.iter().map(|job| job.options.per_direction(Opt::Bs)[0]).collect();
    assert_eq!(bs, [Some(4 * K), None, None]);
}

#[test]
fn a_section_that_no_job_has_is_reported_if_others_run() {
    let warnings = |sections: &[&str]| {
        let set = build(|builder| {
            sections.iter().for_each(|name| section(builder, name));
            builder.file("j.fio", b"[a]\n[b]\n");
        });
        let set = set.unwrap_or_else(|problems| panic!("{problems}"));
        set.warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
    };
    assert_eq!(warnings(&["a", "nosuch"]), ["no job has the name `nosuch`, which `--section` asks for"]);
    assert!(warnings(&["nosuch"]).is_empty(), "nothing to run is an error of the program");
}

#[test]
fn private_options_belong_to_the_current_engine() {
    let set = jobs("[a]\nuserspace_reap\nioengine=libaio\n[b]\nhipri\nioengine=io_uring\n");
    assert_eq!(set.jobs[0].options.if_given(Opt::UserspaceReap), Some(true));
    assert_eq!(set.jobs[1].options.if_given(Opt::HipriIoUring), Some(true));
    assert_eq!(set.jobs[1].options.engine(), "io_uring");
    for text in ["[global]\nuserspace_reap\n[a]\nioengine=libaio\n", "[a]\nioengine=null\nuserspace_reap\n"] {
        assert!(problems(text).contains("option `userspace_reap` belongs to engine libaio"), "{text}");
    }
}

#[test]
fn a_job_that_changes_the_engine_drops_inherited_private_options() {
    let text = "[global]\nioengine=io_uring\nhipri\nfixedbufs\n[a]\nioengine=psync\n[b]\nioengine=io_uring_cmd\n[c]\n";
    let set = jobs(text);
    let has = |at: usize| set.jobs[at].options.is_given(Opt::HipriIoUring);
    assert_eq!([has(0), has(1), has(2)], [false, true, true]);
    assert_eq!(set.jobs[0].options.all().count(), 2);
    assert_eq!(set.jobs[0].options.last_of(&[Opt::HipriIoUring, Opt::Fixedbufs]), None);
}

#[test]
fn a_private_option_of_the_command_line_needs_its_engine_before_it() {
    let right = build(|builder| {
        ["name=a", "ioengine=libaio", "userspace_reap"].iter().for_each(|text| argument(builder, text))
    });
    assert!(right.is_ok());
    let wrong = build(|builder| {
        ["name=a", "userspace_reap", "ioengine=libaio"].iter().for_each(|text| argument(builder, text))
    });
    assert!(wrong.is_err_and(|problems| problems.contains("userspace_reap")));
}

#[test]
fn of_opposite_options_the_last_one_counts() {
    let set = jobs("[global]\ndirect=1\n[a]\nbuffered=1\n[b]\n[c]\nbuffered=1\ndirect=1\n");
    let last = |at: usize| set.jobs[at].options.last_of(&[Opt::Direct, Opt::Buffered]).map(|given| given.opt);
    assert_eq!([last(0), last(1), last(2)], [Some(Opt::Buffered), Some(Opt::Direct), Some(Opt::Direct)]);
}

#[test]
fn included_files_are_inserted_and_found_beside_the_file() {
    let set = jobs("[a]\ninclude i\nsize=4k\n");
    assert_eq!(own(&set.jobs[0]), [("iodepth", "4"), ("rw", "write"), ("bs", "8k"), ("size", "4k")]);
    let set = build(|builder| builder.file("d/j.fio", b"[a]\ninclude near\n"));
    assert_eq!(set.map(|set| own(&set.jobs[0]) == [("bs", "2k")]), Ok(true));
}

#[test]
fn invalid_includes_are_errors() {
    assert!(problems("[a]\ninclude self\n").contains("includes itself"));
    assert!(problems("[a]\ninclude section\n").contains("no new sections in included files, found `[z]`"));
    assert!(problems("include i\n[a]\n").contains("option `include i` outside of a [] job section"));
    assert!(problems("[a]\ninclude gone\n").contains("cannot read the include file `gone`"));
}

#[test]
fn all_errors_of_a_section_are_reported_with_the_dropped_job() {
    let text = problems("[myjob]\nfoo_one=1\nsize=4k\nfilename=\nfoo_two=2\n[fine]\nbs=4k\n");
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(
        at("`foo_one`") < at("`filename`") && at("`filename`") < at("`foo_two`"),
        "in the order written: {text}"
    );
    assert!(at("`foo_two`") < at("note: job myjob dropped") && !text.contains("fine"));
}

#[test]
fn the_same_error_of_a_shared_include_is_reported_once() {
    let environment =
        Environment { read_file: Box::new(|_| Ok(b"oops=1\n".to_vec())), ..Environment::default() };
    let mut builder = Builder::new(environment);
    builder.file("j.fio", b"[a]\ninclude i\n[b]\ninclude i\n");
    let problems = builder.finish().expect_err("oops is no option");
    let errors = problems.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(errors.count(), 1);
}

#[test]
fn variables_work_in_names_and_values() {
    let set = jobs("[a${SIZE}]\n${SIZE}=4k\nrw=${RW}\n${NOPE}\ndescription=x${NOPE}y\n");
    assert_eq!(set.jobs[0].name, "a${SIZE}");
    assert_eq!(own(&set.jobs[0]), [("size", "4k"), ("rw", "rw"), ("description", "xy")]);
}

#[test]
fn invalid_arithmetic_is_refused() {
    assert!(problems("[a]\nsize=$ncpus*+\n").contains("invalid value `2*+` for option `size`"));
    let set = jobs("[a]\ncpus_allowed=0-$ncpus\n[b]\ncpus_allowed=$ncpus-1\n");
    assert_eq!(set.jobs[0].options.if_given(Opt::CpusAllowed), Some(vec![0, 1, 2]));
    assert_eq!(set.jobs[1].options.if_given(Opt::CpusAllowed), Some(vec![1]));
}

#[test]
fn places_point_at_names_and_values() {
    let set = jobs("[a]\n size =\t4k\n");
    let given = &set.jobs[0].own[0];
    assert_eq!(given.origin, Origin::File { source: 0, line: 2, column: 2, length: 4 });
    assert_eq!(given.value_origin, Origin::File { source: 0, line: 2, column: 9, length: 2 });
}

#[test]
fn many_sections_share_their_globals() {
    let mut text = "[global]\nbs=4k\nsize=4k\nrw=randread\n".to_owned();
    (0..20_000).for_each(|number| text.push_str(&format!("[j{number}]\n")));
    let set = jobs(&text);
    assert_eq!(set.jobs.len(), 20_000);
    assert_eq!(set.jobs[19_999].options.per_direction(Opt::Bs)[0], Some(4 * K));
    assert_eq!(set.jobs[19_999].options.all().count(), 3);
}

proptest! {
    #[test]
    fn no_bytes_make_the_builder_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut builder = Builder::new(machine());
        builder.file("j.fio", &text);
        if let Err(problems) = builder.finish() {
            prop_assert!(!problems.render(true).is_empty());
        }
    }

    #[test]
    fn no_lines_make_the_builder_panic(lines in proptest::collection::vec("(\\[[a-c]?\\]?|(bs|rw|include|hipri|filename|ioengine|\\$\\{X\\}|é)? ?=?[ -~é]{0,12})", 0..12)) {
        let mut builder = Builder::new(machine());
        builder.file("j.fio", lines.join("\n").as_bytes());
        if let Err(problems) = builder.finish() {
            prop_assert!(!problems.render(false).is_empty());
        }
    }

    /// Files that include themselves and each other in any way are refused in the end.
    #[test]
    fn no_includes_make_the_builder_run_for_ever(
        texts in proptest::collection::vec(proptest::collection::vec("include [0-4]|include ./[0-4]|bs=[0-9]k|\\[[a-c]\\]|é=", 0..6), 5),
    ) {
        let texts: Vec<String> = texts.iter().map(|lines| lines.join("\n")).collect();
        let read_file = {
            let texts = texts.clone();
            move |path: &Path| {
                let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<usize>().ok());
                let text = number.and_then(|number| texts.get(number)).ok_or(io::ErrorKind::NotFound)?;
                Ok(text.clone().into_bytes())
            }
        };
        let mut builder = Builder::new(Environment { read_file: Box::new(read_file), ..Environment::default() });
        builder.file("j.fio", format!("[a]\n{}", texts[0]).as_bytes());
        if let Err(problems) = builder.finish() {
            prop_assert!(!problems.render(false).is_empty());
            prop_assert!(!diagnostics_json(&problems.diagnostics, &problems.sources).is_empty());
        }
    }

    #[test]
    fn echoed_values_mean_the_same(at in 0..414_usize, text in "[!-~][ -~]{0,15}") {
        let row = &crate::catalogue::rows()[at];
        let engine = match row.scope {
            crate::OptionScope::Engines(engines) => engines[0],
            _ => "null",
        };
        let read = |value: &str| {
            let file = format!("[a]\nioengine={engine}\n{}={value}\n", row.name);
            build(|builder| builder.file("j.fio", file.as_bytes()))
        };
        if let Ok(set) = read(&text) {
            let last = |set: &JobSet| set.jobs[0].own.iter().rfind(|given| given.opt.row().name == row.name).cloned();
            let given = last(&set).expect("it was given");
            let again = read(&given.text).map(|set| last(&set).map(|given| given.value));
            prop_assert_eq!(again, Ok(Some(given.value)));
        }
    }
}

#[test]
fn a_name_and_a_value_without_equals_sign_are_recognised() {
    for (line, meant) in [("rw read", "rw=read"), ("rw: read", "rw=read"), ("bs:4k", "bs=4k")] {
        let text = problems(&format!("[a]\n{line}\n"));
        assert!(text.contains(&format!("did you mean `{meant}`?")), "{text}");
    }
    assert!(problems("[a]\nfoo bar\n").contains("no such option"));
}

#[test]
fn signs_of_the_shell_are_explained() {
    assert!(problems("[a]\nbs=\"4k\"\n").contains("quotes belong to the value: write `4k`"));
    assert!(problems("[a]\nbs=${NAME\n").contains("a variable ends with `}`"));
    assert!(problems("[a]\nstonewall=x\n").contains("write 1 for on or 0 for off"));
}

#[test]
fn fios_reading_of_a_long_value_is_shown_in_part() {
    let text = problems(&format!("[a]\nbssplit={}4q/3\n", "4k/1:".repeat(70)));
    assert!(text.contains("...; to have that") && !text.contains(&"1% 4096 bytes, ".repeat(8)), "{text}");
}

#[test]
fn an_include_outside_of_a_section_is_marked_from_its_first_letter() {
    assert!(problems("  include i\n").contains("j.fio:1:3"));
}

#[test]
fn a_job_named_like_the_globals_gets_a_warning() {
    let set = jobs("[Global]\nbs=8k\n[globally]\n[a]\n");
    assert_eq!(names(&set), ["Global", "a"]);
    let warnings: Vec<_> = set.warnings.iter().map(|warning| (warning.code, &warning.message)).collect();
    assert_eq!(warnings, [("global-in-capitals", &"section [Global] is a job".to_owned())]);
}

#[test]
fn jobs_inherit_no_name_and_in_fio_no_user() {
    let text = "[global]\nname=G\nuid=1\ngid=2\nbs=8k\n[a]\n[b]\nname=zz\nuid=3\n";
    for (compat, uids, dropped) in [
        (Compat::Ferrio, [Some(1), Some(3)], &["name"][..]),
        (Compat::Fio, [None, Some(3)], &["name", "uid", "gid"]),
    ] {
        let set = build_as(compat, |builder| builder.file("j.fio", text.as_bytes())).unwrap();
        let names = [0, 1].map(|job: usize| set.jobs[job].options.text(Opt::Name));
        assert_eq!(names, [None, Some("zz")], "{compat:?}");
        assert_eq!([0, 1].map(|job: usize| set.jobs[job].options.if_given::<u32>(Opt::Uid)), uids);
        for job in &set.jobs {
            assert_eq!(job.options.not_inherited().map(|given| given.name).collect::<Vec<_>>(), dropped);
            assert!(job.options.is_given(Opt::Bs));
        }
    }
}
