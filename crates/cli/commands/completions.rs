//! `ferrio completions SHELL`: completion scripts, generated from the tables of options and sub-commands.

use std::collections::HashSet;

use clap_complete::Shell;

use super::full_command::{full_command, operand_words};
use super::subcommand::{Invocation, Subcommand, nothing_follows};
use crate::error::Error;
use crate::messages::print;

/// The supported shells.
pub const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// Help below the usage.
pub const DETAILS: &str = "\
To use them in the current bash:  source <(ferrio completions bash)
To install them:
  ferrio completions bash > /usr/share/bash-completion/completions/ferrio
  ferrio completions zsh  > /usr/local/share/zsh/site-functions/_ferrio
  ferrio completions fish > /usr/share/fish/vendor_completions.d/ferrio.fish
";

/// The line of the bash script that sets the word before the one to complete.
const PREVIOUS: &str = "    prev=\"$3\"\n";

/// The line of the bash script that offers all options and commands for the first word.
const OFFER_OPTIONS: &str = "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then\n";

/// Its replacement, which offers files instead of hundreds of options as long as nothing is typed.
const OFFER_FILES_FIRST: &str =
    "            if [[ ${cur} == -* || ( ${COMP_CWORD} -eq 1 && -n ${cur} ) ]] ; then\n";

/// The same after a sub-command.
const OFFER_OPTIONS_SECOND: &str = "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then\n";
const OFFER_FILES_FIRST_SECOND: &str =
    "            if [[ ${cur} == -* || ( ${COMP_CWORD} -eq 2 && -n ${cur} ) ]] ; then\n";

/// Added to the bash script, because bash treats the `=` of `--rw=read` as a separate word.
const SKIP_EQUALS: &str = "    if [[ \"${cur}\" == \"=\" ]]; then
        cur=\"\"
    elif [[ \"${prev}\" == \"=\" && ${COMP_CWORD} -ge 2 ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    fi
    if [[ \"${COMP_WORDS[COMP_CWORD]}\" == \"=\" && ${COMP_CWORD} -ge 1 ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-1]}\"
    fi
";

/// Prints the script for the shell that the argument names.
///
/// # Errors
/// The shell is missing or unknown, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let (word, rest) = invocation.arguments.split_first().ok_or(Error::UnknownShell { word: None })?;
    let word = word.to_string_lossy();
    let shell = SHELLS.contains(&&*word).then(|| word.parse::<Shell>().ok()).flatten();
    let shell = shell.ok_or_else(|| Error::UnknownShell { word: Some(word.into_owned()) })?;
    nothing_follows("completions", rest)?;
    let script = script(shell, invocation.commands);
    print(|out| out.write_all(script.as_bytes()).map(|()| true))
}

/// The script for `shell`.
fn script(shell: Shell, commands: &[Subcommand]) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut full_command(commands), "ferrio", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script
            .replacen(PREVIOUS, &format!("{PREVIOUS}{SKIP_EQUALS}"), 1)
            .replacen(OFFER_OPTIONS, OFFER_FILES_FIRST, 1)
            .replace(OFFER_OPTIONS_SECOND, OFFER_FILES_FIRST_SECOND),
        Shell::Fish => fish(&script, commands),
        _ => script,
    }
}

/// The script for fish with three corrections. clap offers options only while there is no command, but its test for that fails after an
/// option without its value; as commands come first here, the test is dropped. So `check` needs no options but its own. And the words
/// after commands are added.
fn fish(script: &str, commands: &[Subcommand]) -> String {
    let untested = |line: &str| match line.replacen(" -n \"__fish_ferrio_needs_command\" -", " -", 1) {
        option
            if option.starts_with("complete -c ferrio -s ")
                || option.starts_with("complete -c ferrio -l ") =>
        {
            option
        }
        _ => line.to_owned(),
    };
    let lines: Vec<String> = script.lines().map(untested).collect();
    let of_runs: HashSet<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("complete -c ferrio ")).collect();
    let of_check = "complete -c ferrio -n \"__fish_ferrio_using_subcommand check\" ";
    let is_repeated = |line: &&String| line.strip_prefix(of_check).is_some_and(|rest| of_runs.contains(rest));
    let lines: Vec<&str> = lines.iter().filter(|line| !is_repeated(line)).map(String::as_str).collect();
    let words = commands.iter().filter_map(|command| {
        let words = operand_words(command, commands)?.join(" ");
        let name = command.name;
        Some(format!("complete -c ferrio -n \"__fish_seen_subcommand_from {name}\" -f -a \"{words}\"\n"))
    });
    format!("{}\n{}", lines.join("\n"), words.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::COMMANDS;

    #[test]
    fn the_script_for_bash_skips_equals_signs_and_offers_files_first() {
        let script = script(Shell::Bash, COMMANDS);
        assert!(
            script.contains(SKIP_EQUALS)
                && script.contains(OFFER_FILES_FIRST)
                && script.contains(OFFER_FILES_FIRST_SECOND)
        );
    }

    #[test]
    fn the_script_for_fish_offers_values_after_blanks_and_shells() {
        let script = script(Shell::Fish, COMMANDS);
        assert!(script.contains("complete -c ferrio -l rw -l readwrite "));
        assert!(script.contains("complete -c ferrio -n \"__fish_ferrio_needs_command\" -a \"man\""));
        assert!(script.contains("-a \"bash zsh fish\"\n"));
        assert_eq!(script.matches(" -l iodepth ").count(), 1);
        assert!(script.contains("__fish_ferrio_using_subcommand check\" -l deny-warnings"));
    }

    #[test]
    fn every_script_knows_program_and_job_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, COMMANDS);
            for word in
                ["output-format", "iodepth_batch_complete_min", "randtrimwrite", "blocksize", "completions"]
            {
                assert!(script.contains(word), "{word} for {shell}");
            }
        }
    }
}
