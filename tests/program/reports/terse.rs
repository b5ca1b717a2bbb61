//! `--minimal`: the same fields as fio's, in the same places.

use crate::support::{TestDir, at_once, both, same};

/// The lines of a run, each as `name=value` per field, with what measures time replaced.
fn lines(job: &[&str], version: &str, directions: &[&str], real: bool) -> Vec<Vec<String>> {
    let dir = TestDir::new();
    let terse_version = format!("--terse-version={version}");
    let mut words = vec!["--minimal", &terse_version];
    words.extend(job);
    let run = if real { dir.fio(&words) } else { dir.ferrio(&words) };
    let output = run.run().succeeded();
    output.stdout.lines().map(|line| named(line, version, directions)).collect()
}

/// Names of the fields of a line; the fields after them (disks, errors, a description) have none.
fn names(version: &str, directions: &[&str]) -> Vec<String> {
    let head: &[&str] = match version {
        "2" => &["terse_version", "jobname", "groupid", "error"],
        _ => &["terse_version", "fio_version", "jobname", "groupid", "error"],
    };
    let latency = |name: &str| ["min", "max", "mean", "dev"].map(|figure| format!("{name}_{figure}_us"));
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let direction = |name: &&str| {
        let mut fields = owned(&["kb", "bandwidth_kb", "iops", "runtime_ms"]);
        fields.extend(latency("slat").into_iter().chain(latency("clat")));
        fields.extend((1..=20).map(|at| format!("pct{at:02}")));
        fields.extend(latency("lat"));
        fields.extend(owned(&["bw_min_kb", "bw_max_kb", "bw_agg_pct", "bw_mean_kb", "bw_dev_kb"]));
        if version == "5" {
            fields.extend(owned(&[
                "bw_samples",
                "iops_min",
                "iops_max",
                "iops_mean",
                "iops_dev",
                "iops_samples",
            ]));
        }
        fields.into_iter().map(|field| format!("{name}_{field}")).collect::<Vec<_>>()
    };
    let mut names = owned(head);
    names.extend(directions.iter().flat_map(direction));
    names.extend(owned(&["cpu_user", "cpu_sys", "cpu_csw", "cpu_mjf", "cpu_minf"]));
    names.extend(["1", "2", "4", "8", "16", "32", ">=64"].map(|depth| format!("iodepth_{depth}")));
    let labels = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    names.extend(labels[..10].iter().map(|label| format!("lat_us_{label}")));
    names.extend(labels.iter().map(|label| format!("lat_ms_{label}")));
    names
}

fn named(line: &str, version: &str, directions: &[&str]) -> Vec<String> {
    let names = names(version, directions);
    let fields: Vec<&str> = line.split(';').collect();
    // The description of version 2 is a line of its own.
    let idle = |name: &str| {
        let kb = names.iter().position(|known| Some(known.as_str()) == kb_of(name).as_deref());
        kb.is_some_and(|kb| fields.get(kb) == Some(&"0"))
    };
    fields
        .iter()
        .enumerate()
        .map(|(at, field)| match names.get(at) {
            // All is zero in a direction without I/O, and nothing else has to do with time.
            Some(name) if idle(name) || is_counted(name) => format!("{name}={field}"),
            Some(name) => format!("{name}={}", masked(field)),
            None => format!("rest={field}"),
        })
        .collect()
}

#[test]
fn names_of_fields_precede_the_lines_on_request() {
    let dir = TestDir::new();
    let words = [
        "--minimal",
        "--terse-version=5",
        "--terse-header",
        "--name=a",
        "--ioengine=null",
        "--size=1m",
        "--numjobs=2",
    ];
    let text = dir.ferrio(&words).run().succeeded().stdout;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    let field = |name: &str| lines[1][lines[0].iter().position(|field| *field == name).unwrap()];
    assert_eq!(
        ["terse_version", "jobname", "read_io_kib", "write_io_kib"].map(field),
        ["5", "a", "1024", "0"]
    );
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
    let alone = dir.ferrio(&[&["--output-format=json"], &words[2..]].concat()).run().ended_with(1);
    assert!(alone.stderr.contains("--terse-header is about terse lines"), "{}", alone.stderr);
    let as_fio = dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run().ended_with(1);
    assert!(as_fio.stderr.contains("unrecognized option '--terse-header'"), "{}", as_fio.stderr);
    let help = dir.ferrio(&["help", "terse"]).run().succeeded().stdout;
    let number = lines[0].iter().position(|field| *field == "read_clat_mean_us").unwrap() + 1;
    let row = help.lines().find(|line| line.contains("read_clat_mean_us")).unwrap();
    assert_eq!(row.split_whitespace().nth(3), Some(number.to_string().as_str()), "{row}");
}

/// The field with the amount moved of the direction that a field is about.
fn kb_of(name: &str) -> Option<String> {
    let (direction, _) = name.split_once('_')?;
    ["read", "write", "trim", "mixed"].contains(&direction).then(|| format!("{direction}_kb"))
}

/// What time has no influence on, and memory neither: a page of the program may have left the cache (`cpu_mjf`).
fn is_counted(name: &str) -> bool {
    let counted = ["terse_version", "jobname", "groupid", "error"];
    counted.contains(&name)
        || name.ends_with("_kb") && name.matches('_').count() == 1
        || name.starts_with("iodepth_")
}

/// Names of percentiles and words stay; numbers become a sign of their form.
fn masked(field: &str) -> String {
    let number = field.trim_end_matches('%');
    let unit = &field[number.len()..];
    match field.split_once('=') {
        Some((percent, _)) => format!("{percent}=N"),
        None if field.starts_with("fio-") => "version".to_owned(),
        None if number.parse::<u64>().is_ok() => format!("N{unit}"),
        None => match number.rsplit_once('.').map(|(whole, decimals)| (whole.parse::<u64>(), decimals)) {
            Some((Ok(_), decimals)) => format!("N.{}{unit}", "D".repeat(decimals.len())),
            _ => field.to_owned(),
        },
    }
}

/// Which directions a line has.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Apart,
    AsOne,
    BothWays,
}

#[track_caller]
fn compare(job: &[&str]) {
    compare_as(job, Shown::Apart);
}

#[track_caller]
fn compare_as(job: &[&str], shown: Shown) {
    at_once(&["2", "3", "4", "5"], |&version| {
        let apart: &[&str] = if version == "3" { &["read", "write"] } else { &["read", "write", "trim"] };
        let directions = match shown {
            Shown::Apart => apart.to_vec(),
            Shown::AsOne => vec!["mixed"],
            Shown::BothWays => [apart, &["mixed"]].concat(),
        };
        let [fio, ferrio] = both(|real| {
            let mut lines = lines(job, version, &directions, real);
            if shown == Shown::BothWays {
                // 3.33 adds nothing up there.
                lines.iter_mut().for_each(|line| line.retain(|field| !field.starts_with("mixed_")));
            }
            lines
        });
        assert!(!fio.is_empty(), "fio printed nothing for {job:?}");
        same!("fio": fio, "ferrio": ferrio, "terse version {version} of {job:?}");
    });
}

#[test]
fn each_version_has_fios_fields() {
    needs!("fio");
    compare(&["--name=a", "--ioengine=null", "--size=1m", "--rw=randrw", "--description=two words"]);
}

#[test]
fn groups_errors_and_lists_of_percentiles_are_where_fio_has_them() {
    needs!("fio");
    compare(&[
        "--group_reporting",
        "--ioengine=null",
        "--size=256k",
        "--continue_on_error=all",
        "--percentile_list=10:99.9",
        "--lat_percentiles=1",
        "--name=a",
        "--numjobs=3",
        "--name=b",
        "--new_group",
        "--rw=write",
    ]);
}

#[test]
fn switched_off_percentiles_leave_empty_fields_and_unified_directions_one() {
    needs!("fio");
    let null = ["--ioengine=null", "--size=256k"];
    compare(
        &[&["--name=a", "--clat_percentiles=0"], &null[..], &["--name=b", "--gtod_reduce=1"], &null].concat(),
    );
    let unified = ["--name=a", "--ioengine=null", "--size=256k", "--rw=rw"];
    compare_as(&[&unified[..], &["--unified_rw_reporting=1"]].concat(), Shown::AsOne);
    compare_as(&[&unified[..], &["--unified_rw_reporting=2"]].concat(), Shown::BothWays);
}

#[test]
fn ignored_errors_disks_and_descriptions_come_last() {
    needs!("fio");
    let job =
        ["--name=a", "--filename=/dev/full", "--rw=write", "--size=64k", "--description=to \"nowhere\""];
    compare(&[&job[..], &["--continue_on_error=write", "--ignore_error=,ENOSPC"]].concat());
    // How much a disk did is not compared: fio looks at it four times a second.
    let dir = TestDir::new();
    let words = [
        "--minimal",
        "--terse-version=3",
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--fsync=1",
        "--description=d",
    ];
    let fields = |output: &str| {
        let line: Vec<&str> = output.trim_end().split(';').collect();
        let disk = &line[names("3", &["read", "write"]).len()..];
        [
            &[disk[0].to_owned(), masked(disk[8]), disk[9].to_owned()],
            disk[1..8].iter().map(|f| masked(f)).collect::<Vec<_>>().as_slice(),
        ]
        .concat()
    };
    let (fio, ferrio) = (dir.fio(&words).run().succeeded(), dir.ferrio(&words).run().succeeded());
    same!("fio": fields(&fio.stdout), "ferrio": fields(&ferrio.stdout), "the disk of a terse line");
}

#[test]
fn terse_lines_come_before_the_document_and_the_text() {
    let dir = TestDir::new();
    let words = ["--output-format=normal,json,terse", "--name=a", "--ioengine=null", "--size=64k"];
    let output = dir.ferrio(&words).run().succeeded();
    let at = |text: &str| output.stdout.find(text).unwrap_or_else(|| panic!("{text} in {}", output.stdout));
    assert!(at("\n3;fio-") < at("\n{\n") && at("\n}\n") < at("\na: (groupid=0"), "{}", output.stdout);
}

/// The beginnings of what a program prints on a job, in any combination of words.
fn parts(words: &[&str], output_to: Option<&str>, fio: bool) -> Vec<&'static str> {
    let dir = TestDir::new();
    let path = output_to.map(|name| dir.beside(name));
    let output = path.as_ref().map(|path| format!("--output={}", path.display()));
    let words: Vec<&str> = words
        .iter()
        .copied()
        .chain(output.as_deref())
        .chain(["--name=a", "--ioengine=null", "--size=64k"])
        .collect();
    let run = if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
    let printed = match &path {
        Some(path) => {
            assert_eq!(run.stdout, "", "nothing else is printed with {words:?}");
            std::fs::read_to_string(path).unwrap()
        }
        None => run.stdout,
    };
    let part = |line: &str| match line {
        "{" => Some("{"),
        "}" => Some("}"),
        "" => Some(""),
        _ => {
            let starts =
                ["a: (g=0)", "a: (groupid=0", "2;a;", "3;fio-", "5;fio-", "fio-", "Starting", "Run status"];
            let bins = ["bins"];
            starts
                .into_iter()
                .find(|start| line.starts_with(start))
                .or_else(|| bins.into_iter().find(|bins| line.contains(bins)))
        }
    };
    // Empty lines of a document belong to empty objects.
    let mut in_document = false;
    let is_shown = |found: &&str| {
        in_document = *found == "{" || in_document && *found != "}";
        !(in_document && found.is_empty())
    };
    let mut parts: Vec<&str> = printed.lines().filter_map(part).filter(is_shown).collect();
    // Which latencies have bins is compared elsewhere.
    parts.dedup();
    parts
}

#[test]
fn formats_are_chosen_and_follow_each_other_as_with_fio() {
    needs!("fio");
    let choices: [&[&str]; 14] = [
        &["--output-format=normal"],
        &["--output-format=terse,normal"],
        &["--output-format=json+,terse,normal"],
        &["--output-format=normal,json,terse", "--terse-version=2"],
        &["--output-format=json,json+"],
        &["--output-format=csv"],
        &["--output-format=minimal", "--terse-version=5"],
        &["--minimal"],
        &["--append-terse"],
        &["--output-format=json", "--append-terse"],
        &["--append-terse", "--output-format=json"],
        &["--output-format=json", "--minimal"],
        &["--minimal", "--output-format=json"],
        &["--minimal", "--output-format=normal", "--append-terse"],
    ];
    at_once(&choices, |words| {
        for output_to in [None, Some("report")] {
            let (fio, ferrio) = (parts(words, output_to, true), parts(words, output_to, false));
            assert!(!fio.is_empty(), "fio printed nothing with {words:?}");
            same!("fio": fio, "ferrio": ferrio, "what {words:?} prints to {output_to:?}");
        }
    });
}
