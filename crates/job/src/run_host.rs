//! The place of this host among those of a run.

use std::collections::BTreeMap;

/// This host among those of a run: job files call it `$host`, `$rank` and `$ranks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHost {
    /// The name that the user knows it by.
    pub name: String,
    /// Its number, from 0.
    pub rank: u32,
    /// The number of all, at least 1.
    pub ranks: u32,
}

/// The words of job files for a host, without `$`.
pub const HOST_WORDS: [&str; 3] = ["host", "rank", "ranks"];

impl RunHost {
    /// The only host of a run.
    #[must_use]
    pub fn alone(name: impl Into<String>) -> Self {
        RunHost { name: name.into(), rank: 0, ranks: 1 }
    }

    /// Number `rank` of `ranks` hosts, from its `address` in a list of hosts: in messages and names of files a host has no user.
    #[must_use]
    pub fn of_address(address: &str, rank: u32, ranks: u32) -> Self {
        RunHost { name: RunHost::name_of(address).to_owned(), rank, ranks }
    }

    /// The name of a host without its user.
    #[must_use]
    pub fn name_of(address: &str) -> &str {
        address.rsplit_once('@').map_or(address, |(_, name)| name)
    }

    /// The value of one of the [`HOST_WORDS`].
    #[must_use]
    pub fn variable(&self, word: &str) -> Option<String> {
        match word {
            "host" => Some(self.name.clone()),
            "rank" => Some(self.rank.to_string()),
            "ranks" => Some(self.ranks.to_string()),
            _ => None,
        }
    }

    /// All of them.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, String> {
        HOST_WORDS.iter().filter_map(|word| Some(((*word).to_owned(), self.variable(word)?))).collect()
    }

    /// The host that has these variables; `None` if they contradict each other or one is missing.
    #[must_use]
    pub fn of_variables(variables: &BTreeMap<String, String>) -> Option<Self> {
        let [name, rank, ranks] = HOST_WORDS.map(|word| variables.get(word));
        let host = RunHost { name: name?.clone(), rank: rank?.parse().ok()?, ranks: ranks?.parse().ok()? };
        (host.rank < host.ranks).then_some(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_comes_back_from_its_variables() {
        let host = RunHost::of_address("user@n1", 1, 3);
        assert_eq!(host.name, "n1");
        assert_eq!(RunHost::of_variables(&host.variables()), Some(host));
    }

    #[test]
    fn variables_that_contradict_each_other_are_no_host() {
        for (word, value) in [("rank", "3"), ("rank", "-1"), ("rank", "x"), ("ranks", "0"), ("ranks", "")] {
            let mut variables = RunHost::of_address("n1", 1, 3).variables();
            variables.insert(word.to_owned(), value.to_owned());
            assert_eq!(RunHost::of_variables(&variables), None, "{word}={value}");
            variables.remove(word);
            assert_eq!(RunHost::of_variables(&variables), None, "no {word}");
        }
    }
}
