//! Detects job files pasted from a listing, in which each line begins with its number. One error reports that, instead of one per line.

use ferrio_job::{Diagnostic, Origin};

use super::{LineEntry, characters};
use crate::sources::Sources;

/// The one error of a file whose lines begin with their numbers, as editors and `cat -n` show them.
pub(super) fn find(sources: &Sources, source: u32) -> Option<LineEntry> {
    let mut numbered = Vec::new();
    for line in 1..=sources.lines(source) {
        let text = sources.line(source, line);
        let (number, rest) = match line_number(text) {
            Some(found) => found,
            None if text.trim().is_empty() => continue,
            None => return None,
        };
        if numbered.last().is_some_and(|&(_, _, before)| number <= before) {
            return None;
        }
        numbered.push((line, rest, number));
    }
    let first = numbered.iter().find(|(_, rest, _)| rest.starts_with('['))?;
    let (line, rest, _) = *first;
    if numbered.len() < 2 {
        return None;
    }
    let text = sources.line(source, line);
    let indent = text.len() - text.trim_start().len();
    let length = characters(&text[indent..text.len() - rest.len()]);
    let origin = Origin::File { source, line, column: characters(&text[..indent]) + 1, length };
    let diagnostic = Diagnostic::error("the lines begin with line numbers", origin)
        .code("numbered-lines")
        .label("not part of the job file")
        .help("remove the number at the start of each line");
    Some(LineEntry::Broken(Box::new(diagnostic), None))
}

/// The number at the start of a line of a listing, and the text of the line.
fn line_number(line: &str) -> Option<(u32, &str)> {
    let text = line.trim_start();
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let is_separated = rest.is_empty() || rest.starts_with([' ', '\t', ':', '|', '.', ')', '\r']);
    let rest = rest.trim_start_matches([' ', '\t', ':', '|', '.', ')']);
    number.parse().ok().filter(|_| is_separated).map(|number| (number, rest))
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn a_listing_with_line_numbers_is_one_error() {
        let listings = [
            "1 [global]\n2 rw=read\n3\n4 [a]\n",
            "1: [global]\n2: rw=read\n",
            "  9  # head\n 10  [a]\r\n 11\r\n",
            "     1\t[a]\n\n     2\tsize=4k\n",
            "1|[a]\n2|rw=read",
        ];
        for text in listings {
            let entries = read(text);
            let [LineEntry::Broken(diagnostic, None)] = &entries[..] else { panic!("{text}: {entries:?}") };
            assert_eq!(diagnostic.code, "numbered-lines");
        }
        let others = [
            "1 [a]\n",
            "[a]\nsize=4k\n",
            "1 [a]\nsize=4k\n",
            "2 [a]\n1 rw=read\n",
            "1\n2\n",
            "1[a]\n2b=3\n",
            "",
        ];
        for text in others {
            let listing = |entry: &LineEntry| matches!(entry, LineEntry::Broken(found, _) if found.code == "numbered-lines");
            assert!(!read(text).iter().any(listing), "{text}");
        }
    }
}
