//! The conditions that a run's figures depend on: program, machine, locations of the files, options.

use ferrio_job::Tuning;

use crate::model::{JobReport, MemberReport, RunReport};

impl RunReport {
    /// The conditions as names (`kernel`, `job a: bs`) and values: those of the host first, then options. A report by fio has only its
    /// version and options.
    #[must_use]
    pub fn conditions(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                all.push((name.to_owned(), value));
            }
        };
        match &self.ferrio {
            Some(ferrio) => {
                add("program", Some(format!("ferrio {}", ferrio.version)));
                let host = &ferrio.host;
                for (name, value) in &ferrio.labels.0 {
                    add(&format!("label {name}"), Some(value.clone()));
                }
                add("host", host.name.clone());
                let hosts: Vec<&str> = ferrio.hosts.iter().map(|host| host.name.as_str()).collect();
                add("hosts", (!hosts.is_empty()).then(|| hosts.join(", ")));
                add("kernel", host.kernel.clone());
                add("architecture", host.arch.clone());
                add("CPU", host.cpu_model.clone());
                add("CPUs", host.cpus_online.map(|count| count.to_string()));
                add("memory", host.memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20)));
                for place in &ferrio.targets {
                    let at = place.mount_point.as_deref().unwrap_or("device");
                    add(&format!("file system of {at}"), place.file_system.clone());
                    add(
                        &format!("device of {at}"),
                        place.device.as_ref().map(|device| device.device.clone()),
                    );
                }
            }
            None => add("program", Some(self.version.clone())),
        }
        for (name, value) in &self.global_options.0 {
            add(&format!("all jobs: {name}"), Some(value.clone()));
        }
        for job in &self.jobs {
            let members = self.members(job).map(|member| (member.name.as_str(), &member.options));
            let mut jobs: Vec<_> = members.collect();
            if jobs.is_empty() {
                jobs.push((job.jobname.as_str(), &job.job_options));
            }
            for (job, options) in jobs {
                // `name` is an option on the command line, but the section header in a job file.
                for (name, value) in options.0.iter().filter(|(name, _)| name != "name") {
                    add(&format!("job {job}: {name}"), Some(value.clone()));
                }
            }
        }
        self.add_tuning(&mut all);
        all
    }

    /// The member jobs of a grouped entry, if the document lists them.
    pub(crate) fn members(&self, entry: &JobReport) -> impl Iterator<Item = &MemberReport> {
        let entries = self.ferrio.iter().flat_map(|ferrio| &ferrio.members);
        let mut of_entry = entries.filter(|members| {
            (members.jobname.as_str(), members.groupid) == (entry.jobname.as_str(), entry.groupid)
        });
        of_entry.next().into_iter().flat_map(|members| &members.jobs)
    }

    /// Adds the tuning (`tuning=`) of each entry. A document without the object `ferrio` was written by fio, or by ferrio called `fio`.
    fn add_tuning(&self, all: &mut Vec<(String, String)>) {
        let mut add = |job: &str, value: String| all.push((format!("job {job}: tuning"), value));
        match &self.ferrio {
            Some(ferrio) => ferrio.tuning.iter().for_each(|entry| add(&entry.jobname, entry.summary())),
            None => self.jobs.iter().for_each(|job| add(&job.jobname, Tuning::Fio.word().to_owned())),
        }
    }
}
