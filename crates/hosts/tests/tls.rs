//! Conversations over mutual TLS, with certificates of CAs that are made for each test.
#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ferrio_hosts::{
    AgentAction, AgentHello, AgentInputs, Carrier as _, CoordinatorAction, CoordinatorSettings, Ends,
    HostClock, JobText, PlanText, Tls, TlsFiles, ToCoordinator, coordinate, serve,
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;

/// A CA that signs the certificates of the ends of a test.
struct Ca {
    issuer: Issuer<'static, KeyPair>,
    text: String,
}

impl Ca {
    fn new(name: &str) -> Ca {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let text = params.self_signed(&key).unwrap().pem();
        Ca { issuer: Issuer::new(params, key), text }
    }

    /// An end whose certificate is for `name` and by this CA, and which trusts `trusted`.
    fn end(&self, directory: &Path, name: &str, trusted: &Ca) -> Tls {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer);
        let files = TlsFiles {
            cert: directory.join("cert.pem"),
            key: directory.join("key.pem"),
            ca: directory.join("ca.pem"),
        };
        fs::write(&files.cert, certificate.unwrap().pem()).unwrap();
        fs::write(&files.key, key.serialize_pem()).unwrap();
        fs::write(&files.ca, &trusted.text).unwrap();
        Tls::new(&files).unwrap()
    }
}

/// Bytes of the plan, and of the answer: many TLS records, and more than the kernel's buffers take.
const LONG: usize = 3 << 20;

/// An agent that sends its plan back.
fn agent(ends: Ends) -> u8 {
    let (clock, inputs) = (HostClock::start(), AgentInputs::new());
    let run = inputs.clone();
    let mut act = move |action| match action {
        AgentAction::Check(plan) => {
            run.say(ToCoordinator::Checked { plan: json!(plan.files[0].text), phases: 1 })
        }
        AgentAction::StopJobs { .. } => {}
        other => panic!("{other:?}"),
    };
    serve(ends, AgentHello::new("ferrio 0.1.0", "h", "x86_64"), clock, inputs, &mut act).unwrap()
}

/// Both ends of a connection, the second in a thread of an agent.
fn connection(agents_end: impl FnOnce(TcpStream) -> Ends + Send + 'static) -> (TcpStream, JoinHandle<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let theirs = listener.accept().unwrap().0;
    (ours, thread::spawn(move || agent(agents_end(theirs))))
}

fn all(ends: Ends) -> Vec<CoordinatorAction> {
    let settings = CoordinatorSettings {
        require_all: false,
        only_check: true,
        refusal_ends_run: true,
        common_phases: true,
        greeting_timeout: Duration::from_secs(60),
    };
    let plan =
        PlanText { files: vec![JobText::new("j.fio", "x".repeat(LONG).as_bytes())], ..PlanText::default() };
    let (_stop, stopped) = channel();
    let mut seen = Vec::new();
    coordinate(vec![(Ok(ends), plan)], settings, "ferrio 0.1.0", stopped, &mut |action| seen.push(action))
        .unwrap();
    seen
}

/// The loss of the only host.
fn loss(seen: &[CoordinatorAction]) -> Option<String> {
    seen.iter().find_map(|action| match action {
        CoordinatorAction::Lost(_, loss) => Some(loss.to_string()),
        _ => None,
    })
}

#[test]
fn ends_of_one_ca_talk_at_length() {
    let directory = tempfile::tempdir().unwrap();
    let ca = Ca::new("ours");
    let server = ca.end(directory.path(), "127.0.0.1", &ca);
    let client = ca.end(directory.path(), "whoever", &ca);
    let (stream, agent) = connection(move |stream| server.accepted(stream).unwrap());
    let seen = all(client.connected(stream, "127.0.0.1").unwrap());
    assert_eq!(loss(&seen), None);
    let answer = seen.iter().find_map(|action| match action {
        CoordinatorAction::Deliver(_, ToCoordinator::Checked { plan, .. }) => plan.as_str(),
        _ => None,
    });
    assert_eq!(answer.map(str::len), Some(LONG));
    assert_eq!(agent.join().unwrap(), 0);
}

#[test]
fn ends_of_other_cas_and_other_names_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Ca::new("ours"), Ca::new("theirs"));
    let anew = Ca::new("ours");
    let refusals = [
        (ours.end(directory.path(), "c", &ours), anew.end(directory.path(), "127.0.0.1", &ours), "signed by"),
        // The server shows a certificate of another CA.
        (
            ours.end(directory.path(), "c", &ours),
            theirs.end(directory.path(), "127.0.0.1", &ours),
            "signed by",
        ),
        // The coordinator does.
        (theirs.end(directory.path(), "c", &ours), ours.end(directory.path(), "127.0.0.1", &ours), "refuses"),
        // The certificate is that of another host.
        (ours.end(directory.path(), "c", &ours), ours.end(directory.path(), "127.0.0.2", &ours), "127.0.0.1"),
    ];
    for (client, server, expected) in refusals {
        let (stream, agent) = connection(move |stream| server.accepted(stream).unwrap());
        let seen = all(client.connected(stream, "127.0.0.1").unwrap());
        let loss = loss(&seen).unwrap();
        assert!(loss.contains(expected), "{loss}");
        assert!(!seen.iter().any(|action| matches!(action, CoordinatorAction::Greeted(..))));
        assert_eq!(agent.join().unwrap(), 1);
    }
}

#[test]
fn an_end_without_tls_learns_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let ca = Ca::new("ours");
    let server = ca.end(directory.path(), "127.0.0.1", &ca);
    let (mut stream, agent) = connection(move |stream| server.accepted(stream).unwrap());
    stream.write_all(b"{\"message\":\"hello\"}\n").unwrap();
    let mut answer = Vec::new();
    // Cut hard, because it left bytes unread.
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.contains(&b'{'), "{answer:?}");
    assert_eq!(agent.join().unwrap(), 1);

    let client = ca.end(directory.path(), "c", &ca);
    let (stream, agent) = connection(|mut stream| {
        stream.read_exact(&mut [0; 5]).unwrap();
        stream.split().unwrap()
    });
    let ends = client.connected(stream, "127.0.0.1").unwrap();
    let loss = loss(&all(ends)).unwrap();
    assert_ne!(agent.join().unwrap(), 0);
    assert!(loss.contains("TLS") || loss.contains("reset"), "{loss}");
}

#[test]
fn a_file_with_something_else_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let ca = Ca::new("ours");
    ca.end(directory.path(), "c", &ca);
    let [cert, key, other] = ["cert.pem", "key.pem", "ca.pem"].map(|name| directory.path().join(name));
    fs::write(&other, "nothing\n").unwrap();
    let error = Tls::new(&TlsFiles { cert: cert.clone(), key: key.clone(), ca: other.clone() }).unwrap_err();
    let expected =
        format!("{}: there is no certificate in it (-----BEGIN CERTIFICATE-----)", other.display());
    assert_eq!(error.to_string(), expected);
    let swapped = Tls::new(&TlsFiles { cert: key, key: cert.clone(), ca: cert }).unwrap_err().to_string();
    assert!(swapped.contains("key.pem: there is no certificate"), "{swapped}");
}
