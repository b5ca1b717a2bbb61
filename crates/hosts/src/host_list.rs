//! Lists of hosts as Slurm and other cluster tools write them: `node[01-03,7],gpu5`, `rack[1-2]n[001-004]`.
//!
//! The order and repetitions are kept, because both mean something: ranks follow the order, and a host that is named twice runs twice. The
//! crate `nodeset` makes sets of such lists and so loses both.

use thiserror::Error;

/// Hosts at the most, so that a slip such as `node[1-99999999]` is an error and not a loop.
pub const MAX_HOSTS: usize = 100_000;

/// Digits of a number at the most.
const MAX_DIGITS: usize = 18;

/// Why a text is no list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostListError {
    /// Nothing between two commas, or no name at all.
    #[error("a name is missing")]
    Empty,
    /// A bracket without its other half, or within brackets.
    #[error("a bracket has no other half in `{0}`")]
    Bracket(String),
    /// Something other than numbers in brackets.
    #[error("`{0}` is no number and no range of numbers such as 1-8")]
    Range(String),
    /// A range from a larger to a smaller number.
    #[error("the range `{0}` runs backwards")]
    Backwards(String),
    /// More than [`MAX_HOSTS`].
    #[error("the list has more than {MAX_HOSTS} hosts")]
    TooMany,
}

/// The names in a list, in order.
///
/// # Errors
///
/// The text is no list of hosts.
pub fn host_names(list: &str) -> Result<Vec<String>, HostListError> {
    let mut names = Vec::new();
    for item in items(list)? {
        names.extend(expanded(item, MAX_HOSTS - names.len())?);
    }
    Ok(names)
}

/// The names in a file with one or several per line, separated by white space; `#` begins a comment.
///
/// # Errors
///
/// As [`host_names`], with the number of the line, from 1.
pub fn hosts_of_file(text: &str) -> Result<Vec<String>, (usize, HostListError)> {
    let mut names = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split_whitespace() {
            names.extend(host_names(word).map_err(|error| (at + 1, error))?);
            if names.len() > MAX_HOSTS {
                return Err((at + 1, HostListError::TooMany));
            }
        }
    }
    Ok(names)
}

/// The parts between commas that are not in brackets.
fn items(list: &str) -> Result<Vec<&str>, HostListError> {
    let (mut items, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, character) in list.char_indices() {
        match character {
            '[' | ']' if is_inside == (character == '[') => {
                return Err(HostListError::Bracket(list.to_owned()));
            }
            '[' | ']' => is_inside = !is_inside,
            ',' if !is_inside => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    let items: Vec<&str> = items.into_iter().map(str::trim).collect();
    match items {
        _ if is_inside => Err(HostListError::Bracket(list.to_owned())),
        items if items.contains(&"") => Err(HostListError::Empty),
        items => Ok(items),
    }
}

/// The names of one item, the last brackets fastest.
fn expanded(item: &str, limit: usize) -> Result<Vec<String>, HostListError> {
    let Some((before, rest)) = item.split_once('[') else { return within(vec![item.to_owned()], limit) };
    let (ranges, after) = rest.split_once(']').ok_or_else(|| HostListError::Bracket(item.to_owned()))?;
    let ends = if after.is_empty() { vec![String::new()] } else { expanded(after, limit)? };
    let mut names = Vec::new();
    for range in ranges.split(',') {
        let (first, last, width) = bounds(range.trim())?;
        for number in first..=last {
            let numbered = ends.iter().map(|end| format!("{before}{number:0width$}{end}"));
            names.extend(numbered);
            if names.len() > limit {
                return Err(HostListError::TooMany);
            }
        }
    }
    Ok(names)
}

fn within(names: Vec<String>, limit: usize) -> Result<Vec<String>, HostListError> {
    if names.len() > limit { Err(HostListError::TooMany) } else { Ok(names) }
}

/// The first and the last number of a range, and the digits that each has at least: leading zeros of the first are kept.
fn bounds(range: &str) -> Result<(u64, u64, usize), HostListError> {
    let number = |digits: &str| {
        let is_number =
            (1..=MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let bounds = number(first).zip(number(last));
    let (low, high) = bounds.ok_or_else(|| HostListError::Range(range.to_owned()))?;
    if low > high {
        return Err(HostListError::Backwards(range.to_owned()));
    }
    Ok((low, high, first.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(list: &str) -> String {
        host_names(list).unwrap().join(" ")
    }

    /// As `scontrol show hostnames` prints them.
    #[test]
    fn lists_are_read_as_slurm_reads_them() {
        for (list, names) in [
            ("host[1-3,7]", "host1 host2 host3 host7"),
            ("n[01-03],gpu5", "n01 n02 n03 gpu5"),
            ("rack[01-02]n[001-003]", "rack01n001 rack01n002 rack01n003 rack02n001 rack02n002 rack02n003"),
            ("m[001-002],a-b-1", "m001 m002 a-b-1"),
            ("n[8-11]-ib", "n8-ib n9-ib n10-ib n11-ib"),
            ("n[08-11]", "n08 n09 n10 n11"),
            ("host4,host1,host4", "host4 host1 host4"),
            ("user@10.0.0.[1-2]", "user@10.0.0.1 user@10.0.0.2"),
        ] {
            assert_eq!(joined(list), names, "{list}");
        }
    }

    #[test]
    fn what_is_no_list_is_named() {
        for (list, said) in [
            ("", "a name is missing"),
            ("a,,b", "a name is missing"),
            ("n[1-2", "a bracket has no other half in `n[1-2`"),
            ("n1]", "a bracket has no other half in `n1]`"),
            ("n[[1]]", "a bracket has no other half in `n[[1]]`"),
            ("n[a-b]", "`a-b` is no number and no range of numbers such as 1-8"),
            ("n[]", "`` is no number and no range of numbers such as 1-8"),
            ("n[3-1]", "the range `3-1` runs backwards"),
            ("n[1-99999999]", "the list has more than 100000 hosts"),
            ("a[1-1000]b[1-1000]", "the list has more than 100000 hosts"),
        ] {
            assert_eq!(host_names(list).unwrap_err().to_string(), said, "{list}");
        }
    }

    #[test]
    fn files_have_comments_and_errors_have_lines() {
        assert_eq!(hosts_of_file("a b\r\n\n# none\n  n[1-2] # two\n").unwrap(), ["a", "b", "n1", "n2"]);
        assert_eq!(hosts_of_file("a\nn[2-1]\n").unwrap_err(), (2, HostListError::Backwards("2-1".into())));
    }

    proptest! {
        #[test]
        fn plain_names_come_back_in_order(names in prop::collection::vec("[a-z][a-z0-9.-]{0,8}", 1..20)) {
            prop_assert_eq!(host_names(&names.join(",")).unwrap(), names);
        }

        #[test]
        fn no_text_panics_or_takes_long(list in "[a-c0-9,\\[\\]-]{0,40}") {
            if let Ok(names) = host_names(&list) {
                prop_assert!(names.len() <= MAX_HOSTS && names.iter().all(|name| !name.is_empty()));
            }
        }
    }
}
