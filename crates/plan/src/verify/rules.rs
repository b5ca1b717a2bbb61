//! Rules about jobs that verify: contradictory options are refused, and a check that would never run is noted.

use ferrio_job::{
    Direction, Distribution, Durability, JobSpec, OpenSync, Overwrites, RandomOrder, RwPostfix, Verify,
    VerifyPolicy,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_verify::{SpecError, Verifier, VerifySpec};

use crate::as_written::{asks, note, refuse};
use crate::backlog;
use crate::findings::Findings;

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    verify_intervals_fit_the_blocks(job, spec, findings);
    warn_of_partly_overwritten_blocks(job, spec, findings);
    warn_of_shared_files(job, spec, findings);
    warn_of_unreached_read_back(job, spec, findings);
    warn_of_missing_syncs(job, spec, findings);
    note_unsaved_state(job, spec, findings);
    refuse_endless_verify_only(job, spec, findings);
    backlog::apply_rules(job, spec, findings);
}

fn verify_intervals_fit_the_blocks(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let range = |direction| (spec.block[direction].min, spec.block[direction].max);
    let reads = spec.rw.does(Direction::Read).then(|| range(Direction::Read));
    let writes = range(Direction::Write);
    let Some(verify) = &mut spec.verify else { return };
    let given = Some(verify.interval).filter(|&bytes| bytes > 0);
    let interval = ferrio_verify::resolve_interval(given, writes, reads);
    // With `bs_unaligned`, blocks of any length are verified as wholes, so a header must have room for the longest length.
    let longest = if spec.bs_unaligned { writes.1.max(reads.map_or(0, |(_, max)| max)) } else { 0 };
    verify.interval = u32::try_from(interval).unwrap_or(u32::MAX);
    let verify = verify.clone();
    let has_blocks = spec.rw.does(Direction::Read) || spec.rw.does(Direction::Write);
    if verify.method.has_header() && has_blocks && interval.max(longest) > u32::MAX.into() {
        let message = format!(
            "blocks of {} bytes cannot be verified as wholes; the maximum is {}",
            interval.max(longest),
            u32::MAX
        );
        let help = "set `verify_interval` to less than 4 GiB and a divisor of all block sizes, or use smaller blocks";
        refuse(findings, job, &[Opt::Verify], "verify-interval-too-large", message, help);
    }
    if let Err(error) = VerifySpec::of(spec, &verify).and_then(Verifier::new) {
        let (opts, code, message, help): (&[Opt], _, _, _) = match error {
            SpecError::OffsetBeyondInterval { .. } => (
                &[Opt::VerifyOffset, Opt::VerifyInterval],
                "verify-offset-beyond-interval",
                "cannot offset verify header beyond the verify interval".to_owned(),
                error.to_string(),
            ),
            SpecError::NoDigest { .. } => (
                &[Opt::VerifyLayout],
                "verify-layout-without-digest",
                error.to_string(),
                "use `verify=sha3-512`, or leave out `verify_layout`".to_owned(),
            ),
            SpecError::OffsetInHeader { .. } => (
                &[Opt::VerifyOffset],
                "verify-offset-in-header",
                error.to_string(),
                "remove `verify_offset`, or use a larger one".to_owned(),
            ),
            SpecError::Pattern(_) => (
                &[Opt::VerifyPattern],
                "invalid-verify-pattern",
                error.to_string(),
                "write at least one byte, and `%o` only where its eight bytes fit".to_owned(),
            ),
            SpecError::PatternMissing(_) => (
                &[Opt::Verify],
                "verify-without-pattern",
                error.to_string(),
                "set the expected bytes with `verify_pattern`".to_owned(),
            ),
        };
        let opts = if opts.iter().any(|&opt| job.options.is_given(opt)) { opts } else { &[Opt::Verify] };
        refuse(findings, job, opts, code, message, &help);
    }
}

/// A block that a larger or smaller one overwrites in part is not verified. fio warns only if options of the job turn the map off, but
/// then of any job with several block sizes, whatever it writes.
fn warn_of_partly_overwritten_blocks(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.verify.is_none() {
        return;
    }
    let map_is_off = asks(job, Opt::Norandommap) || spec.block.0.iter().any(|block| block.align != block.min);
    let loses_blocks = spec.rw.is_random()
        && spec.writes_data()
        && spec.overwrites() == Overwrites::Blocks
        && !spec.writes_have_one_size();
    let limited = "norandommap given for variable block sizes, verify limited";
    let only_lost = spec.compat.warns_only_of_lost_checks;
    let found = match if only_lost { loses_blocks } else { map_is_off && !spec.has_one_block_size() } {
        false => None,
        true if map_is_off => Some((Opt::Norandommap, limited.to_owned())),
        true => option_that_overlaps_blocks(spec).map(|opt| {
            let text = format!(
                "blocks of several sizes overwrite parts of each other with `{}`, and what is left of a block is not verified. Use one \
                 block size",
                opt.row().name
            );
            (opt, text)
        }),
    };
    if let Some((opt, text)) = found {
        findings.warn(note(job, &[opt], "verify-limited", text));
    }
}

/// The option that lets the writes of a random job overlap blocks of another size.
fn option_that_overlaps_blocks(spec: &JobSpec) -> Option<Opt> {
    if spec.distribution != Distribution::Uniform {
        Some(Opt::RandomDistribution)
    } else if spec.random_order != RandomOrder::Drawn {
        Some(Opt::RandomGenerator)
    } else if matches!(spec.rw_postfix, RwPostfix::Every(n) if n > 1) {
        Some(Opt::Rw)
    } else if spec.percentage_random.0.iter().any(|&percent| percent < 100) {
        Some(Opt::PercentageRandom)
    } else {
        None
    }
}

fn warn_of_shared_files(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let clones: u64 = job.options.value(Opt::Numjobs);
    let read_back = spec.verify.as_ref().is_some_and(|verify| verify.read_back);
    if read_back && spec.rw.does(Direction::Write) && clones > 1 && !file_names_are_unique(job) {
        let text = "multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.";
        findings.warn(note(job, &[Opt::Verify], "verify-shared-file", text));
    }
}

/// True when file names distinguish jobs, clones and files.
fn file_names_are_unique(job: &Job) -> bool {
    let format = job.options.value::<String>(Opt::FilenameFormat).to_ascii_lowercase();
    !job.options.is_given(Opt::Filename)
        && job.options.value(Opt::UniqueFilename)
        && ["$jobname", "$jobnum", "$filenum"].iter().all(|part| format.contains(part))
}

/// With `verify_only`, the write phase performs no I/O; with `time_based`, it would never end.
fn refuse_endless_verify_only(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.only_verifies() && spec.limits.time_based {
        let message = "verify_only with time_based would never begin to verify";
        let help = "remove `time_based`: the job then reads back what one run without it writes";
        refuse(findings, job, &[Opt::TimeBased, Opt::VerifyOnly], "verify-only-without-end", message, help);
    }
}

/// fio warns only if the job does not read, although the reads of a mix are not verified.
fn warn_of_unreached_read_back(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let waits = |verify: &Verify| verify.read_back && !verify.backlog.is_active();
    let read_back = spec.verify.as_ref().is_some_and(waits);
    if !read_back || !spec.rw.does(Direction::Write) || !spec.limits.time_based {
        return;
    }
    if !spec.rw.does(Direction::Read) {
        let text = "verification read phase will never start because write phase uses all of runtime";
        findings.warn(note(job, &[Opt::Verify], "verify-never-runs", text));
    } else if spec.compat.warns_of_missing_checks {
        let text = "nothing is verified: blocks are read back after the mix of reads and writes, which takes all of `runtime` with `time_based`. \
                    Remove `time_based`, or add `verify_backlog`, which checks blocks while the job runs";
        findings.warn(note(job, &[Opt::Verify, Opt::TimeBased], "verify-checks-nothing", text));
    }
}

/// Without a sync, `verify_policy=fsynced` checks nothing, and a state covers nothing. fio does not say so.
fn warn_of_missing_syncs(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let Some(verify) = &spec.verify else { return };
    let fsynced = verify.policy == VerifyPolicy::Fsynced && !verify.only && spec.rw.does(Direction::Write);
    if !fsynced || !spec.compat.warns_of_missing_checks || syncs_to_the_device(spec) {
        return;
    }
    let syncs_ranges = spec.replay.is_none() && spec.durability.sync_file_range.flags != 0;
    let nothing = match (verify.read_back && !syncs_ranges, verify.saves_state) {
        (true, true) => "nothing is verified, and the verify state covers no write",
        (true, false) => "nothing is verified",
        (false, true) => "the verify state covers no write",
        (false, false) => return,
    };
    let flag = if spec.opening.open_sync == OpenSync::None { "" } else { " (`sync` does not count)" };
    let text = format!(
        "{nothing}: verify_policy=fsynced counts only writes that fsync or fdatasync has covered, and the job calls neither{flag}. Add \
         `fsync`, `fdatasync` or `end_fsync`, or remove `verify_policy`"
    );
    findings.warn(note(job, &[Opt::VerifyPolicy], "verify-checks-nothing", text));
}

fn note_unsaved_state(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !spec.compat.saves_states_of_checks && spec.only_verifies() && asks(job, Opt::VerifyStateSave) {
        let text = "`verify_state_save` saves nothing with `verify_only`: the state of the job that wrote stays as it is";
        findings.note(note(job, &[Opt::VerifyStateSave], "option-without-effect", text));
    }
}

/// True when something that the job does waits until data is on the device.
fn syncs_to_the_device(spec: &JobSpec) -> bool {
    let Durability { fsync, fdatasync, end_fsync, fsync_on_close, end_syncfs, .. } = spec.durability;
    let meanwhile = match &spec.replay {
        Some(log) => log.summary.syncs > 0,
        None => fsync > 0 || fdatasync > 0,
    };
    meanwhile || end_fsync || fsync_on_close || end_syncfs
}

#[cfg(test)]
mod tests {
    use crate::testing::{first_refusal, good_plan, good_plan_as_fio, jobs_of, notes_of, null, spec_of};

    #[test]
    fn an_interval_that_does_not_divide_the_blocks_becomes_their_common_divisor() {
        let interval = |text: &str| spec_of(&null(text)).verify.unwrap().interval;
        assert_eq!(interval("rw=write\nverify=md5\nverify_interval=1000\n"), 4096);
        assert_eq!(interval("rw=write\nverify=md5\nbsrange=8k-64k\n"), 8192);
        assert_eq!(interval("rw=write\nverify=md5\nbs=16k\nverify_interval=4k\n"), 4096);
    }

    #[test]
    fn a_header_beyond_its_interval_is_refused() {
        let want = "cannot offset verify header beyond the verify interval";
        assert_eq!(first_refusal("rw=write\nbs=4k\nverify=md5\nverify_offset=4090\n"), want);
    }

    #[test]
    fn a_block_is_verified_as_a_whole_only_if_a_header_has_room_for_its_length() {
        let want = "blocks of 4294967296 bytes cannot be verified as wholes; the maximum is 4294967295";
        assert_eq!(first_refusal("rw=write\nsize=8g\nbs=4g\nverify=md5\n"), want);
        let unaligned = "rw=write\nsize=8g\nbsrange=4k-4g\nbs_unaligned=1\nverify=md5\n";
        assert_eq!(first_refusal(unaligned), want);
        for good in [
            "rw=write\nsize=8g\nbs=4g\nverify=md5\nverify_interval=1m\n",
            "rw=write\nsize=8g\nbs=4g\nverify=pattern\nverify_pattern=7\n",
            "rw=write\nsize=8g\nbsrange=4k-4g\nverify=md5\n",
            "rw=trim\nsize=8g\nbs=4g\nverify=md5\n",
        ] {
            assert!(spec_of(&null(good)).verify.is_some(), "{good}");
        }
    }

    #[test]
    fn blocks_of_several_sizes_without_a_map_are_warned_of() {
        let norandommap = "norandommap given for variable block sizes, verify limited";
        let warnings = |options: &str| {
            let job = format!("rw=randwrite\nverify=md5\n{options}");
            let limits = |notes: Vec<ferrio_job::Diagnostic>| {
                let of_sizes = |note: &ferrio_job::Diagnostic| note.code == "verify-limited";
                notes
                    .iter()
                    .filter(|note| of_sizes(note))
                    .map(|note| note.message.clone())
                    .collect::<String>()
            };
            let set = jobs_of(&null(&job));
            (limits(good_plan(&set).diagnostics), limits(good_plan_as_fio(&set).diagnostics))
        };
        let both = (norandommap.to_owned(), norandommap.to_owned());
        assert_eq!(warnings("norandommap\nbsrange=4k-8k\n"), both);
        assert_eq!(warnings("ba=2k\nbsrange=4k-8k\n"), both);
        // All writes are of one size.
        assert_eq!(warnings("norandommap\nbs=4k,8k\n"), (String::new(), norandommap.to_owned()));
        for good in [
            "norandommap\n",
            "bsrange=4k-8k\n",
            "random_generator=lfsr\nbsrange=4k-8k\n",
            "random_generator=lfsr\nbssplit=4k/50:8k/50\nverify_backlog=8\n",
            "random_generator=lfsr\nbs=4k,8k\nverify_pattern=7\n",
            "random_generator=lfsr\nbsrange=4k-8k\nverify_pattern=7\n",
            "random_generator=tausworthe64\nbsrange=4k-8k\nbs_unaligned=1\n",
            "random_distribution=zipf:1.1\nbs=4k,8k\n",
        ] {
            assert_eq!(warnings(good), (String::new(), String::new()), "{good}");
        }
        for (option, name) in [
            ("random_distribution=zipf:1.1", "random_distribution"),
            ("random_generator=lfsr\nbs_unaligned=1", "random_generator"),
            ("random_generator=lfsr\nverify=pattern\nverify_pattern=7", "random_generator"),
            ("rw=randwrite:8", "rw"),
            ("percentage_random=50", "percentage_random"),
        ] {
            let (ferrio, fio) = warnings(&format!("bsrange=4k-8k\n{option}\n"));
            assert!(
                ferrio.starts_with("blocks of several sizes") && ferrio.contains(&format!("`{name}`")),
                "{ferrio}"
            );
            assert_eq!(fio, "", "{option}");
        }
    }

    #[test]
    fn clones_that_verify_files_they_share_are_warned_of() {
        let warned = |options: &str| {
            let notes = crate::testing::notes(&null(&format!("rw=write\nverify=md5\n{options}")));
            notes.iter().any(|note| note.starts_with("multiple writers"))
        };
        assert!(warned("numjobs=2\nfilename=f\n"));
        assert!(warned("numjobs=2\nfilename_format=$jobname.$filenum\n"));
        assert!(!warned("numjobs=2\n"));
        assert!(!warned("numjobs=2\nfilename_format=$filenum-$JOBNAME-$jobnum\n"));
        assert!(!warned("filename=f\n"));
        assert!(warned("numjobs=2\nunique_filename=0\n"));
    }

    /// Warnings that nothing is checked.
    fn nothing(options: &str) -> Vec<String> {
        let notes = notes_of(&format!("verify=md5\n{options}"));
        notes
            .into_iter()
            .filter(|note| note.contains("nothing is verified") || note.contains("no write"))
            .collect()
    }

    #[test]
    fn a_mix_that_takes_all_the_time_is_warned_of_unless_the_program_is_called_fio() {
        let mix = "rw=randrw\ntime_based\nruntime=1\n";
        assert!(nothing(mix)[0].contains("Remove `time_based`, or add `verify_backlog`"));
        for good in ["verify_backlog=8\n", "do_verify=0\n", "time_based=0\n"] {
            assert!(nothing(&format!("{mix}{good}")).is_empty(), "{good}");
        }
        let set = jobs_of(&null(&format!("verify=md5\n{mix}")));
        assert_eq!(good_plan_as_fio(&set).diagnostics, []);
    }

    #[test]
    fn checks_of_synced_writes_need_a_sync() {
        let fsynced = "rw=write\nverify_policy=fsynced\n";
        let only = |options: &str| nothing(&format!("{fsynced}{options}")).concat();
        assert!(only("").starts_with("nothing is verified: verify_policy=fsynced"), "{}", only(""));
        assert!(only("sync=1\n").contains("calls neither (`sync` does not count)"));
        let saves = only("verify_state_save=1\n");
        assert!(saves.starts_with("nothing is verified, and the verify state covers no write: "), "{saves}");
        let ranges = "sync_file_range=write:4\n";
        assert!(
            only(&format!("{ranges}verify_state_save=1\n")).starts_with("the verify state covers no write")
        );
        for good in
            ["fsync=4\n", "fdatasync=4\n", "end_fsync=1\n", "fsync_on_close=1\n", ranges, "verify_only=1\n"]
        {
            assert_eq!(only(good), "", "{good}");
        }
        let set = jobs_of(&null(&format!("verify=md5\n{fsynced}")));
        assert_eq!(good_plan_as_fio(&set).diagnostics, []);
    }

    #[test]
    fn a_check_replaces_no_state_unless_the_program_is_called_fio() {
        let check = "rw=write\nverify=md5\nverify_only=1\nverify_state_save=1\n";
        assert!(!spec_of(&null(check)).verify.unwrap().saves_state);
        assert!(notes_of(check)[0].starts_with("`verify_state_save` saves nothing with `verify_only`"));
        assert!(notes_of(&check.replace("save=1", "save=0")).is_empty());
        let plan = good_plan_as_fio(&jobs_of(&null(check)));
        assert!(plan.jobs[0].spec.verify.as_ref().unwrap().saves_state && plan.diagnostics.is_empty());
    }

    #[test]
    fn a_write_phase_that_takes_all_the_time_is_warned_of() {
        let warned = |options: &str| {
            let notes = notes_of(&format!("rw=write\nverify=md5\n{options}"));
            notes.iter().any(|note| note.starts_with("verification read phase will never start"))
        };
        assert!(warned("time_based\nruntime=1\n"));
        assert!(!warned("runtime=1\n") && !warned("time_based\nruntime=1\ndo_verify=0\n"));
        assert!(!warned("time_based\nruntime=1\nverify_backlog=8\n"));
    }
}
