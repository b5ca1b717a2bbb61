//! Finds options by name or alias in a hash table that is built at compile time. Building it at the start took a seventh of the
//! instructions of a short run.

use super::ROWS;
use super::opt::{COUNT, Opt};

/// Number of buckets: more than twice the number of names.
const BUCKETS: usize = 2048;

/// Marks the end of a chain.
const END_OF_CHAIN: u16 = u16::MAX;

/// Number of names, including aliases.
const NAME_COUNT: usize = {
    let (mut row, mut names) = (0, 0);
    while row < COUNT {
        names += 1 + ROWS[row].aliases.len();
        row += 1;
    }
    names
};

/// A name of a row, and the next one with the same hash.
#[derive(Clone, Copy)]
struct NameEntry {
    row: u16,
    /// 0 is the main name, 1 the first alias.
    name: u16,
    next: u16,
}

/// Entries refer to names by number: `&str` would need relocations at the start.
struct NameIndex {
    heads: [u16; BUCKETS],
    entries: [NameEntry; NAME_COUNT],
}

static INDEX: NameIndex = {
    assert!(NAME_COUNT * 2 < BUCKETS, "chains would be long");
    let mut heads = [END_OF_CHAIN; BUCKETS];
    let mut entries = [NameEntry { row: 0, name: 0, next: END_OF_CHAIN }; NAME_COUNT];
    let (mut row, mut count) = (COUNT, 0);
    // Backwards, so that each chain has the order of the rows.
    while row > 0 {
        row -= 1;
        let mut name = 0;
        while name <= ROWS[row].aliases.len() {
            let bucket = bucket(text(row, name));
            entries[count] = NameEntry { row: row as u16, name: name as u16, next: heads[bucket] };
            heads[bucket] = count as u16;
            (name, count) = (name + 1, count + 1);
        }
    }
    NameIndex { heads, entries }
};

const fn text(row: usize, name: usize) -> &'static str {
    if name == 0 { ROWS[row].name } else { ROWS[row].aliases[name - 1] }
}

/// FNV-1a.
const fn bucket(name: &str) -> usize {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < name.len() {
        hash = (hash ^ name.as_bytes()[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 16) as usize % BUCKETS
}

impl Opt {
    /// The options with this name or alias, in the order of rows: core first.
    pub fn named(wanted: &str) -> impl Iterator<Item = Opt> {
        let mut next = INDEX.heads[bucket(wanted)];
        let chain = std::iter::from_fn(move || {
            let entry = INDEX.entries.get(usize::from(next))?;
            next = entry.next;
            Some(entry)
        });
        let entries = chain.filter(move |entry| text(entry.row.into(), entry.name.into()) == wanted);
        entries.map(|entry| ROWS[usize::from(entry.row)].opt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_leads_to_all_rows_that_have_it_in_their_order() {
        for row in &ROWS {
            for name in std::iter::once(row.name).chain(row.aliases.iter().copied()) {
                let with_name = ROWS.iter().filter(|row| row.name == name || row.aliases.contains(&name));
                assert_eq!(
                    Opt::named(name).collect::<Vec<_>>(),
                    with_name.map(|row| row.opt).collect::<Vec<_>>(),
                    "{name}"
                );
            }
        }
        for name in ["", "iodpeth", "Iodepth", "iodepth "] {
            assert_eq!(Opt::named(name).next(), None, "{name}");
        }
    }

    #[test]
    fn chains_are_short() {
        let chains = (0..BUCKETS).map(|bucket| {
            let mut length = 0;
            let mut at = INDEX.heads[bucket];
            while at != END_OF_CHAIN {
                (length, at) = (length + 1, INDEX.entries[usize::from(at)].next);
            }
            length
        });
        assert!(chains.max() <= Some(8));
    }
}
