use super::everywhere::EVERYWHERE;
use super::*;
use crate::testing::{jobs_of, plan_of, problems_of, refusals, texts};

#[test]
fn an_option_without_implementation_is_refused_once_however_many_jobs_inherit_it() {
    let text = "[global]\nioengine=io_uring\nsize=4k\nverify_bytchk=1\n[a]\n[b]\n";
    assert_eq!(refusals(text), ["option `verify_bytchk` is not implemented yet"]);
}

#[test]
fn a_refusal_says_what_the_option_would_have_done_and_what_to_do() {
    let problem = &problems_of("[a]\nioengine=io_uring\nsize=4k\nverify_bytchk=1\n")[0];
    assert_eq!(problem.message, "option `verify_bytchk` is not implemented yet");
    assert_eq!(problem.label, "its purpose: Comparison done by SCSI VERIFY");
    let want = "remove the option to run the job without it; only `0` is accepted";
    assert_eq!(problem.help.as_deref(), Some(want));
}

#[test]
fn what_cannot_be_here_is_refused_with_the_reason() {
    let problem = &problems_of("[a]\nioengine=io_uring\nsize=4k\nfdp=1\n")[0];
    assert!(problem.message.starts_with("option `fdp` is not available: "), "{}", problem.message);
}

#[test]
fn a_word_that_cannot_be_used_is_refused_with_the_reason() {
    let refused = refusals("[a]\nioengine=null\nsize=4k\nmem=cudamalloc\n");
    let want = "option `mem=cudamalloc` is not available: buffers in GPU memory need CUDA, which ferrio is not \
                linked with";
    assert_eq!(refused, [want]);
}

#[test]
fn an_off_value_of_an_option_without_implementation_passes() {
    assert!(plan_of("[a]\nioengine=null\nsize=4k\nverify=0\natomic=0\nzonemode=none\n").is_ok());
    assert!(plan_of("[a]\nioengine=null\nsize=4k\nlockmem=0k\nfdp=0\nnum_range=1\ngpu_dev_id=0\n").is_ok());
    let text = "[a]\nioengine=io_uring\nsize=4k\nverify_bytchk=1\n";
    assert_eq!(refusals(text), ["option `verify_bytchk` is not implemented yet"]);
}

#[test]
fn an_option_that_can_have_no_effect_is_accepted_and_said_so() {
    let plan = plan_of("[a]\nioengine=null\nsize=4k\nwrite_barrier=4\n").unwrap();
    assert_eq!(
        texts(&plan.diagnostics),
        ["option `write_barrier` has no effect here: no engine acts on the mark"]
    );
}

#[test]
fn a_global_option_that_matters_in_one_job_is_not_noted() {
    let text = "[global]\nioengine=null\nsize=4k\nrw=write\nverify_fatal=1\n[a]\nverify=md5\n[b]\n";
    assert!(plan_of(text).unwrap().diagnostics.is_empty());
    let neither = text.replace("verify=md5\n", "");
    let want = ["option `verify_fatal` has no effect here: nothing is verified without `verify`"];
    assert_eq!(texts(&plan_of(&neither).unwrap().diagnostics), want);
}

/// Options of the first job that have no effect.
fn inert_of(text: &str) -> Vec<&'static str> {
    let set = jobs_of(text);
    let mut inert = InertOptions::default();
    check(&set.jobs[0], &mut inert, &mut Findings::default());
    inert.of_all_jobs().into_iter().map(|inert| inert.option).collect()
}

fn inert(options: &str) -> Vec<&'static str> {
    inert_of(&format!("[a]\nioengine=null\nsize=64k\n{options}"))
}

#[test]
fn options_that_belong_to_another_are_inert_without_it() {
    for (options, needed) in [
        ("replay_skip=write,trim", "read_iolog=x"),
        ("replay_redirect=/dev/x", "read_iolog=x"),
        ("write_iolog_version=2", "write_iolog=x"),
        ("plids=1,3-5,65535", "fdp=1"),
        ("plid_select=random", "dataplacement=streams"),
        ("offset_align=8k", "offset=50%"),
        ("zonecapacity=1m", "zonemode=zbd"),
        ("zoneskip=1m", "zonemode=strided\nzonesize=4k"),
        ("spr_op=0.3", "sprandom=1"),
        ("dedupe_mode=working_set", "dedupe_percentage=50"),
        ("dedupe_global=1", "dedupe_percentage=50\ndedupe_mode=working_set"),
        ("buffer_compress_chunk=4k", "buffer_compress_percentage=50"),
        ("thinktime_blocks=5", "thinktime=1"),
        ("rate_cycle=500", "rate_min=1"),
        ("rate_process=poisson", "rate_iops=10"),
        ("latency_window=5", "latency_target=1ms"),
        ("flow_id=3", "flow=2"),
        ("log_offset=1", "write_lat_log=x"),
        ("log_window_value=max", "write_bw_log\nlog_avg_msec=100"),
        ("log_hist_msec=100", "write_hist_log"),
        ("log_compression_cpus=0", "write_lat_log\nlog_compression=1k"),
        ("steadystate=iops:10%", "steadystate_duration=4"),
        ("verify_backlog=8", "rw=write\nverify=md5"),
        ("verify_async_cpus=0", "verify=md5\nverify_async=1"),
        ("trim_backlog=4", "trim_percentage=5"),
        ("unlink_each_loop=1", "loops=2"),
        ("serialize_overlap=1", "rw=write\niodepth=4"),
        ("softrandommap=1", "rw=randread"),
        ("percentage_random=50", "rw=randread"),
        ("random_distribution=zipf:1.2", "rw=randread"),
        ("random_generator=lfsr", "rw=randread"),
        ("random_sequence_stride=1", "random_distribution=sequence:0,1"),
        ("error_dump=1", "continue_on_error=all"),
        ("cgroup_weight=500", "cgroup=x"),
        ("cpus_allowed_policy=split", "cpus_allowed=0"),
        ("hugepage-size=1m", "mem=mmaphuge"),
        ("num_range=4", "rw=trim"),
        ("atomic=1", "rw=write"),
    ] {
        let name = options.split('=').next().unwrap();
        assert_eq!(inert(&format!("{options}\n")), [name], "alone");
        assert!(!inert(&format!("{needed}\n{options}\n")).contains(&name), "{name} with {needed}");
    }
}

#[test]
fn options_that_another_overrules_are_inert_beside_it() {
    for (options, other) in [
        ("dedupe_percentage=50", "rw=write\nverify=md5"),
        ("iodepth_batch=4", "io_submit_mode=offload\niodepth=4"),
        ("iodepth_low=2", "io_submit_mode=offload\niodepth=4"),
    ] {
        let name = options.split('=').next().unwrap();
        assert!(inert(&format!("rw=write\n{options}\n")).is_empty(), "{name} alone");
        assert_eq!(inert(&format!("{other}\n{options}\n")), [name], "with {other}");
    }
    let kept = "rw=write\nverify=md5\noverwrite=1\ndedupe_percentage=50\n";
    assert!(inert(kept).is_empty(), "the file that is laid out has duplicates");
}

#[test]
fn options_about_what_a_job_never_does_are_inert() {
    for (option, idle, useful) in [
        ("ba=8k", "rw=read", "rw=randread"),
        ("ba=8k", "rw=trimwrite", "rw=randwrite"),
        ("norandommap", "rw=write", "rw=randwrite"),
        ("norandommap", "rw=randread\nrandom_distribution=zipf:1.2", "rw=write\nverify=md5"),
        ("rwmixread=70", "rw=read", "rw=rw"),
        ("rwmixread=0", "rw=randread", "rw=randrw"),
        ("rwmixread=100", "rw=randread", "rw=randrw"),
        ("rwmixwrite=70", "rw=trimwrite", "rw=randrw"),
        ("fsync=1", "rw=read", "rw=write"),
        ("fsync=1", "rw=randtrim", "rw=trimwrite"),
        ("fdatasync=8", "rw=randread", "rw=randrw"),
        ("sync_file_range=write:8", "rw=read", "rw=write"),
        ("end_fsync=1", "rw=read", "rw=write"),
        ("end_syncfs=1", "rw=trim", "rw=trimwrite"),
        ("buffer_pattern=0xab", "rw=read", "rw=write"),
        ("buffer_pattern=0xab", "rw=trim", "rw=read\nioengine=psync"),
        ("zero_buffers", "rw=randread", "rw=randrw"),
        ("refill_buffers", "rw=read\nioengine=psync", "rw=write"),
        ("buffer_compress_percentage=50", "rw=read", "rw=read\nioengine=libaio"),
        ("dedupe_percentage=50", "rw=read", "rw=write"),
        ("buffer_compress_chunk=0", "rw=write", "rw=write\nbuffer_compress_percentage=50"),
        ("continue_on_error=write", "rw=read", "rw=write"),
        ("continue_on_error=read", "rw=write", "rw=write\nverify=md5"),
        ("continue_on_error=verify", "rw=read", "rw=read\nverify=md5"),
        ("continue_on_error=write", "rw=randread", "rw=randtrim"),
        ("continue_on_error=io", "rw=read\nioengine=cpuio", "rw=read"),
        ("ignore_error=,EIO", "rw=read", "rw=write"),
        ("ignore_error=EIO", "rw=trim", "rw=rw"),
    ] {
        let name = option.split('=').next().unwrap();
        assert!(inert(&format!("{idle}\n{option}\n")).contains(&name), "{option} with {idle}");
        assert!(!inert(&format!("{useful}\n{option}\n")).contains(&name), "{option} with {useful}");
        let replay = format!("{option}\nread_iolog=x\n");
        if ["fsync", "fdatasync", "sync_file_range", "norandommap", "rwmixread", "rwmixwrite", "ba"]
            .contains(&name)
        {
            assert!(inert(&replay).contains(&name), "the log replaces {option}");
        } else if !["buffer_compress_chunk"].contains(&name) && !option.ends_with("=verify") {
            assert!(!inert(&replay).contains(&name), "the log may need {option}");
        }
    }
    assert!(inert("continue_on_error=0\nignore_error=\n").is_empty());
}

/// Options of a database or a profile have their tables in `database/options.rs` and in the catalogue.
#[test]
fn each_option_that_works_says_where_it_does_not_matter_or_why_it_always_does() {
    let in_a_table = |opt| TABLES.into_iter().flatten().any(|row| row.opts.contains(&opt));
    let everywhere = |opt| EVERYWHERE.iter().filter(|(_, opts)| opts.contains(&opt)).count();
    for row in ferrio_jobfile::rows() {
        let answers = usize::from(in_a_table(row.opt)) + everywhere(row.opt);
        let asked = row.status == OptionStatus::Works
            && matches!(row.scope, OptionScope::Core | OptionScope::Engines(_));
        assert!(
            answers == 1 || (!asked && answers == 0) || (!asked && in_a_table(row.opt)),
            "{}: {answers}",
            row.name
        );
    }
}

#[test]
fn options_of_files_and_measures_are_inert_where_there_is_nothing_to_do() {
    for (option, idle, useful) in [
        ("overwrite=1", "rw=trim", "rw=write"),
        ("allow_mounted_write=1", "rw=read", "rw=randtrim"),
        ("allow_layout_overwrite=1", "rw=write", "rw=read"),
        ("openfiles=1", "nrfiles=1", "nrfiles=2"),
        ("overwrite=1", "rw=read", "rw=trimwrite"),
        ("overwrite=1", "rw=randrw", "rw=randwrite"),
        ("file_service_type=random", "nrfiles=1", "nrfiles=2"),
        ("file_service_type=sequential", "filename=x", "filename=x:y"),
        // The only file starts again at its end.
        ("file_service_type=roundrobin:8", "rw=randread", "nrfiles=2\nfile_service_type=zipf"),
        ("sync=1", "rw=read", "rw=write"),
        ("sync=dsync", "rw=randread", "rw=trim"),
        ("sync=1", "rw=read\nioengine=sync", "rw=read\nioengine=falloc"),
        ("fsync_on_close=1", "rw=read", "rw=write"),
        ("fsync_on_close=1", "rw=trim", "rw=trimwrite"),
        ("bs_unaligned", "bs=4k,8k", "bsrange=4k-8k"),
        ("bs_unaligned", "bssplit=4k/100", "bssplit=4k/50:6k/50"),
        ("bs_unaligned", "rw=read", "rw=write\nverify=md5"),
        ("percentile_list=50", "clat_percentiles=0", "lat_percentiles=1"),
        ("percentile_list=50", "gtod_reduce=1", "slat_percentiles=1"),
        ("disable_clat=1", "gtod_reduce=1", "rw=read"),
        ("disable_bw_measurement=1", "write_lat_log=x", "write_bw_log=x"),
    ] {
        let name = option.split('=').next().unwrap();
        assert_eq!(inert(&format!("{idle}\n{option}\n")), [name], "{option} with {idle}");
        assert!(inert(&format!("{useful}\n{option}\n")).is_empty(), "{option} with {useful}");
    }
}

#[test]
fn zero_is_a_value_of_a_number_that_has_another_default() {
    for option in ["rwmixread=0", "percentage_random=0", "dedupe_working_set_percentage=0"] {
        let name = option.split('=').next().unwrap();
        assert_eq!(inert(&format!("rw=read\n{option}\n")), [name]);
    }
    assert!(inert("rw=read\nfsync=0\nverify_fatal=0\nscramble_buffers=0\nverify_backlog=0\n").is_empty());
}

#[test]
fn job_files_of_the_repository_have_no_option_without_effect() {
    let jobs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jobs");
    for entry in std::fs::read_dir(jobs).unwrap() {
        let path = entry.unwrap().path();
        let set = jobs_of(&std::fs::read_to_string(&path).unwrap());
        let mut inert = InertOptions::default();
        set.jobs.iter().for_each(|job| check(job, &mut inert, &mut Findings::default()));
        let found: Vec<_> = inert.of_all_jobs().into_iter().map(|inert| inert.to_string()).collect();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn rounds_of_checks_need_a_list_of_written_blocks_and_a_check() {
    let write = "rw=write\nverify=md5\nverify_backlog=8\n";
    for idle in ["do_verify=0\n", "experimental_verify=1\n", "verify_only\n"] {
        assert_eq!(inert(&format!("{write}{idle}")), ["verify_backlog"], "{idle}");
    }
    assert_eq!(inert(&write.replace("write", "read")), ["verify_backlog"]);
    assert!(inert(write).is_empty());
}

#[test]
fn options_of_checks_are_inert_where_nothing_is_checked() {
    for (job, idle) in [
        ("rw=write\nverify=md5\ndo_verify=0\n", "verify_async=2"),
        ("rw=write\nverify=md5\ndo_verify=0\n", "verify_dump=1"),
        ("rw=randrw\nverify=md5\ndo_verify=0\n", "verify_fatal=1"),
        ("rw=write\nverify=md5\ndo_verify=0\n", "verify_state_load=1"),
        ("rw=write\nverify=md5\ndo_verify=0\n", "verify_policy=fsynced"),
        ("rw=write\nverify=md5\ndo_verify=0\n", "verify_header_seed=1"),
        ("rw=write\nverify=null\n", "verify_dump=1"),
        ("rw=write\nverify=md5\nverify_pattern=0xff\n", "verify_header_seed=1"),
        ("rw=write\nverify=pattern\nverify_pattern=0xff\n", "verify_header_seed=1"),
        ("rw=write\nverify=pattern\nverify_pattern=0xff\n", "verify_write_sequence=1"),
        ("rw=write\nverify=pattern\nverify_pattern=0xff\n", "verify_offset=512"),
        ("rw=write\nverify=pattern\nverify_pattern=0xff\n", "verify_interval=512"),
        ("rw=read\nverify=md5\n", "verify_write_sequence=1"),
        ("rw=read\nverify=md5\n", "verify_policy=fsynced"),
        ("rw=write\nverify=md5\ntime_based\nruntime=1\nverify_backlog=4\n", "verify_write_sequence=1"),
        ("rw=write\nverify=md5\nbsrange=4k-8k\n", "verify_write_sequence=1"),
        ("rw=write\nverify=md5\nbs=4k,8k\n", "verify_write_sequence=1"),
        ("rw=write\n", "verify_write_sequence=1"),
        ("rw=trim\n", "verify=md5"),
    ] {
        let name = idle.split('=').next().unwrap();
        assert_eq!(inert(&format!("{job}{idle}\n")), [name], "{job}");
    }
    for useful in [
        "rw=write\nverify_async=2\nverify_dump=1\nverify_fatal=1\nverify_state_load=1\n",
        "rw=read\nverify_async=2\nverify_dump=1\nverify_fatal=1\ndo_verify=0\nverify_header_seed=1\n",
        "rw=write\nverify_header_seed=1\nverify_write_sequence=1\nverify_offset=512\nverify_interval=1k\n",
        "rw=write\ndo_verify=0\nverify_policy=fsynced\nverify_state_save=1\n",
        "rw=write\nverify=pattern\nverify_pattern=0xff\nverify_interval=512\nverify_dump=1\n",
        "rw=trimwrite\n",
    ] {
        let verify = if useful.contains("\nverify=") { "" } else { "verify=md5\n" };
        assert!(
            inert(&format!("{verify}{useful}")).is_empty(),
            "{useful}: {:?}",
            inert(&format!("{verify}{useful}"))
        );
    }
}

#[test]
fn options_of_engines_are_inert_without_their_leader() {
    assert_eq!(inert_of("[a]\nioengine=libaio\ncmdprio_class=1\n"), ["cmdprio_class"]);
    assert!(inert_of("[a]\nioengine=libaio\ncmdprio_class=1\ncmdprio_percentage=10\n").is_empty());
    assert_eq!(inert_of("[a]\nioengine=pvsync2\nhipri_percentage=10\nuncached=1\n"), ["hipri_percentage"]);
    assert_eq!(inert_of("[a]\nioengine=io_uring\nuncached=1\ndirect=1\n"), ["uncached"]);
    assert_eq!(inert_of("[a]\nioengine=io_uring\nreadfua=1\n"), ["readfua"]);
}

#[test]
fn a_log_of_histograms_needs_an_interval() {
    assert_eq!(inert("write_hist_log=x\n"), ["write_hist_log"]);
}

#[test]
fn values_that_ask_for_nothing_are_not_listed() {
    assert!(
        inert("zoneskip=0\nthinktime_blocks=1\nverify_async=0\nreplay_scale=1\nlog_offset=0\n").is_empty()
    );
}

#[test]
fn an_inert_option_without_implementation_does_not_stop_a_run() {
    let plan = plan_of("[a]\nioengine=null\nsize=64k\nreplay_skip=write\nplids=1\n").unwrap();
    let want = [
        "option `replay_skip` has no effect here: nothing is replayed without `read_iolog`",
        "option `plids` has no effect here: writes carry placement ids only with `fdp` or `dataplacement`",
    ];
    assert_eq!(texts(&plan.diagnostics), want);
}

#[test]
fn reasons_are_phrases_without_an_end() {
    for row in TABLES.into_iter().flatten() {
        assert!(row.reason.split(' ').count() >= 4 && !row.reason.ends_with('.'), "{}", row.reason);
    }
}
