//! A run of several processes that a launcher such as mpirun or srun has started: they find rank 0, which coordinates. Each process is also an
//! agent, and only rank 0 has the user.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::Command;

use ferrio_hosts::{Carrier as _, Ends, ToAgent, write_frame};
use ferrio_job::{Compat, Diagnostic, Origin};
use ferrio_machine::{Rank, text_of_file};
use ferrio_ranks::{Interruption, Meeting, Met, RankOfRun, RendezvousError, meet};
use nix::sys::utsname::uname;

use super::limits::Limits;
use super::server::TOKEN_VARIABLE;
use super::{agent, client, coordinator, host_commands};
use crate::arguments::Item;
use crate::error::Error;
use crate::messages::Messages;
use crate::option_values::{Eta, RankCount};
use crate::options::ProgramOption;
use crate::settings::{Action, ProgramSettings};

/// The part of this process in a run of several processes; `None` if it runs alone.
///
/// # Errors
/// The launcher and the command line do not say enough.
pub fn of_process(settings: &ProgramSettings) -> Result<Option<RankOfRun>, Error> {
    of_found(settings, ferrio_machine::rank())
}

fn of_found(settings: &ProgramSettings, found: Option<Rank>) -> Result<Option<RankOfRun>, Error> {
    let wanted = &settings.ranks;
    // Several processes of fio do not know each other.
    if wanted.count == Some(RankCount::Off) || settings.compat == Compat::Fio {
        return Ok(None);
    }
    // What runs no jobs needs only to know who answers.
    let refusal = |message: String, help| match settings.action {
        Action::Run => Err(Error::refusal("ranks", message, Some(help))),
        _ => Ok(None),
    };
    let stated = match wanted.count {
        Some(RankCount::Of(count)) => Some(count),
        _ => None,
    };
    let rank = wanted.rank.or(found.as_ref().map(|found| found.rank));
    let ranks = stated.or(found.as_ref().and_then(|found| found.size));
    let (rank, ranks) = match (rank, ranks) {
        (None, None) => return Ok(None),
        (None, Some(ranks)) => {
            return refusal(
                format!("--ranks={ranks}: no launcher says which of the ranks this process is"),
                "add --rank=NUMBER, from 0, or start ferrio by mpirun or srun",
            );
        }
        (Some(rank), None) => {
            let by = found.as_ref().map_or("--rank", |found| found.variable);
            return refusal(
                format!(
                    "this is rank {rank} of a run ({by}={rank}), and nothing says how many ranks there are"
                ),
                "add --ranks=COUNT, or --ranks=off if each process is to run all jobs by itself",
            );
        }
        (Some(_), Some(1)) => return Ok(None),
        (Some(rank), Some(ranks)) => (rank, ranks),
    };
    if rank >= ranks {
        return refusal(format!("there is no rank {rank} of {ranks}"), "ranks are numbered from 0");
    }
    if settings.action == Action::Run {
        let what =
            [(settings.hosts.is_some(), "--hosts"), (settings.sweep.is_some(), "--repeat and --sweep")];
        if let Some((_, option)) = what.into_iter().find(|(is_given, _)| *is_given) {
            return refusal(
                format!("{option}: a launcher has started this process as one of {ranks} ranks already"),
                "start one process, or leave the option out",
            );
        }
    }
    Ok(Some(RankOfRun {
        rank,
        ranks,
        is_on_one_host: found.as_ref().is_some_and(|found| found.local_size == Some(ranks)),
        launcher: found.as_ref().map(|found| found.launcher),
        job: found.and_then(|found| found.job).unwrap_or_default(),
    }))
}

/// Whether rank 0 has the same mistake in its command line or environment and says so, so that this process need not.
#[must_use]
pub fn leaves_to_rank_0(words: &[OsString], error: &Error) -> bool {
    let is_off = words.iter().any(|word| word == "--ranks=off");
    let is_own = matches!(error, Error::Rendezvous(error) if !matches!(error, RendezvousError::Meeting(_)));
    !is_off && !is_own && ferrio_machine::rank().is_some_and(|found| found.rank > 0)
}

/// Runs the part of this process, and returns the exit status.
///
/// # Errors
/// The ranks do not meet, nothing can be run, or the report cannot be written.
pub fn run(
    me: &RankOfRun,
    items: &[Item],
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<u8, Error> {
    let wanted = &settings.ranks;
    let host = host_name();
    let token = client::token(items)?;
    let meeting =
        Meeting::find(me, wanted.rendezvous.as_deref(), &|name| env::var(name).ok(), &|| full_name(&host))
            .map_err(RendezvousError::from)?;
    let mut refused = |line: String| {
        messages.note(&Diagnostic::warning(line, Origin::Builtin).code("rank-refused"));
    };
    if me.rank == 0 {
        host_commands::raise_limit(usize::try_from(me.ranks).unwrap_or(usize::MAX));
    }
    // A signal that comes later is for the run, which takes it when it begins.
    ferrio_runner::hold_signals();
    let interruption = Interruption::watch().map_err(RendezvousError::from)?;
    let met = meet(me, &host, &meeting, wanted.timeout, &interruption.stop, &mut refused);
    drop(interruption);
    match met {
        Ok(Met::First(others)) => {
            let others = others.into_iter().map(|(name, ends)| (name, ends.with_token(token.clone())));
            let (names, others): (Vec<String>, Vec<Ends>) = others.unzip();
            let mut settings = settings.clone();
            if !settings.has(ProgramOption::Eta) {
                // Open MPI gives each rank a terminal that nobody sits at.
                settings.eta = Eta::Never;
            }
            coordinate(&names_of(&host, &names), others, items, &settings, messages)
        }
        Ok(Met::Other(ends)) => agent::converse(ends.with_token(token), Limits::none()),
        // Rank 0 says so, and its status counts. A launcher that sees another error first may end rank 0 before it has.
        Err(RendezvousError::Incomplete(_)) if me.launcher.is_some() => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Coordinates as rank 0.
fn coordinate(
    names: &[String],
    others: Vec<Ends>,
    items: &[Item],
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<u8, Error> {
    let mut others = Some(others);
    let connect = |_: &_| {
        let others = others.take().unwrap_or_default();
        std::iter::once(own_agent()).chain(others.into_iter().map(Ok)).collect()
    };
    let result = coordinator::run_on(names, connect, items, settings, messages);
    for mut ends in others.into_iter().flatten() {
        // Nothing was run. They would take the end of the connection for a loss, and the launcher their end for a reason to end rank 0 before
        // it has said why.
        let _ = write_frame(&mut ends.writer, &ToAgent::Bye);
    }
    result
}

/// The agent of rank 0: a process of its own, because an agent takes the standard streams and signals of its process for its run. A launcher
/// that kills rank 0 reaches it too; if it does not, the agent notices the end of its pipe.
fn own_agent() -> io::Result<Ends> {
    let mut command = Command::new("/proc/self/exe");
    // Only the network needs a token.
    command.arg("agent").env_remove(TOKEN_VARIABLE);
    command.split()
}

/// The name of each rank for the user: that of its host, with its rank if several are on one host.
fn names_of(first: &str, others: &[String]) -> Vec<String> {
    let hosts: Vec<&str> = std::iter::once(first).chain(others.iter().map(String::as_str)).collect();
    let mut count = std::collections::BTreeMap::new();
    for host in &hosts {
        *count.entry(*host).or_insert(0_usize) += 1;
    }
    let name = |(rank, host): (usize, &&str)| match count.get(host) {
        Some(1) => (*host).to_owned(),
        _ => format!("{host}.{rank}"),
    };
    hosts.iter().enumerate().map(name).collect()
}

/// The name that this host has for itself.
fn host_name() -> String {
    uname().map(|about| about.nodename().to_string_lossy().into_owned()).unwrap_or_default()
}

/// The fully qualified name of this host. Kubernetes gives it to a pod in `/etc/hosts`.
fn full_name(host: &str) -> Option<String> {
    if host.contains('.') {
        return Some(host.to_owned());
    }
    full_name_in(&text_of_file("/etc/hosts").ok()?, host)
}

fn full_name_in(hosts: &str, host: &str) -> Option<String> {
    let names = |line: &str| -> Vec<String> {
        let line = line.split('#').next().unwrap_or_default();
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    let mut lines = hosts.lines().map(names).filter(|names| names.iter().any(|name| name == host));
    lines.find_map(|names| names.into_iter().find(|name| name.starts_with(&format!("{host}."))))
}

#[cfg(test)]
mod tests {
    use ferrio_machine::Launcher;

    use super::*;
    use crate::settings::RankSettings;

    fn found(rank: u64, size: Option<u64>, local_size: u64) -> Rank {
        Rank {
            launcher: Launcher::Slurm,
            rank,
            size,
            variable: "SLURM_PROCID",
            local_rank: Some(0),
            local_size: Some(local_size),
            job: Some("7.0".to_owned()),
        }
    }

    fn part(
        compat: Compat,
        count: Option<RankCount>,
        rank: Option<u64>,
        found: Option<Rank>,
    ) -> Result<Option<(u64, u64, bool)>, String> {
        let mut settings = ProgramSettings::read(&[], compat).unwrap();
        settings.ranks = RankSettings { count, rank, ..RankSettings::default() };
        let part = of_found(&settings, found).map_err(|error| error.diagnostic().message);
        part.map(|part| part.map(|me| (me.rank, me.ranks, me.is_on_one_host)))
    }

    const FERRIO: Compat = Compat::Ferrio;

    #[test]
    fn a_launcher_makes_ranks_unless_they_are_off_or_the_program_is_called_fio() {
        assert_eq!(part(FERRIO, None, None, None), Ok(None));
        assert_eq!(part(FERRIO, None, None, Some(found(3, Some(4), 1))), Ok(Some((3, 4, false))));
        assert_eq!(part(FERRIO, None, None, Some(found(3, Some(4), 4))), Ok(Some((3, 4, true))));
        assert_eq!(part(FERRIO, Some(RankCount::Off), None, Some(found(3, Some(4), 1))), Ok(None));
        assert_eq!(part(Compat::Fio, None, None, Some(found(3, Some(4), 1))), Ok(None));
    }

    #[test]
    fn what_is_stated_counts_before_what_is_found() {
        let of = |count| Some(RankCount::Of(count));
        assert_eq!(part(FERRIO, of(8), Some(7), Some(found(3, Some(4), 4))), Ok(Some((7, 8, false))));
        assert_eq!(part(FERRIO, of(2), Some(1), None), Ok(Some((1, 2, false))));
        assert_eq!(part(FERRIO, of(4), None, Some(found(3, None, 1))), Ok(Some((3, 4, false))));
        assert_eq!(part(FERRIO, of(1), Some(0), None), Ok(None));
    }

    #[test]
    fn what_is_missing_is_said() {
        let message = |result: Result<_, String>| result.unwrap_err();
        let error = message(part(FERRIO, None, None, Some(found(3, None, 1))));
        assert!(error.contains("(SLURM_PROCID=3), and nothing says how many ranks there are"), "{error}");
        let error = message(part(FERRIO, Some(RankCount::Of(4)), None, None));
        assert!(error.contains("no launcher says which of the ranks this process is"), "{error}");
        let error = message(part(FERRIO, Some(RankCount::Of(4)), Some(4), None));
        assert!(error.contains("there is no rank 4 of 4"), "{error}");
    }

    #[test]
    fn ranks_of_one_host_are_told_apart() {
        let others = ["n1", "n2", "n1"].map(str::to_owned);
        assert_eq!(names_of("n3", &others), ["n3", "n1.1", "n2", "n1.3"]);
    }

    #[test]
    fn the_full_name_of_a_pod_is_in_its_hosts() {
        let hosts =
            "127.0.0.1 localhost\n# Kubernetes\n10.1.2.3\tn-1.ferrio.default.svc.cluster.local\tn-1\n";
        assert_eq!(full_name_in(hosts, "n-1").as_deref(), Some("n-1.ferrio.default.svc.cluster.local"));
        assert_eq!(full_name_in(hosts, "n-2"), None);
        assert_eq!(full_name_in("10.1.2.3 n-1\n", "n-1"), None);
    }
}
