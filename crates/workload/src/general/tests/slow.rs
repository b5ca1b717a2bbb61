//! The choice of files by the plainest means: flags, one look after the other, one draw after the other.

use ferrio_job::{FileService, Law, ReadWrite, Skew};
use proptest::prelude::*;

use super::{files, job};
use crate::random::T88;
use crate::seeds::{self, thread_seeds};
use crate::skewed::Skewed;
use crate::{Region, Step, Workload};

/// The files of a job, each with so many blocks left.
struct Slow {
    blocks: Vec<u64>,
    left: Vec<u64>,
    finished: Vec<bool>,
    open: Vec<bool>,
    most_open: usize,
    service: FileService,
    draws: T88,
    skewed: Option<Skewed>,
    /// The current file, and how many I/Os it is still kept for.
    current: Option<(usize, u32)>,
    at: usize,
}

impl Slow {
    fn new(blocks: &[u64], service: FileService, most_open: usize) -> Self {
        let seed = thread_seeds(&job(), [0; 24])[seeds::FILE];
        let skewed = match &service {
            FileService::Skewed(skew) => Some(Skewed::new(skew, blocks.len() as u64 * 1024, seed, false)),
            _ => None,
        };
        Slow {
            blocks: blocks.to_vec(),
            left: blocks.to_vec(),
            finished: vec![false; blocks.len()],
            open: vec![false; blocks.len()],
            most_open,
            service,
            draws: T88::new(seed),
            skewed,
            current: None,
            at: blocks.len() - 1,
        }
    }

    fn keep(&self) -> u32 {
        match self.service {
            FileService::RoundRobin { ios } | FileService::Random { ios } => ios,
            FileService::Sequential => u32::MAX,
            FileService::Skewed(_) => 1,
        }
    }

    /// The next step of a pass, in words.
    fn next(&mut self) -> String {
        let count = self.blocks.len();
        let file = match self.current {
            Some((file, left)) if left > 0 => {
                self.current = Some((file, left - 1));
                file
            }
            _ => loop {
                if self.finished.iter().all(|&finished| finished) {
                    return "end".to_owned();
                }
                let file = match (&self.service, &mut self.skewed) {
                    (_, Some(skewed)) => (skewed.next() / 1024) as usize,
                    (FileService::Random { .. }, _) => {
                        (f64::from(self.draws.draw()) / 2f64.powi(32) * count as f64) as usize
                    }
                    _ => {
                        self.at = (self.at + 1) % count;
                        self.at
                    }
                };
                let full = self.open.iter().filter(|&&open| open).count() >= self.most_open;
                if self.finished[file] || (!self.open[file] && full) {
                    continue;
                }
                if !std::mem::replace(&mut self.open[file], true) {
                    self.current = Some((file, self.keep()));
                    self.left[file] = self.blocks[file];
                    return format!("open {file}");
                }
                self.current = Some((file, self.keep() - 1));
                break file;
            },
        };
        if self.left[file] > 0 {
            self.left[file] -= 1;
            return format!("read {file}");
        }
        self.current = None;
        self.open[file] = false;
        self.finished[file] = self.skewed.is_none();
        format!("close {file}")
    }
}

fn any_service() -> impl Strategy<Value = FileService> {
    let law = prop_oneof![
        (0.1f64..0.9).prop_map(Law::Zipf),
        (0.1f64..0.9).prop_map(Law::Pareto),
        (0.0f64..90.0).prop_map(Law::Normal)
    ];
    prop_oneof![
        (1u32..5).prop_map(|ios| FileService::RoundRobin { ios }),
        (1u32..5).prop_map(|ios| FileService::Random { ios }),
        Just(FileService::Sequential),
        (law, prop::option::of(0.0f64..1.0))
            .prop_map(|(law, center)| FileService::Skewed(Skew { law, center })),
    ]
}

proptest! {
    #[test]
    fn files_are_chosen_opened_and_closed_as_by_a_slow_model(
        blocks in prop::collection::vec(0u64..6, 2..100),
        service in any_service(),
        most_open in 1usize..99,
    ) {
        let most_open = 1 + most_open % (blocks.len() - 1).max(1);
        prop_assume!(most_open < blocks.len());
        // Files that never finish need room for something.
        prop_assume!(!service.never_finishes() || blocks.iter().all(|&blocks| blocks > 0));
        let mut spec = files(ReadWrite::Read, blocks.len() as u64 * 4, blocks.len() as u64, service);
        spec.openfiles = most_open as u32;
        let region = |&blocks: &u64| Region { offset: 0, size: blocks * 4096, real_size: blocks * 4096 };
        let regions: Vec<_> = blocks.iter().map(region).collect();
        let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
        let mut slow = Slow::new(&blocks, service, most_open);
        for _ in 0..2000 {
            let step = match workload.next() {
                Step::Io(io) => format!("read {}", io.file),
                Step::Open { file } => format!("open {file}"),
                Step::Close { file } => format!("close {file}"),
                Step::Sync { .. } => "sync".to_owned(),
                Step::PassEnd => "end".to_owned(),
            };
            prop_assert_eq!(&step, &slow.next());
            if step == "end" {
                break;
            }
        }
    }
}
