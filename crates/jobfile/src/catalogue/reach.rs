//! What the value of an option reaches outside the job: files, and programs that are started. Agents that serve others check it.

use super::opt::Opt;

/// What the value of an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing outside the job, or nothing but a server of the network.
    Nothing,
    /// Files, relative to the working directory.
    Files,
    /// Files in `directory`, relative to it.
    FilesInDirectory,
    /// Files of logs, a prefix of their names. Agents write none: they send the rows.
    Logs,
    /// A setting of the system: a control group, the scheduler of a device.
    System,
    /// A program that is started, or code that is loaded into this one.
    Program,
}

impl Opt {
    /// What its values name.
    #[must_use]
    pub fn reach(self) -> Reach {
        match self {
            Opt::Filename | Opt::FilenameFormat | Opt::Donorname => Reach::FilesInDirectory,
            Opt::Directory
            | Opt::DoubleWriteFilename
            | Opt::LogFilename
            | Opt::Mem
            | Opt::MergeBlktraceFile
            | Opt::Opendir
            | Opt::ReadIolog
            | Opt::ReplayRedirect
            | Opt::WriteIolog => Reach::Files,
            Opt::WriteBwLog | Opt::WriteHistLog | Opt::WriteIopsLog | Opt::WriteLatLog => Reach::Logs,
            Opt::Cgroup | Opt::Ioscheduler => Reach::System,
            Opt::ExecPostrun | Opt::ExecPrerun | Opt::Ioengine | Opt::Program => Reach::Program,
            _ => Reach::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{OptionStatus, ValueKind, rows};

    /// Options with texts that name neither files nor programs of the host. A new option with a text is in `reach` or here.
    const HARMLESS: &[Opt] = &[
        Opt::Arguments,
        Opt::Comm,
        Opt::Description,
        Opt::ExternalOptions,
        Opt::FileServiceType,
        Opt::HostnameNet,
        Opt::Hosts,
        Opt::HttpHost,
        Opt::HttpPass,
        Opt::HttpS3Key,
        Opt::HttpS3Keyid,
        Opt::HttpS3Region,
        Opt::HttpS3SecurityToken,
        Opt::HttpS3SseCustomerAlgorithm,
        Opt::HttpS3SseCustomerKey,
        Opt::HttpS3StorageClass,
        Opt::HttpSwiftAuthToken,
        Opt::HttpUser,
        Opt::Interface,
        Opt::Name,
        Opt::RandomDistribution,
        Opt::Ranks,
        Opt::Rw,
        Opt::Steadystate,
        Opt::Uri,
        Opt::WaitFor,
    ];

    #[test]
    fn of_every_text_it_is_known_what_it_names() {
        let texts = [ValueKind::Str, ValueKind::StrList, ValueKind::OptStr, ValueKind::EnumArg];
        let unknown = rows().iter().filter(|row| row.status == OptionStatus::Works);
        let unknown = unknown.filter(|row| texts.contains(&row.kind));
        let unknown: Vec<&str> = unknown
            .filter(|row| (row.opt.reach() == Reach::Nothing) != HARMLESS.contains(&row.opt))
            .map(|row| row.name)
            .collect();
        assert_eq!(unknown, [] as [&str; 0]);
    }
}
