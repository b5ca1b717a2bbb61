//! Zones of `zonemode=strided`.

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Amount, Job, Opt};

use crate::findings::Findings;
use crate::resolve::value_origin;
use crate::written::note;
use ferrio_job::Zones;

/// The zones of a job, `None` when it has none.
pub(crate) fn strided(job: &Job, findings: &mut Findings) -> Option<Zones> {
    let options = &job.options;
    if options.word(Opt::Zonemode)?.word != "strided" {
        return None;
    }
    let size = options.size(Opt::Zonesize).filter(|&bytes| bytes > 0)?;
    let range = options.size(Opt::Zonerange).filter(|&bytes| bytes > 0).unwrap_or(size);
    let skip = match options.amount(Opt::Zoneskip) {
        None => 0,
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(_) | Amount::Zones(_)) => {
            let message = "option `zoneskip` must be in bytes for zonemode=strided";
            let problem = Diagnostic::error(message, value_origin(options, Opt::Zoneskip));
            findings.refuse(problem.code("zoneskip-not-in-bytes").help("write the bytes to skip"));
            return None;
        }
    };
    // Without `openfiles` all files are open and fio walks their zones all the same.
    if options.int(Opt::Openfiles).is_some_and(|most| most > 1) {
        let text = "openfiles above 1 turns zonemode=strided off";
        findings.note(note(job, &[Opt::Openfiles], "zones-off", text));
        return None;
    }
    Some(Zones { size, range, skip })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{plan_of, refusals, spec_of, texts};

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
    fn openfiles_turns_zones_off_and_the_user_is_told() {
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
}
