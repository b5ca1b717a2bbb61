//! Random offsets: generators and their seeds, distributions, the map of blocks that were visited.

use ferrio_job::{
    AccessZone, Direction, Distribution, DistributionType, FileSpec, Generator, JobSpec, PerDirection,
    RandomGenerator, RandomOrder, Seeding,
};
use ferrio_jobfile::{Job, Opt, Options};
use ferrio_random::{DEFAULT_SEED, host_seed};

use crate::as_written::{asks, chooses, inert, note, refuse, verifies};
use crate::direction::rw;
use crate::findings::Findings;

inert! {
    Softrandommap:
        |job| !rw(job).is_random() || asks(job, Opt::Norandommap) || asks(job, Opt::Sprandom) || visits_each_block_once(job)
            || !chooses(job, Opt::RandomDistribution, DistributionType::Random);
        "the job needs no map of random blocks";
    Norandommap:
        // With `verify`, `norandommap` also says that blocks may be written twice; `sprandom` implies it.
        |job| !rw(job).is_random() && !verifies(job) && !asks(job, Opt::Sprandom); "the job is sequential";
    Norandommap:
        |job| (visits_each_block_once(job) || !chooses(job, Opt::RandomDistribution, DistributionType::Random))
            && !verifies(job) && !asks(job, Opt::Sprandom);
        "the job needs no map of random blocks";
    Ba:
        |job| !rw(job).is_random(); "only random offsets are aligned";
    PercentageRandom RandomDistribution:
        |job| !rw(job).is_random(); "the job is sequential";
    RandomGenerator:
        |job| !rw(job).is_random() && visits_each_block_once(job); "the job is sequential";
    RandomSequenceStride:
        |job| !chooses(job, Opt::RandomDistribution, DistributionType::Sequence);
        "it applies only to random_distribution=sequence";
}

/// Options about random offsets and the streams that they are drawn from.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    spec.random_map = !options.value::<bool>(Opt::Norandommap);
    spec.soft_random_map = options.value(Opt::Softrandommap);
    let generator: RandomGenerator = options.choice(Opt::RandomGenerator);
    spec.random_order = generator.order();
    spec.generator = generator.generator();
    spec.distribution = distribution(options);
    let shares: PerDirection<u64> = options.value(Opt::PercentageRandom);
    spec.percentage_random = PerDirection(shares.0.map(|percent| percent.min(100) as u32));
    spec.seeding = seeding(options);
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    disable_map_if_aligned(job, spec, findings);
    // A skewed distribution repeats offsets before it has visited all of them; a shift register or a permutation needs no map.
    spec.random_map &= spec.distribution == Distribution::Uniform && spec.random_order == RandomOrder::Drawn;
    if spec.rw.is_random() && spec.random_order != RandomOrder::Drawn {
        check_order_against_distribution(job, spec, findings);
    }
    if spec.rw.is_random() && spec.random_order == RandomOrder::Permute {
        check_permutation_blocks(job, spec, findings);
    }
}

/// The distribution a job asks for.
fn distribution(options: &Options) -> Distribution {
    match options.value(Opt::RandomDistribution) {
        Distribution::Sequence { blocks, .. } => {
            Distribution::Sequence { blocks, stride: options.value(Opt::RandomSequenceStride) }
        }
        other => other,
    }
}

/// `randseed` overrides `randrepeat`.
pub(crate) fn seeding(options: &Options) -> Seeding {
    match (options.if_given::<i64>(Opt::Randseed), options.value(Opt::Randrepeat)) {
        (Some(seed), _) => Seeding::Fixed(seed.cast_unsigned()),
        (None, true) => Seeding::Repeatable,
        (None, false) => Seeding::FromSystem,
    }
}

/// The seed of the streams of all jobs of a host, unless they are seeded by the system.
pub(crate) fn known_seed(spec: &JobSpec) -> Option<u64> {
    shared_seed(spec.seeding).map(|seed| host_seed(seed, spec.rank))
}

/// The same for streams that all hosts share: on shared storage, files have the same sizes everywhere.
pub(crate) fn shared_seed(seeding: Seeding) -> Option<u64> {
    match seeding {
        Seeding::Repeatable => Some(DEFAULT_SEED),
        Seeding::Fixed(seed) => Some(seed),
        Seeding::FromSystem => None,
    }
}

/// Checks that need the files: 32-bit draws do not reach all blocks of a large file, and zones or blocks of a distribution may lie
/// beyond the end of a file.
pub(crate) fn apply_file_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if !spec.rw.is_random() {
        return;
    }
    let blocks = |file: &&FileSpec| file.size.min(file.real_size) / spec.min_block().max(1);
    let too_large = spec.files.iter().find(|file| blocks(file) > u64::from(u32::MAX));
    if let Some(file) = too_large
        && spec.random_order == RandomOrder::Drawn
        && spec.generator == Generator::Tausworthe32
        && !matches!(spec.distribution, Distribution::Skewed(_) | Distribution::Sequence { .. })
    {
        let text = format!("file {} exceeds 32-bit tausworthe random generator.", file.path.display());
        let generator = &[Opt::RandomGenerator];
        findings.note(note(job, generator, "file-exceeds-generator", text));
        if job.options.is_given(Opt::RandomGenerator) {
            let text = "Use the random_generator= option to switch to lfsr or tausworthe64.";
            findings.note(note(job, generator, "file-exceeds-generator", text));
        } else {
            let text =
                "Switching to tausworthe64. Use the random_generator= option to get rid of this warning.";
            findings.note(note(job, generator, "generator-switched", text));
            spec.wide_offsets = true;
        }
    }
    for file in &spec.files {
        if let Some(text) = beyond_file_text(spec, file) {
            findings.note(note(job, &[Opt::RandomDistribution], "offsets-beyond-file", text));
        }
    }
    if let Some(zones) = spec.zones
        && let Some(file) = spec.files.iter().find(|file| file.size.min(file.real_size) < zones.range)
    {
        let path = file.path.display();
        let text =
            format!("a zone is larger than {path}: a random offset beyond the end of the file ends the pass");
        findings.note(note(job, &[Opt::Zonerange, Opt::Zonesize], "offsets-beyond-file", text));
    }
}

/// The text of a note if a distribution names blocks beyond the end of the file.
fn beyond_file_text(spec: &JobSpec, file: &FileSpec) -> Option<String> {
    let path = file.path.display();
    let exceeds = |d: Direction, bytes: u64| {
        let room = spec.zones.map_or(file.size.min(file.real_size), |zones| zones.range);
        spec.rw.does(d) && bytes > room
    };
    match &spec.distribution {
        Distribution::ZonedAbs(lists) => {
            let sum =
                |d| lists[d].iter().fold(0, |sum: u64, zone: &AccessZone| sum.saturating_add(zone.size));
            Direction::ALL.into_iter().find(|&d| exceeds(d, sum(d)))?;
            let what = "zoned_abs sizes exceed file size";
            Some(format!("{what}: an offset beyond the end of {path} ends the pass"))
        }
        Distribution::Sequence { blocks, .. } => {
            let last = blocks.iter().max()?;
            Direction::ALL
                .into_iter()
                .find(|&d| exceeds(d, last.saturating_add(1).saturating_mul(spec.block[d].align)))?;
            Some(format!("random_distribution=sequence ends a pass at block {last}: {path} has fewer blocks"))
        }
        _ => None,
    }
}

/// Only random offsets are aligned. The map tracks blocks of the smallest size only.
fn disable_map_if_aligned(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
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

/// As in fio, `lfsr` has no effect with a distribution other than `random`. `permute` exists only in ferrio, so it was requested on
/// purpose and is refused.
fn check_order_against_distribution(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let shape = job.options.choice::<DistributionType>(Opt::RandomDistribution);
    if shape == DistributionType::Random {
        return;
    }
    let shape = shape.word();
    if spec.random_order == RandomOrder::Permute {
        let message = format!(
            "random_generator=permute visits every block once, but random_distribution={shape} does not"
        );
        let help = "remove one of the two";
        let opts = [Opt::RandomGenerator, Opt::RandomDistribution];
        refuse(findings, job, &opts, "permute-with-distribution", message, help);
    } else {
        let text = format!("random_generator=lfsr has no effect with random_distribution={shape}");
        findings.note(note(job, &[Opt::RandomGenerator], "generator-without-effect", text));
    }
}

/// Each block is one I/O: it must be the same block for all directions that choose offsets.
fn check_permutation_blocks(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    // The writes of randtrimwrite follow its trims.
    let chooses = |d: Direction| spec.rw.does(d) && !(spec.rw.is_trimwrite() && d == Direction::Write);
    let blocks = || Direction::ALL.into_iter().filter(|&d| chooses(d)).map(|d| &spec.block[d]);
    let Some(first) = blocks().next() else { return };
    if blocks().any(|block| (block.min, block.align) != (first.min, first.align)) {
        let message =
            "random_generator=permute needs the same smallest block and alignment for all directions";
        let help = "use one block size, or random_generator=tausworthe";
        let opts = [Opt::RandomGenerator, Opt::Bs, Opt::Bsrange, Opt::Bssplit, Opt::Ba];
        refuse(findings, job, &opts, "permute-with-unequal-blocks", message, help);
    } else if blocks().any(|block| block.max > first.align) {
        let text =
            "random_generator=permute starts one I/O at each block; longer I/Os overlap the next blocks";
        findings.note(note(job, &[Opt::RandomGenerator], "permute-overlaps", text));
    }
}

/// True for generators that visit each block once without a map.
pub(crate) fn visits_each_block_once(job: &Job) -> bool {
    job.options.choice::<RandomGenerator>(Opt::RandomGenerator).order() != RandomOrder::Drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, fixed, notes_of, null, plan_of, spec_of, texts, wrong};
    use ferrio_job::{Skew, SkewShape};

    fn job(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=1m\nrw=randrw\n{options}\n"))
    }

    fn notes(options: &str) -> Vec<String> {
        crate::testing::notes(&format!("[a]\nioengine=null\nrw=randread\n{options}\n"))
    }

    fn pairs(zones: &[AccessZone]) -> Vec<(u32, u64)> {
        zones.iter().map(|zone| (zone.accesses, zone.size)).collect()
    }

    #[test]
    fn laws_have_parameters_and_centers_or_fios_defaults() {
        let shape = |text: &str| match job(&format!("random_distribution={text}")).distribution {
            Distribution::Skewed(Skew { shape, center }) => (shape, center),
            other => panic!("{other:?}"),
        };
        assert_eq!(shape("zipf"), (SkewShape::Zipf(1.1), None));
        assert_eq!(shape("zipf:1.3:0.25"), (SkewShape::Zipf(1.3), Some(0.25)));
        assert_eq!(shape("zipf_exact"), (SkewShape::ZipfExact(1.1), None));
        assert_eq!(shape("zipf_exact:1:0.25"), (SkewShape::ZipfExact(1.0), Some(0.25)));
        assert_eq!(shape("pareto"), (SkewShape::Pareto(0.2), None));
        assert_eq!(shape("pareto:0.5"), (SkewShape::Pareto(0.5), None));
        assert_eq!(shape("normal"), (SkewShape::Normal(0.0), None));
        assert_eq!(shape("normal:20:0.75"), (SkewShape::Normal(20.0), Some(0.75)));
        assert_eq!(job("random_distribution=random").distribution, Distribution::Uniform);
    }

    #[test]
    fn zones_are_per_direction_and_blank_sizes_share_the_rest() {
        let Distribution::Zoned(zones) = job("random_distribution=zoned:60/10:40/90,100/").distribution
        else {
            panic!("no zones");
        };
        assert_eq!(pairs(&zones.0[0]), [(60, 10), (40, 90)]);
        assert_eq!([pairs(&zones.0[1]), pairs(&zones.0[2])], [[(100, 100)], [(100, 100)]]);
        let Distribution::Zoned(zones) = job("random_distribution=zoned:70/:20/40:10/0").distribution else {
            panic!("no zones");
        };
        assert_eq!(pairs(&zones.0[2]), [(70, 30), (20, 40), (10, 30)]);
    }

    #[test]
    fn zones_in_bytes_have_units() {
        let text = "random_distribution=zoned_abs:90/40k:10/1m\nsize=4m";
        let Distribution::ZonedAbs(zones) = job(text).distribution else { panic!("no zones") };
        assert_eq!(pairs(&zones.0[0]), [(90, 40 << 10), (10, 1 << 20)]);
    }

    #[test]
    fn zones_and_blocks_beyond_a_file_get_a_note() {
        let found = notes("size=40k\nrandom_distribution=zoned_abs:50/20k:50/40k");
        assert_eq!(
            found,
            ["zoned_abs sizes exceed file size: an offset beyond the end of a.0.0 ends the pass"]
        );
        assert!(notes("size=60k\nrandom_distribution=zoned_abs:50/20k:50/40k").is_empty());
        let found = notes("size=40k\nrandom_distribution=sequence:1,10");
        assert_eq!(found, ["random_distribution=sequence ends a pass at block 10: a.0.0 has fewer blocks"]);
        assert!(notes("size=44k\nrandom_distribution=sequence:1,10").is_empty());
    }

    #[test]
    fn zones_larger_than_a_file_get_a_note() {
        let zones = "zonemode=strided\nzonesize=16k\nzonerange=32k";
        let want = "a zone is larger than a.0.0: a random offset beyond the end of the file ends the pass";
        assert_eq!(notes(&format!("size=20k\n{zones}")), [want]);
        assert!(notes(&format!("size=32k\n{zones}")).is_empty());
    }

    #[test]
    fn sequences_and_shares_are_taken_over() {
        let spec =
            job("random_distribution=sequence:3,0,7\nrandom_sequence_stride=1\npercentage_random=30,70");
        assert_eq!(spec.distribution, Distribution::Sequence { blocks: vec![3, 0, 7], stride: true });
        assert_eq!(spec.percentage_random, PerDirection([30, 70, 70]));
        assert_eq!(job("").percentage_random, PerDirection([100; 3]));
    }

    #[test]
    fn only_a_generator_that_was_not_chosen_is_switched() {
        let exceeds = "file a.0.0 exceeds 32-bit tausworthe random generator.";
        let switches =
            "Switching to tausworthe64. Use the random_generator= option to get rid of this warning.";
        assert_eq!(notes("size=1t\nbs=512\nnorandommap=1"), Vec::<String>::new());
        assert_eq!(notes("size=3t\nbs=512\nnorandommap=1"), [exceeds, switches]);
        let hint = "Use the random_generator= option to switch to lfsr or tausworthe64.";
        assert_eq!(notes("size=3t\nbs=512\nnorandommap=1\nrandom_generator=tausworthe"), [exceeds, hint]);
        for other in ["random_generator=tausworthe64", "random_generator=lfsr", "random_distribution=zipf"] {
            assert!(notes(&format!("size=3t\nbs=512\n{other}")).is_empty(), "{other}");
        }
        let wide = |text: &str| job(text).wide_offsets;
        assert!(wide("size=3t\nbs=512") && !wide("size=3t\nbs=512\nrandom_generator=tausworthe"));
    }

    #[test]
    fn a_seed_is_used_whatever_randrepeat_says() {
        assert_eq!(job("").seeding, Seeding::Repeatable);
        assert_eq!(job("randrepeat=0\n").seeding, Seeding::FromSystem);
        assert_eq!(job("randrepeat=0\nrandseed=7\n").seeding, Seeding::Fixed(7));
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
        let want = "random_generator=permute visits every block once, but random_distribution=zipf does not";
        let both = "rw=randread\nrandom_generator=permute\nrandom_distribution=zipf:1.2\n";
        assert_eq!(first_refusal(both), want);
        let found = notes_of("rw=randread\nrandom_generator=lfsr\nrandom_distribution=zipf:1.2\n");
        assert_eq!(found, ["random_generator=lfsr has no effect with random_distribution=zipf"]);
        assert!(notes_of("rw=randread\nrandom_generator=lfsr\nrandom_distribution=random\n").is_empty());
    }

    #[test]
    fn a_permutation_has_one_size_of_block() {
        let want = "random_generator=permute needs the same smallest block and alignment for all directions";
        assert_eq!(first_refusal("rw=randrw\nrandom_generator=permute\nbs=4k,8k\n"), want);
        assert!(notes_of("rw=randread\nrandom_generator=permute\nbs=4k,8k\n").is_empty());
        assert!(wrong("rw=randtrimwrite\nrandom_generator=permute\nbs=4k,8k,4k\n").is_empty());
        let found = notes_of("rw=randread\nrandom_generator=permute\nbsrange=4k-8k\n");
        assert!(found[0].starts_with("random_generator=permute starts one I/O at each block"), "{found:?}");
        assert!(notes_of("rw=randread\nrandom_generator=permute\n").is_empty());
    }
}
