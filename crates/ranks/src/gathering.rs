//! Which ranks have come to rank 0.

use crate::greeting::Refusal;

/// Ranks at most: as many as hosts in a list.
pub const MAX_RANKS: u64 = ferrio_hosts::MAX_HOSTS as u64;

/// Ranks that a message names at most; a range is one.
const MAX_NAMED: usize = 10;

/// The other ranks of a run, each with what it has come with.
#[derive(Debug)]
pub struct Gathering<T> {
    /// Rank 1 first.
    ranks: Vec<Option<T>>,
    missing: usize,
}

impl<T> Gathering<T> {
    /// Nobody has come yet. `ranks` counts rank 0.
    pub fn new(ranks: u64) -> Self {
        let others = ranks.clamp(1, MAX_RANKS) as usize - 1;
        Gathering { ranks: (0..others).map(|_| None).collect(), missing: others }
    }

    /// A rank has come.
    ///
    /// # Errors
    ///
    /// It is here already, or there is no such rank; it comes back with the reason.
    pub fn arrive(&mut self, rank: u64, with: T) -> Result<(), (T, Refusal)> {
        let last = self.ranks.len() as u64;
        let place = usize::try_from(rank).ok().and_then(|rank| self.ranks.get_mut(rank.checked_sub(1)?));
        match place {
            Some(place @ None) => {
                *place = Some(with);
                self.missing -= 1;
                Ok(())
            }
            Some(Some(_)) => Err((with, Refusal::Twice(rank))),
            None => Err((with, Refusal::NoRank { rank, last })),
        }
    }

    /// All have come.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The number of those who have not come.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Those who have not come: `1, 3-7, 9`.
    pub fn names_of_missing(&self) -> String {
        let is_missing = |at: usize| self.ranks.get(at).is_some_and(Option::is_none);
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < self.ranks.len() {
            let first = at;
            while is_missing(at) {
                at += 1;
            }
            match at - first {
                0 => at += 1,
                1 => ranges.push(format!("{}", first + 1)),
                _ => ranges.push(format!("{}-{at}", first + 1)),
            }
        }
        let more = ranges.len() > MAX_NAMED;
        ranges.truncate(MAX_NAMED);
        format!("{}{}", ranges.join(", "), if more { " and more" } else { "" })
    }

    /// What those who have come brought, in the order of ranks.
    pub fn into_ranks(self) -> impl Iterator<Item = T> {
        self.ranks.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_come_are_kept_in_the_order_of_ranks() {
        let mut gathering = Gathering::new(4);
        for rank in [3, 1] {
            gathering.arrive(rank, rank).unwrap();
        }
        assert_eq!((gathering.is_complete(), gathering.names_of_missing().as_str()), (false, "2"));
        assert_eq!(gathering.arrive(3, 30), Err((30, Refusal::Twice(3))));
        for none in [0, 4, u64::MAX] {
            assert_eq!(gathering.arrive(none, 0), Err((0, Refusal::NoRank { rank: none, last: 3 })));
        }
        gathering.arrive(2, 2).unwrap();
        assert!(gathering.is_complete());
        assert_eq!(gathering.into_ranks().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn missing_ranks_are_named_as_ranges_and_not_without_end() {
        let mut gathering = Gathering::new(10);
        for rank in [2, 8] {
            gathering.arrive(rank, ()).unwrap();
        }
        assert_eq!(gathering.names_of_missing(), "1, 3-7, 9");
        let mut many = Gathering::new(101);
        (1..=50).for_each(|rank| many.arrive(2 * rank, ()).unwrap());
        assert_eq!(many.names_of_missing(), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and more");
        assert_eq!(many.missing(), 50);
    }

    #[test]
    fn one_rank_is_complete_alone() {
        assert!(Gathering::<()>::new(1).is_complete());
        assert!(Gathering::<()>::new(0).is_complete());
    }
}
