//! The nbd engine against the servers that people run: nbdkit, nbd-server and qemu-nbd, over sockets of the file system and the loopback.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::network::free_port;
use crate::beside_fio::work::compare;
use crate::requirements::all_installed;
use crate::support::{Run, TestDir, number, text, until};

const MIB: u64 = 1 << 20;

pub fn has_nbdkit() -> bool {
    all_installed(&["nbdkit"])
}

/// A server, which ends with the test.
pub struct Server {
    child: Child,
    pub uri: String,
    /// Where one that puts itself into the background leaves its number.
    pid_file: Option<PathBuf>,
}

impl Server {
    /// Starts a server that listens on a socket in the test's directory.
    fn start(dir: &TestDir, program: &str, arguments: &[&str], export: &str) -> Server {
        let socket = dir.beside("socket");
        let uri = format!("nbd+unix:///{export}?socket={}", socket.display());
        Server::spawn(program, arguments, uri, || UnixStream::connect(&socket).is_ok())
    }

    fn spawn(program: &str, arguments: &[&str], uri: String, listens: impl Fn() -> bool) -> Server {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env("PATH", format!("{}:/usr/sbin", env::var("PATH").unwrap_or_default()))
            .spawn()
            .unwrap();
        let server = Server { child, uri, pid_file: None };
        until(&format!("{program} that listens"), listens);
        server
    }

    /// nbdkit with these arguments after those for its socket.
    pub fn nbdkit(dir: &TestDir, arguments: &[&str]) -> Server {
        let socket = dir.beside("socket");
        let first = ["--foreground", "--exit-with-parent", "--unix", socket.to_str().unwrap()];
        Server::start(dir, "nbdkit", &[&first[..], arguments].concat(), "")
    }

    /// nbd-server and qemu-nbd with a file of 1 MiB as the export `disk`, if they are installed.
    fn with_file(dir: &TestDir, program: &str) -> Option<(Server, PathBuf)> {
        let (file, socket) = (dir.beside("disk"), dir.beside("socket"));
        fs::write(&file, vec![0; MIB as usize]).unwrap();
        let (file_text, socket_text) = (file.to_str().unwrap(), socket.to_str().unwrap());
        let server = match program {
            "nbd-server" => all_installed(&["nbd-server"]).then(|| {
                let config = dir.beside("nbd-server.conf");
                let export =
                    format!("[disk]\nexportname = {file_text}\ntrim = true\nflush = true\nfua = true\n");
                let generic = format!("[generic]\nunixsock = {socket_text}\nport = {}\n", free_port());
                fs::write(&config, generic + &export).unwrap();
                let pid_file = dir.beside("pid");
                let arguments = ["-C", config.to_str().unwrap(), "-p", pid_file.to_str().unwrap()];
                let mut server = Server::start(dir, program, &arguments, "disk");
                server.pid_file = Some(pid_file);
                server
            }),
            _ => all_installed(&["qemu-nbd"]).then(|| {
                let arguments = ["--socket", socket_text, "--persistent", "--shared=8", "--format=raw"];
                let export = ["--export-name=disk", "--discard=unmap", file_text];
                Server::start(dir, program, &[&arguments[..], &export].concat(), "disk")
            }),
        };
        server.map(|server| (server, file))
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let background = self.pid_file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        if let Some(pid) = background.and_then(|pid| pid.trim().parse().ok()).map(Pid::from_raw) {
            let _ = kill(pid, Signal::SIGTERM);
            until("the end of nbd-server", || kill(pid, None).is_err());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// ferrio with one job on the export.
fn job(dir: &TestDir, uri: &str, words: &str) -> Run {
    let mut all = vec!["--output-format=json".to_owned(), "--name=j".to_owned(), "--ioengine=nbd".to_owned()];
    all.push(format!("--uri={uri}"));
    all.extend(words.split_whitespace().map(str::to_owned));
    dir.ferrio(&all).run()
}

fn first_job(run: &Run) -> Value {
    run.json()["jobs"][0].clone()
}

/// Writes and verifies at depth, with trims, syncs and batches.
fn exercise(dir: &TestDir, uri: &str) {
    exercise_without_syncs(dir, uri);
    let run = job(dir, uri, "--rw=write --bs=4k --iodepth=16 --fsync=32 --buffer_pattern=0x41").succeeded();
    let syncs = number(&first_job(&run), "/sync/total_ios");
    assert_eq!(syncs, 7, "the last writes of a pass have no sync of their own");
    let run = job(dir, uri, "--rw=write --bs=1m --buffer_pattern=0x41 --end_fsync=1 --sync=1").succeeded();
    assert_eq!(number(&first_job(&run), "/write/total_ios"), 1);
    let run = job(dir, uri, "--rw=trim --bs=64k --size=512k --iodepth=4").succeeded();
    assert_eq!(number(&first_job(&run), "/trim/io_bytes"), MIB / 2);
}

fn exercise_without_syncs(dir: &TestDir, uri: &str) {
    let run = job(dir, uri, "--rw=randwrite --bs=4k --iodepth=16 --verify=crc32c").succeeded();
    let done = first_job(&run);
    assert_eq!((number(&done, "/write/io_bytes"), number(&done, "/read/io_bytes")), (MIB, MIB));
    let batches = "--iodepth=32 --iodepth_batch=8 --iodepth_batch_complete_min=4";
    let run = job(dir, uri, &format!("--rw=randrw --bssplit=512/50:64k/50 {batches}")).succeeded();
    let done = first_job(&run);
    assert_eq!(number(&done, "/write/io_bytes") + number(&done, "/read/io_bytes"), MIB);
}

#[test]
fn nbdkit_serves_all_directions() {
    if has_nbdkit() {
        let dir = TestDir::new();
        let server = Server::nbdkit(&dir, &["memory", "1M"]);
        exercise(&dir, &server.uri);
    }
}

#[test]
fn servers_of_files_keep_what_was_written() {
    for program in ["nbd-server", "qemu-nbd"] {
        let dir = TestDir::new();
        let Some((server, file)) = Server::with_file(&dir, program) else { continue };
        exercise(&dir, &server.uri);
        let content = fs::read(&file).unwrap();
        assert!(content[..1 << 19].iter().all(|&byte| byte == 0), "{program}: trimmed");
        assert!(content[1 << 19..].iter().all(|&byte| byte == 0x41), "{program}: written");
        let missing = server.uri.replace("disk", "tape");
        let run = job(&dir, &missing, "--rw=read").ended_with(1);
        assert!(run.stderr.contains("the server refuses the export \"tape\""), "{program}: {}", run.stderr);
    }
}

#[test]
fn the_oldstyle_and_the_newer_styles_without_options_are_spoken() {
    if has_nbdkit() {
        for style in [&["--oldstyle"][..], &["--newstyle", "--mask-handshake=0"], &["--newstyle", "--no-sr"]]
        {
            let dir = TestDir::new();
            let server = Server::nbdkit(&dir, &[style, &["memory", "1M"]].concat());
            // In the oldstyle nbdkit says that it can flush, and refuses to.
            exercise_without_syncs(&dir, &server.uri);
        }
    }
}

#[test]
fn servers_are_found_by_name_and_by_addresses_of_both_kinds() {
    if !has_nbdkit() {
        return;
    }
    for (bound, host) in [("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "localhost"), ("::1", "[::1]")] {
        let dir = TestDir::new();
        let port = free_port();
        let port_text = port.to_string();
        let arguments =
            ["--foreground", "--exit-with-parent", "--ipaddr", bound, "--port", &port_text, "memory", "1M"];
        let uri = format!("nbd://{host}:{port}/any");
        let server = Server::spawn("nbdkit", &arguments, uri, || TcpStream::connect((bound, port)).is_ok());
        let run = job(&dir, &server.uri, "--rw=randread --iodepth=8").succeeded();
        assert_eq!(number(&first_job(&run), "/read/io_bytes"), MIB, "{host}");
    }
}

#[test]
fn the_work_on_an_export_is_that_of_fio() {
    if !has_nbdkit() {
        return;
    }
    let dir = TestDir::new();
    let Server { uri, .. } = &Server::nbdkit(&dir, &["memory", "1M"]);
    // Both programs write at the same time: what they write must be the same.
    compare(&format!(
        "[global]\nioengine=nbd\nuri={uri}\n\
         [read]\nrw=read\nbs=16k\niodepth=4\n\
         [rest]\nrw=read\noffset=512k\nsize=2m\nnumjobs=2\n\
         [half]\nrw=randread\nsize=50%\n\
         [write]\nstonewall\nrw=write\nbs=64k\nverify=pattern\nverify_pattern=0xabcd\nverify_state_save=0\niodepth=4\n\
         [mixed]\nstonewall\nrw=randrw\niodepth=8\niodepth_batch=4\niodepth_batch_complete_min=2\n\
         [sync]\nstonewall\nrw=write\nfsync=4\nloops=2\nbs=32k\n\
         [trim]\nstonewall\nrw=trim\nbs=128k\n"
    ));
}

#[test]
fn flushes_and_forced_writes_reach_the_server() {
    if !has_nbdkit() {
        return;
    }
    let logged = |words: &str| {
        let dir = TestDir::new();
        let log = dir.beside("log");
        let logfile = format!("logfile={}", log.display());
        let server = Server::nbdkit(&dir, &["--filter=log", "memory", "64k", &logfile]);
        job(&dir, &server.uri, &format!("--rw=write --bs=4k {words}")).succeeded();
        let text = fs::read_to_string(&log).unwrap();
        let of =
            |what: &str| text.lines().filter(|line| line.contains(what) && line.ends_with("...")).count();
        [" Write ", "fua=1", " Flush "].map(of)
    };
    assert_eq!(logged(""), [16, 0, 0]);
    assert_eq!(logged("--sync=1"), [16, 16, 0]);
    assert_eq!(logged("--sync=dsync"), [16, 16, 0]);
    assert_eq!(logged("--fsync=4"), [16, 0, 3], "the last writes of a pass have no sync of their own");
    assert_eq!(logged("--fdatasync=4"), [16, 0, 3]);
    assert_eq!(logged("--sync_file_range=write:4"), [16, 0, 3]);
    assert_eq!(logged("--end_fsync=1"), [16, 0, 1]);
    assert_eq!(logged("--fsync_on_close=1"), [16, 0, 1]);
}

#[test]
fn errors_of_the_server_have_the_export_the_offset_and_the_length() {
    if !has_nbdkit() {
        return;
    }
    let dir = TestDir::new();
    let faults =
        ["error-pread=EIO", "error-pread-rate=100%", "error-pwrite=ENOSPC", "error-pwrite-rate=100%"];
    let server = Server::nbdkit(&dir, &[&["--filter=error", "memory", "1M"][..], &faults].concat());
    for (rw, errno, text) in [
        ("read", libc::EIO, "Input/output error: read offset=4096, buflen=4096"),
        ("write", libc::ENOSPC, "No space left on device: write offset=4096, buflen=4096"),
    ] {
        let run = job(&dir, &server.uri, &format!("--rw={rw} --offset=4k --iodepth=4")).ended_with(1);
        let want = format!("io_u error on file {}: {text}", server.uri);
        assert!(run.stderr.contains(&want), "{want}: {}", run.stderr);
        assert_eq!(first_job(&run)["error"], errno);
    }
    let run = job(&dir, &server.uri, "--rw=read --continue_on_error=all").succeeded();
    assert_eq!(number(&first_job(&run), "/total_err"), 256);
}

#[test]
fn an_export_that_cannot_do_it_is_a_reason_not_to_begin() {
    if !has_nbdkit() {
        return;
    }
    let refused = |arguments: &[&str], words: &str, errno: i32, text: &str| {
        let dir = TestDir::new();
        let server = Server::nbdkit(&dir, arguments);
        let run = job(&dir, &server.uri, words).ended_with(1);
        assert!(run.stderr.contains(text), "{words}: {}", run.stderr);
        assert_eq!(first_job(&run)["error"], errno, "{words}");
        job(&dir, &server.uri, "--rw=read --bs=4k").succeeded();
    };
    let read_only = ["--readonly", "memory", "1M"];
    refused(&read_only, "--rw=randwrite", libc::EPERM, "the export is read-only: use rw=read");
    refused(&read_only, "--rw=trim", libc::EPERM, "the export is read-only");
    let sizes = [
        "--filter=blocksize-policy",
        "memory",
        "1M",
        "blocksize-minimum=4k",
        "blocksize-preferred=4k",
        "blocksize-maximum=64k",
    ];
    let text = "block sizes must be multiples of 4096 bytes";
    refused(&sizes, "--rw=read --bs=6k", libc::EINVAL, text);
    refused(&sizes, "--rw=randread --bsrange=4k-16k --bs_unaligned", libc::EINVAL, text);
    let text = "a block of 131072 bytes is more than the 65536 bytes of one request";
    refused(&sizes, "--rw=read --bs=128k", libc::EINVAL, text);
    refused(&sizes, "--rw=read --bs=4k --nrfiles=2", libc::EINVAL, "one export, not 2 files");
    refused(&["memory", "1M"], "--rw=read --offset=2m", 0, "you need to specify valid offset=");
}

#[test]
fn a_server_that_dies_fails_the_job_with_what_was_in_flight() {
    if !has_nbdkit() {
        return;
    }
    let dir = TestDir::new();
    let server = Server::nbdkit(&dir, &["--filter=log", "memory", "1M", "logfile=/dev/null"]);
    let uri = format!("--uri={}", server.uri);
    let words =
        ["--name=j", "--ioengine=nbd", &uri, "--rw=randread", "--iodepth=4", "--time_based", "--runtime=100"];
    let log = dir.beside("work").join("j_lat.1.log");
    let logged = ["--write_lat_log=j", "--log_avg_msec=1", "--output-format=json"];
    let mut running = dir.ferrio(&[&words[..], &logged].concat()).start();
    running.until("an I/O", || fs::metadata(&log).is_ok_and(|log| log.len() > 0));
    server.signal(Signal::SIGKILL);
    let run = running.wait().ended_with(1);
    assert!(run.stderr.contains("Transport endpoint is not connected: read offset="), "{}", run.stderr);
    assert!(run.stderr.contains("the NBD server closed the connection") || run.stderr.contains("is lost"));
    assert_eq!(first_job(&run)["error"], libc::ENOTCONN);
    assert!(number(&first_job(&run), "/read/total_ios") > 0, "what was done before is reported");
}

#[test]
fn a_job_on_a_server_that_hangs_ends_when_it_is_told_to_twice() {
    if !has_nbdkit() {
        return;
    }
    let dir = TestDir::new();
    let log = dir.beside("log");
    let logfile = format!("logfile={}", log.display());
    let server =
        Server::nbdkit(&dir, &["--filter=log", "--filter=delay", "memory", "1M", "rdelay=1000", &logfile]);
    let uri = format!("--uri={}", server.uri);
    let mut running = dir
        .ferrio(&["--output-format=json", "--name=j", "--ioengine=nbd", &uri, "--rw=read", "--iodepth=2"])
        .start();
    let asked = || fs::read_to_string(&log).is_ok_and(|log| log.matches(" Read ").count() == 2);
    running.until("two requests", asked);
    running.signal(Signal::SIGINT);
    // Two of the same signal may arrive as one.
    running.signal(Signal::SIGTERM);
    let run = running.wait();
    assert!(run.stderr.contains("the NBD server did not answer before the job was ended"), "{}", run.stderr);
    assert_eq!(first_job(&run)["error"], libc::ETIMEDOUT);
}

#[test]
fn a_missing_server_and_a_wrong_uri_are_said() {
    let dir = TestDir::new();
    let run = job(&dir, "nbd+unix:///?socket=/nowhere/s", "--rw=read").ended_with(1);
    let want = "cannot use nbd+unix:///?socket=/nowhere/s: connect: No such file or directory";
    assert!(run.stderr.contains(want), "{}", run.stderr);
    assert_eq!(first_job(&run)["error"], libc::ENOENT);
    let run = job(&dir, "nbds://localhost/", "--rw=read").ended_with(1);
    assert!(run.stderr.contains("NBD with TLS, which is not available"), "{}", run.stderr);
    let run = dir.ferrio(&["--name=j", "--ioengine=nbd", "--rw=read"]).run().ended_with(1);
    assert!(run.stderr.contains("nbd: uri parameter was not specified"), "{}", run.stderr);
}

#[test]
fn called_fio_the_messages_are_those_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let lines = |is_fio: bool, words: &[&str]| {
        let words = [&["--name=j", "--ioengine=nbd", "--rw=read"], words].concat();
        let run = if is_fio { dir.fio(&words) } else { dir.ferrio(&words).env("FERRIO_AS", "fio") }.run();
        let run = run.ended_with(1);
        let all = format!("{}\n{}", run.stdout, run.stderr);
        all.lines().filter(|line| line.starts_with("fio: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("--uri=nbd://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    drop(listener);
    for words in [&[][..], &["--uri=nbd+unix:///?socket=/nowhere/s"], &["--uri=foo"], &[&nobody]] {
        let [fio, ferrio] = [true, false].map(|is_fio| lines(is_fio, words));
        assert_eq!((fio.len(), &fio), (1, &ferrio), "{words:?}");
    }
}

#[test]
fn the_check_does_not_wait_for_servers_that_do_not_answer() {
    let dir = TestDir::new();
    let listeners = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let silent = listeners
        .each_ref()
        .map(|listener| format!("nbd://127.0.0.1:{}/", listener.local_addr().unwrap().port()));
    let job = |uri: &String| format!("[{uri}]\nuri={uri}\n").replacen("://", "-", 1);
    let jobs: String = silent.iter().map(job).collect();
    let file = dir.job(&format!("[global]\nioengine=nbd\nrw=read\n{jobs}"));
    let run = dir.ferrio(&["check", "--output-format=json", &file]).run().ended_with(1);
    let report = run.json();
    let errors: Vec<&str> =
        report["errors"].as_array().unwrap().iter().map(|error| text(error, "/message")).collect();
    let is_silent = |error: &&str| error.contains("no answer within 800 ms; a run waits up to 30 s");
    assert_eq!(errors.iter().filter(|error| is_silent(error)).count(), 3, "{errors:?}");
}

#[test]
fn the_check_of_a_job_knows_the_size_of_its_export() {
    if has_nbdkit() {
        let dir = TestDir::new();
        let server = Server::nbdkit(&dir, &["memory", "1M"]);
        let uri = format!("--uri={}", server.uri);
        let run = dir.ferrio(&["check", "--name=j", "--ioengine=nbd", &uri, "--rw=read", "--bs=4k"]).run();
        assert!(run.stdout.contains("does   reads 1MiB"), "{}", run.stdout);
        assert!(Path::new(&dir.work()).read_dir().unwrap().next().is_none());
    }
}
