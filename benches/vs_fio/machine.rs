//! Where the figures come from: they mean little without it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;
use crate::tools::Tool;
use crate::work::Settings;

/// The machine and the programs.
#[derive(Debug)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    kernel: String,
    /// Load over the last minute, before the bench adds its own.
    load: String,
    fio: String,
    ferrio: &'static str,
}

impl Machine {
    pub(crate) fn ask(settings: Settings) -> Outcome<Machine> {
        let program = Tool::Fio.program(settings);
        let fio = Command::new(program)
            .arg("--version")
            .output()
            .map_err(|e| format!("{program}: {e}: install fio to compare with it"))?;
        let line = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned());
        let cpuinfo = line("/proc/cpuinfo")?;
        let cpu =
            cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(|l| l.split(": ").nth(1));
        Ok(Machine {
            cpu: cpu.unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            kernel: line("/proc/sys/kernel/osrelease")?,
            load: line("/proc/loadavg")?.split(' ').next().unwrap_or_default().to_owned(),
            fio: String::from_utf8_lossy(&fio.stdout).trim().to_owned(),
            ferrio: env!("CARGO_PKG_VERSION"),
        })
    }

    pub(crate) fn text(&self) -> String {
        let Machine { cpu, cores, kernel, load, fio, ferrio } = self;
        format!("{cpu}, {cores} cores, Linux {kernel}, load {load}\nferrio-{ferrio} and {fio}")
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "cpu": self.cpu, "cores": self.cores, "kernel": self.kernel, "load": self.load,
            "fio": self.fio, "ferrio": self.ferrio,
        })
    }
}
