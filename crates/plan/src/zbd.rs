//! `zonemode=zbd`: zones that are written from their start to their end, those of a zoned block device or emulated ones.
//!
//! A file has one table of zones, which all its jobs share: the first of them settles how large its zones are and how many may be open.

mod file_zones;

use ferrio_job::{
    ContinueOnError, Direction, FileKind, FileSpec, FileZones, JobSpec, Prefix, SetupError, Zbd, ZoneMode,
    ZoneResets,
};
use ferrio_jobfile::{Amount, Job, Opt};

use crate::as_written::{asks, chooses, inert, note, refuse};
use crate::direction::changes_data;
use crate::findings::Findings;
use crate::sizes::SizeOptions;

pub(crate) use file_zones::{ZonesByPath, of_files, of_parts};

inert! {
    ZoneResetThreshold:
        |job| !asks(job, Opt::ZoneResetFrequency); "no zone is reset by it without `zone_reset_frequency`";
    Zonerange:
        |job| chooses(job, Opt::Zonemode, ZoneMode::Zbd); "it applies only to zonemode=strided";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if !chooses(job, Opt::Zonemode, ZoneMode::Zbd) {
        return;
    }
    if !job.options.value::<bool>(Opt::CreateSerialize) {
        let message = "--zonemode=zbd and --create_serialize=0 are not compatible";
        let help = "remove `create_serialize=0`";
        refuse(findings, job, &[Opt::CreateSerialize], "zones-laid-out-at-once", message, help);
    }
    if asks(job, Opt::WriteZoneRemainder) && job.options.if_given(Opt::Norandommap) == Some(false) {
        let message = "write_zone_remainder=1 requires norandommap=1";
        let help = "remove `norandommap=0`";
        refuse(findings, job, &[Opt::Norandommap], "zone-remainders-with-random-map", message, help);
    }
    let stops_at_errors = chooses(job, Opt::ContinueOnError, ContinueOnError::None);
    if asks(job, Opt::RecoverZbdWriteError) && stops_at_errors {
        let message = "recover_zbd_write_error works only when continue_on_error is set";
        let help = "set continue_on_error=write, or remove `recover_zbd_write_error`";
        refuse(findings, job, &[Opt::RecoverZbdWriteError], "recovery-without-continuing", message, help);
    }
    for (opt, help) in [
        (Opt::FileAppend, "the zones of a file end with it: remove `file_append`"),
        (Opt::FillDevice, "the zones of a file end with it: remove `fill_device`"),
        (Opt::ReadIolog, "the offsets of a log are not moved to write pointers: remove `zonemode`"),
    ] {
        if asks(job, opt) {
            let message = format!("zonemode=zbd and --{} are not compatible", opt.row().name);
            refuse(findings, job, &[opt], "zbd-with-other-offsets", message, help);
        }
    }
    if asks(job, Opt::ExperimentalVerify) {
        let message = "zonemode=zbd does not support experimental verify";
        let help = "remove `experimental_verify`";
        refuse(findings, job, &[Opt::ExperimentalVerify], "zbd-with-experimental-verify", message, help);
    }
}

/// Resolves the options; the files follow when they are known.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    if !chooses(job, Opt::Zonemode, ZoneMode::Zbd) {
        return;
    }
    let frequency: f64 = options.if_given(Opt::ZoneResetFrequency).unwrap_or(0.0);
    let resets = (frequency > 0.0).then(|| ZoneResets {
        threshold: options.if_given(Opt::ZoneResetThreshold).unwrap_or(0.0),
        every: (1.0 / frequency).min(1e18) as u64,
    });
    spec.zbd = Some(Box::new(Zbd {
        files: Vec::new(),
        skip: 0,
        read_beyond_wp: options.value(Opt::ReadBeyondWp),
        job_max_open: options.value(Opt::JobMaxOpenZones),
        resets,
        writes_remainder: asks(job, Opt::WriteZoneRemainder),
        recovers: asks(job, Opt::RecoverZbdWriteError),
    }));
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let Some(zbd) = &spec.zbd else { return };
    let (writes_remainder, recovers) = (zbd.writes_remainder, zbd.recovers);
    if writes_remainder {
        spec.random_map = false;
    }
    let engine = spec.engine;
    if engine.operates_on_files() || engine.has_peer() || !engine.does_io() {
        let message =
            format!("zonemode=zbd does not work with ioengine={}, which has no offsets", engine.word());
        let help = "use an engine that reads and writes files";
        refuse(findings, job, &[Opt::Zonemode], "zbd-without-offsets", message, help);
    }
    let trims = &spec.block[Direction::Trim];
    let has_one_size = trims.min == trims.max && spec.split[Direction::Trim].is_empty();
    if spec.rw.does(Direction::Trim) && !has_one_size {
        let message = "bsrange and bssplit are not allowed for trim with zonemode=zbd";
        let help = "a trim resets a zone: set the block size of trims to the size of a zone";
        refuse(findings, job, &[Opt::Bsrange, Opt::Bssplit], "zbd-trims-of-several-sizes", message, help);
    }
    if recovers && spec.verify.is_some() && !spec.is_sync() {
        let message = "recover_zbd_write_error does not support verify with asynchronous engines";
        let help = "a repaired zone has zeros where writes failed: use a synchronous engine, or remove one of the options";
        refuse(findings, job, &[Opt::RecoverZbdWriteError], "recovery-with-verify", message, help);
    }
    if spec.verify.as_ref().is_some_and(|verify| verify.only) {
        let message = "verify_only does not work with zonemode=zbd";
        let help = "which zones were written is not known without the writes: verify in the job that writes";
        refuse(findings, job, &[Opt::VerifyOnly], "zbd-with-verify-only", message, help);
    }
}

/// Sizes and offsets with zones as their unit, once the size of a zone is known.
pub(crate) fn size_options(job: &Job, spec: &JobSpec, zones: &[FileZones]) -> Option<SizeOptions> {
    // What is wrong with the values was found before.
    let zone = zones.first()?.size;
    spec.zbd.is_some().then(|| SizeOptions::of(job, spec, Some(zone), &mut Findings::default()))
}

/// Fits a job with its files to their zones: what is written begins and ends with a zone.
///
/// # Errors
/// A file is smaller than a zone, or less than one zone is left of it; blocks are larger than a zone.
pub(crate) fn apply_file_rules(
    job: &Job,
    spec: &mut JobSpec,
    zones: Vec<FileZones>,
    findings: &mut Findings,
) -> Result<(), SetupError> {
    let Some(zbd) = spec.zbd.as_deref() else { return Ok(()) };
    if zbd.job_max_open > 0 && zones.iter().any(|zones| zones.max_open == 0) {
        return Err(failed("'job_max_open_zones' cannot be used without a global open zones limit"));
    }
    let reads_anywhere = zbd.read_beyond_wp;
    let mut files = std::mem::take(&mut spec.files);
    let changes = changes_data(spec.rw);
    for (file, zones) in files.iter_mut().zip(&zones) {
        let bytes = bytes_in_zones(spec, file);
        holds_a_zone(bytes, file, zones)?;
        if changes {
            whole_zones(job, bytes, file, zones.size, findings)?;
        }
        blocks_fit(spec, file, zones, reads_anywhere)?;
    }
    let skip = skip(job, &files, &zones)?;
    if changes {
        let total = files.iter().map(FileSpec::total_size).fold(0, u64::saturating_add);
        spec.limits.size = spec.limits.size.min(total);
    }
    spec.files = files;
    if let Some(zbd) = &mut spec.zbd {
        zbd.files = zones;
        zbd.skip = skip;
    }
    Ok(())
}

/// The bytes of a file that are in zones.
fn bytes_in_zones(spec: &JobSpec, file: &FileSpec) -> u64 {
    match file.kind == FileKind::Regular && !spec.compat.lays_out_zoned_files {
        true => file.found.unwrap_or(0),
        false => file.real_size,
    }
}

fn holds_a_zone(bytes: u64, file: &FileSpec, zones: &FileZones) -> Result<(), SetupError> {
    if bytes >= zones.size {
        return Ok(());
    }
    let message =
        format!("{}: file/device size {bytes} is smaller than zone size {}", file.path.display(), zones.size);
    Err(SetupError::new(libc::EINVAL, "zbd_create_zone_info() failed", message).prefix(Prefix::None))
}

/// Cuts the region of a file to whole zones.
fn whole_zones(
    job: &Job,
    bytes: u64,
    file: &mut FileSpec,
    zone: u64,
    findings: &mut Findings,
) -> Result<(), SetupError> {
    let path = file.path.display().to_string();
    let begin = file.offset.next_multiple_of(zone);
    let end = file.end().min(bytes) / zone * zone;
    let mut cut = |message: String| {
        let opts = [Opt::Offset, Opt::Size, Opt::Zonesize];
        findings.note(note(job, &opts, "region-cut-to-zones", message).prefix(Prefix::None));
    };
    let is_cut = begin != file.offset || end != file.end();
    if is_cut && begin >= end {
        return Err(failed(format!("{path}: io_size must be at least one zone")));
    }
    if begin != file.offset {
        cut(format!("{path}: rounded up offset from {} to {begin}", file.offset));
        file.size -= begin - file.offset;
        file.offset = begin;
    }
    if end != file.end() {
        cut(format!("{path}: rounded down io_size from {} to {}", file.size, end - begin));
        file.size = end - begin;
    }
    Ok(())
}

fn blocks_fit(
    spec: &JobSpec,
    file: &FileSpec,
    zones: &FileZones,
    reads_anywhere: bool,
) -> Result<(), SetupError> {
    let in_zones = |&d: &Direction| spec.rw.does(d) && !(d == Direction::Read && reads_anywhere);
    for block in Direction::ALL.iter().filter(|d| in_zones(d)).map(|&d| &spec.block[d]) {
        if block.max > zones.size {
            let func = "I/O buflen exceeds zone size";
            let message = format!("I/O buflen {} exceeds zone size {}", block.max, zones.size);
            return Err(SetupError::new(libc::EINVAL, func, message).prefix(Prefix::None));
        }
    }
    if spec.rw.does(Direction::Trim) && spec.block[Direction::Trim].min != zones.size {
        let (path, bytes) = (file.path.display(), spec.block[Direction::Trim].min);
        return Err(failed(format!("{path}: trim block size {bytes} is not the zone size {}", zones.size)));
    }
    let smallest = spec.block[Direction::Write].min;
    if spec.rw.does(Direction::Write) && zones.capacity < smallest {
        let message = format!("zone capacity {} smaller than minimum block size {smallest}", zones.capacity);
        return Err(SetupError::new(libc::EINVAL, "ZCAP is less min_bs", message).prefix(Prefix::None));
    }
    Ok(())
}

/// `zoneskip` in bytes.
fn skip(job: &Job, files: &[FileSpec], zones: &[FileZones]) -> Result<u64, SetupError> {
    let Some((file, zones)) = files.first().zip(zones.first()) else { return Ok(0) };
    let bytes = match job.options.value(Opt::Zoneskip) {
        Amount::Bytes(bytes) => bytes,
        Amount::Zones(count) => count.saturating_mul(zones.size),
        Amount::Percent(_) => {
            return Err(failed(format!("{}: zoneskip must be in bytes or zones", file.path.display())));
        }
    };
    if bytes % zones.size != 0 {
        let (path, zone) = (file.path.display(), zones.size);
        let what = "is not a multiple of the device zone size";
        return Err(failed(format!("{path}: zoneskip {bytes} {what} {zone}.")));
    }
    Ok(bytes)
}

/// fio prints these lines as they are, and reports no error number.
fn failed(message: impl Into<String>) -> SetupError {
    SetupError::new(0, "zbd_setup_files", message).prefix(Prefix::None)
}

#[cfg(test)]
mod tests;
