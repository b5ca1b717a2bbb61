//! Every example is read both ways.

use std::collections::HashSet;

use super::*;
use crate::value::describe::describe;
use crate::{Builder, Environment, Problems, Reading};

/// What the last line of an example is read as, in the words of the table.
fn outcome(example: &[&str], reading: Reading) -> Result<String, Problems> {
    let mut builder = Builder::new(Environment::default());
    builder.reading(reading);
    builder.file("j.fio", format!("[a]\n{}\n", example.join("\n")).as_bytes());
    let set = builder.finish()?;
    let last = set.jobs[0].own.last().expect("a line");
    Ok(describe(last.opt.row(), &last.value))
}

#[test]
fn every_value_of_the_table_is_read_as_the_table_says() {
    let mut wrong = Vec::new();
    for row in VALUES {
        let fio = outcome(row.example, Reading::Fio).unwrap_or_else(|_| "refused".to_owned());
        if fio != row.fio {
            wrong.push(format!("{}: --strict=fio reads {fio}, not {}", row.id, row.fio));
        }
        let ferrio = match outcome(row.example, Reading::Ferrio) {
            Ok(value) => value,
            Err(problems) => {
                let help = problems.diagnostics[0].help.clone().unwrap_or_default();
                let says = match row.fio {
                    "nothing" => "fio skips this".to_owned(),
                    fio => format!("fio reads this as {fio}"),
                };
                let advised = help.contains(&says) && help.ends_with("--strict=fio");
                if advised { "refused".to_owned() } else { format!("refused with `{help}`") }
            }
        };
        let wanted = match row.ferrio {
            ValueTreatment::Kept => row.fio,
            ValueTreatment::Refused => "refused",
            ValueTreatment::Meant(value) => value,
        };
        if ferrio != wanted {
            wrong.push(format!("{}: by default {ferrio}, not {wanted}", row.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_two_differences_have_the_same_id() {
    let mut seen = HashSet::new();
    let ids = VALUES.iter().map(|row| row.id).chain(BEHAVIOUR.iter().copied().flatten().map(|row| row.id));
    for id in ids {
        assert!(seen.insert(id), "{id}");
    }
}
