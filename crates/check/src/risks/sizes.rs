//! Block sizes that were requested and will never be issued.

use ferrio_job::RoundedSizes;
use ferrio_jobfile::Opt;

use super::{Observation, RiskContext, RiskRule, Section, Warning};
use crate::section::{CheckedSection, JobWork};

pub(super) const RULES: &[RiskRule] = &[("sizes-rounded", Warning, Section(rounded))];

/// Sizes of `bssplit` and `bsrange` that are no multiples of the smallest.
fn rounded(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.spec();
    let rounded = spec.rounded_sizes();
    (spec.works() && !rounded.is_empty()).then(|| {
        let texts: Vec<String> = rounded.iter().map(RoundedSizes::to_string).collect();
        Observation::new(texts.join("; "), RoundedSizes::ADVICE, &[Opt::Bssplit, Opt::Bsrange])
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, report, risks};

    #[test]
    fn sizes_that_no_block_has_are_reported() {
        let job = "[a]\nioengine=null\nsize=1m\n";
        for rw in ["read", "randread", "write", "randwrite", "randrw", "trim"] {
            let rounded = |sizes: &str| has("sizes-rounded", &format!("{job}rw={rw}\n{sizes}\n"));
            assert!(rounded("bssplit=6k/50:10k/50") && rounded("bsrange=3k-10k"), "{rw}");
            assert!(
                !rounded("bssplit=4k/50:16k/50") && !rounded("bsrange=4k-64k") && !rounded("bs=6k"),
                "{rw}"
            );
            assert!(!rounded("bssplit=6k/50:10k/50\nbs_unaligned=1"), "{rw}");
        }
        let report = report(&format!("{job}rw=read\nbssplit=6k/50:10k/50\n"));
        let found = &risks(&report, "sizes-rounded")[0];
        let want =
            "no reads have 10240 bytes: sizes are rounded down to multiples of the smallest, 6144 bytes";
        assert_eq!(found.message, want);
        assert!(found.advice.contains("bs_unaligned=1"), "{}", found.advice);
    }
}
