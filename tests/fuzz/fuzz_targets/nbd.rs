//! What an NBD server sends: a byte chooses whether an export is named, the rest is the server's part of the handshake, and replies
//! to requests.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::{fs, process, thread};

use ferrio_nbd::wire::Reply;
use ferrio_nbd::{Address, Uri, open};

/// A server that answers each connection with the next text.
struct Server {
    uri: Uri,
    answers: Sender<Vec<u8>>,
}

static SERVER: OnceLock<Server> = OnceLock::new();

fn server() -> &'static Server {
    SERVER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("ferrio-fuzz-{}.socket", process::id()));
        let listener = UnixListener::bind(&path).expect("a socket in the directory for temporary files");
        let (answers, next) = channel::<Vec<u8>>();
        let socket = path.clone();
        thread::spawn(move || {
            for answer in next {
                let Ok((mut client, _)) = listener.accept() else { break };
                // The client may leave before the end.
                let _ = client.write_all(&answer);
                let _ = client.shutdown(Shutdown::Write);
                let _ = client.read_to_end(&mut Vec::new());
            }
            let _ = fs::remove_file(socket);
        });
        Server { uri: Uri { address: Address::Unix(path), export: String::new() }, answers }
    })
}

target::target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let server = server();
    if server.answers.send(bytes.to_vec()).is_err() {
        panic!("the server is gone");
    }
    let uri =
        Uri { export: if choice & 1 == 0 { String::new() } else { "disk".to_owned() }, ..server.uri.clone() };
    if let Err(error) = open(&uri, &|| false) {
        assert!(!error.to_string().is_empty());
    }
    let mut replies = bytes;
    while let Ok(Some((_, length))) = Reply::parse(replies) {
        replies = &replies[length..];
    }
});
