//! Unique job names, for readers that identify rows of benchmarks and test cases by name.

use std::collections::HashSet;

/// The names of jobs in order. Repeated names get a number, as in `a #2`, which is not the name of another job.
pub fn unique_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut taken: HashSet<String> = names.clone().map(str::to_owned).collect();
    let mut first: HashSet<&str> = HashSet::new();
    let mut numbered = |name: &str| {
        let free = (2_u64..).map(|number| format!("{name} #{number}")).find(|name| !taken.contains(name));
        let free = free.unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    names.map(|name| if first.insert(name) { name.to_owned() } else { numbered(name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::unique_names;

    #[test]
    fn names_that_come_again_have_numbers_that_no_job_has() {
        let unique = |names: &[&str]| unique_names(names.iter().copied());
        assert_eq!(unique(&["a", "b", "a", "a"]), ["a", "b", "a #2", "a #3"]);
        assert_eq!(unique(&["a", "a", "a #2", "a #2"]), ["a", "a #3", "a #2", "a #2 #2"]);
    }
}
