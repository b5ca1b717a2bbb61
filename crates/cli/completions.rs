//! `ferrio completions SHELL`: scripts made from the tables of options.

use clap_complete::Shell;

use crate::job_arguments::whole_command;

/// Where the script for bash learns what stands before the word to complete.
const PREVIOUS: &str = "    prev=\"$3\"\n";

/// For bash the `=` of `--rw=read` is a word of its own.
const BEHIND_EQUALS: &str = "    if [[ \"${cur}\" == \"=\" ]]; then
        cur=\"\"
    elif [[ \"${prev}\" == \"=\" && ${COMP_CWORD} -ge 2 ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    fi
    if [[ \"${COMP_WORDS[COMP_CWORD]}\" == \"=\" && ${COMP_CWORD} -ge 1 ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-1]}\"
    fi
";

/// The script that teaches `shell` the options of this program.
#[must_use]
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole_command(), "ferrio", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.replacen(PREVIOUS, &format!("{PREVIOUS}{BEHIND_EQUALS}"), 1),
        _ => script,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_for_bash_looks_behind_equals_signs() {
        assert!(script(Shell::Bash).contains(BEHIND_EQUALS));
    }

    #[test]
    fn every_script_knows_program_and_job_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for word in
                ["output-format", "iodepth_batch_complete_min", "randtrimwrite", "blocksize", "completions"]
            {
                assert!(script.contains(word), "{word} for {shell}");
            }
        }
    }
}
