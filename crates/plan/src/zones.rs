//! The zones of `zonemode=strided`, and where a device places written data (`fdp`, `dataplacement`). The zones of `zonemode=zbd` are in
//! `zbd`.

use ferrio_job::{JobSpec, ZoneMode, Zones};
use ferrio_jobfile::{Amount, Job, Opt};

use crate::as_written::{asks, chooses, inert, note, refuse};
use crate::findings::Findings;

inert! {
    Zonecapacity Zonerange Zoneskip ReadBeyondWp MaxOpenZones JobMaxOpenZones IgnoreZoneLimits
        ZoneResetThreshold ZoneResetFrequency RecoverZbdWriteError WriteZoneRemainder:
        |job| chooses(job, Opt::Zonemode, ZoneMode::None); "there are no zones without `zonemode`";
    Zonecapacity ReadBeyondWp MaxOpenZones JobMaxOpenZones IgnoreZoneLimits ZoneResetThreshold ZoneResetFrequency
        RecoverZbdWriteError WriteZoneRemainder:
        |job| chooses(job, Opt::Zonemode, ZoneMode::Strided); "it applies only to zonemode=zbd";
    Plids PlidSelect DpScheme:
        |job| !asks(job, Opt::Fdp) && matches!(job.options.word(Opt::Dataplacement), None | Some("none"));
        "writes carry placement ids only with `fdp` or `dataplacement`";
    DpScheme:
        |job| job.options.word(Opt::PlidSelect) != Some("scheme"); "the file is read only with plid_select=scheme";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    let has_size = asks(job, Opt::Zonesize);
    match job.options.choice(Opt::Zonemode) {
        ZoneMode::Strided if !has_size => {
            let message = "--zonesize must be specified when using --zonemode=strided";
            let help = "set the bytes to transfer in each zone with `zonesize`";
            refuse(findings, job, &[Opt::Zonemode], "zonemode-without-zonesize", message, help);
        }
        ZoneMode::None if has_size => {
            let message = "--zonemode=none and --zonesize are not compatible";
            let help = "set `zonemode=strided` or `zonemode=zbd`, or remove `zonesize`";
            refuse(findings, job, &[Opt::Zonesize], "zonesize-without-zonemode", message, help);
        }
        _ => {}
    }
}

/// The zones of zonemode=strided.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    spec.zones = strided(job, findings);
}

fn strided(job: &Job, findings: &mut Findings) -> Option<Zones> {
    let options = &job.options;
    if !chooses(job, Opt::Zonemode, ZoneMode::Strided) {
        return None;
    }
    let bytes = |opt| Some(options.value(opt)).filter(|&bytes: &u64| bytes > 0);
    let size = bytes(Opt::Zonesize)?;
    let range = bytes(Opt::Zonerange).unwrap_or(size);
    let skip = match options.value(Opt::Zoneskip) {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(_) | Amount::Zones(_) => {
            let message = "option `zoneskip` must be in bytes for zonemode=strided";
            let help = "write the number of bytes to skip";
            refuse(findings, job, &[Opt::Zoneskip], "zoneskip-not-in-bytes", message, help);
            return None;
        }
    };
    // Without `openfiles` all files are open, and fio still applies their zones.
    if options.value::<u32>(Opt::Openfiles) > 1 {
        let text = "openfiles above 1 turns zonemode=strided off";
        findings.note(note(job, &[Opt::Openfiles], "zones-off", text));
        return None;
    }
    Some(Zones { size, range, skip })
}

/// Rules about `fdp` and `dataplacement`.
pub(crate) fn check_placement(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::Fdp) && matches!(job.options.word(Opt::Dataplacement), Some("streams" | "none")) {
        let message = "fdp=1 is not compatible with dataplacement={streams, none}";
        let opts = [Opt::Fdp, Opt::Dataplacement];
        let help = "use dataplacement=fdp alone";
        refuse(findings, job, &opts, "fdp-with-other-placement", message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, plan_of, refusals, spec_of, texts, wrong};

    fn zones(options: &str) -> Option<Zones> {
        spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).zones
    }

    #[test]
    fn the_range_of_a_zone_is_its_size_unless_given() {
        let want = Zones { size: 65536, range: 65536, skip: 0 };
        assert_eq!(zones("zonemode=strided\nzonesize=64k\n"), Some(want));
        let given = zones("zonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=4k\n");
        assert_eq!(given, Some(Zones { range: 131_072, skip: 4096, ..want }));
        assert_eq!(zones("zonemode=none\n"), None);
    }

    #[test]
    fn openfiles_turns_zones_off_with_a_note() {
        let text = "[a]\nioengine=null\nsize=1m\nnrfiles=2\nzonemode=strided\nzonesize=64k\n";
        assert!(plan_of(text).unwrap().jobs[0].spec.zones.is_some());
        let plan = plan_of(&format!("{text}openfiles=2\n")).unwrap();
        assert_eq!(plan.jobs[0].spec.zones, None);
        assert_eq!(texts(&plan.diagnostics), ["openfiles above 1 turns zonemode=strided off"]);
    }

    #[test]
    fn a_skip_in_other_units_is_refused() {
        let text = "[a]\nioengine=null\nsize=1m\nzonemode=strided\nzonesize=64k\nzoneskip=1z\n";
        assert_eq!(refusals(text), ["option `zoneskip` must be in bytes for zonemode=strided"]);
    }

    #[test]
    fn a_zonesize_without_a_mode_is_refused() {
        let want = "--zonemode=none and --zonesize are not compatible";
        assert_eq!(first_refusal("zonesize=64k\n"), want);
        assert_eq!(first_refusal("zonesize=64k\nzonemode=none\n"), want);
    }

    #[test]
    fn strided_zones_need_a_size() {
        let want = "--zonesize must be specified when using --zonemode=strided";
        assert_eq!(first_refusal("zonemode=strided\n"), want);
        assert_eq!(first_refusal("zonemode=strided\nzonesize=0\n"), want);
    }

    #[test]
    fn fdp_excludes_other_placements() {
        let want = "fdp=1 is not compatible with dataplacement={streams, none}";
        assert_eq!(first_refusal("fdp=1\ndataplacement=streams\n"), want);
        assert_eq!(first_refusal("fdp=1\ndataplacement=none\n"), want);
        assert!(wrong("fdp=1\n").is_empty() && wrong("fdp=1\ndataplacement=fdp\n").is_empty());
    }
}
