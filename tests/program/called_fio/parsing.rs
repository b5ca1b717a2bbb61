//! Job files as people write them, read by both programs: which are taken, and what `--showcmd` makes of them.
//!
//! fio 3.33 is the measure. What it reads otherwise than later releases (expressions, names that were options of
//! their own then) is left out, and so is a private option of an engine more than once: 3.33 shows leftovers
//! of longer values there.

use std::fs;
use std::sync::Mutex;

use crate::random_numbers::RandomNumbers;
use crate::support::{Run, TestDir, at_once, same};

/// Files both take.
const TAKEN: &[&str] = &[
    // comments, blanks and line ends
    "; a comment\n\n[global] ; defaults\nbs=4k\t# small\n\n  [a]\t\n\tsize\t=1m\n rw=read ;; x\n;thread\nrun${NOPE}time=5  ",
    "[global]\r\nioengine=libaio\r\nblocksize=4K\r\n\r\n[a]\r\nsize=1M\r\ndirect=1\r\n",
    "[a b]\nsize=4k\n[ lead]\nsize=4k\n[]\nsize=4k\n[\"q\"]\nsize=4k\n[a]\nsize=4k\n[a]\nsize=8k\n[gruen-\u{fc}]\nsize=4k\n",
    // sections
    "[global]\nbs=4k\n[a]\nsize=4k\n[global]\niodepth=4\n[globals too]\nthread\n[b]\nsize=1m\n[Global]\nsize=4k\n",
    // sizes
    "[a]\nbs=4k,8K\nsize=10G\nfilesize=1MB-4MiB\noffset=1m\nio_limit=50%\nnumber_ios=1k\n[b]\nbs=8k,\n[c]\nbs=,8k\n[d]\nbs=512,4KiB,1t\n\
     [e]\nbs=4k-8k\n[f]\nbs=4kb:8kb\n[g]\nsize=0x100000\n[h]\nsize=50%\noffset=10%\n",
    "[a]\nbsrange=4k-16k\n[b]\nblocksize_range=1K:64K,4k-8k\n[c]\nbsrange=,1k-4k\n[d]\nbssplit=4k/50:8k/50\n\
     [e]\nbssplit=4k/10:64k/50:32k/40,8k/100\n[f]\nbssplit=512/:4k/20\nbs_unaligned\n[g]\nbssplit=\n",
    // times, rates, shares
    "[a]\ntimeout=60s\nramp_time=5\nstartdelay=1,5\nthinktime=100us\nthinktime_spin=1ms\n[b]\nruntime=1H\ntime_based=1\nmax_latency=10ms\n\
     [c]\nrate=1m,2m\nratemin=,500k\n[d]\nrate_iops=100,200\nratecycle=500\nrwmixread=70\n[e]\nrate=1M,\nrwmixwrite=0\n",
    // aliases and flags with and without a value
    "[a]\nreadwrite=randrw\nblocksize=4k\niodepth=16\niodepth_batch_submit=4\niodepth_batch_complete=2\nmem_align=4k\niomem=malloc\n\
     fill_fs=0\nnr_files=2\nwait_for_previous\n[b]\nstonewall=0\nthread=1\ngroup_reporting=0\nnorandommap\nrefill_buffers=1\nexitall\n",
    // the order of evaluation
    "[a]\nfilename=x\nbs=1k\nkb_base=1000\nfilename_format=$jobname\nbs=2k\nlockfile=readwrite\nunit_base=8\nfilename=y:z\ncpus_allowed_policy=split\nsize=4k\n",
    // options of engines around the engine, inherited or not
    "[a]\nuserspace_reap\nioengine=libaio\nsize=4k\n[b]\nioengine=io_uring\nfixedbufs=1\nregisterfiles\nsqthread_poll_cpu=0\n[c]\nsize=4k\nhipri\nioengine=pvsync2\n",
    "[global]\nioengine=rbd\nclustername=ceph\nrbdname=an image\n[a]\npool=rbd\nbs=4k\n[b]\nioengine=null\nsize=4k\n",
    "[net]\nhostname=localhost\nport=8888\nioengine=net\nprotocol=tcp\nlisten\nsize=1m\n[cpu]\nioengine=cpuio\ncpuload=50\nexit_on_io_done=1\n\
     [sg]\nioengine=sg\nreadfua=1\n[exec]\nioengine=exec\nprogram=/bin/true\narguments=-n x\n[gone]\nioengine=no_such_engine\nsize=4k\n",
    // logs, with names and without
    "[a]\nwrite_bw_log\nwrite_lat_log=lat\nwrite_iops_log=\nlog_avg_msec=1000\nlog_offset=1\nper_job_logs=0\nwrite_hist_log=h\nlog_hist_msec=500\n",
    // variables, keywords and arithmetic
    "[a]\nsize=${SIZE}\nfilename=${DIR}/f:${DIR}/g\ndescription=${SIZE}|${NOPE}|${OPEN|$SIZE|$${SIZE}\n${KEY}=4k\nexec_prerun=echo \"$HOME; $(date)\"\n\
     [b]\nnumjobs=$ncpus\nbs=$pagesize\niodepth=($ncpus+1)*2\nsize=$pagesize*4\nlockmem=$mb_memory\n",
    // texts
    "[a]\nexec_prerun=echo \"hello world\" && sync\nexec_postrun=sh -c 'echo a=b'\ndescription=a \"quoted\" text = x",
    "[a]\nfilename=a\\:b:c\ndirectory=/tmp:/var/tmp\nread_iolog=x:y\nfile_service_type=random:4\nfilename=/dev/null\n",
    "[a]\nverify=crc32c-intel\nverify_pattern=0xdeadbeef\"a b\"-5%o\nverify_fatal=1\nverify_backlog=1k\nbuffer_pattern=0xfff\n\
     [b]\nverify=sha3-256\nverify_interval=4k\nverify_dump=0\nbuffer_compress_percentage=50\ndedupe_percentage=30\n",
    "[a]\nrandom_distribution=zipf:1.2\nrandom_generator=lfsr\n[b]\nrandom_distribution=zoned:60/10:30/20:10/70\nrandseed=42\n\
     [c]\nrandom_distribution=zoned_abs:60/20G:40/1T\n[d]\nrandom_distribution=normal:20\npercentage_random=50,100\nrw=randread:8\n",
    "[a]\npercentile_list=50:90:99.99\nclat_percentiles=0\nss=iops_slope:0.1%\nss_dur=30\nsteadystate_ramp_time=5s\n\
     unified_rw_reporting=1\ncontinue_on_error=all\nignore_error=EIO,ENOSPC:5\ndisable_bw=1\nsignificant_figures=3\n",
    "[a]\nzonemode=strided\nzonesize=1m\nzonerange=2M\nzoneskip=64k\nsync_file_range=wait_before,write:4\nfallocate=1\nfadvise_hint=0\nsync=dsync\n\
     cpus_allowed=0\nnice=-5\nprioclass=2\nprio=3\nhugepage-size=2m\n",
    // included files, options that do nothing, options of profiles
    "[a]\ninclude common.inc\nsize=4k\n[b]\ninclude=common.inc\n",
    "[a]\nverifysort=1\nflow_watermark=\nthreads=1\nsize=4k\n",
];

/// Files both refuse.
const REFUSED: &[&str] = &[
    "size=4k\n[a]\n",
    "[a]\nsiz=4k\n[b]\nsize=4k\n",
    "[a]\nsize\n",
    "[a]\nnorandommap=\n",
    "[a]\nrw=READ\n",
    "[a]\ndirect=yes\n",
    "[a]\nioengine=null\nuserspace_reap\n",
    "[a]\ninclude sections.inc\nsize=4k\n",
    "[a]\nrwmixcycle=5\n",
    "[a]\niodepth=0\n",
    "[a]\npercentile_list=101\n",
    "[global]\nbsrange=4k\n[a]\nsize=4k\n",
];

/// The job files, with what they include beside them.
fn files(dir: &TestDir, texts: &[&str]) -> Vec<String> {
    fs::write(dir.beside("common.inc"), "# shared\niodepth=4 ; deep\nrate=1m").unwrap();
    fs::write(dir.beside("sections.inc"), "[b]\n").unwrap();
    let write = |(number, text): (usize, &&str)| {
        let path = dir.beside(&format!("{number}.fio"));
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    texts.iter().enumerate().map(write).collect()
}

/// What `--showcmd` prints, a line per file.
fn shown(dir: &TestDir, files: &[String], fio: bool) -> Vec<String> {
    let words: Vec<&str> = ["--showcmd"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let program = if fio { dir.fio(&words) } else { dir.ferrio(&words) };
    let run = program.env("SIZE", "8k").env("DIR", "/tmp").env("KEY", "bs").run().succeeded();
    // 3.33 says among the options that one of them is deprecated.
    let lines = run.stdout.replace("Option verifysort is deprecated\n", "");
    let lines = lines.replace("Option flow_watermark is deprecated\n", "");
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn files_of_all_kinds_are_shown_as_fio_shows_them() {
    needs!("fio");
    let dir = TestDir::new();
    let files = files(&dir, TAKEN);
    let (fio, ferrio) = (shown(&dir, &files, true), shown(&dir, &files, false));
    assert_eq!(fio.len(), TAKEN.len(), "{fio:#?}");
    for ((fio, ferrio), text) in fio.iter().zip(&ferrio).zip(TAKEN) {
        same!("fio": fio, "ferrio": ferrio, "--showcmd of\n{text}");
    }
    assert_eq!(ferrio.len(), fio.len());
}

/// Command lines, with their status, which is fio's.
const COMMAND_LINES: &[(&[&str], i32)] = &[
    (&["--cmdhelp=rw", "--foo"], 0),
    (&["--enghelp=libaio", "--foo"], 0),
    (&["--foo", "--cmdhelp=rw"], 1),
    (&["-parse-only", "-name", "a", "-iodepth", "4", "--readw=write", "--numj=2", "--norandommap=0"], 0),
    (&["--parse-only", "--name=a", "--norandommap", "0"], 1),
    (&["--parse-only", "--name=a", "--userspace_reap", "--ioengine=libaio"], 1),
    (&["--parse-only", "--name=a", "--ioengine=libaio", "--userspace_reap"], 0),
    (&["--parse-only", "--name=a", "--write_bw_log"], 1),
    (&["--parse-only", "--name=a", "--iodepth_batch=4", "--rw="], 1),
    (&["--parse-only", "--name=a", "--io", "4"], 1),
];

#[test]
fn command_lines_end_both_programs_with_the_same_status() {
    needs!("fio");
    let dir = TestDir::new();
    for (words, status) in COMMAND_LINES {
        dir.fio(words).run().ended_with(*status);
        dir.ferrio(words).run().ended_with(*status);
    }
}

/// Which globals a report shows when several files have some.
#[test]
fn a_report_shows_the_globals_of_the_last_file() {
    needs!("fio");
    let dir = TestDir::new();
    let job = |name: &str, text: &str| {
        fs::write(dir.beside(name), text).unwrap();
        dir.beside(name).to_str().unwrap().to_owned()
    };
    let first = job("a.fio", "[global]\nioengine=null\nsize=4k\n[a]\n");
    let second = job("b.fio", "[global]\nioengine=null\nbs=1k\nsize=8k\n[b]\n");
    let third = job("c.fio", "[c]\nioengine=null\nsize=4k\n");
    for files in [[&first, &second], [&second, &first], [&first, &third]] {
        let words = ["--output-format=json", "--iodepth=2", files[0].as_str(), files[1].as_str()];
        let fio = dir.fio(&words).run().succeeded().json();
        let ferrio = dir.ferrio(&words).run().succeeded().json();
        same!("fio": fio.get("global options"), "ferrio": ferrio.get("global options"), "{files:?}");
    }
}

#[test]
fn mistakes_end_both_programs_alike() {
    needs!("fio");
    let dir = TestDir::new();
    for file in files(&dir, REFUSED) {
        for words in [["--parse-only", file.as_str()], ["--showcmd", &file]] {
            dir.ferrio(&words).run().ended_with(1);
        }
        dir.fio(&["--parse-only", &file]).run().ended_with(1);
    }
}

#[test]
fn numbers_inside_words_are_accepted_as_in_fio() {
    needs!("fio");
    let values = [
        "random_distribution=zoned:99/0.1:1/99.9",
        "random_distribution=zoned:50/50%:50/50%",
        "random_distribution=zoned:60/1k:40/0x10",
        "random_distribution=zoned:60x/50:40/50",
        "random_distribution=zoned:60.5/50:39.5/50",
        "random_distribution=zoned:60/120:40/50",
        "random_distribution=zoned:60/50::40/50",
        "random_distribution=zoned:60/50:40/50:",
        "random_distribution=zoned_abs:60/0.5m:40/512k",
        "random_distribution=zoned_abs:60/1mx:40/50%",
        "random_distribution=zoned_abs:60/x:40/1m",
        "random_distribution=zoned_abs:60:40/50k",
        "file_service_type=random:1.5",
        "file_service_type=roundrobin:x",
        "file_service_type=random:",
        "steadystate=iops:5.5%x",
        "steadystate=iops:5.5x",
        "steadystate=bw:5m%",
        "steadystate=iops:abc",
        "rw=read:x",
        "rw=randread:1.5",
    ];
    let dir = TestDir::new();
    at_once(&values, |value| {
        let option = format!("--{value}");
        let words = ["--parse-only", "--name=x", "--ioengine=null", "--size=1m", "--rw=randread", &option];
        let ours = dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run();
        assert_eq!(ours.status, dir.fio(&words).run().status, "{value}");
    });
}

/// fio 3.42 refuses a number that no postfix of `rw` may be; 3.33 takes any for a random kind.
#[test]
fn a_postfix_of_rw_is_a_number_unless_the_job_is_only_parsed() {
    let dir = TestDir::new();
    let run = |value: &str, more: &[&str]| {
        let option = format!("--rw={value}");
        let words = ["--as=fio", "--name=x", "--ioengine=null", "--size=8k", &option];
        dir.ferrio(&[&words[..], more].concat()).run().status
    };
    for wrong in ["randread:0", "randread:x", "read:x", "randread:4294967296"] {
        assert_eq!((run(wrong, &[]), run(wrong, &["--parse-only"])), (Some(1), Some(0)), "{wrong}");
    }
    for good in ["randread:8", "read:0", "write:-4k", "read:4k"] {
        assert_eq!(run(good, &[]), Some(0), "{good}");
    }
    assert_eq!(run("foo:8", &["--parse-only"]), Some(1));
}

/// A value of a list with numbers inside its words, good or not quite.
fn numbers_in_words(dice: &mut RandomNumbers) -> String {
    const NUMBERS: &[&str] = &[
        "", "0", "1", "5", "40", "60", "100", "120", "0.1", "1.5", "99.9", "50%", "5.5%x", "1k", "0.5m",
        "512k", "0x10", "+5", "5x", "x", "5 ",
    ];
    let number = |dice: &mut RandomNumbers| dice.of(NUMBERS).to_owned();
    let zones = |dice: &mut RandomNumbers| {
        // Mostly shares that add up.
        let shares = [["60", "40"], ["50", "50"], ["99", "1"], ["60.5", "39.5"], ["60x", "40"]];
        let mut shares = shares[dice.next() as usize % shares.len()].map(str::to_owned);
        if dice.happens(20) {
            shares[0] = number(dice);
        }
        let separator = if dice.happens(10) { "::" } else { ":" };
        let zones =
            shares.map(|share| if dice.happens(90) { format!("{share}/{}", number(dice)) } else { share });
        zones.join(separator) + if dice.happens(10) { ":" } else { "" }
    };
    match dice.next() % 9 {
        0 => format!("random_distribution=zoned:{}", zones(dice)),
        1 => format!("random_distribution=zoned_abs:{}", zones(dice)),
        2 => format!(
            "random_distribution={}:{}",
            dice.of(&["zoned", "zoned_abs"]),
            dice.of(&["", ":", ":100/50", "100/", "100"])
        ),
        3 => format!("random_distribution={}:{}", dice.of(&["zipf", "pareto", "normal"]), number(dice)),
        4 => format!(
            "file_service_type={}:{}",
            dice.of(&["random", "roundrobin", "sequential", "zipf", "gauss"]),
            number(dice)
        ),
        5 => format!("steadystate={}:{}", dice.of(&["iops", "bw", "iops_slope", "bw_slope"]), number(dice)),
        6 => format!("ignore_error={}:{},{}", dice.of(&["ENOSPC", "EFOO", "5"]), number(dice), number(dice)),
        7 => format!("{}={}-{}", dice.of(&["numa_cpu_nodes", "cpus_allowed"]), number(dice), number(dice)),
        _ => format!(
            "{}:{}",
            dice.of(&["rw=read", "rw=randwrite", "replay_skip=read", "sync_file_range=write"]),
            number(dice)
        ),
    }
}

#[test]
fn numbers_inside_generated_words_are_accepted_as_in_fio() {
    needs!("fio");
    let mut dice = RandomNumbers(33);
    let values: Vec<String> = (0..160).map(|_| numbers_in_words(&mut dice)).collect();
    let dir = TestDir::new();
    let job = |value: &String| {
        ["--name=x", "--ioengine=null", "--size=1m", "--rw=randread"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("--{value}")])
    };
    let status = |fio: bool, values: &[&String]| {
        let words: Vec<String> = values.iter().copied().flat_map(job).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = [&["--parse-only"], &words[..]].concat();
        let run = if fio { dir.fio(&words) } else { dir.ferrio(&[&["--as=fio"], &words[..]].concat()) };
        run.run().status
    };
    let (accepted, refused): (Vec<&String>, Vec<&String>) =
        values.iter().partition(|value| status(false, &[*value]) == Some(0));
    assert!(accepted.len() > 20 && refused.len() > 20, "{accepted:?} {refused:?}");
    let differing = Mutex::new(Vec::new());
    // fio takes all that ferrio takes in one start, unless they differ.
    let alone = if status(true, &accepted) == Some(0) { refused } else { values.iter().collect() };
    let parts: Vec<_> = alone.chunks(alone.len().div_ceil(4)).collect();
    at_once(&parts, |values| {
        for value in *values {
            let [ours, theirs] = [false, true].map(|fio| status(fio, &[*value]));
            if ours != theirs {
                differing.lock().unwrap().push(format!("{value}: {ours:?}, fio {theirs:?}"));
            }
        }
    });
    let differing = differing.into_inner().unwrap();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Sizes that cannot be used fail their own jobs, or the run, as in fio.
#[test]
fn sizes_that_cannot_be_used_end_the_jobs_that_they_end_in_fio() {
    needs!("fio");
    let jobs = [
        "size=1m\nbs=-1k",
        "size=1m\nbs=-4k\nnumjobs=2",
        "size=1m\nbs=-2g",
        "size=16g\nbs=-8g",
        "size=1m\nbs=4k,-1k",
        "size=1m\nbs=,-4k",
        "size=1m\nbssplit=4k/50:-4k/50",
        "size=1m\nbssplit=-4k/100",
        "size=1m\nbsrange=4k--4k",
        "bs=-4k",
        "size=1z",
        "size=1m\nio_size=1z",
        "size=1m\noffset=1z",
        "size=-1z",
        "size=-1",
        "size=-4k",
        "size=-64k\nnrfiles=2",
        "size=-50%",
        "io_size=-1k",
        "size=1m\nio_size=-8k",
        "size=1m\nio_size=-50%",
        "size=1m\nio_size=-50",
        "size=1m\noffset=-4k",
        "size=1m\noffset=-50",
        "filesize=-1\nnumber_ios=5",
        "filesize=-4k\nnrfiles=2\nsize=64k",
    ];
    let dir = TestDir::new();
    for job in jobs {
        let file = dir.job(&format!("[global]\nioengine=null\nrw=read\n[a]\n{job}\n[b]\nsize=64k\n"));
        let words = ["--minimal", file.as_str()];
        // Name, error, and how many KiB were read without one.
        let done = |run: Run| {
            let lines = run.stdout.lines().filter(|line| line.starts_with("3;"));
            let jobs: Vec<_> = lines
                .map(|line| {
                    let fields: Vec<_> = line.split(';').collect();
                    let read = if fields[4] == "0" { fields[5] } else { "" };
                    [fields[2], fields[4], read].map(str::to_owned)
                })
                .collect();
            (run.status, jobs)
        };
        let ours = done(dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run());
        assert_eq!(ours, done(dir.fio(&words).run()), "{job}");
    }
}
