//! Memory of the I/O buffers: sizes that an address can be a multiple of.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::written::{asks, refuse, word};

/// All rules about where buffers are.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    alignment_is_a_power_of_two(job, findings);
    huge_pages_have_a_size(job, findings);
}

fn alignment_is_a_power_of_two(job: &Job, findings: &mut Findings) {
    let align = job.options.int(Opt::IomemAlign).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    if align > 0 && !align.is_power_of_two() {
        let message = format!("iomem_align={align} is not a power of two");
        let help = "give 512, 4k or the like: each buffer begins at a multiple of it";
        refuse(findings, job, &[Opt::IomemAlign], "alignment-not-a-power-of-two", message, help);
    }
}

fn huge_pages_have_a_size(job: &Job, findings: &mut Findings) {
    let huge = matches!(word(job, Opt::Mem), Some("shmhuge" | "mmaphuge"));
    let Some(size) = job.options.size(Opt::HugepageSize).filter(|_| huge) else { return };
    if !asks(job, Opt::HugepageSize) || !size.is_power_of_two() || size < 4096 {
        let message = format!("hugepage-size={size} is not the size of a page");
        let help = "the directories in /sys/kernel/mm/hugepages say which sizes there are, mostly 2m and 1g";
        refuse(findings, job, &[Opt::HugepageSize], "not-a-page-size", message, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{first_refusal, wrong};

    #[test]
    fn alignments_are_powers_of_two() {
        assert_eq!(first_refusal("iomem_align=1000\n"), "iomem_align=1000 is not a power of two");
        assert!(wrong("iomem_align=512\n").is_empty() && wrong("iomem_align=0\n").is_empty());
    }

    #[test]
    fn a_huge_page_has_the_size_of_a_page() {
        assert_eq!(
            first_refusal("mem=mmaphuge\nhugepage-size=3m\n"),
            "hugepage-size=3145728 is not the size of a page"
        );
        assert!(wrong("mem=shmhuge\nhugepage-size=2m\n").is_empty());
        assert!(wrong("hugepage-size=3m\n").is_empty(), "without effect");
    }
}
