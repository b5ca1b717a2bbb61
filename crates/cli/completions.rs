//! `ferrio completions SHELL`: scripts made from the tables of options.

use clap_complete::Shell;

use crate::job_arguments::whole_command;

/// Where the script for bash learns what stands before the word to complete.
const PREVIOUS: &str = "    prev=\"$3\"\n";

/// Where the script for bash offers all options, and the commands, for the first word.
const FIRST: &str = "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then\n";

/// With nothing typed yet it is files that are wanted, not hundreds of options.
const BEGUN: &str =
    "            if [[ ${cur} == -* || ( ${COMP_CWORD} -eq 1 && -n ${cur} ) ]] ; then\n";

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
        Shell::Bash => script
            .replacen(PREVIOUS, &format!("{PREVIOUS}{BEHIND_EQUALS}"), 1)
            .replacen(FIRST, BEGUN, 1),
        _ => script,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_for_bash_looks_behind_equals_signs_and_offers_files_first() {
        let script = script(Shell::Bash);
        assert!(script.contains(BEHIND_EQUALS) && script.contains(BEGUN));
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
