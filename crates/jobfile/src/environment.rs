//! The facts about the machine that job files can use, and the replacement of `${NAME}` and `$ncpus` in their lines.

use std::io;
use std::path::Path;

use ferrio_job::Compat;

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
            dialect: Dialect::default(),
            compat: Compat::default(),
            parse_only: false,
        }
    }
}

impl Environment {
    /// Replaces every `${NAME}`, then every `$pagesize`, `$mb_memory` and `$ncpus`, also within the values of variables.
    pub(crate) fn expand(&self, line: &str) -> ExpandedLine {
        let mut expanded = ExpandedLine::default();
        let mut rest = line;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            let name = &rest[at + 2..at + end];
            expanded.text.push_str(&rest[..at]);
            match (self.var)(name).filter(|value| !value.is_empty()) {
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
        expanded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Environment {
        Environment {
            var: Box::new(|name| match name {
                "A" => Some("${B}".to_owned()),
                "B" => Some("no".to_owned()),
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
}
