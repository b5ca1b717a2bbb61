//! A headless Chromium, driven by its DevTools protocol over a pipe: one document of JSON per message, ended by a NUL byte.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::requirements::{all_installed, find, installed};
use crate::support::TestDir;

/// The longest that the browser may take for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// On a busy machine the browser sometimes does not come up.
const MAX_STARTS: u32 = 3;

/// Descriptors 3 and 4 are those of the protocol.
const SCRIPT: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

/// A browser with one tab. Dropping it ends its processes.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: String,
    last_id: u64,
    /// For its temporary files. Their paths must be short: there are sockets among them.
    _temporary: TempDir,
    /// Errors of scripts, of the console and of the policy of the page.
    pub errors: Vec<String>,
}

/// Where Chromium is; without it the test is skipped.
pub fn chromium() -> Option<PathBuf> {
    let other_names = ["chromium-browser", "google-chrome"];
    other_names
        .into_iter()
        .find_map(find)
        .or_else(|| all_installed(&["chromium"]).then(|| installed("chromium")))
}

impl Browser {
    pub fn start(program: &Path, dir: &TestDir) -> Self {
        for start in 1..=MAX_STARTS {
            let profile = dir.beside(&format!("profile{start}"));
            let log = File::create(dir.beside("chromium.log")).unwrap();
            if let Some(browser) = Self::try_start(program, &profile, log) {
                return browser;
            }
        }
        let log = std::fs::read_to_string(dir.beside("chromium.log")).unwrap_or_default();
        panic!("{} did not start: {log}", program.display());
    }

    fn try_start(program: &Path, profile: &Path, log: File) -> Option<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(program)
            .arg(format!("--user-data-dir={}", profile.display()))
            .args([
                "--headless",
                // The page is the test's own, and root has no sandbox.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-breakpad",
                "--disable-extensions",
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ]);
        let temporary = TempDir::new().unwrap();
        command.env("HOME", profile).env("TMPDIR", temporary.path()).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let commands = child.stdin.take().unwrap();
        let messages = listen(child.stdout.take().unwrap());
        let mut browser = Browser {
            child,
            commands,
            messages,
            session: String::new(),
            last_id: 0,
            _temporary: temporary,
            errors: Vec::new(),
        };
        let target = browser.answer("Target.createTarget", json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.answer("Target.attachToTarget", attach)?["sessionId"].as_str()?.to_owned();
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.answer(domain, json!({}))?;
        }
        Some(browser)
    }

    /// Opens a file in a window of this width.
    pub fn open(&mut self, file: &Path, width: u32) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        // Without this, opening the same file again would not load it.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.until("Page.loadEventFired");
        let opened = self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        assert!(opened.get("errorText").is_none(), "{opened}");
        self.until("Page.loadEventFired");
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Calls a method of the protocol.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.answer(method, parameters)
            .unwrap_or_else(|| panic!("no answer to {method} within {ANSWER_TIMEOUT:?}"))
    }

    fn answer(&mut self, method: &str, parameters: Value) -> Option<Value> {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).ok()?;
        loop {
            let mut message = self.next()?;
            if message["id"] == json!(self.last_id) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return Some(message["result"].take());
            }
        }
    }

    #[track_caller]
    fn until(&mut self, event: &str) {
        while self.next().unwrap_or_else(|| panic!("no {event} within {ANSWER_TIMEOUT:?}"))["method"]
            != json!(event)
        {}
    }

    fn next(&mut self) -> Option<Value> {
        let message = self.messages.recv_timeout(ANSWER_TIMEOUT).ok()?;
        let is_error = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => message["params"]["type"] == "error",
            Some("Log.entryAdded") => message["params"]["entry"]["level"] == "error",
            _ => false,
        };
        if is_error {
            self.errors.push(message["params"].to_string());
        }
        Some(message)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // All of its processes are in the group of the first.
        if let Ok(group) = self.child.id().try_into() {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

/// The messages of the browser; the end of the pipe ends them.
fn listen(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut message = Vec::new();
        while pipe.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
            let Ok(value) = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message)) else {
                break;
            };
            if sender.send(value).is_err() {
                break;
            }
            message.clear();
        }
    });
    receiver
}
