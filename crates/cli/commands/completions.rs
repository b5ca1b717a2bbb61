//! `ferrio completions SHELL [PROGRAM]`: completion scripts, generated from the tables of options and sub-commands.

use std::collections::HashSet;

use clap_complete::Shell;

use super::full_command::{full_command, operand_words};
use super::subcommand::{Invocation, Operand, Subcommand, nothing_follows};
use super::sysbench;
use crate::error::Error;
use crate::messages::print_text;

/// The supported shells.
pub const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// Help text after the usage.
pub const LONG_HELP: &str = "\
To use them in the current bash:  source <(ferrio completions bash)
To install them:
  ferrio completions bash > /usr/share/bash-completion/completions/ferrio
  ferrio completions zsh  > /usr/local/share/zsh/site-functions/_ferrio
  ferrio completions fish > /usr/share/fish/vendor_completions.d/ferrio.fish

For a link named sysbench, write the name after the shell:
  ferrio completions bash sysbench > /usr/share/bash-completion/completions/sysbench
";

/// Line of the bash script that stores the word before the cursor in `prev`.
const SET_PREVIOUS_WORD: &str = "    prev=\"$3\"\n";

/// Line of the bash script that offers all options and commands for the first word.
const OFFER_OPTIONS: &str = "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then\n";

/// Replacement for [`OFFER_OPTIONS`], which offers files instead of hundreds of options as long as nothing is typed.
const OFFER_FILES: &str =
    "            if [[ ${cur} == -* || ( ${COMP_CWORD} -eq 1 && -n ${cur} ) ]] ; then\n";

/// Like [`OFFER_OPTIONS`], for the word after a sub-command.
const OFFER_OPTIONS_AFTER_SUBCOMMAND: &str =
    "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then\n";
/// Replacement for [`OFFER_OPTIONS_AFTER_SUBCOMMAND`].
const OFFER_FILES_AFTER_SUBCOMMAND: &str =
    "            if [[ ${cur} == -* || ( ${COMP_CWORD} -eq 2 && -n ${cur} ) ]] ; then\n";

/// Added to the bash script, as bash treats the `=` of `--rw=read` as a separate word.
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
    let script = match rest {
        [program, rest @ ..] if program == sysbench::NAME => {
            nothing_follows("completions", rest)?;
            sysbench_script(shell)
        }
        rest => {
            nothing_follows("completions", rest)?;
            ferrio_script(shell, invocation.commands)
        }
    };
    print_text(&script)
}

/// The script for a link to ferrio that is named `sysbench`.
fn sysbench_script(shell: Shell) -> String {
    let script = clap_script(shell, sysbench::command(), sysbench::NAME);
    match shell {
        Shell::Bash => script.replacen(SET_PREVIOUS_WORD, &format!("{SET_PREVIOUS_WORD}{SKIP_EQUALS}"), 1),
        Shell::Fish => {
            let condition = |test: &str| format!("__fish_sysbench_using_subcommand {test}");
            format!("{script}{}", sysbench_command_lines(sysbench::NAME, condition))
        }
        _ => script,
    }
}

/// The script that clap generates, without corrections.
fn clap_script(shell: Shell, mut command: clap::Command, program: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, program, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The script for the program `ferrio` with its sub-commands.
fn ferrio_script(shell: Shell, commands: &[Subcommand]) -> String {
    let script = clap_script(shell, full_command(commands), "ferrio");
    match shell {
        Shell::Bash => script
            .replacen(SET_PREVIOUS_WORD, &format!("{SET_PREVIOUS_WORD}{SKIP_EQUALS}"), 1)
            .replacen(OFFER_OPTIONS, OFFER_FILES, 1)
            .replace(OFFER_OPTIONS_AFTER_SUBCOMMAND, OFFER_FILES_AFTER_SUBCOMMAND),
        Shell::Fish => fix_fish_script(&script, commands),
        _ => script,
    }
}

/// Lines for fish with the commands of each sysbench test, as clap omits positional values.
fn sysbench_command_lines(program: &str, condition: impl Fn(&str) -> String) -> String {
    let line = |test: &clap::Command| {
        let words = test.get_positionals().flat_map(clap::Arg::get_possible_values);
        let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
        format!("complete -c {program} -n \"{}\" -f -a \"{}\"\n", condition(test.get_name()), words.join(" "))
    };
    sysbench::command().get_subcommands().map(line).collect()
}

/// Corrects the script for fish:
///
/// 1. clap's test for "no command yet", on which the run options depend, fails after an option whose value is a separate word. The new
///    test is that none of the commands without run options was given.
/// 2. That test includes `check`, so its copies of the run options are removed.
/// 3. The positional values of commands are added, which clap omits.
fn fix_fish_script(script: &str, commands: &[Subcommand]) -> String {
    let others = commands.iter().filter(|command| !matches!(command.operand, Operand::Jobs(_)));
    let others: Vec<&str> = others.map(|command| command.name).collect();
    let not_after_others = format!(" -n \"not __fish_seen_subcommand_from {}\" -", others.join(" "));
    let retested = |record: &String| match record
        .strip_prefix("complete -c ferrio -n \"__fish_ferrio_needs_command\" -")
    {
        Some(rest) if rest.starts_with("s ") || rest.starts_with("l ") => {
            format!("complete -c ferrio{not_after_others}{rest}")
        }
        _ => record.clone(),
    };
    let complete_statements: Vec<String> = complete_statements(script).iter().map(retested).collect();
    let of_run = format!("complete -c ferrio{not_after_others}");
    let of_runs: HashSet<&str> =
        complete_statements.iter().filter_map(|record| record.strip_prefix(&of_run)).collect();
    let of_check = "complete -c ferrio -n \"__fish_ferrio_using_subcommand check\" -";
    let is_repeated =
        |record: &&String| record.strip_prefix(of_check).is_some_and(|rest| of_runs.contains(rest));
    let mut script: String =
        complete_statements.iter().filter(|record| !is_repeated(record)).map(String::as_str).collect();
    for command in commands {
        if let Some(words) = operand_words(command, commands) {
            let (name, words) = (command.name, words.join(" "));
            script +=
                &format!("complete -c ferrio -n \"__fish_seen_subcommand_from {name}\" -f -a \"{words}\"\n");
        }
    }
    let condition = |test: &str| {
        format!("__fish_ferrio_using_subcommand {}; and __fish_seen_subcommand_from {test}", sysbench::NAME)
    };
    script + &sysbench_command_lines("ferrio", condition)
}

/// Splits a script for fish into its `complete` statements, which may span several lines: each word that completes a value is on its own
/// line. The first element is the text before any statement.
fn complete_statements(script: &str) -> Vec<String> {
    let mut complete_statements = vec![String::new()];
    for line in script.split_inclusive('\n') {
        match complete_statements.last_mut() {
            Some(record) if !line.starts_with("complete ") => record.push_str(line),
            _ => complete_statements.push(line.to_owned()),
        }
    }
    complete_statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::COMMANDS;

    #[test]
    fn the_script_for_bash_skips_equals_signs_and_offers_files_first() {
        let script = ferrio_script(Shell::Bash, COMMANDS);
        assert!(
            script.contains(SKIP_EQUALS)
                && script.contains(OFFER_FILES)
                && script.contains(OFFER_FILES_AFTER_SUBCOMMAND)
        );
    }

    #[test]
    fn the_script_for_fish_offers_values_after_blanks_and_shells() {
        let script = ferrio_script(Shell::Fish, COMMANDS);
        assert!(script.contains(" verify-state\" -l rw -l readwrite "));
        assert!(script.contains("complete -c ferrio -n \"__fish_ferrio_needs_command\" -a \"man\""));
        assert!(script.contains("-a \"bash zsh fish\"\n"));
        assert_eq!(script.matches(" -l iodepth ").count(), 1);
        assert!(script.contains("__fish_ferrio_using_subcommand check\" -l deny-warnings"));
    }

    #[test]
    fn every_script_knows_program_and_job_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = ferrio_script(shell, COMMANDS);
            for word in
                ["output-format", "iodepth_batch_complete_min", "randtrimwrite", "blocksize", "completions"]
            {
                assert!(script.contains(word), "{word} for {shell}");
            }
        }
    }
}
