//! The grammar of job files, point by point: what each text means is read from the line that `--showcmd` prints for it.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use ferrio_job::ArgOrigin;
use ferrio_jobfile::{Builder, Environment, Job, JobSet, Opt, showcmd};

/// A builder on a machine with two CPUs, some variables and some files.
fn builder() -> Builder {
    let read_file = |path: &Path| match path.to_str() {
        Some("i") => Ok(b"iodepth=4\n".to_vec()),
        Some("d/beside") => Ok(b"bs=1k\ninclude further\n".to_vec()),
        Some("d/further") => Ok(b"rw=write".to_vec()),
        Some("both") => Ok(b"bs=8k\n".to_vec()),
        Some("d/both") => Ok(b"bs=16k\n".to_vec()),
        Some("${V}") => Ok(b"thread\n".to_vec()),
        Some("a name with blanks") => Ok(b"\r\n; only a comment\r\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let var = |name: &str| match name {
        "V" => Some("x;y#z".to_owned()),
        "KEY" => Some("size".to_owned()),
        "LINE" => Some("bs=4k".to_owned()),
        "AGAIN" => Some("${KEY}".to_owned()),
        "CPUS" => Some("$ncpus".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    Builder::new(Environment {
        read_file: Box::new(read_file),
        var: Box::new(var),
        ncpus: 2,
        ..Environment::default()
    })
}

fn build(name: &str, text: &[u8], sections: &[&str]) -> Result<JobSet, String> {
    let mut builder = builder();
    for name in sections {
        builder.section(name, &ArgOrigin { index: 1, text: format!("--section={name}") });
    }
    builder.file(name, text);
    builder.finish().map_err(|problems| problems.render(false))
}

fn jobs(text: &str) -> JobSet {
    build("j.fio", text.as_bytes(), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn names(set: &JobSet) -> Vec<&str> {
    set.jobs.iter().map(|job| job.name.as_str()).collect()
}

#[track_caller]
fn shows(text: &str, line: &str) {
    assert_eq!(showcmd(&jobs(text)).trim_end(), format!("fio {line}").trim_end(), "{text:?}");
}

/// Every text is refused with exactly one error of this kind.
#[track_caller]
fn refused(code: &str, texts: &[&str]) {
    for text in texts {
        let mut builder = builder();
        builder.file("j.fio", text.as_bytes());
        let problems = builder.finish().err().unwrap_or_else(|| panic!("{text:?} is accepted"));
        let is_error = |one: &&ferrio_job::Diagnostic| one.severity == ferrio_job::Severity::Error;
        let codes: Vec<_> = problems.diagnostics.iter().filter(is_error).map(|one| one.code).collect();
        assert_eq!(codes, [code], "{text:?}");
    }
}

#[test]
fn blanks_comments_and_line_ends_around_anything_do_not_count() {
    for text in [
        "[a]\nsize=4k\nbs=1k\n",
        "[a]\nsize=4k\nbs=1k",
        "[a]\r\nsize=4k\r\nbs=1k\r\n",
        "\t [a] \t\n \t size=4k\t \n\x0bbs=1k\x0c\n",
        "; c\n# c\n\n[a];c\nsize=4k#c\n ;bs=9k\nbs=1k ; #c\n",
        "[a] ; comment\nsize=4k ; 'quoted ; too'\nbs=1k\x01\x02 \r\n",
        "[a]\nsize =4k\nbs \t = \t 1k\n",
        " \n\t\n\r\n\n[a]\n\n\nsize=4k\n\n\nbs=1k\n\n\n",
    ] {
        shows(text, "--name=a --size=4k --bs=1k");
    }
}

#[test]
fn a_comment_sign_ends_the_line_wherever_it_stands() {
    shows("[a]\ndescription=\"x ; y\"\n", "--name=a --description=\"\"x\"");
    shows("[a]\ndescription=x\\;y\n", "--name=a --description=\"x\\\"");
    refused("unclosed-section", &["[a;b]\n", "[a#]\n"]);
}

#[test]
fn there_is_no_continuation_and_no_quoting() {
    shows("[a]\nfilename=x\\\nbs=1k\n", "--name=a --bs=1k --filename=x\\");
    shows("[a]\ndescription='a' \"b\"\n", "--name=a --description=\"'a' \"b\"\"");
}

#[test]
fn the_first_equals_sign_divides_and_the_rest_is_value() {
    shows("[a]\ndescription=a=b==c\n", "--name=a --description=\"a=b==c\"");
    shows("[a]\nfilename==\n", "--name=a --filename==");
}

#[test]
fn names_and_words_have_their_case_and_suffixes_do_not() {
    refused("unknown-option", &["[a]\nBS=4k\n", "[a]\nBs=4k\n", "[a]\nbs size=4k\n"]);
    refused("not-a-choice", &["[a]\nrw=READ\n"]);
    assert_eq!(jobs("[a]\nbs=4K\n").jobs[0].options.per_direction(Opt::Bs)[0], Some(4096));
}

#[test]
fn a_line_of_8191_bytes_is_one_line() {
    let text = format!("[a]\ndescription={}\nbs=1k", "x".repeat(8191 - 12));
    assert_eq!(jobs(&text).jobs[0].options.text(Opt::Description).map(str::len), Some(8179));
    refused("long-line", &[&format!("[a]\ndescription={}\n", "x".repeat(8180))]);
}

#[test]
fn text_of_any_script_is_text() {
    let set = jobs("[größe]\ndescription=日本\u{fffd}\u{a0}x\n");
    assert_eq!(names(&set), ["größe"]);
    assert_eq!(set.jobs[0].options.text(Opt::Description), Some("日本\u{fffd}\u{a0}x"));
    assert!(build("j", b"[a]\ndescription=\xc3\n", &[]).unwrap_err().contains("j:2:13"));
    refused("byte-order-mark", &["\u{feff}[a]\nsize=4k\n"]);
}

#[test]
fn a_name_is_all_between_the_brackets() {
    let set = jobs("[a b]\n[ a ]\n[]\n[   ]\n");
    assert_eq!(names(&set), ["a b", " a ", "", "   "]);
    assert_eq!(names(&jobs("[a]\n[a]\n[b]\n[a]\n")), ["a", "a", "b", "a"]);
    assert_eq!(names(&jobs("[${V}$ncpus]\n")), ["${V}$ncpus"], "names are not expanded");
    assert_eq!(names(&jobs("[a=b]\n[include i]\n[[a]\n")), ["a=b", "include i", "[a"]);
}

#[test]
fn what_begins_with_global_is_no_job() {
    let set =
        jobs("[global]\nbs=1k\n[globals]\nsize=4k\n[global two]\nthread\n[a]\n[Global]\n[glob]\n[ global]\n");
    assert_eq!(names(&set), ["a", "Global", "glob", " global"]);
    assert_eq!(set.globals.len(), 3);
    assert_eq!(set.jobs[0].options.all().count(), 3);
    assert_eq!(names(&jobs("[global]\nbs=1k\n")), [""; 0]);
    assert_eq!(names(&jobs("")), [""; 0]);
}

#[test]
fn nothing_may_stand_before_the_first_section() {
    refused("outside-section", &["size=4k\n[a]\n", "size\n", "include i\n[a]\n", "]\n", "=x\n[a]\n"]);
}

#[test]
fn sections_left_out_are_left_out_with_all_their_lines() {
    let text =
        b"[global]\nbs=1k\n[a]\nno_such=1\ninclude gone\n[b]\nsize=4k\n[global]\nthread\n[bb]\nsize=\n[b]\n";
    let set = build("j", text, &["b"]).unwrap();
    assert_eq!(names(&set), ["b", "b"]);
    assert_eq!(set.globals.len(), 2);
    assert!(build("j", b"[a]\n[B]\n", &["b", "A"]).unwrap().jobs.is_empty(), "names match exactly");
}

#[test]
fn an_include_stands_for_the_lines_of_its_file() {
    for line in ["include i", "include=i", "include \t i", "  include i ; c", "include i\r"] {
        shows(&format!("[a]\nbs=1k\n{line}\nthread\n"), "--name=a --bs=1k --iodepth=4 --thread");
    }
    shows("[global]\ninclude i\n[a]\ninclude i\n", "--iodepth=4 --name=a --iodepth=4");
    shows("[a]\ninclude a name with blanks\n", "--name=a");
    shows("[a]\ninclude ${V}\n", "--name=a --thread");
    refused("unknown-option", &["[a]\nincludei\n", "[a]\nincludes=i\n", "[a]\nInclude i\n"]);
    refused("missing-value", &["[a]\ninclude\n", "[a]\ninclude=\n"]);
}

#[test]
fn an_include_is_looked_for_as_named_and_then_beside_its_includer() {
    let own = |file: &str, text: &str| {
        let set = build(file, text.as_bytes(), &[]).unwrap();
        set.jobs[0]
            .own
            .iter()
            .map(|given| format!("{}={}", given.opt.row().name, given.text))
            .collect::<Vec<_>>()
    };
    assert_eq!(own("d/j.fio", "[a]\ninclude beside\n"), ["bs=1k", "rw=write"]);
    assert_eq!(own("j.fio", "[a]\ninclude d/beside\n"), ["bs=1k", "rw=write"], "beside the included file");
    assert_eq!(own("d/j.fio", "[a]\ninclude both\n"), ["bs=8k"], "as named comes first");
    refused("unreadable-include", &["[a]\ninclude beside\n", "[a]\ninclude gone\nbs=4k\n"]);
}

#[test]
fn variables_are_replaced_behind_comments_and_before_keywords() {
    shows("[a]\ndescription=${V}${NOPE}${EMPTY}|${KEY\n", "--name=a --description=\"x;y#z|${KEY\"");
    shows("[a]\n${KEY}=4k ; ${KEY}\n${LINE}\n", "--name=a --size=4k --bs=4k");
    shows("[a]\ndescription=${AGAIN} $KEY $${KEY}\n", "--name=a --description=\"${KEY} $KEY $size\"");
    shows("[a]\ndescription=$ncpusx ${CPUS}\n${NOPE}\n", "--name=a --description=\"2x 2\"");
    shows(
        "[a]\nsize=$pagesize*2\niodepth=($ncpus+1)*2\nfilename=/x/$ncpus\n",
        "--name=a --size=8192 --iodepth=6 --filename=/x/2",
    );
    refused("empty-value", &["[a]\nsize=${NOPE}\n"]);
}

#[test]
fn lines_count_in_their_order_except_a_few() {
    shows(
        "[a]\nfilename=x\nbs=1k\nkb_base=1000\nfilename_format=f\nbs=2k\nlockfile=none\nunit_base=8\n",
        "--name=a --kb_base=1000 --lockfile=none --unit_base=8 --bs=1k --bs=2k --filename=x --filename_format=f",
    );
    shows(
        "[a]\nuserspace_reap\nbs=1k\nioengine=libaio\n",
        "--name=a --bs=1k --ioengine=libaio --userspace_reap",
    );
}

#[test]
fn every_wrong_line_of_every_section_is_told() {
    let text = "[a]\nfoo_one=1\nrw=raed\n[b]\nsize\n[c]\nsize=4k\n[d]\ninclude gone\nbs=0\n";
    let told = build("j.fio", text.as_bytes(), &[]).unwrap_err();
    for place in ["j.fio:2:1", "j.fio:3:4", "j.fio:5:1", "j.fio:9:9", "j.fio:10:4"] {
        assert!(told.contains(place), "{place} in {told}");
    }
    assert!(!told.contains("job c dropped"));
}

#[test]
fn jobs_take_the_globals_above_them_and_their_own_lines_count_last() {
    let set = jobs("[global]\nbs=1k\nthread\n[a]\nthread=0\n[global]\nbs=2k\n[b]\n[c]\nbs=4k\n");
    let of = |job: &Job| (job.options.per_direction(Opt::Bs)[0], job.options.if_given::<bool>(Opt::Thread));
    let want = [(1024, false), (2048, true), (4096, true)];
    let seen: Vec<_> = set.jobs.iter().map(of).collect();
    assert_eq!(seen, want.map(|(bs, thread)| (Some(bs), Some(thread))));
}

#[test]
fn a_further_file_starts_from_nothing() {
    let mut builder = builder();
    let argument = ArgOrigin { index: 1, text: "--bs=1k".to_owned() };
    builder.command_option("bs", Some("1k"), argument);
    builder.file("one", b"[global]\nthread\nioengine=libaio\n[a]\nuserspace_reap\n");
    builder.file("two", b"[b]\n[c]\nioengine=io_uring\nhipri\n");
    let set = builder.finish().unwrap();
    assert_eq!(names(&set), ["a", "b", "c"]);
    assert_eq!(set.jobs.iter().map(|job| job.options.all().count()).collect::<Vec<_>>(), [4, 0, 2]);
    assert_eq!(
        set.jobs.iter().map(|job| job.options.engine()).collect::<Vec<_>>(),
        ["libaio", "psync", "io_uring"]
    );
    assert_eq!(set.jobs.iter().map(|job| job.first_of_file).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn private_options_of_every_engine_parse_whether_the_engine_is_there_or_not() {
    for (engine, line) in [
        ("rbd", "rbdname=x"),
        ("http", "http_host=h"),
        ("net", "protocol=udp"),
        ("sg", "hipri"),
        ("nfs", "nfs_url=u"),
    ] {
        let set = jobs(&format!("[global]\nioengine={engine}\n[a]\n{line}\n"));
        assert_eq!(set.jobs[0].own.len(), 1, "{engine}");
    }
    refused("option-of-other-engine", &["[a]\nrbdname=x\n", "[a]\nrbdname=x\nioengine=null\n"]);
}
