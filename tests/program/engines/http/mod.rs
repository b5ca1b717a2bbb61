//! The engine http, against an S3 server that checks signatures, a WebDAV server, and servers whose answers a test decides.
//!
//! fio of Debian has no engine http, so there is nothing to compare with.

mod answers;
mod protocols;
mod scripted;
mod servers;

use std::env;

use crate::support::{Invocation, Run, TestDir, skipped};

/// True in builds with the engine. The CI tests one; elsewhere a test says that it is left out.
fn is_built_in() -> bool {
    let is_built_in = cfg!(feature = "http");
    if !is_built_in {
        assert!(env::var_os("CI").is_none(), "the CI tests a build with --features http");
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        skipped(&test, "the engine is not in this build: cargo test --features http");
    }
    is_built_in
}

/// A job of four blocks of 16 KiB on the object `/bucket/o` of a server.
fn job<'a>(dir: &'a TestDir, host: &str, more: &str) -> Invocation<'a> {
    let fixed = ["--output-format=json", "--name=j", "--ioengine=http", "--size=64k", "--bs=16k"];
    let host = format!("--http_host={host}");
    // Names add up.
    let name = (!more.contains("--filename=")).then_some("--filename=/bucket/o");
    let words: Vec<&str> =
        fixed.into_iter().chain([host.as_str()]).chain(name).chain(more.split_whitespace()).collect();
    dir.ferrio(&words).env("NO_PROXY", "127.0.0.1,localhost")
}

/// The lines about a job that fails.
fn failure(dir: &TestDir, host: &str, more: &str) -> String {
    let run: Run = job(dir, host, more).run();
    assert_eq!(run.status, Some(1), "{}{}", run.stdout, run.stderr);
    run.messages()
}

#[test]
fn a_build_without_the_engine_says_how_to_get_it() {
    if cfg!(feature = "http") {
        return;
    }
    let dir = TestDir::new();
    let reason = "this ferrio was built without the engine http: install it with --features http";
    let run = job(&dir, "localhost", "--rw=read").run().ended_with(1);
    assert!(run.stderr.contains(reason), "{}", run.stderr);
    let help = dir.ferrio(&["--enghelp=http"]).run().ended_with(1);
    assert!(help.stderr.contains(reason), "{}", help.stderr);
    let help = dir.ferrio(&["help", "http"]).run().succeeded();
    assert!(help.stdout.contains("--features http"), "{}", help.stdout);
    let list = dir.ferrio(&["--enghelp"]).run().succeeded();
    assert!(!list.stdout.contains("\thttp\n"), "{}", list.stdout);
}

#[test]
fn the_engine_and_its_options_have_help() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    assert!(dir.ferrio(&["--enghelp"]).run().succeeded().stdout.contains("\thttp\n"));
    let help = dir.ferrio(&["--enghelp=http"]).run().succeeded().stdout;
    assert_eq!(help.lines().filter(|line| line.starts_with("http")).count(), 15, "{help}");
}
