//! I/O priorities: that of a worker, and those of single I/Os.

use std::fmt;

use crate::{Direction, PerDirection};

/// An I/O priority as the kernel packs it: the class in the top 3 bits, the hint in 10, the level in the low 3. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoPriority(u16);

impl IoPriority {
    /// The class of a priority that names none: best effort.
    pub const BEST_EFFORT: u8 = 2;
    /// The class that may starve all others; it needs a privilege.
    pub const REAL_TIME: u8 = 1;

    /// From a class (1 real time, 2 best effort, 3 idle; 0 means best effort), a hint below 1024 and a level below 8.
    #[must_use]
    pub const fn new(class: u8, hint: u16, level: u8) -> Self {
        let class = if class == 0 { Self::BEST_EFFORT } else { class };
        IoPriority(((class & 7) as u16) << 13 | (hint & 0x3ff) << 3 | (level & 7) as u16)
    }

    /// From the kernel's number.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        IoPriority(bits)
    }

    /// The kernel's number.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// 0 none, 1 real time, 2 best effort, 3 idle.
    #[must_use]
    pub const fn class(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// A hint for the device, below 1024.
    #[must_use]
    pub const fn hint(self) -> u16 {
        self.0 >> 3 & 0x3ff
    }

    /// Level in the class, 0 (first) to 7.
    #[must_use]
    pub const fn level(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// True for the class that needs a privilege.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        self.class() == Self::REAL_TIME
    }
}

/// `class/level/hint`, as reports have it.
impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.class(), self.level(), self.hint())
    }
}

/// A share of a direction's I/Os that is sent with a priority of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Bytes of the I/Os that it is a share of; `None` for I/Os of all sizes.
    pub bytes: Option<u64>,
    /// Percent, 1..=100; those of one size add up to 100 at most.
    pub percent: u8,
    /// The priority of these I/Os.
    pub priority: IoPriority,
}

/// The priorities of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities {
    /// `prio`, `prioclass`, `priohint`: of the worker, and of all its I/Os but the chosen ones; `None` if none was given.
    pub own: Option<IoPriority>,
    /// `cmdprio_*`: which I/Os have another one. None of the trims has.
    pub shares: PerDirection<Vec<PriorityShare>>,
}

impl Priorities {
    /// The kernel's number of the job's own priority, 0 if it has none.
    #[must_use]
    pub fn own_bits(&self) -> u16 {
        self.own.unwrap_or_default().bits()
    }

    /// True when some I/Os have another priority than the job.
    #[must_use]
    pub fn are_chosen(&self) -> bool {
        self.shares.0.iter().any(|shares| !shares.is_empty())
    }

    /// The kernel's numbers of all priorities that I/Os of a direction may have, each once: that of the job, then those chosen.
    #[must_use]
    pub fn of(&self, direction: Direction) -> Vec<u16> {
        let mut all = vec![self.own_bits()];
        for share in &self.shares[direction] {
            let bits = share.priority.bits();
            if !all.contains(&bits) {
                all.push(bits);
            }
        }
        all
    }
}
