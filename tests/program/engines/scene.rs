//! A job of any engine, with everything that it needs to run.

use std::path::PathBuf;

use ferrio_job::EngineKind;

use super::Target;
use crate::engines::external::with_example;
use crate::engines::file::is_on_ext4;
use crate::engines::nbd::{Server, has_nbdkit};
use crate::engines::network::free_port;
use crate::support::{FERRIO, Invocation, Run, TestDir, installed};

/// The number of I/Os of a job, unless it works on names.
pub const BLOCKS: u64 = 16;
/// Bytes of an I/O.
pub const BLOCK: u64 = 4096;
/// The number of I/Os of a job that works on names.
pub const NAMES: u64 = 4;

/// A job of one engine, or two that talk to each other.
pub struct Scene {
    pub dir: TestDir,
    /// The server that the job talks to.
    _server: Option<Server>,
    /// Options before those of a test.
    before: Vec<String>,
    /// Options after those of a test: more jobs.
    after: Vec<String>,
}

impl Scene {
    /// `None` for engines that need a device or a server that is not here: `contract` tests how they say so.
    pub fn of(engine: EngineKind) -> Option<Scene> {
        let dir = if Target::of(engine) == Target::Foreign { with_example() } else { TestDir::new() };
        let word = match engine {
            EngineKind::External => "external:./engine.so",
            _ => engine.word(),
        };
        let common = format!("--output-format=json --ioengine={word} --bs={BLOCK}");
        let size = format!("--size={}", BLOCKS * BLOCK);
        let mut server = None;
        let (before, after) = match Target::of(engine) {
            Target::Space if engine.only_on_ext4() && !is_on_ext4(&dir) => return None,
            Target::Files | Target::Space | Target::Foreign => {
                (format!("{common} --name=a --filename=f {size} {}", needs(engine)), String::new())
            }
            Target::Export => {
                let served =
                    has_nbdkit().then(|| Server::nbdkit(&dir, &["memory", &(BLOCKS * BLOCK).to_string()]));
                let uri = &served.as_ref()?.uri;
                let words = format!("{common} --name=a {size} --uri={uri}");
                server = served;
                (words, String::new())
            }
            Target::PersistentMemory | Target::Namespaces | Target::Objects | Target::Devices => return None,
            Target::Names => {
                let files = format!("--nrfiles={NAMES} --filesize={BLOCK} --openfiles=1");
                (format!("{common} --name=a {files}"), String::new())
            }
            Target::Memory | Target::Work => {
                (format!("{common} --name=a {size} {}", needs(engine)), String::new())
            }
            Target::Peer => {
                let (here, there) = ends(engine);
                (format!("{common} {size}"), format!("--name=a {here} --name=b {there}"))
            }
        };
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
        Some(Scene { dir, _server: server, before: words(before), after: words(after) })
    }

    /// The program with the job and these options.
    pub fn invocation(&self, more: &[&str]) -> Invocation<'_> {
        self.dir.ferrio(&self.words(more))
    }

    /// The job, started by a shell after this line.
    pub fn under(&self, line: &str, more: &[&str]) -> Invocation<'_> {
        let script = format!("{line}; exec \"$0\" \"$@\"");
        let words: Vec<String> =
            ["-c".to_owned(), script, FERRIO.to_owned()].into_iter().chain(self.words(more)).collect();
        self.dir.program(installed("bash"), &words)
    }

    fn words(&self, more: &[&str]) -> Vec<String> {
        let more = more.iter().map(|&word| word.to_owned());
        self.before.iter().cloned().chain(more).chain(self.after.iter().cloned()).collect()
    }

    /// Runs the job with these options.
    pub fn run(&self, more: &[&str]) -> Run {
        self.invocation(more).run()
    }

    /// Replaces the file of a job that works on one, by a device for example.
    pub fn on(mut self, path: &str) -> Scene {
        let file = self.before.iter_mut().find(|word| *word == "--filename=f").expect("a job on a file");
        *file = format!("--filename={path}");
        self
    }

    /// The file of a job that works on one.
    pub fn file(&self) -> PathBuf {
        self.dir.work().join("f")
    }
}

/// Options that an engine needs besides size and file.
fn needs(engine: EngineKind) -> &'static str {
    match engine {
        _ if matches!(Target::of(engine), Target::Files | Target::Foreign) => "",
        EngineKind::Null | EngineKind::PageFault | EngineKind::Falloc | EngineKind::Ftruncate => "",
        EngineKind::E4defrag => "--donorname=donor --overwrite=1",
        EngineKind::Cpuio => "--cpuload=100 --cpuchunks=1000",
        EngineKind::Exec => "--program=sleep --arguments=3600 --grace_time=0",
        _ => panic!("{engine} is new here: add a row that says what its jobs need"),
    }
}

/// The options of a job that writes to a peer, and of the peer.
fn ends(engine: EngineKind) -> (String, String) {
    match engine {
        EngineKind::Net | EngineKind::Netsplice => {
            let port = free_port();
            (
                format!("--hostname=127.0.0.1 --port={port} --rw=write"),
                format!("--listen --port={port} --rw=read"),
            )
        }
        _ => panic!("{engine} is new here: add a row that says how its jobs find a peer"),
    }
}
