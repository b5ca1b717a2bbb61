//! `zonemode` and what it needs.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::written::{asks, refuse, word};

/// All rules about zones.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    match word(job, Opt::Zonemode) {
        Some("strided") => strided_needs_a_zonesize(job, findings),
        Some("zbd") => {
            zones_of_a_device_are_laid_out_in_turn(job, findings);
            remainders_need_free_offsets(job, findings);
        }
        _ => zonesize_needs_a_mode(job, findings),
    }
}

fn zonesize_needs_a_mode(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::Zonesize) {
        let message = "--zonemode=none and --zonesize are not compatible";
        let help = "give zonemode=strided, or take `zonesize` out";
        refuse(findings, job, &[Opt::Zonesize], "zonesize-without-zonemode", message, help);
    }
}

fn strided_needs_a_zonesize(job: &Job, findings: &mut Findings) {
    if !asks(job, Opt::Zonesize) {
        let message = "--zonesize must be specified when using --zonemode=strided";
        let help = "give the bytes to do in each zone as `zonesize`";
        refuse(findings, job, &[Opt::Zonemode], "zonemode-without-zonesize", message, help);
    }
}

fn zones_of_a_device_are_laid_out_in_turn(job: &Job, findings: &mut Findings) {
    if job.options.switch(Opt::CreateSerialize) == Some(false) {
        let message = "--zonemode=zbd and --create_serialize=0 are not compatible";
        let help = "take `create_serialize=0` out";
        refuse(findings, job, &[Opt::CreateSerialize], "zones-laid-out-at-once", message, help);
    }
}

fn remainders_need_free_offsets(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::WriteZoneRemainder) && job.options.switch(Opt::Norandommap) == Some(false) {
        let message = "write_zone_remainder=1 requires norandommap=1";
        refuse(
            findings,
            job,
            &[Opt::Norandommap],
            "zone-remainders-with-random-map",
            message,
            "take `norandommap=0` out",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::first_refusal;

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
    fn zones_of_a_device_are_never_laid_out_side_by_side() {
        let want = "--zonemode=zbd and --create_serialize=0 are not compatible";
        assert_eq!(first_refusal("zonemode=zbd\ncreate_serialize=0\n"), want);
    }

    #[test]
    fn writing_remainders_of_zones_excludes_a_random_map() {
        let want = "write_zone_remainder=1 requires norandommap=1";
        assert_eq!(first_refusal("zonemode=zbd\nwrite_zone_remainder=1\nnorandommap=0\n"), want);
    }
}
