//! Runs of many jobs at the same time, and what is wrong with each.

use std::path::PathBuf;
use std::thread;

use super::images::{self, Layout};
use super::jobs::{Check, Job};
use crate::support::{FERRIO, TestDir, document_within};

/// The fio to compare with.
pub struct Peer {
    program: PathBuf,
    /// Whether the headers are those of 3.41 and later.
    is_current: bool,
}

impl Peer {
    pub fn of(program: PathBuf) -> Self {
        let version = TestDir::new().program(&program, &["--version"]).run().succeeded().stdout;
        let minor = version.trim().strip_prefix("fio-3.").and_then(|rest| rest.split(['.', '-']).next());
        let is_current = minor.and_then(|minor| minor.parse::<u32>().ok()).is_none_or(|minor| minor >= 41);
        Peer { program, is_current }
    }
}

/// Who runs the jobs, and with which headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Fio,
    /// Writes headers that the peer can check.
    Ferrio,
    /// Writes current headers, and uses options that the peer does not have.
    Current,
}

/// Jobs that run at the same time.
pub struct Batch<'a> {
    pub jobs: &'a [Job],
    pub peer: &'a Peer,
}

impl Batch<'_> {
    /// Lets both programs write and check, and returns what is wrong.
    pub fn run(&self) -> Vec<String> {
        let chains: [(Runner, &[Runner]); 3] = [
            (Runner::Fio, &[Runner::Ferrio, Runner::Fio]),
            (Runner::Ferrio, &[Runner::Fio, Runner::Ferrio]),
            (Runner::Current, &[Runner::Current]),
        ];
        let chains = if self.peer.is_current { &chains[..2] } else { &chains[..] };
        let (places, found): (Vec<TestDir>, Vec<Vec<String>>) = thread::scope(|scope| {
            let threads: Vec<_> = chains
                .iter()
                .map(|&(writer, checkers)| scope.spawn(move || self.chain(writer, checkers)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).unzip()
        });
        let mut wrong: Vec<String> = found.into_iter().flatten().collect();
        let layout = if self.peer.is_current { Layout::Current } else { Layout::Old };
        for job in self.jobs_of(Runner::Fio).filter(|job| job.has_the_same_image() && !self.is_sha512(job)) {
            let [fio, ferrio] = [0, 1].map(|of| images::of(&places[of].work(), job, layout));
            if let Some(difference) = images::difference(&fio, &ferrio) {
                wrong.push(format!("{job}: the files of fio and ferrio differ {difference}"));
            }
        }
        wrong
    }

    /// Lets one program write and others check.
    fn chain(&self, writer: Runner, checkers: &[Runner]) -> (TestDir, Vec<String>) {
        let dir = TestDir::new();
        let mut wrong = self.report(&dir, writer, &format!("{writer:?} writes"), false);
        for checker in checkers {
            let what = format!("{checker:?} checks what {writer:?} wrote");
            wrong.extend(self.report(&dir, *checker, &what, true));
        }
        (dir, wrong)
    }

    /// fio 3.33 does not compute this digest, and ferrio does not write what it stores instead.
    fn is_sha512(&self, job: &Job) -> bool {
        !self.peer.is_current && job.get("verify") == Some("sha512")
    }

    /// The jobs that take part.
    fn jobs_of(&self, runner: Runner) -> impl Iterator<Item = &Job> {
        let all = runner == Runner::Current || self.peer.is_current;
        self.jobs.iter().filter(move |job| all || job.defect_of_fio_3_33().is_none())
    }

    fn report(&self, dir: &TestDir, runner: Runner, what: &str, checks: bool) -> Vec<String> {
        let of_ferrio = what.ends_with("Ferrio wrote") || what == "Ferrio writes";
        let mut text = String::from("[global]\nallow_file_create=1\nverify_state_save=0\n");
        if runner == Runner::Ferrio && !self.peer.is_current {
            text += "verify_layout=fio-3.40\n";
        }
        for job in self.jobs_of(runner) {
            let newer = runner == Runner::Current || self.peer.is_current;
            text += &format!("[{}]\n", job.name);
            for (name, value) in job.options.iter().chain(job.newer.iter().filter(|_| newer)) {
                let value = match (name.as_str(), job.check) {
                    ("rw", Check::Read(kind)) if checks => kind,
                    ("verify", _) if of_ferrio && self.is_sha512(job) => "sha3-512",
                    _ => value,
                };
                text += &format!("{name}={value}\n");
            }
            match job.check {
                Check::Only if checks => text += "verify_only\n",
                Check::None if checks => text += "rw=read\nnumber_ios=1\nverify=0\n",
                _ => {}
            }
        }
        let file = dir.job(&text);
        let arguments = ["--output-format=json", "--max-jobs=200", &file];
        let run = match runner {
            Runner::Fio => dir.program(&self.peer.program, &arguments).may_hang().run(),
            _ => dir.program(FERRIO, &arguments).run(),
        };
        if !run.stdout.contains("{\n") {
            return vec![format!("{what}: no report: {}{}\n{text}", run.stdout, run.stderr)];
        }
        let (report, _) = document_within(&run.stdout);
        let mut wrong = Vec::new();
        for job in self.jobs_of(runner) {
            let of_job =
                report["jobs"].as_array().unwrap().iter().find(|of| of["jobname"] == job.name.as_str());
            let error = of_job.map_or(-1, |of| of["error"].as_i64().unwrap());
            let begin = format!("file {}.", job.name);
            let message = run.stderr.lines().chain(run.stdout.lines()).find(|line| line.contains(&begin));
            if error != 0 || message.is_some() {
                wrong.push(format!(
                    "{job}\n    {:?}: {what}: error {error}: {}",
                    job.check,
                    message.unwrap_or_default()
                ));
            }
        }
        if wrong.is_empty() && run.status != Some(0) {
            wrong.push(format!("{what}: status {:?}: {}", run.status, run.stderr));
        }
        wrong
    }
}
