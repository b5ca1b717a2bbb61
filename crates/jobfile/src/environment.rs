//! The facts about the machine that job files can use, and the replacement of `${NAME}` and `$ncpus` in their lines.

use std::io;
use std::path::Path;

use ferrio_job::{Compat, RunHost};

use crate::value::Dialect;

/// Looks up an environment variable.
pub type VariableLookup = Box<dyn Fn(&str) -> Option<String>>;

/// Reads a whole file.
pub type ReadFile = Box<dyn Fn(&Path) -> io::Result<Vec<u8>>>;

/// The dialect of job files, and the facts about the machine that they can use. The caller provides them: parsing queries nothing.
pub struct Environment {
    /// Returns the value of an environment variable.
    pub var: VariableLookup,
    /// Reads an included file, or a file that an option names as its pattern.
    pub read_file: ReadFile,
    /// Bytes per page, for `$pagesize`.
    pub pagesize: u64,
    /// MiB of memory, for `$mb_memory`.
    pub mb_memory: u64,
    /// Configured CPUs, for `$ncpus`.
    pub ncpus: u64,
    /// The place of the host in its run, for `$host`, `$rank` and `$ranks`; `None` if they are no special words.
    pub host: Option<RunHost>,
    /// The dialect in which lines and values are read.
    pub dialect: Dialect,
    /// Whether jobs have the options of ferrio or of fio.
    pub compat: Compat,
    /// True if the jobs are only parsed and never run. As in fio, the values of some options are not examined then.
    pub parse_only: bool,
}

/// A line after replacement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpandedLine {
    /// The new text.
    pub(crate) text: String,
    /// Whether a keyword such as `$ncpus` was replaced: the value may be arithmetic.
    pub(crate) has_keyword: bool,
    /// Names of variables without a value.
    pub(crate) unset: Vec<String>,
}

impl Default for Environment {
    /// No variables, no files, pages of 4 KiB, 1 GiB of memory, one CPU.
    fn default() -> Environment {
        Environment {
            var: Box::new(|_| None),
            read_file: Box::new(|_| Err(io::ErrorKind::NotFound.into())),
            pagesize: 4096,
            mb_memory: 1024,
            ncpus: 1,
            host: None,
            dialect: Dialect::default(),
            compat: Compat::default(),
            parse_only: false,
        }
    }
}

impl Environment {
    /// Replaces every `${NAME}`, then every `$pagesize`, `$mb_memory` and `$ncpus`, also within the values of variables, and every word
    /// `$host`, `$rank` and `$ranks`.
    pub(crate) fn expand(&self, line: &str) -> ExpandedLine {
        let mut expanded = ExpandedLine::default();
        let mut rest = line;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            let name = &rest[at + 2..at + end];
            expanded.text.push_str(&rest[..at]);
            let of_host = self.host.as_ref().and_then(|host| host.variable(name));
            match of_host.or_else(|| (self.var)(name)).filter(|value| !value.is_empty()) {
                Some(value) => expanded.text.push_str(&value),
                None => expanded.unset.push(name.to_owned()),
            }
            rest = &rest[at + end + 1..];
        }
        expanded.text.push_str(rest);
        for (keyword, value) in
            [("$pagesize", self.pagesize), ("$mb_memory", self.mb_memory), ("$ncpus", self.ncpus)]
        {
            if expanded.text.contains(keyword) {
                expanded.text = expanded.text.replace(keyword, &value.to_string());
                expanded.has_keyword = true;
            }
        }
        if let Some((text, has_number)) = self.with_host(&expanded.text) {
            expanded.text = text;
            expanded.has_keyword |= has_number;
        }
        expanded
    }

    /// A value of the command line with `$host`, `$rank` and `$ranks` replaced, and whether that makes it arithmetic; `None` if none of
    /// them is in it. The shell has replaced variables.
    pub(crate) fn with_host(&self, text: &str) -> Option<(String, bool)> {
        let host = self.host.as_ref().filter(|_| text.contains('$'))?;
        let (mut replaced, mut has_number) = (String::new(), false);
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, after) = (&rest[..at], &rest[at + 1..]);
            let in_braces = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (word, behind) = in_braces.unwrap_or_else(|| after.split_at(leading_word(after).len()));
            replaced.push_str(before);
            match host.variable(word) {
                Some(value) => {
                    replaced.push_str(&value);
                    has_number |= word != "host";
                    rest = behind;
                }
                None => {
                    replaced.push('$');
                    rest = after;
                }
            }
        }
        replaced.push_str(rest);
        // fio would take paths for divisions.
        (replaced != text).then_some((replaced, has_number && self.dialect == Dialect::Ferrio))
    }
}

/// The name of a variable that a text begins with, by the rules of shells: `$ranks` is not `$rank`, and `$hostname` not `$host`.
pub(crate) fn leading_word(text: &str) -> &str {
    let end = text.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Environment {
        Environment {
            var: Box::new(|name| match name {
                "A" => Some("${B}".to_owned()),
                "B" => Some("no".to_owned()),
                "rank" => Some("of variable".to_owned()),
                "CPUS" => Some("$ncpus".to_owned()),
                "EMPTY" => Some(String::new()),
                _ => None,
            }),
            ncpus: 8,
            ..Environment::default()
        }
    }

    fn text(line: &str) -> String {
        machine().expand(line).text
    }

    #[test]
    fn variables_are_replaced_once_and_odd_forms_stay() {
        assert_eq!(text("x=${A}$B"), "x=${B}$B");
        assert_eq!(text("x=$${B}"), "x=$no");
        assert_eq!(text("x=${B"), "x=${B");
        assert_eq!(text("${EMPTY}x=${NOPE}"), "x=");
        assert_eq!(machine().expand("${EMPTY}${NOPE}").unset, ["EMPTY", "NOPE"]);
    }

    #[test]
    fn keywords_are_replaced_inside_longer_words_and_in_variables() {
        assert_eq!(text("a=$ncpusx$pagesize"), "a=8x4096");
        let expanded = machine().expand("a=${CPUS}");
        assert_eq!((expanded.text.as_str(), expanded.has_keyword), ("a=8", true));
    }

    #[test]
    fn the_words_of_a_host_are_whole_words_and_may_have_braces() {
        let host = Environment { host: Some(RunHost::of_address("n1", 2, 4)), ..machine() };
        for (line, text) in [
            ("filename=/d/$host.$rank-of-$ranks", "filename=/d/n1.2-of-4"),
            ("filename=$hostname/$rank_a/$rankss$", "filename=$hostname/$rank_a/$rankss$"),
            ("filename=${host}name.${rank}a", "filename=n1name.2a"),
            ("filename=${A}$host$$rank", "filename=${B}n1$2"),
        ] {
            assert_eq!(host.expand(line).text, text);
            assert!(!machine().expand(line).text.contains("n1"), "without a host: {line}");
        }
        let typed = |value: &str| host.with_host(value).map(|(text, _)| text);
        assert_eq!(typed("${host}b.${rank}-${A}").as_deref(), Some("n1b.2-${A}"));
        assert_eq!(typed("$A ${rank $"), None);
        assert!(host.expand("offset=$rank*1g").has_keyword);
        assert!(!host.expand("size=$host").has_keyword);
        let as_fio = Environment { dialect: Dialect::Fio, ..host };
        assert!(!as_fio.expand("filename=/d/$rank").has_keyword, "bc would divide");
    }
}
