//! A command line with `--client`, in fio's words: which job files and options belong to which server.
//!
//! Options before the first `--client` are for this program. Those behind one also go to its server, and to the servers named directly
//! before it. The words directly behind a `--client` are its job files; others are for all servers without job files of their own.

use std::io;

use ferrio_job::{ArgOrigin, Diagnostic, FioWords, Origin, reason};

use super::address::{Address, AddressError};
use crate::arguments::Item;
use crate::options::{OnHosts, ProgramOption, Support};

/// Options that only servers act on, beside those that are theirs in any run on many hosts.
const ONLY_SENT: [ProgramOption; 2] = [ProgramOption::ParseOnly, ProgramOption::Showcmd];

/// Options of a run on other hosts than servers, whose report is fio's.
const OF_OTHER_HOSTS: [ProgramOption; 11] = [
    ProgramOption::Hosts,
    ProgramOption::HostsFile,
    ProgramOption::Via,
    ProgramOption::RequireAll,
    ProgramOption::HostDocuments,
    ProgramOption::Tui,
    ProgramOption::IntervalReport,
    ProgramOption::Metrics,
    ProgramOption::FailIf,
    ProgramOption::AbortIf,
    ProgramOption::Junit,
];

/// Options of clients that a run on other hosts does not have.
const OF_CLIENTS: [ProgramOption; 9] = [
    ProgramOption::TriggerFile,
    ProgramOption::TriggerTimeout,
    ProgramOption::Trigger,
    ProgramOption::TriggerRemote,
    ProgramOption::StatusInterval,
    ProgramOption::TokenFile,
    ProgramOption::TlsCert,
    ProgramOption::TlsKey,
    ProgramOption::TlsCa,
];

/// Options that this program handles before all others.
const TAKEN: [ProgramOption; 5] = [
    ProgramOption::TriggerRemote,
    ProgramOption::TokenFile,
    ProgramOption::TlsCert,
    ProgramOption::TlsKey,
    ProgramOption::TlsCa,
];

/// A command line with `--client`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientLine {
    /// The servers, in order; one that is named twice is two.
    pub clients: Vec<Client>,
    /// The options that act on this side.
    pub local: Vec<Item>,
    /// Jobs or job options are on the command line, where they reach no server.
    pub has_jobs: bool,
}

/// A server to run jobs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Where it is.
    pub address: Address,
    /// The options for it, as words.
    pub words: Vec<String>,
    /// Its job files.
    pub files: Vec<String>,
    /// Job files that are on its side.
    pub own_files: Vec<String>,
    /// The options for it choose the format of the report.
    pub has_format: bool,
    /// The list of hosts that names it.
    pub list: Option<String>,
}

/// Reads what `--client` names: the text of a file, [`None`] if there is none.
pub type ReadList<'a> = &'a dyn Fn(&str) -> Option<io::Result<String>>;

impl ClientLine {
    /// Sorts the items of a command line. A value of `--client` that names a file is a list of hosts.
    ///
    /// # Errors
    /// All addresses and lists that cannot be used, and servers without job files.
    pub fn read(items: &[Item], read_list: ReadList<'_>) -> Result<ClientLine, Vec<Diagnostic>> {
        let mut line = ClientLine::default();
        let mut mistakes = Vec::new();
        // The job files for all servers without their own.
        let mut shared = Vec::new();
        // The servers that options go to, by their number from here on.
        let mut addressed = 0;
        // Where words are job files of the servers of the last `--client`.
        let mut owners = None;
        let mut after_option = false;
        for item in items {
            match item {
                Item::Program { option: ProgramOption::Client, value, origin } => {
                    if std::mem::take(&mut after_option) {
                        addressed = line.clients.len();
                    }
                    let first = line.clients.len();
                    match servers(value.as_deref().unwrap_or_default(), origin, read_list) {
                        Ok(found) => line.clients.extend(found),
                        Err(mistake) => mistakes.extend(mistake),
                    }
                    owners = Some(first..line.clients.len());
                }
                Item::Program { option, value, origin } => {
                    owners = None;
                    after_option = true;
                    let is_before_clients = line.clients.is_empty() && mistakes.is_empty();
                    line.clients[addressed..]
                        .iter_mut()
                        .for_each(|client| client.take(*option, value.as_deref()));
                    mistakes.extend(refusal(*option, is_before_clients, origin));
                    if acts_here(*option) {
                        line.local.push(item.clone());
                    }
                }
                Item::Job { .. } => {
                    owners = None;
                    after_option = true;
                    line.has_jobs = true;
                }
                Item::File(name) => match owners.clone() {
                    Some(owners) => {
                        line.clients[owners].iter_mut().for_each(|client| client.files.push(name.clone()));
                    }
                    None => shared.push(name.clone()),
                },
            }
        }
        for client in line.clients.iter_mut().filter(|client| !client.has_jobs()) {
            client.files.clone_from(&shared);
        }
        mistakes.extend(line.clients.iter().filter(|client| !client.has_jobs()).map(without_jobs));
        if mistakes.is_empty() { Ok(line) } else { Err(mistakes) }
    }
}

impl Client {
    fn new(address: Address, list: Option<String>) -> Self {
        Client {
            address,
            words: Vec::new(),
            files: Vec::new(),
            own_files: Vec::new(),
            has_format: false,
            list,
        }
    }

    /// Takes an option that is written for it.
    fn take(&mut self, option: ProgramOption, value: Option<&str>) {
        match (option, value) {
            (ProgramOption::RemoteConfig, Some(file)) => self.own_files.push(file.to_owned()),
            (option, Some(value)) if option.row().is_for_agents() => {
                self.words.push(format!("--{option}={value}"))
            }
            (option, None) if option.row().is_for_agents() => self.words.push(format!("--{option}")),
            _ => {}
        }
        self.has_format |= matches!(option, ProgramOption::OutputFormat | ProgramOption::Minimal);
    }

    /// True if it has job files, sent or its own.
    fn has_jobs(&self) -> bool {
        !self.files.is_empty() || !self.own_files.is_empty()
    }
}

/// True for an option of this side.
fn acts_here(option: ProgramOption) -> bool {
    !is_only_for_servers(option) && !TAKEN.contains(&option)
}

/// True for an option that means nothing on this side.
fn is_only_for_servers(option: ProgramOption) -> bool {
    let row = option.row();
    let is_for_agents = row.on_hosts == OnHosts::Agents && row.support == Support::Works;
    (is_for_agents && option != ProgramOption::Debug)
        || ONLY_SENT.contains(&option)
        || option == ProgramOption::RemoteConfig
}

/// The error for an option that would have no effect where it is.
fn refusal(option: ProgramOption, is_before_clients: bool, origin: &ArgOrigin) -> Option<Diagnostic> {
    let error = |message: String| Diagnostic::error(message, origin.name_origin()).code("client-option");
    let is_refused = option.row().on_hosts == OnHosts::Refused;
    let is_of_clients = OF_CLIENTS.contains(&option) || option == ProgramOption::RemoteConfig;
    if (is_refused && !is_of_clients) || OF_OTHER_HOSTS.contains(&option) {
        return Some(error(format!("--{option} has no effect on jobs that run on servers")));
    }
    (is_before_clients && is_only_for_servers(option)).then(|| {
        error(format!("--{option} has no effect before --client: write it after the servers that it is for"))
    })
}

/// The error for a server that has nothing to run.
fn without_jobs(client: &Client) -> Diagnostic {
    let message = format!("no job file for client {}", client.address.name());
    Diagnostic::error(message, Origin::Builtin).code("client-jobs").help(
        "a job file before the first --client is for all servers, one behind --client=HOST for that one",
    )
}

/// The servers that a value of `--client` means: one, or those of a list of hosts.
fn servers(value: &str, origin: &ArgOrigin, read_list: ReadList<'_>) -> Result<Vec<Client>, Vec<Diagnostic>> {
    let at = || origin.value_origin(value);
    let Some(list) = read_list(value) else {
        let address = Address::parse(value).map_err(|error| bad_address(&error, value, None, at()))?;
        return Ok(vec![Client::new(address, None)]);
    };
    let unusable = |why: String| {
        let message = format!("{value} is no list of hosts: {why}");
        vec![
            Diagnostic::error(message, at())
                .code("host-list")
                .help(format!("write ip:{value} for a host of that name")),
        ]
    };
    let text = list.map_err(|error| unusable(reason(&error)))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    if words.is_empty() {
        return Err(unusable("it names none".to_owned()));
    }
    if words.len() > ferrio_hosts::MAX_HOSTS {
        return Err(unusable(format!("it has more than {} hosts", ferrio_hosts::MAX_HOSTS)));
    }
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    for word in words {
        match Address::parse(word) {
            Ok(address) => found.push(Client::new(address, Some(value.to_owned()))),
            Err(error) => mistakes.extend(bad_address(&error, word, Some(value), at())),
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// The two lines about an address that cannot be used, which may be one of a `list`.
pub fn bad_address(error: &AddressError, word: &str, list: Option<&str>, at: Origin) -> Vec<Diagnostic> {
    let host = word.split(',').next().unwrap_or(word);
    let list = list.map(|list| format!(" # from file {list}")).unwrap_or_default();
    let lines = vec![format!("fio: {error}"), format!("fio: failed adding client {host}{list}")];
    let message = format!("{error}, for client {word}{list}");
    vec![Diagnostic::error(message, at).code("server-address").in_fio(FioWords::Lines(lines))]
}

#[cfg(test)]
mod tests {
    use ferrio_job::Compat;

    use super::*;
    use crate::arguments;
    use crate::options::OPTIONS;

    /// Files: `hosts` is a list, `empty` an empty one, `dir` cannot be read.
    fn lists(name: &str) -> Option<io::Result<String>> {
        match name {
            "hosts" => Some(Ok("\n one,1  two # three\n\nip:one,1\r\n# four\n".to_owned())),
            "empty" => Some(Ok(" \n# none\n".to_owned())),
            "wrong" => Some(Ok("a b,0".to_owned())),
            "dir" => Some(Err(io::Error::from_raw_os_error(nix::errno::Errno::EISDIR as i32))),
            _ => None,
        }
    }

    fn read(words: &[&str]) -> Result<ClientLine, Vec<Diagnostic>> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let line = arguments::scan(&words, 1, OPTIONS, Compat::Fio);
        assert_eq!(line.mistakes, []);
        ClientLine::read(&line.items, &lists)
    }

    /// Each server's name, job files and options in one line.
    fn clients(words: &[&str]) -> Vec<String> {
        let line = read(words).unwrap();
        let clients = line.clients.iter();
        let told = clients.map(|client| {
            format!("{} {} {}", client.address, client.files.join("+"), client.words.join(" "))
        });
        told.map(|text| text.trim_end().to_owned()).collect()
    }

    fn mistakes(words: &[&str]) -> Vec<String> {
        read(words).unwrap_err().iter().map(|mistake| mistake.line(Compat::Fio)).collect()
    }

    #[test]
    fn words_behind_a_client_are_its_job_files() {
        assert_eq!(
            clients(&["--client=A", "a.fio", "a2.fio", "--client", "B", "b.fio"]),
            ["A:8765 a.fio+a2.fio", "B:8765 b.fio"]
        );
    }

    #[test]
    fn other_words_are_for_all_clients_without_files() {
        for words in [
            &["x", "--client=A", "--client=B"][..],
            &["--client=A", "--client=B", "--eta=never", "x"],
            &["--client=A", "--eta=never", "x", "--client=B"],
        ] {
            assert_eq!(clients(words), ["A:8765 x", "B:8765 x"], "{words:?}");
        }
        assert_eq!(clients(&["x", "--client=A", "y"]), ["A:8765 y"]);
    }

    #[test]
    fn a_client_without_jobs_is_named() {
        assert_eq!(mistakes(&["--client=A", "--client=B", "x"]), ["fio: no job file for client A"]);
        assert_eq!(mistakes(&["--client=A", "--name=a"]), ["fio: no job file for client A"]);
    }

    #[test]
    fn options_go_to_the_clients_directly_before_them() {
        let words = ["--client=A", "f", "--client=B", "f", "--section=x"];
        assert_eq!(clients(&words), ["A:8765 f --section=x", "B:8765 f --section=x"]);
        let words = ["--client=A", "f", "--section=x", "--client=B", "f", "--section=y"];
        assert_eq!(clients(&words), ["A:8765 f --section=x", "B:8765 f --section=y"]);
    }

    #[test]
    fn options_before_the_first_client_stay_here_and_those_behind_act_here_too() {
        let words =
            ["--eta=never", "--minimal", "--client=A", "f", "--output-format", "json", "--trigger-remote=x"];
        let line = read(&words).unwrap();
        assert_eq!(
            (&line.clients[0].words[..], line.clients[0].has_format),
            (&["--output-format=json".to_owned()][..], true)
        );
        let local = line.local.iter().map(|item| match item {
            Item::Program { option, .. } => option.to_string(),
            other => format!("{other:?}"),
        });
        assert_eq!(local.collect::<Vec<_>>(), ["eta", "minimal", "output-format"]);
    }

    #[test]
    fn options_that_nobody_would_act_on_are_refused() {
        for words in [
            ["--readonly", "--client=A", "f"],
            ["--client=A", "f", "--merge-blktrace-only"],
            ["--client=A", "f", "--interval-report=1s"],
        ] {
            let codes: Vec<_> = read(&words).unwrap_err().iter().map(|mistake| mistake.code).collect();
            assert_eq!(codes, ["client-option"], "{words:?}");
        }
    }

    #[test]
    fn a_remote_job_file_is_a_job_file() {
        let line = read(&["x", "--client=A", "--remote-config=r", "--remote-config=s"]).unwrap();
        assert_eq!(
            (&line.clients[0].own_files[..], line.clients[0].files.len()),
            (&["r".to_owned(), "s".to_owned()][..], 0)
        );
    }

    #[test]
    fn job_options_are_noted_and_not_sent() {
        let line = read(&["--client=A", "f", "--size=4k", "--name=b"]).unwrap();
        assert!(line.has_jobs && line.local.is_empty() && line.clients[0].words.is_empty());
        assert!(!read(&["--client=A", "f"]).unwrap().has_jobs);
    }

    #[test]
    fn a_file_is_a_list_of_hosts_with_comments() {
        let hosts = clients(&["--client=hosts", "f", "g", "--section=x"]);
        assert_eq!(hosts, ["one:1", "two:8765", "one:1"].map(|host| format!("{host} f+g --section=x")));
    }

    #[test]
    fn lists_without_hosts_and_directories_are_errors() {
        assert_eq!(mistakes(&["--client=empty", "f"]), ["fio: empty is no list of hosts: it names none"]);
        assert_eq!(mistakes(&["--client=dir", "f"]), ["fio: dir is no list of hosts: Is a directory"]);
        let lines = "fio: bad server port 0\nfio: failed adding client b # from file wrong";
        assert_eq!(mistakes(&["--client=wrong", "f"]), [lines]);
    }

    #[test]
    fn all_wrong_addresses_are_reported() {
        let wrong = mistakes(&["--client=a,0", "f", "--client=b,x", "f", "--client=c"]);
        assert_eq!(wrong[0], "fio: bad server port 0\nfio: failed adding client a");
        assert_eq!(wrong[1], "fio: bad server port x\nfio: failed adding client b");
        assert_eq!(wrong[2], "fio: no job file for client c");
    }
}
