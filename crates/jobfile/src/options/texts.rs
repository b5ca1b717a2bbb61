//! Assignments in the form in which reports list them: each option once, with one text for all of its assignments. fio lists each
//! assignment.

use std::collections::HashMap;

use super::GivenOption;
use crate::catalogue::{Multi, Opt, OptionRow, ValueKind};
use crate::value::{Value, fill, pieces, pieces_by_comma};

/// The options of a list of assignments, each name once at its first place. The text of an option that was given several times has
/// the meaning of all its assignments: names and words are joined, directions keep the value that was last given for them, and of all
/// other options the last text counts. Unless `merges`, only names of files are joined, and all other assignments are there.
#[must_use]
pub fn option_texts(list: &[GivenOption], merges: bool) -> Vec<(Opt, String)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut texts: Vec<(Opt, String)> = Vec::new();
    for given in list {
        let is_joined = merges || adds_files(given.opt);
        match places.get(given.opt.row().name).filter(|_| is_joined) {
            None => {
                places.insert(given.opt.row().name, texts.len());
                texts.push((given.opt, given.text.clone()));
            }
            // It is skipped, because its value is.
            Some(_) if !given.counts() => {}
            Some(&at) => {
                let (opt, text) = &mut texts[at];
                // Engines may have options of one name.
                if *opt == given.opt {
                    add(text, given)
                } else {
                    text.clone_from(&given.text)
                }
                *opt = given.opt;
            }
        }
    }
    texts
}

/// Whether the values of an option add up to one list of files.
fn adds_files(opt: Opt) -> bool {
    matches!(opt, Opt::Filename | Opt::Opendir)
}

/// Adds an assignment to the text of those before.
fn add(text: &mut String, given: &GivenOption) {
    let row = given.opt.row();
    match &given.value {
        Value::List(_) | Value::Text(_) if adds_files(given.opt) => {
            text.push(':');
            text.push_str(&given.text);
        }
        Value::Words(..) if row.kind == ValueKind::EnumList => {
            let words = text.split(',').map(|word| word.split(':').next().unwrap_or(word));
            *text = words.chain([given.text.as_str()]).collect::<Vec<_>>().join(",");
        }
        Value::Directions(_) if row.multi != Multi::No => replace_directions(text, given),
        Value::Splits(_) => replace_directions(text, given),
        _ => text.clone_from(&given.text),
    }
}

/// Replaces the directions that the assignment gives. If a text does not show its directions, the last one counts.
fn replace_directions(text: &mut String, given: &GivenOption) {
    let has_value = match &given.value {
        Value::Directions(values) => values.map(|value| value.is_some()),
        Value::Splits(lists) => lists.each_ref().map(Option::is_some),
        _ => return,
    };
    let row = given.opt.row();
    let added =
        by_direction(row, &given.text).filter(|texts| texts.each_ref().map(Option::is_some) == has_value);
    let (Some(before), Some(added)) = (by_direction(row, text), added) else {
        text.clone_from(&given.text);
        return;
    };
    let [read, write, trim] =
        std::array::from_fn(|at| added[at].clone().or_else(|| before[at].clone()).unwrap_or_default());
    *text = match directions_of(row) {
        2 if write == read => read,
        2 => format!("{read},{write}"),
        _ if trim != write => format!("{read},{write},{trim}"),
        _ if write != read => format!("{read},{write}"),
        _ => read,
    };
}

/// The part of a value for each direction, as job files divide it; `None` for an invalid value.
fn by_direction(row: &OptionRow, text: &str) -> Option<[Option<String>; 3]> {
    let most = directions_of(row);
    let parts = if row.kind == ValueKind::Bssplit { pieces_by_comma(text, most) } else { pieces(text, most) };
    fill(text, parts, most, |part| Ok(part.text.to_owned())).ok()
}

fn directions_of(row: &OptionRow) -> usize {
    if row.kind == ValueKind::Bssplit { 3 } else { row.multi.directions() }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;
    use crate::catalogue::rows;
    use crate::options::Options;
    use crate::value::parse;
    use ferrio_job::Origin;

    fn given(opt: Opt, text: &str) -> GivenOption {
        GivenOption::implied(opt, text, &Origin::Builtin)
            .unwrap_or_else(|| panic!("{}={text}", opt.row().name))
    }

    fn texts(opt: Opt, texts: &[&str]) -> String {
        let list: Vec<GivenOption> = texts.iter().map(|text| given(opt, text)).collect();
        let texts = option_texts(&list, true);
        assert_eq!(texts.len(), 1);
        texts[0].1.clone()
    }

    #[test]
    fn names_and_words_are_joined_and_directions_keep_what_was_last_given_for_them() {
        assert_eq!(texts(Opt::Filename, &["a", "b\\:b:c", "d"]), "a:b\\:b:c:d");
        assert_eq!(texts(Opt::Opendir, &["/a", "/b"]), "/a:/b");
        assert_eq!(texts(Opt::SyncFileRange, &["wait_before:2", "write:4"]), "wait_before,write:4");
        assert_eq!(texts(Opt::Bs, &["4k", ",8k"]), "4k,8k");
        assert_eq!(texts(Opt::Bs, &["4k,8k,16k", ",,1k", "2k,"]), "2k,8k,1k");
        assert_eq!(texts(Opt::Bs, &["4k", "8k"]), "8k");
        assert_eq!(texts(Opt::Bssplit, &["4k/50:8k/50", ",1k/20:2k"]), "4k/50:8k/50,1k/20:2k");
        assert_eq!(texts(Opt::Rwmixread, &["40", "60"]), "60");
        assert_eq!(texts(Opt::Description, &["one", "two"]), "two");
    }

    #[test]
    fn an_option_is_where_it_comes_first() {
        let list = [given(Opt::Rw, "read"), given(Opt::Bs, "4k"), given(Opt::Rw, "write")];
        assert_eq!(option_texts(&list, true), [(Opt::Rw, "write".to_owned()), (Opt::Bs, "4k".to_owned())]);
    }

    #[test]
    fn fio_has_each_assignment_but_one_list_of_files() {
        let list = [
            given(Opt::Bs, "4k"),
            given(Opt::Filename, "a"),
            given(Opt::Bs, "8k"),
            given(Opt::Filename, "b"),
        ];
        let text = |opt, text: &str| (opt, text.to_owned());
        assert_eq!(
            option_texts(&list, false),
            [text(Opt::Bs, "4k"), text(Opt::Filename, "a:b"), text(Opt::Bs, "8k")]
        );
    }

    /// Read as a job file is, the text has the value that all assignments have together.
    #[test]
    fn the_text_of_an_option_means_what_its_assignments_mean() {
        let texts = [
            "1",
            "2,",
            ",3",
            ",,4",
            "5,6,7",
            "8,,9",
            "1k/30:2k/70",
            ",4k/10:8k",
            "1:2",
            "3-4",
            "write",
            "wait_before:3",
            "wait_after,write:2",
            "a",
            "b:c",
            "50:50.5",
            "1k-4k",
            "0",
            "0-1",
        ];
        let no_file = |_: &Path| Err(io::ErrorKind::NotFound.into());
        let mut tried = 0;
        for row in rows() {
            let good: Vec<GivenOption> = texts
                .iter()
                .filter_map(|text| GivenOption::implied(row.opt, text, &Origin::Builtin))
                .collect();
            for first in &good {
                for second in &good {
                    let own = [first.clone(), second.clone()];
                    let text = option_texts(&own, true)[0].1.clone();
                    let options = Options { own: own.into(), ..Options::default() };
                    let value = parse(row, Some(&text), 1024, &no_file).ok();
                    if row.opt == Opt::Opendir {
                        continue;
                    }
                    assert_eq!(value, options.merged(row.opt), "{}: {text}", row.name);
                    tried += 1;
                }
            }
        }
        assert!(tried > 1000, "{tried}");
    }
}
