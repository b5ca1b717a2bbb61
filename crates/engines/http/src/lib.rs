//! The engine http: the blocks of a job are objects on an S3, WebDAV or Swift server. A write is a PUT, a read a GET, a trim a DELETE.
//!
//! - `address`: the server, and the paths of objects.
//! - `client`: messages and answers, redirects, descriptions of failures.
//! - `credentials`: authentication headers.
//! - `message`: messages and their headers.
//! - `signature`: AWS Signature Version 4.

mod address;
mod client;
mod credentials;
mod message;
mod signature;

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use ferrio_engine::{Buffers, Engine, EngineError, Interrupter, Op, PEER_ENDED, Request, Submit};
use ferrio_job::{Diagnostic, HttpObjectMode, HttpOptions, JobSpec};

use client::{FailureText, HttpClient};
use message::HttpRequest;
use ureq::Body;
use ureq::http::Response;

/// Longest time that a request may continue after a signal asked for the end.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// `ioengine=http`
pub struct Http {
    client: HttpClient,
    objects: Vec<JobObject>,
    mode: HttpObjectMode,
    missing_is_zeroes: bool,
    /// Path of the current block.
    path: String,
    /// Description of the last failure.
    failure: Option<FailureText>,
    interrupted: Arc<AtomicBool>,
}

/// A file of the job.
struct JobObject {
    path: String,
    /// Bytes that the job uses, from the start of the file.
    size: u64,
}

/// The error of a request.
struct RequestError {
    errno: i32,
    failure: FailureText,
}

impl From<FailureText> for RequestError {
    fn from(failure: FailureText) -> Self {
        RequestError { errno: libc::EIO, failure }
    }
}

/// Discards the answer to a successful request.
fn done(response: Response<Body>) -> Result<(), RequestError> {
    client::discard(response);
    Ok(())
}

impl Http {
    /// Stores the path of a block in `self.path`.
    fn find(&mut self, request: &Request) {
        let object = &self.objects[request.file as usize];
        self.path.clone_from(&object.path);
        if self.mode == HttpObjectMode::Block {
            self.path.push_str(&format!("_{}_{}", request.offset, request.len));
        }
    }

    fn write(&mut self, path: &str, data: &[u8]) -> Result<(), RequestError> {
        let message = HttpRequest { method: "PUT", path, range: None, body: data };
        self.change(&message, &[200, 201, 202, 203, 204])
    }

    fn trim(&mut self, path: &str) -> Result<(), RequestError> {
        let message = HttpRequest { method: "DELETE", path, range: None, body: &[] };
        self.change(&message, &[200, 202, 204, 404])
    }

    /// Changes an object, which the server answers with one of the statuses `successes`.
    fn change(&mut self, message: &HttpRequest<'_>, successes: &[u16]) -> Result<(), RequestError> {
        let response = self.client.exchange(message)?;
        if successes.contains(&response.status().as_u16()) {
            return done(response);
        }
        Err(self.client.refusal(message, response).into())
    }

    fn read(&mut self, path: &str, request: &Request, data: &mut [u8]) -> Result<(), RequestError> {
        let object = &self.objects[request.file as usize];
        let last = (request.offset + request.len).min(object.size.max(request.offset + 1)) - 1;
        let range = (self.mode == HttpObjectMode::Range).then_some((request.offset, last));
        let message = HttpRequest { method: "GET", path, range, body: &[] };
        let response = self.client.exchange(&message)?;
        let wanted = match response.status().as_u16() {
            206 if range.is_some() => &mut data[..(last + 1 - request.offset) as usize],
            // The answer is the whole object.
            200 if request.offset == 0 || range.is_none() => data,
            200 => {
                let name = self.client.name(&message);
                let reason =
                    "the server sends the whole object instead of a range: use http_object_mode=block";
                return Err(format!("{name}: {reason}").into());
            }
            404 if self.missing_is_zeroes => {
                data.fill(0);
                return done(response);
            }
            404 => {
                let advice =
                    "write the objects before they are read, by a job with rw=write and the same block size";
                let failure = self.client.refusal(&message, response);
                return Err(RequestError { errno: libc::ENOENT, failure: format!("{failure}; {advice}") });
            }
            _ => return Err(self.client.refusal(&message, response).into()),
        };
        let mut reader = response.into_body().into_reader();
        let mut received = 0;
        while received < wanted.len() {
            match reader.read(&mut wanted[received..]) {
                Ok(0) => break,
                Ok(count) => received += count,
                Err(error) => return Err(self.client.explain_read(&message, error).into()),
            }
        }
        self.client.print_body('<', &wanted[..received]);
        // Reading to the end makes the connection usable again.
        let more = reader.read(&mut [0; 1]).map_err(|error| self.client.explain_read(&message, error))?;
        if received < wanted.len() || more > 0 {
            let than = if more > 0 { "more than" } else { "only" };
            let name = self.client.name(&message);
            let wanted = wanted.len();
            return Err(
                format!("{name}: the answer has {than} {received} bytes, and the I/O {wanted}").into()
            );
        }
        Ok(())
    }

    fn run(&mut self, request: &Request) -> Result<(), RequestError> {
        self.find(request);
        let path = std::mem::take(&mut self.path);
        // SAFETY: the buffer is valid for `len` bytes until the request completes, and nobody else uses it.
        let data = || unsafe { slice::from_raw_parts_mut(request.buffer, request.len as usize) };
        let outcome = match request.op {
            Op::Read => self.read(&path, request, data()),
            Op::Write => self.write(&path, data()),
            Op::Trim => self.trim(&path),
            // The server answered, so there is nothing to wait for.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => Ok(()),
        };
        self.path = path;
        outcome
    }
}

impl Engine for Http {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let defaults = HttpOptions::default();
        let options = spec.http.as_deref().unwrap_or(&defaults);
        let object = |file: &ferrio_job::FileSpec| JobObject {
            path: address::path(&options.prefix, file.path.as_os_str().as_bytes()),
            size: file.real_size,
        };
        Ok(Http {
            client: HttpClient::new(options, spec.number)?,
            objects: spec.files.iter().map(object).collect(),
            mode: options.object_mode,
            missing_is_zeroes: options.missing_is_zeroes,
            path: String::new(),
            failure: None,
            interrupted: Arc::default(),
        })
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(match self.run(request) {
            Ok(()) if matches!(request.op, Op::Read | Op::Write | Op::Trim) => request.len.cast_signed(),
            Ok(()) => 0,
            Err(_) if self.interrupted.load(Relaxed) => PEER_ENDED,
            Err(refused) => {
                self.failure = Some(refused.failure);
                -i64::from(refused.errno)
            }
        })
    }

    fn failure_details(&self, _unit: u32) -> Option<String> {
        self.failure.clone()
    }

    fn interrupter(&mut self) -> Option<Interrupter> {
        let (agent, interrupted) = (self.client.agent(), Arc::clone(&self.interrupted));
        let asked = AtomicBool::new(false);
        Some(Interrupter(Box::new(move || {
            let (agent, interrupted) = (agent.clone(), Arc::clone(&interrupted));
            let grace = if asked.swap(true, Relaxed) { Duration::ZERO } else { STOP_TIMEOUT };
            // The thread ends with the process if that comes first.
            let _ = thread::Builder::new().name("ferrio-http-end".into()).spawn(move || {
                ferrio_kernel::sleep(grace);
                interrupted.store(true, Relaxed);
                agent.shutdown();
            });
        })))
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        let proxy = self.client.proxy().map(|proxy| {
            let message = format!("requests go through the proxy {proxy}, which the environment names");
            Diagnostic::note(message).code("http-proxy")
        });
        proxy.into_iter().collect()
    }

    fn notes_at_end(&mut self) -> Vec<Diagnostic> {
        let redirect = self.client.take_redirect().map(|to| {
            let message =
                format!("the server redirects to {to}: an I/O takes several requests; look at `http_host`");
            Diagnostic::note(message).code("http-redirect")
        });
        redirect.into_iter().collect()
    }
}
