//! What random offsets exclude: `sprandom`, distributions, alignments and block sizes that no map can follow.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::written::{asks, note, refuse, rw, word};
use ferrio_job::{Direction, Distribution, JobSpec, RandomOrder};

/// Rules that need the job as written only.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::Sprandom) {
        sprandom_writes_at_random(job, findings);
        sprandom_settles_the_generator(job, findings);
        sprandom_settles_the_map(job, findings);
    }
    unaligned_blocks_may_fail_raw(job, findings);
}

/// Fix-ups of the resolved job.
pub(super) fn apply(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    alignment_ends_the_random_map(job, spec, findings);
    a_distribution_or_an_order_of_its_own_ends_the_random_map(spec);
    if spec.rw.is_random() && spec.random_order != RandomOrder::Drawn {
        an_order_is_uniform(job, spec, findings);
    }
    if spec.rw.is_random() && spec.random_order == RandomOrder::Permute {
        a_permutation_has_one_size_of_block(job, spec, findings);
    }
}

fn sprandom_writes_at_random(job: &Job, findings: &mut Findings) {
    let rw = rw(job);
    if !rw.is_random() || !rw.does(Direction::Write) {
        let message = "sprandom requires random write, random_generator=lfsr, norandommap=1";
        refuse(
            findings,
            job,
            &[Opt::Sprandom, Opt::Rw],
            "sprandom-without-random-writes",
            message,
            "give rw=randwrite",
        );
    }
}

fn sprandom_settles_the_generator(job: &Job, findings: &mut Findings) {
    match word(job, Opt::RandomGenerator) {
        Some("lfsr") => {}
        Some(_) => {
            let message = "sprandom requires random_generator=lfsr";
            let help = "take `random_generator` out";
            refuse(findings, job, &[Opt::RandomGenerator], "sprandom-with-other-generator", message, help);
        }
        None => {
            let text = "sprandom sets random_generator=lfsr";
            findings.note(note(job, &[Opt::Sprandom], "option-set-by-sprandom", text));
        }
    }
}

fn sprandom_settles_the_map(job: &Job, findings: &mut Findings) {
    match job.options.switch(Opt::Norandommap) {
        Some(true) => {}
        Some(false) => {
            let message = "sprandom requires norandommap=1";
            refuse(
                findings,
                job,
                &[Opt::Norandommap],
                "sprandom-with-random-map",
                message,
                "take `norandommap=0` out",
            );
        }
        None => {
            let text = "sprandom sets norandommap=1";
            findings.note(note(job, &[Opt::Sprandom], "option-set-by-sprandom", text));
        }
    }
}

fn unaligned_blocks_may_fail_raw(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::BsUnaligned) && asks(job, Opt::Direct) {
        let text = "bs_unaligned may not work with raw io";
        findings.note(note(job, &[Opt::BsUnaligned], "bs-unaligned-with-direct", text));
    }
}

/// Only random offsets are aligned; the map knows blocks of the smallest size and no others.
fn alignment_ends_the_random_map(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if !spec.rw.is_random() {
        for block in &mut spec.block.0 {
            block.align = block.min;
        }
    } else if spec.random_map && spec.block.0.iter().any(|block| block.align != block.min) {
        let text = "Any use of blockalign= turns off randommap";
        findings.warn(note(job, &[Opt::Ba], "random-map-off", text));
        spec.random_map = false;
    }
}

/// A skewed choice of offsets repeats some before it has seen all; a shift register or a permutation needs no map.
fn a_distribution_or_an_order_of_its_own_ends_the_random_map(spec: &mut JobSpec) {
    spec.random_map &= spec.distribution == Distribution::Uniform && spec.random_order == RandomOrder::Drawn;
}

/// With fio a shift register is left unused beside zipf and the like, and reaches beyond zones. A permutation was asked for on purpose.
fn an_order_is_uniform(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let Some(shape) = word(job, Opt::RandomDistribution).filter(|&shape| shape != "random") else { return };
    if spec.random_order == RandomOrder::Permute {
        let message =
            format!("random_generator=permute visits every block once, random_distribution={shape} does not");
        let help = "take one of the two out";
        let opts = [Opt::RandomGenerator, Opt::RandomDistribution];
        refuse(findings, job, &opts, "permute-with-distribution", message, help);
    } else {
        let text = format!("random_generator=lfsr has no effect with random_distribution={shape}");
        findings.note(note(job, &[Opt::RandomGenerator], "generator-without-effect", text));
    }
}

/// Each block is one I/O: it has to be the same block for all directions that choose one.
fn a_permutation_has_one_size_of_block(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    // The writes of randtrimwrite follow its trims.
    let chooses = |d: Direction| spec.rw.does(d) && !(spec.rw.is_trimwrite() && d == Direction::Write);
    let blocks = || Direction::ALL.into_iter().filter(|&d| chooses(d)).map(|d| &spec.block[d]);
    let Some(first) = blocks().next() else { return };
    if blocks().any(|block| (block.min, block.align) != (first.min, first.align)) {
        let message =
            "random_generator=permute needs the same smallest block and alignment for all directions";
        let help = "give one block size, or random_generator=tausworthe";
        let opts = [Opt::RandomGenerator, Opt::Bs, Opt::Bsrange, Opt::Bssplit, Opt::Ba];
        refuse(findings, job, &opts, "permute-with-unequal-blocks", message, help);
    } else if blocks().any(|block| block.max > first.align) {
        let text =
            "random_generator=permute starts one I/O at each block; longer ones reach into the next blocks";
        findings.note(note(job, &[Opt::RandomGenerator], "permute-overlaps", text));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{first_refusal, fixed, notes_of, null, wrong};
    use crate::testing::{plan_of, spec_of, texts};

    #[test]
    fn sprandom_is_for_random_writers() {
        let want = "sprandom requires random write, random_generator=lfsr, norandommap=1";
        assert_eq!(first_refusal("sprandom=1\nrw=read\n"), want);
        assert_eq!(first_refusal("sprandom=1\nrw=write\n"), want);
    }

    #[test]
    fn sprandom_has_one_generator_and_no_map() {
        let want = "sprandom requires random_generator=lfsr";
        assert_eq!(first_refusal("sprandom=1\nrw=randwrite\nrandom_generator=tausworthe64\n"), want);
        let want = "sprandom requires norandommap=1";
        assert_eq!(first_refusal("sprandom=1\nrw=randwrite\nnorandommap=0\n"), want);
    }

    #[test]
    fn sprandom_says_what_it_sets() {
        let notes = notes_of("sprandom=1\nrw=randwrite\n");
        assert_eq!(notes, ["sprandom sets random_generator=lfsr", "sprandom sets norandommap=1"]);
    }

    #[test]
    fn unaligned_blocks_with_direct_are_warned_of() {
        assert_eq!(notes_of("bs_unaligned\ndirect=1\n"), ["bs_unaligned may not work with raw io"]);
        assert!(notes_of("bs_unaligned\n").is_empty());
    }

    #[test]
    fn an_alignment_of_its_own_ends_the_random_map() {
        let plan = plan_of(&null("rw=randread\nba=8k\n")).unwrap();
        assert!(!plan.jobs[0].spec.random_map);
        assert_eq!(texts(&plan.diagnostics), ["Any use of blockalign= turns off randommap"]);
        let sequential = spec_of(&null("rw=read\nba=8k\n"));
        assert_eq!((sequential.random_map, sequential.block.0[0].align), (true, 4096));
    }

    #[test]
    fn a_skewed_distribution_ends_the_random_map() {
        assert!(!fixed("rw=randread\nrandom_distribution=zipf:1.2\n").random_map);
        assert!(fixed("rw=randread\nrandom_distribution=random\n").random_map);
        assert!(!fixed("rw=randread\nrandom_generator=lfsr\n").random_map);
        assert!(!fixed("rw=randread\nrandom_generator=permute\n").random_map);
    }

    #[test]
    fn an_order_of_all_blocks_has_no_distribution() {
        let want = "random_generator=permute visits every block once, random_distribution=zipf does not";
        let both = "rw=randread\nrandom_generator=permute\nrandom_distribution=zipf:1.2\n";
        assert_eq!(first_refusal(both), want);
        let told = notes_of("rw=randread\nrandom_generator=lfsr\nrandom_distribution=zipf:1.2\n");
        assert_eq!(told, ["random_generator=lfsr has no effect with random_distribution=zipf"]);
        assert!(notes_of("rw=randread\nrandom_generator=lfsr\nrandom_distribution=random\n").is_empty());
    }

    #[test]
    fn a_permutation_has_one_size_of_block() {
        let want = "random_generator=permute needs the same smallest block and alignment for all directions";
        assert_eq!(first_refusal("rw=randrw\nrandom_generator=permute\nbs=4k,8k\n"), want);
        assert!(notes_of("rw=randread\nrandom_generator=permute\nbs=4k,8k\n").is_empty());
        assert!(wrong("rw=randtrimwrite\nrandom_generator=permute\nbs=4k,8k,4k\n").is_empty());
        let told = notes_of("rw=randread\nrandom_generator=permute\nbsrange=4k-8k\n");
        assert!(told[0].starts_with("random_generator=permute starts one I/O at each block"), "{told:?}");
        assert!(notes_of("rw=randread\nrandom_generator=permute\n").is_empty());
    }
}
