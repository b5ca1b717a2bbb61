//! One job: from its options to the resolved spec, everything but files, numbers and groups.

use std::time::Duration;

use ferrio_job::{Choice, Diagnostic, Origin, VerifyMethod};
use ferrio_jobfile::{Given, Job, Opt, Options, Row, Value, whole_number};

use crate::findings::Findings;
use crate::sizes::{Extent, Sizing};
use crate::{
    Machine, PlanOptions, blocks, choices, contents, engine, files, life_cycle, logs, measure, numa, offload,
    pace, priorities, restraint, rules, steadystate, tolerance, zones,
};
use ferrio_job::{
    Depth, Durability, Fadvise, Fallocate, JobSpec, Limits, Measure, OpenSync, ReadWrite, RwPostfix, Seeding,
    Sequencer, SyncFileRange, Verify,
};

/// A job before its clones are made.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) spec: JobSpec,
    pub(crate) sizing: Sizing,
}

/// Resolves a job, or says why not.
pub(crate) fn resolve(
    job: &Job,
    machine: &Machine,
    plan: &PlanOptions,
    findings: &mut Findings,
) -> Option<Draft> {
    let engine = engine::kind(job, findings)?;
    let options = &job.options;
    let base = JobSpec::bare(options.text(Opt::Name).unwrap_or(&job.name));
    let switch = |opt, default| options.switch(opt).unwrap_or(default);
    let rw = read_write(options);
    let start_clock = measure::clock(options, Opt::JobStartClockId, findings);
    let measure = Measure { start_clock, ..measure::measure(job, base.measure.clone()) };
    let block = blocks::sizes(options);
    let (random_order, generator) = choices::generator(options);
    let mut spec = JobSpec {
        description: options.text(Opt::Description).map(|text| cut(text, 255)),
        group_reporting: switch(Opt::GroupReporting, false),
        thread: switch(Opt::Thread, false),
        life: life_cycle::life_cycle(options),
        tolerance: tolerance::tolerance(options),
        rw,
        rw_postfix: rw_postfix(options, rw, findings),
        sequencer: match word(options, Opt::RwSequencer) {
            Some("identical") => Sequencer::Identical,
            _ => Sequencer::Sequential,
        },
        rwmixread: rwmixread(options),
        split: blocks::shares(options, &block, findings),
        block: block.clone(),
        bs_unaligned: blocks::unaligned(job, findings),
        zones: zones::strided(job, findings),
        random_map: !switch(Opt::Norandommap, false),
        soft_random_map: switch(Opt::Softrandommap, false),
        generator,
        random_order,
        distribution: choices::distribution(options, kb_base(options)),
        percentage_random: choices::percentage_random(options),
        bs_is_seq_rand: switch(Opt::BsIsSeqRand, false),
        file_append: switch(Opt::FileAppend, false),
        seeding: seeding(options),
        buffer: contents::content(job),
        memory: crate::memory::memory(options),
        engine,
        engine_options: engine::options(job, engine),
        depth: depth(options),
        offload: offload::is_wanted(job, engine, findings),
        serialize_overlap: switch(Opt::SerializeOverlap, false),
        direct: direct(options),
        open_sync: match word(options, Opt::Sync) {
            Some("sync") => OpenSync::Sync,
            Some("dsync") => OpenSync::Dsync,
            _ => OpenSync::None,
        },
        invalidate: switch(Opt::Invalidate, base.invalidate),
        fadvise: fadvise(options),
        file_service: files::service(options),
        openfiles: files::most_open(options),
        verify: verify(options),
        limits: limits(options),
        rates: pace::rates(options, rw, &block, findings),
        think: pace::think(options),
        latency_target: restraint::latency_target(options),
        max_latency: restraint::max_latency(options),
        flow: restraint::flow(options),
        durability: durability(options),
        fill_device: switch(Opt::FillDevice, false),
        overwrite: switch(Opt::Overwrite, false),
        fallocate: fallocate(options),
        create_fsync: switch(Opt::CreateFsync, base.create_fsync),
        create_serialize: switch(Opt::CreateSerialize, base.create_serialize),
        create_on_open: switch(Opt::CreateOnOpen, false),
        create_only: switch(Opt::CreateOnly, false),
        readonly: plan.readonly,
        unlink: switch(Opt::Unlink, false),
        cpus_allowed: options.cpus(Opt::CpusAllowed).unwrap_or_default(),
        priorities: priorities::priorities(job, engine),
        nice: options.int(Opt::Nice).and_then(|n| i32::try_from(n).ok()).unwrap_or(0),
        steadystate: steadystate::steadystate(job, &measure, findings),
        measure,
        logs: logs::logs(job, &base.name, findings),
        iolog: measure::iolog(options),
        units: measure::units(options, base.units),
        options: echo(&job.own),
        ..base
    };
    let sizing = sizing(job, &spec, findings);
    rules::apply(job, &mut spec, &sizing, machine, findings);
    numa::place(job, &mut spec, machine, findings);
    Some(Draft { spec, sizing })
}

/// Options as the report repeats them.
pub(crate) fn echo(given: &[Given]) -> Vec<(String, String)> {
    given.iter().map(|given| (given.opt.row().name.to_owned(), given.text.clone())).collect()
}

/// Where the value of an option was given last.
pub(crate) fn value_origin(options: &Options, opt: Opt) -> Origin {
    options.given(opt).map_or(Origin::Builtin, |given| given.value_origin.clone())
}

fn word(options: &Options, opt: Opt) -> Option<&str> {
    options.word(opt).map(|choice| choice.word)
}

/// A 32-bit count; what does not fit is the largest one.
fn count(options: &Options, opt: Opt) -> Option<u32> {
    options.int(opt).map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX))
}

/// Bytes of a `k` in values of this job.
pub(crate) fn kb_base(options: &Options) -> u64 {
    if word(options, Opt::KbBase) == Some("1000") { 1000 } else { 1024 }
}

pub(crate) fn read_write(options: &Options) -> ReadWrite {
    match word(options, Opt::Rw) {
        Some("write") => ReadWrite::Write,
        Some("trim") => ReadWrite::Trim,
        Some("randread") => ReadWrite::RandRead,
        Some("randwrite") => ReadWrite::RandWrite,
        Some("randtrim") => ReadWrite::RandTrim,
        Some("rw") => ReadWrite::Mixed,
        Some("randrw") => ReadWrite::RandMixed,
        Some("trimwrite") => ReadWrite::TrimWrite,
        Some("randtrimwrite") => ReadWrite::RandTrimWrite,
        _ => ReadWrite::Read,
    }
}

fn rw_postfix(options: &Options, rw: ReadWrite, findings: &mut Findings) -> RwPostfix {
    let argument = options.word(Opt::Rw).and_then(|choice| choice.argument.map(str::to_owned));
    let Some(text) = argument else { return RwPostfix::None };
    match whole_number(Opt::Rw, &text, kb_base(options)) {
        Some(every) if rw.is_random() => match u32::try_from(every) {
            Ok(every) if every > 0 => return RwPostfix::Every(every),
            _ => {}
        },
        Some(0) => return RwPostfix::None,
        Some(hole) => return RwPostfix::Hole(hole),
        None => {}
    }
    let message = format!("{} postfix parsing failed: `{text}`", rw.word());
    let help = if rw.is_random() {
        "write a count from 1 to 4294967295"
    } else {
        "write a number of bytes, like `-4k`"
    };
    let problem = Diagnostic::error(message, value_origin(options, Opt::Rw)).code("invalid-rw-postfix");
    findings.refuse(problem.help(help));
    RwPostfix::None
}

/// `rwmixread` and `rwmixwrite` are two names for one number; the last one given counts.
fn rwmixread(options: &Options) -> u32 {
    match options.last_of(&[Opt::Rwmixread, Opt::Rwmixwrite]) {
        Some(Given { opt, value: Value::Int(percent), .. }) => {
            let percent = u32::try_from(*percent).unwrap_or(0).min(100);
            if *opt == Opt::Rwmixread { percent } else { 100 - percent }
        }
        _ => 50,
    }
}

/// `direct` and `buffered` are one switch; the last one given counts.
fn direct(options: &Options) -> bool {
    match options.last_of(&[Opt::Direct, Opt::Buffered]) {
        Some(Given { opt, value: Value::Switch(on), .. }) => (*opt == Opt::Direct) == *on,
        _ => false,
    }
}

/// A given seed is used whatever `randrepeat` says.
pub(crate) fn seeding(options: &Options) -> Seeding {
    match (options.int(Opt::Randseed), options.switch(Opt::Randrepeat)) {
        (Some(seed), _) => Seeding::Fixed(seed.cast_unsigned()),
        (None, Some(false)) => Seeding::FromSystem,
        (None, _) => Seeding::Repeatable,
    }
}

/// Batches of 0 or above the depth are as large as the depth.
fn depth(options: &Options) -> Depth {
    let iodepth = count(options, Opt::Iodepth).unwrap_or(1).max(1);
    let up_to_depth = |n| if n == 0 || n > iodepth { iodepth } else { n };
    let complete_min = count(options, Opt::IodepthBatchCompleteMin).unwrap_or(1);
    Depth {
        iodepth,
        batch: up_to_depth(count(options, Opt::IodepthBatch).unwrap_or(1)),
        complete_min,
        complete_max: count(options, Opt::IodepthBatchCompleteMax).unwrap_or(0).max(complete_min),
        low: up_to_depth(count(options, Opt::IodepthLow).unwrap_or(0)),
    }
}

fn fadvise(options: &Options) -> Fadvise {
    match word(options, Opt::FadviseHint) {
        Some("0") => Fadvise::None,
        Some("random") => Fadvise::Random,
        Some("sequential") => Fadvise::Sequential,
        Some("noreuse") => Fadvise::NoReuse,
        _ => Fadvise::ByPattern,
    }
}

fn fallocate(options: &Options) -> Fallocate {
    match word(options, Opt::Fallocate) {
        Some("none") => Fallocate::None,
        Some("posix") => Fallocate::Posix,
        Some("keep") => Fallocate::Keep,
        Some("truncate") => Fallocate::Truncate,
        _ => Fallocate::Native,
    }
}

/// Sizes are filled in when the files are known.
fn limits(options: &Options) -> Limits {
    let time = |opt| Duration::from_micros(options.time_us(opt).unwrap_or(0));
    let (low, high) = options.range(Opt::Startdelay).unwrap_or((0, 0));
    Limits {
        size: 0,
        io_size: None,
        number_ios: options.int(Opt::NumberIos).and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
        loops: count(options, Opt::Loops).unwrap_or(1).max(1),
        runtime: time(Opt::Runtime),
        time_based: options.switch(Opt::TimeBased).unwrap_or(false),
        ramp_time: time(Opt::RampTime),
        ramp_size: options.size(Opt::RampSize).unwrap_or(0),
        startdelay: (Duration::from_micros(low), Duration::from_micros(high)),
    }
}

/// The interval is settled once the block sizes are. A pattern alone asks for `pattern_hdr`.
fn verify(options: &Options) -> Option<Verify> {
    let given = options.given(Opt::VerifyPattern).and_then(|given| match &given.value {
        Value::Pattern(pattern) => Some(pattern),
        _ => None,
    });
    let method = match word(options, Opt::Verify) {
        Some(word) => VerifyMethod::from_word(word)?,
        None => given.map(|_| VerifyMethod::PatternHdr)?,
    };
    let bytes = |opt| options.size(opt).map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    Some(Verify {
        method,
        interval: bytes(Opt::VerifyInterval),
        offset: bytes(Opt::VerifyOffset),
        pattern: given.cloned(),
        pattern_interval: bytes(Opt::VerifyPatternInterval),
        fatal: options.switch(Opt::VerifyFatal).unwrap_or(false),
        read_back: options.switch(Opt::DoVerify).unwrap_or(true),
        header_seed: options.switch(Opt::VerifyHeaderSeed),
        write_sequence: options.switch(Opt::VerifyWriteSequence),
    })
}

fn durability(options: &Options) -> Durability {
    let switch = |opt| options.switch(opt).unwrap_or(false);
    Durability {
        fsync: count(options, Opt::Fsync).unwrap_or(0),
        fdatasync: count(options, Opt::Fdatasync).unwrap_or(0),
        sync_file_range: sync_file_range(options),
        end_fsync: switch(Opt::EndFsync),
        fsync_on_close: switch(Opt::FsyncOnClose),
        end_syncfs: switch(Opt::EndSyncfs),
    }
}

fn sync_file_range(options: &Options) -> SyncFileRange {
    let Some((words, argument)) = options.words(Opt::SyncFileRange) else { return SyncFileRange::default() };
    let flags = words.iter().fold(0, |flags, word| {
        flags
            | match *word {
                "wait_before" => libc::SYNC_FILE_RANGE_WAIT_BEFORE,
                "write" => libc::SYNC_FILE_RANGE_WRITE,
                _ => libc::SYNC_FILE_RANGE_WAIT_AFTER,
            }
    });
    SyncFileRange { flags, every: argument.and_then(|n| n.parse().ok()).unwrap_or(1) }
}

fn sizing(job: &Job, spec: &JobSpec, findings: &mut Findings) -> Sizing {
    let options = &job.options;
    let mut extent = |opt: Opt| match options.amount(opt)? {
        ferrio_jobfile::Amount::Bytes(bytes) => Some(Extent::Bytes(bytes)),
        ferrio_jobfile::Amount::Percent(percent) => Some(Extent::Percent(percent)),
        ferrio_jobfile::Amount::Zones(_) => {
            let Row { name, .. } = opt.row();
            let message =
                format!("option `{name}` in zones needs zonemode=zbd, which is not implemented yet");
            let problem = Diagnostic::error(message, value_origin(options, opt)).code("unimplemented-value");
            findings.lack(problem.help("give bytes or percent"));
            None
        }
    };
    let size = match extent(Opt::Size) {
        _ if rules::is_unlimited(spec, job) => Some(Extent::Bytes(Limits::UNLIMITED)),
        size => size,
    };
    let io_size = extent(Opt::IoSize);
    let offset = extent(Opt::Offset).unwrap_or(Extent::Bytes(0));
    let offset_increment = extent(Opt::OffsetIncrement).unwrap_or(Extent::Bytes(0));
    Sizing {
        size,
        io_size,
        filesize: options.range(Opt::Filesize),
        offset,
        offset_increment,
        offset_align: options.int(Opt::OffsetAlign).and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
        min_block: spec.min_block(),
        file_append: spec.file_append,
        lays_out: !spec.create_on_open && !spec.engine.is_diskless(),
    }
}

/// At most `bytes` bytes of a text, never half a character.
fn cut(text: &str, bytes: usize) -> String {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests;
