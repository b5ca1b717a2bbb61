//! What a server lets its clients do: who they are, what their jobs may reach, and what becomes of those that are something else.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::engines::network::free_port;
use crate::support::{Run, Running, TestDir, until};

/// A server at this address, which listens.
fn server(dir: &TestDir, address: &str, options: &[&str], variables: &[(&str, &str)]) -> Running {
    let address = format!("--server={address}");
    let words: Vec<&str> = [address.as_str()].into_iter().chain(options.iter().copied()).collect();
    let invocation = variables
        .iter()
        .fold(dir.ferrio_in_foreground(&words), |invocation, (name, value)| invocation.env(name, value));
    let mut server = invocation.start();
    let output = server.stdout_path();
    server.until("listening", || fs::read_to_string(&output).is_ok_and(|text| text.contains("listening")));
    server
}

fn ended(server: Running) -> Run {
    server.signal(Signal::SIGTERM);
    server.wait().succeeded()
}

/// A job file on the server at this address.
fn client(dir: &TestDir, address: &str, options: &[&str], job: &str) -> Run {
    let (address, job) = (format!("--client={address}"), dir.job(job));
    let words = [address.as_str(), job.as_str()].into_iter().chain(options.iter().copied());
    dir.ferrio(&words.collect::<Vec<_>>()).run()
}

/// A file with a token that only its owner can read.
fn token_file(dir: &TestDir, name: &str, token: &str) -> String {
    let path = dir.beside(name);
    fs::write(&path, format!("{token}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

const READS: &str = "[a]\nioengine=null\nsize=1m\nrw=read\n";

#[test]
fn clients_prove_that_they_have_the_token() {
    let dir = TestDir::new();
    let file = token_file(&dir, "token", "a token of 32 bytes, more or less");
    let other = token_file(&dir, "other", "another token of some length");
    let server = server(&dir, "sock:s", &[&format!("--token-file={file}")], &[]);
    let run = |words: &[&str]| client(&dir, "sock:s", words, READS);
    let trusted = run(&[&format!("--token-file={file}")]).succeeded();
    assert!(trusted.stdout.contains("READ: bw="), "{}", trusted.stdout);
    for (words, reason) in [
        (vec![format!("--token-file={other}")], "the token is another one than the server's"),
        (vec![], "the server wants a token: give the one that it was started with as --token-file FILE"),
    ] {
        let refused = run(&words.iter().map(String::as_str).collect::<Vec<_>>()).ended_with(1);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
        assert!(!refused.stdout.contains("READ: bw="), "{}", refused.stdout);
    }
    ended(server);
    let open = self::server(&dir, "sock:s", &[], &[]);
    let refused = run(&[&format!("--token-file={file}")]).ended_with(1);
    assert!(refused.stderr.contains("the server has no token, and this end does"), "{}", refused.stderr);
    ended(open);
}

#[test]
fn a_token_that_is_no_secret_is_refused_with_what_to_do() {
    let dir = TestDir::new();
    let short = token_file(&dir, "short", "fifteen bytes..");
    let open = token_file(&dir, "open", "a token of 32 bytes, more or less");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    for end in ["--server=sock:s", "--client=sock:s"] {
        for (file, reason) in [
            (&short, "a token has at least 16 bytes, this one has 15".to_owned()),
            (&open, format!("others can read it, so it is no secret: chmod 600 {open}")),
        ] {
            let job = dir.job(READS);
            let words = [end, &format!("--token-file={file}"), &job];
            let words = if end.starts_with("--server") { &words[..2] } else { &words[..] };
            let run = dir.ferrio(words).run().ended_with(1);
            assert!(run.stderr.contains(&reason), "{end}: {}", run.stderr);
        }
    }
}

#[test]
fn jobs_of_clients_start_no_programs_unless_the_server_allows_it() {
    let dir = TestDir::new();
    let job = "[a]\nioengine=null\nsize=1m\nrw=read\nexec_prerun=touch started\n";
    for (options, variables, is_allowed) in [
        (&[][..], &[][..], false),
        (&["--as=fio"], &[], false),
        (&["--as=fio"], &[("FERRIO_ALLOW_EXEC", "1")], true),
        (&["--allow-exec"], &[], true),
    ] {
        let server = server(&dir, "sock:s", options, variables);
        let run = client(&dir, "sock:s", &[], job);
        assert_eq!(dir.size("started").is_some(), is_allowed, "{options:?}: {}", run.stdout);
        if is_allowed {
            run.succeeded();
            fs::remove_file(dir.work().join("started")).unwrap();
        } else {
            let run = run.ended_with(1);
            let reason = "on this server, jobs of clients start no programs: option `exec_prerun`";
            assert!(run.stdout.contains(reason), "{}", run.stdout);
            assert!(run.stdout.contains("--allow-exec"), "{}", run.stdout);
        }
        ended(server);
    }
}

#[test]
fn jobs_of_clients_stay_below_the_root() {
    let dir = TestDir::new();
    fs::create_dir(dir.beside("data")).unwrap();
    let outside = dir.beside("outside");
    let root = format!("--root={}", dir.beside("data").display());
    let server = server(&dir, "sock:s", &[&root], &[]);
    let run = |name: &str| {
        client(&dir, "sock:s", &[], &format!("[a]\nrw=write\nsize=4k\nfilename={name}\nwrite_bw_log=L\n"))
    };
    run("inside").succeeded();
    assert!(dir.beside("data/inside").exists());
    for name in [outside.to_str().unwrap(), "../outside"] {
        let refused = run(name).ended_with(1);
        let reason = format!("not `{name}` of option `filename`");
        assert!(refused.stdout.contains(&reason), "{}", refused.stdout);
        assert!(refused.stdout.contains("start the server with --root=PATH"), "{}", refused.stdout);
    }
    assert!(!outside.exists());
    // Called ferrio, the root is the working directory.
    ended(server);
    let server = self::server(&dir, "sock:s", &[], &[]);
    assert!(run("/etc/outside").ended_with(1).stdout.contains("not `/etc/outside` of option `filename`"));
    run("inside").succeeded();
    assert_eq!(dir.size("inside"), Some(4096));
    ended(server);
}

#[test]
fn strangers_cost_a_server_nothing_and_learn_nothing() {
    let dir = TestDir::new();
    let file = token_file(&dir, "token", "a token of 32 bytes, more or less");
    let port = free_port();
    let address = format!("127.0.0.1,{port}");
    let server = server(&dir, &address, &[&format!("--token-file={file}")], &[]);
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    // They stay while others work.
    let _silent: Vec<TcpStream> = (0..20).map(|_| connect()).collect();
    let half = connect();
    (&half).write_all(br#"{"message":"hello","#).unwrap();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[b'{'; 10_000], b"{\"message\":\"plan\",\"words\":[]}\n"]
    {
        let mut stranger = connect();
        // The server may have closed it by then.
        let _ = stranger.write_all(garbage).and_then(|()| stranger.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        let _ = stranger.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{}", String::from_utf8_lossy(garbage));
    }
    // Whoever does not know the token learns what every client needs to know, and no proof.
    let mut curious = connect();
    let nonce = "07".repeat(32);
    let hello = format!(
        r#"{{"message":"hello","protocol":{{"major":1,"minor":0}},"program":"x","nonce":"{nonce}"}}"#
    );
    writeln!(curious, "{hello}\n{{\"message\":\"proof\",\"proof\":\"{nonce}\"}}").unwrap();
    let mut answers = String::new();
    curious.read_to_string(&mut answers).unwrap();
    let answers: Vec<serde_json::Value> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = answers.iter().map(|answer| answer["message"].as_str().unwrap()).collect();
    assert_eq!(names, ["hello", "denied"]);
    client(&dir, &address, &[&format!("--token-file={file}")], READS).succeeded();
    let run = ended(server);
    assert!(!run.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", run.stderr);
}

/// A stopped server still has its port: the kernel accepts for it.
#[test]
fn a_server_that_never_answers_is_given_up() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let run = client(&dir, &format!("127.0.0.1,{port}"), &[], READS).ended_with(1);
    assert!(run.stderr.contains("no sign of life for 10 s"), "{}", run.stderr);
}

#[test]
fn two_clients_at_one_server_run_side_by_side() {
    let dir = TestDir::new();
    let server = server(&dir, "sock:s", &[], &[]);
    let job = |name: &str| {
        let path = dir.beside(&format!("{name}.fio"));
        let text = format!(
            "[{name}]\nrw=write\nsize=1m\nfilename={name}\ntime_based\nruntime=100\nthinktime=10ms\ncreate_on_open=1\nunlink=1\n"
        );
        fs::write(&path, text).unwrap();
        dir.ferrio_in_foreground(&["--client=sock:s", path.to_str().unwrap()]).start()
    };
    let (mut one, two) = (job("one"), job("two"));
    one.until("both jobs", || dir.is_written("one") && dir.is_written("two"));
    // The jobs of a client that is killed end with it, and the other's go on.
    let killed = Instant::now();
    one.kill();
    until("the end of its jobs", || dir.size("one").is_none());
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    assert!(dir.is_written("two"));
    two.signal(Signal::SIGINT);
    let run = two.wait();
    assert!(run.stdout.contains("WRITE: bw="), "{}", run.stdout);
    assert_eq!(dir.size("two"), None);
    ended(server);
}

#[test]
fn a_connection_that_is_cut_in_the_middle_ends_the_jobs_and_is_told() {
    let dir = TestDir::new();
    let server = server(&dir, "sock:s", &[], &[]);
    let listener = std::os::unix::net::UnixListener::bind(dir.work().join("p")).unwrap();
    let job = dir.job("[a]\nrw=write\nsize=1m\nfilename=f\ntime_based\nruntime=100\nthinktime=10ms\ncreate_on_open=1\nunlink=1\n");
    let mut client = dir.ferrio_in_foreground(&["--client=sock:p", &job]).start();
    let (near, _) = listener.accept().unwrap();
    let far = UnixStream::connect(dir.work().join("s")).unwrap();
    let relay = |mut from: UnixStream, mut to: UnixStream| {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
        })
    };
    let relays = [
        relay(near.try_clone().unwrap(), far.try_clone().unwrap()),
        relay(far.try_clone().unwrap(), near.try_clone().unwrap()),
    ];
    client.until("the job", || dir.is_written("f"));
    let cut = Instant::now();
    for end in [near, far] {
        end.shutdown(Shutdown::Both).unwrap();
    }
    for relay in relays {
        relay.join().unwrap();
    }
    until("the end of the job", || dir.size("f").is_none());
    assert!(cut.elapsed() < Duration::from_secs(5), "{:?}", cut.elapsed());
    let run = client.wait().ended_with(1);
    assert!(run.stderr.contains("p is lost: the connection ended"), "{}", run.stderr);
    ended(server);
}

/// Certificates of one CA, for 127.0.0.1: the options with their files.
fn certificates(dir: &TestDir, ca: &str) -> [String; 3] {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, ca);
    let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let root = params.self_signed(&ca_key).unwrap().pem();
    let issuer = Issuer::new(params, ca_key);
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer);
    let parts = [("cert", certificate.unwrap().pem()), ("key", key.serialize_pem()), ("ca", root)];
    parts.map(|(part, text)| {
        let path = dir.beside(&format!("{ca}-{part}.pem"));
        fs::write(&path, text).unwrap();
        format!("--tls-{part}={}", path.display())
    })
}

#[test]
fn servers_and_clients_with_certificates_of_one_ca_talk_over_tls() {
    let dir = TestDir::new();
    let [ours, theirs] = ["ours", "theirs"].map(|ca| certificates(&dir, ca));
    let [ours, theirs] = [&ours, &theirs].map(|words| words.each_ref().map(String::as_str));
    let port = free_port();
    let address = format!("127.0.0.1,{port}");
    let run = |words: &[&str]| client(&dir, &address, words, READS);
    if !cfg!(feature = "http") {
        let refused = run(&ours).ended_with(1);
        assert!(refused.stderr.contains("this ferrio is built without TLS"), "{}", refused.stderr);
        return;
    }
    let incomplete = run(&ours[..2]).ended_with(1);
    assert!(incomplete.stderr.contains("TLS takes three files"), "{}", incomplete.stderr);
    let server = server(&dir, &address, &ours, &[]);
    let trusted = run(&ours).succeeded();
    assert!(trusted.stdout.contains("READ: bw="), "{}", trusted.stdout);
    let reasons = ["not signed by the CA of --tls-ca", "the other end wants TLS"];
    for (words, reason) in [&theirs[..], &[]].into_iter().zip(reasons) {
        let refused = run(words).ended_with(1);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
    ended(server);
}
