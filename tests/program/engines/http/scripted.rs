//! A small HTTP server whose answers a test decides, and which remembers what it was asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    /// By names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
    /// Number of the connection, from 0.
    pub connection: usize,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// The connection is closed after the answer, without a word about it.
    pub closes: bool,
    /// There is no answer.
    pub hangs: bool,
}

impl Answer {
    pub fn of(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    pub fn body(self, body: impl Into<Vec<u8>>) -> Answer {
        Answer { body: body.into(), ..self }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }
}

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

/// The server. Its threads end with the test program.
pub struct Scripted {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Scripted {
    /// A server on a free port of the loopback.
    pub fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, script): (Arc<Mutex<Vec<Asked>>>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let all = Arc::clone(&asked);
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (all, script) = (Arc::clone(&all), Arc::clone(&script));
                thread::spawn(move || serve(&stream.unwrap(), connection, &all, &*script));
            }
        });
        Scripted { port, asked }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Method and path of the requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.asked().iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
    }
}

fn serve(stream: &TcpStream, connection: usize, all: &Mutex<Vec<Asked>>, script: &Script) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = request(&mut reader, connection) {
        all.lock().unwrap().push(asked.clone());
        let answer = script(&asked);
        if answer.hangs {
            // Until the other end gives up.
            let _ = reader.read(&mut [0]);
            return;
        }
        let mut text = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
        for (name, value) in &answer.headers {
            text += &format!("{name}: {value}\r\n");
        }
        let mut bytes = (text + "\r\n").into_bytes();
        bytes.extend_from_slice(&answer.body);
        let mut writer = stream;
        if writer.write_all(&bytes).is_err() || answer.closes {
            return;
        }
    }
}

fn request(reader: &mut BufReader<&TcpStream>, connection: usize) -> Option<Asked> {
    let mut line = || {
        let mut line = String::new();
        let count = reader.read_line(&mut line).ok()?;
        (count > 0).then(|| line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body, connection })
}
