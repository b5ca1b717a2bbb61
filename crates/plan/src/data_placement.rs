//! Where a device places written data: `fdp`, `dataplacement`.

use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, refuse};
use crate::findings::Findings;
use crate::inert::inert;

inert! {
    Plids PlidSelect DpScheme:
        |job| !asks(job, Opt::Fdp) && matches!(job.options.word(Opt::Dataplacement), None | Some("none"));
        "writes carry placement ids only with `fdp` or `dataplacement`";
    DpScheme:
        |job| job.options.word(Opt::PlidSelect) != Some("scheme"); "the file is read only with plid_select=scheme";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::Fdp) && matches!(job.options.word(Opt::Dataplacement), Some("streams" | "none")) {
        let message = "fdp=1 is not compatible with dataplacement={streams, none}";
        let opts = [Opt::Fdp, Opt::Dataplacement];
        let help = "use dataplacement=fdp alone";
        refuse(findings, job, &opts, "fdp-with-other-placement", message, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{first_refusal, wrong};

    #[test]
    fn fdp_excludes_other_placements() {
        let want = "fdp=1 is not compatible with dataplacement={streams, none}";
        assert_eq!(first_refusal("fdp=1\ndataplacement=streams\n"), want);
        assert_eq!(first_refusal("fdp=1\ndataplacement=none\n"), want);
        assert!(wrong("fdp=1\n").is_empty() && wrong("fdp=1\ndataplacement=fdp\n").is_empty());
    }
}
