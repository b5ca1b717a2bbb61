//! fio's defaults: the job that nothing was said about.

use std::time::Duration;

use crate::spec::{
    BlockSizes, BufferContent, Depth, Durability, EngineKind, EngineOptions, Fadvise, Fallocate, Generator,
    JobSpec, LifeCycle, Limits, Logs, Measure, OpenSync, PerDirection, Rates, ReadWrite, RwPostfix, Seeding,
    Sequencer, Think, Tolerance, UnifiedReporting, Units,
};

impl JobSpec {
    /// A job with fio's defaults and no files: the base that the planner fills in.
    #[must_use]
    pub fn bare(name: &str) -> Self {
        let block = BlockSizes { min: 4096, max: 4096, align: 4096 };
        JobSpec {
            name: name.to_owned(),
            description: None,
            number: 1,
            clone: 0,
            clones: 1,
            group: 0,
            stonewall: false,
            life: LifeCycle::default(),
            tolerance: Tolerance::default(),
            group_reporting: false,
            thread: false,
            rw: ReadWrite::Read,
            rw_postfix: RwPostfix::None,
            sequencer: Sequencer::Sequential,
            rwmixread: 50,
            block: PerDirection([block.clone(), block.clone(), block]),
            split: PerDirection::default(),
            bs_unaligned: false,
            zones: None,
            random_map: true,
            generator: Generator::Tausworthe32,
            seeding: Seeding::Repeatable,
            buffer: BufferContent { zero: false, refill: false, scramble: true, pattern: Vec::new() },
            engine: EngineKind::Psync,
            engine_options: EngineOptions::default(),
            depth: Depth { iodepth: 1, batch: 1, complete_min: 1, complete_max: 1, low: 1 },
            direct: false,
            open_sync: OpenSync::None,
            invalidate: true,
            fadvise: Fadvise::ByPattern,
            files: Vec::new(),
            verify: None,
            limits: Limits {
                size: 0,
                io_size: None,
                number_ios: 0,
                loops: 1,
                runtime: Duration::ZERO,
                time_based: false,
                ramp_time: Duration::ZERO,
                startdelay: (Duration::ZERO, Duration::ZERO),
            },
            offload: false,
            serialize_overlap: false,
            rates: Rates::default(),
            think: Think::default(),
            durability: Durability::default(),
            overwrite: true,
            fallocate: Fallocate::Native,
            create_fsync: true,
            create_serialize: true,
            create_on_open: false,
            create_only: false,
            readonly: false,
            unlink: false,
            cpus_allowed: Vec::new(),
            memory_policy: None,
            nice: 0,
            measure: Measure {
                lat: true,
                clat: true,
                slat: true,
                lat_percentiles: false,
                clat_percentiles: true,
                slat_percentiles: false,
                gtod_reduce: false,
                percentiles: vec![
                    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
                    99.95, 99.99,
                ],
                percentile_precision: 2,
                bwavgtime_ms: 500,
                iopsavgtime_ms: 500,
                disk_util: true,
                unified: UnifiedReporting::None,
            },
            logs: Logs::default(),
            steadystate: None,
            units: Units { kb_base: 1024, unit_base: 8, significant_figures: 4 },
            options: Vec::new(),
        }
    }
}
